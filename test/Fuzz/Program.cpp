//===- Program.cpp - A program while it is made ---------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "Generator.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace mlir::tofu::fuzz;

int64_t mlir::tofu::fuzz::numElements(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string mlir::tofu::fuzz::typeText(const std::string &element,
                                       const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

std::string mlir::tofu::fuzz::join(const std::vector<std::string> &list) {
  std::string text;
  for (const std::string &item : list)
    text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string mlir::tofu::fuzz::numberText(double number,
                                         const std::string &element) {
  if (element == "i1")
    return number != 0 ? "true" : "false";
  if (!isReal(element))
    return std::to_string(int64_t(number)) + " : " + element;
  char digits[32];
  std::snprintf(digits, sizeof(digits),
                number == std::floor(number) ? "%.1f" : "%.9e", number);
  return digits + (" : " + element);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

size_t Program::addArgument(const std::string &element, const Shape &shape) {
  Value value;
  value.name = "%arg" + std::to_string(arguments.size());
  value.element = element;
  value.shape = shape;
  value.isArgument = true;
  arguments.push_back(value.name + ": " + value.type());
  values.push_back(value);
  return values.size() - 1;
}

std::string Program::addScalarArgument(const std::string &element) {
  std::string name = "%arg" + std::to_string(arguments.size());
  arguments.push_back(name + ": " + element);
  return name;
}

void Program::addStatement(const std::string &name, const std::string &text,
                           const std::string &types) {
  statements += "    " + name + " = " + text + "  // " + types + "\n";
}

size_t Program::add(const std::string &text, const std::string &element,
                    const Shape &shape, Quality quality) {
  Value value;
  value.name = freshName("v");
  value.element = element;
  value.shape = shape;
  value.quality = quality;
  addStatement(value.name, text, value.type());
  values.push_back(value);
  return values.size() - 1;
}

std::vector<size_t> Program::addAll(const std::string &text,
                                    const std::vector<Value> &results) {
  std::string name = freshName("v");
  std::vector<std::string> types;
  std::vector<size_t> numbers;
  for (Value result : results) {
    result.name = name + "#" + std::to_string(numbers.size());
    types.push_back(result.type());
    numbers.push_back(values.size());
    values.push_back(result);
  }
  addStatement(name + ":" + std::to_string(results.size()), text, join(types));
  return numbers;
}

std::string Program::addOther(const std::string &text,
                              const std::string &type) {
  std::string name = freshName("s");
  addStatement(name, text, type);
  return name;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static std::string randomElement(Random &random) {
  static const std::vector<std::string> kElements = {
      "f32", "f32", "f32", "f32", "f32", "f32", "f32",  "f32", "f32",
      "f32", "f64", "i32", "i32", "i64", "i1",  "bf16", "f16"};
  return random.pick(kElements);
}

static Shape randomShape(Random &random) {
  static const std::vector<int64_t> kSizes = {1, 2, 3,  4,  5,  6,  7, 8,
                                              8, 9, 11, 12, 13, 16, 17};
  Shape shape;
  int64_t rank = 1 + random.below(random.chance(30) ? 4 : 3);
  while (int64_t(shape.size()) < rank) {
    shape.push_back(random.pick(kSizes));
    if (numElements(shape) > 1500)
      shape.back() = 1 + random.below(3);
  }
  return shape;
}

size_t Program::pick(const std::function<bool(const Value &)> &accepts) {
  std::vector<size_t> good;
  for (size_t i = 0; i < values.size(); ++i)
    if (accepts(values[i]))
      good.push_back(i);
  if (!good.empty() && !random.chance(8)) {
    // The best of two tries: chains rather than stars.
    size_t first = random.pick(good), second = random.pick(good);
    return std::max(first, second);
  }
  for (int tries = 0; tries < 50; ++tries) {
    Value value;
    value.element = randomElement(random);
    value.shape = randomShape(random);
    if (accepts(value))
      return addArgument(value.element, value.shape);
  }
  return good.empty() ? values.size() : good.front();
}

std::string Program::randomElements(const std::string &element,
                                    const Shape &shape) {
  if (random.chance(50) || numElements(shape) > 64)
    return std::string("dense<") +
           (isReal(element)   ? "1.0"
            : element == "i1" ? "true"
                              : "3") +
           ">";
  // Row-major elements, in nested brackets.
  std::function<std::string(size_t)> list = [&](size_t dim) -> std::string {
    if (dim == shape.size()) {
      int64_t number = random.below(2);
      return isReal(element)   ? std::to_string(number) + ".0"
             : element == "i1" ? (number ? "true" : "false")
                               : std::to_string(number);
    }
    std::vector<std::string> items;
    for (int64_t i = 0; i < shape[dim]; ++i)
      items.push_back(list(dim + 1));
    return "[" + join(items) + "]";
  };
  return "dense<" + list(0) + ">";
}

/// A constant of rank zero, broadcast.
static std::string broadcastOf(Program &program, const std::string &element,
                               const Shape &shape) {
  std::string scalarType = typeText(element, {});
  std::string scalar =
      program.addOther("arith.constant " + program.randomElements(element, {}) +
                           " : " + scalarType,
                       scalarType);
  std::string empty = program.addEmpty(element, shape);
  std::vector<std::string> dims, iterators;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    dims.push_back("d" + std::to_string(dim));
    iterators.push_back("\"parallel\"");
  }
  std::string type = typeText(element, shape),
              from = "affine_map<(" + join(dims) + ") -> (";
  return "linalg.generic {indexing_maps = [" + from + ")>, " + from +
         join(dims) + ")>], iterator_types = [" + join(iterators) + "]} ins(" +
         scalar + " : " + scalarType + ") outs(" + empty + " : " + type +
         ") {\n    ^bb0(%in: " + element + ", %out: " + element +
         "):\n      linalg.yield %in : " + element + "\n    } -> " + type;
}

size_t Program::addConstant(const std::string &element, const Shape &shape) {
  Quality quality;
  quality.integral = isReal(element);
  if (random.chance(40))
    return add(broadcastOf(*this, element, shape), element, shape, quality);
  return add("arith.constant " + randomElements(element, shape) + " : " +
                 typeText(element, shape),
             element, shape, quality);
}

size_t Program::getOperand(const std::string &element, const Shape &shape) {
  std::vector<size_t> good;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].element == element && values[i].shape == shape &&
        values[i].isUsable())
      good.push_back(i);
  if (!good.empty() && random.chance(75))
    return random.pick(good);
  if (random.chance(12))
    return addConstant(element, shape);
  return addArgument(element, shape);
}

std::string Program::addEmpty(const std::string &element, const Shape &shape) {
  std::string type = typeText(element, shape);
  return addOther("tensor.empty() : " + type, type);
}

std::string Program::addFill(const std::string &number,
                             const std::string &element, const Shape &shape) {
  std::string type = typeText(element, shape);
  std::string scalar = addOther("arith.constant " + number, element);
  std::string empty = addEmpty(element, shape);
  return addOther("linalg.fill ins(" + scalar + " : " + element + ") outs(" +
                      empty + " : " + type + ") -> " + type,
                  type);
}

size_t Program::tame(size_t number) {
  Value value = values[number];
  if (!isReal(value.element) || isHalf(value.element) ||
      value.quality.bound <= (value.quality.integral ? 1000 : 4))
    return number;
  double factor = 1;
  while (factor * value.quality.bound > 1)
    factor /= 2;
  value.quality = {value.quality.bound * factor, value.quality.error * factor,
                   false};
  std::string digits = numberText(factor, value.element);
  digits = digits.substr(0, digits.find(' '));
  std::string constant = addOther(
      "arith.constant dense<" + digits + "> : " + value.type(), value.type());
  std::string name = use(number);
  return add("arith.mulf " + name + ", " + constant + " : " + value.type(),
             value.element, value.shape, value.quality);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

std::string Program::str() {
  std::vector<std::string> names, types;
  auto give = [&](const Value &value) {
    names.push_back(value.name);
    types.push_back(value.type());
  };
  for (const Value &value : values)
    if (!value.uses && !value.isArgument)
      give(value);
  if (random.chance(30) || names.empty())
    give(random.pick(values));
  std::string text = functions + "func.func @main(" + join(arguments) +
                     ") -> (" + join(types) + ") {\n" + statements;
  return text + "    return " + join(names) + " : " + join(types) + "\n}\n";
}

std::string mlir::tofu::fuzz::generateProgram(uint64_t seed) {
  // Of eight programs, one has tensors of unknown sizes.
  if (seed % 8 == 7)
    return generateDynamicProgram(seed);
  Random random(seed);
  Program program(random);
  program.addArgument("f32", randomShape(random));
  int64_t count = random.between(2, 9);
  for (int64_t i = 0; i < count; ++i)
    addRandomOperation(program);
  return program.str();
}
