//===- TensorOperations.cpp - Random operations on whole tensors ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include <algorithm>

using namespace mlir::tofu::fuzz;

static bool hasDims(const Value &value) { return !value.shape.empty(); }

static bool isF32(const Value &value) {
  return value.element == "f32" && value.isUsable();
}

static std::string listText(const Shape &numbers) {
  std::vector<std::string> items;
  for (int64_t number : numbers)
    items.push_back(std::to_string(number));
  return "[" + join(items) + "]";
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// Factors of a size, ones among them.
static Shape factorize(Random &random, int64_t size) {
  Shape factors;
  while (factors.size() < 3) {
    Shape divisors;
    for (int64_t i = 1; i <= size; ++i)
      if (size % i == 0)
        divisors.push_back(i);
    factors.push_back(random.pick(divisors));
    size /= factors.back();
    if (random.chance(40))
      break;
  }
  factors.push_back(size);
  return factors;
}

static void addExpand(Program &program, size_t number) {
  Random &random = program.random;
  const Value input = program[number];
  Shape shape;
  std::vector<std::string> groups;
  for (int64_t size : input.shape) {
    Shape factors = random.chance(60) ? factorize(random, size) : Shape{size};
    Shape group;
    for (int64_t factor : factors) {
      group.push_back(shape.size());
      shape.push_back(factor);
    }
    groups.push_back(listText(group));
  }
  std::string name = program.use(number);
  program.add("tensor.expand_shape " + name + " [" + join(groups) +
                  "] output_shape " + listText(shape) + " : " + input.type() +
                  " into " + typeText(input.element, shape),
              input.element, shape, input.quality);
}

static void addCollapse(Program &program, size_t number) {
  Random &random = program.random;
  const Value input = program[number];
  Shape shape, group;
  std::vector<std::string> groups;
  int64_t size = 1;
  for (size_t i = 0; i < input.shape.size(); ++i) {
    group.push_back(i);
    size *= input.shape[i];
    if (i + 1 < input.shape.size() && random.chance(60))
      continue;
    groups.push_back(listText(group));
    shape.push_back(size);
    group.clear();
    size = 1;
  }
  std::string name = program.use(number);
  program.add("tensor.collapse_shape " + name + " [" + join(groups) + "] : " +
                  input.type() + " into " + typeText(input.element, shape),
              input.element, shape, input.quality);
}

void mlir::tofu::fuzz::addReshape(Program &program) {
  size_t number = program.pick(hasDims);
  size_t rank = program[number].shape.size();
  if (rank > 3 || (rank > 1 && program.random.chance(50)))
    return addCollapse(program, number);
  addExpand(program, number);
}

//===----------------------------------------------------------------------===//
// Slices, padding, concatenation
//===----------------------------------------------------------------------===//

namespace {
struct Slice {
  Shape offsets, sizes, strides, kept; ///< kept: without dropped dims

  std::string str() const {
    return listText(offsets) + " " + listText(sizes) + " " + listText(strides);
  }
};
} // namespace

static Slice makeSlice(Random &random, const Shape &shape) {
  Slice slice;
  for (int64_t size : shape) {
    bool whole = random.chance(40);
    int64_t stride = whole || size < 4 ? 1 : random.between(1, 3);
    int64_t most = (size - 1) / stride + 1;
    int64_t count = whole ? size : random.between(1, most);
    int64_t room = size - ((count - 1) * stride + 1);
    slice.offsets.push_back(random.below(room + 1));
    slice.sizes.push_back(count);
    slice.strides.push_back(stride);
    if (count != 1 || random.chance(60))
      slice.kept.push_back(count);
  }
  return slice;
}

void mlir::tofu::fuzz::addExtractSlice(Program &program) {
  size_t number = program.pick(hasDims);
  const Value input = program[number];
  Slice slice = makeSlice(program.random, input.shape);
  std::string name = program.use(number);
  program.add("tensor.extract_slice " + name + slice.str() + " : " +
                  input.type() + " to " + typeText(input.element, slice.kept),
              input.element, slice.kept, input.quality);
}

void mlir::tofu::fuzz::addInsertSlice(Program &program) {
  size_t number = program.pick(hasDims);
  const Value dest = program[number];
  Slice slice = makeSlice(program.random, dest.shape);
  size_t source = program.getOperand(dest.element, slice.kept);
  std::string from = program.use(source), into = program.use(number);
  program.add("tensor.insert_slice " + from + " into " + into + slice.str() +
                  " : " + program[source].type() + " into " + dest.type(),
              dest.element, dest.shape,
              larger(dest.quality, program[source].quality));
}

void mlir::tofu::fuzz::addPad(Program &program) {
  Random &random = program.random;
  size_t number = program.pick(hasDims);
  const Value input = program[number];
  Shape low, high, shape;
  std::vector<std::string> arguments;
  for (int64_t size : input.shape) {
    bool pads = random.chance(50);
    low.push_back(pads ? random.below(3) : 0);
    high.push_back(pads ? random.below(3) : 0);
    shape.push_back(size + low.back() + high.back());
    arguments.push_back(program.freshName("p") + ": index");
  }
  if (numElements(shape) > 4000)
    return;
  std::string number0 = numberText(random.below(2), input.element);
  std::string padding =
      program.addOther("arith.constant " + number0, input.element);
  std::string name = program.use(number);
  Quality quality = input.quality;
  quality.bound = std::max(quality.bound, 1.0);
  program.add("tensor.pad " + name + " low" + listText(low) + " high" +
                  listText(high) + " {\n    ^bb0(" + join(arguments) +
                  "):\n      tensor.yield " + padding + " : " + input.element +
                  "\n    } : " + input.type() + " to " +
                  typeText(input.element, shape),
              input.element, shape, quality);
}

void mlir::tofu::fuzz::addConcat(Program &program) {
  Random &random = program.random;
  size_t first = program.pick(
      [](const Value &value) { return hasDims(value) && value.isUsable(); });
  const Value input = program[first];
  int64_t dim = random.below(input.shape.size());
  Shape shape = input.shape;
  std::vector<std::string> names = {program.use(first)}, types = {input.type()};
  Quality quality = input.quality;
  for (int64_t i = random.between(1, 2); i > 0; --i) {
    Shape part = input.shape;
    part[dim] = random.chance(40) ? part[dim] : random.between(1, 5);
    size_t other = program.getOperand(input.element, part);
    names.push_back(program.use(other));
    types.push_back(program[other].type());
    quality = larger(quality, program[other].quality);
    shape[dim] += part[dim];
  }
  program.add("tensor.concat dim(" + std::to_string(dim) + ") " + join(names) +
                  " : (" + join(types) + ") -> " +
                  typeText(input.element, shape),
              input.element, shape, quality);
}

void mlir::tofu::fuzz::addTranspose(Program &program) {
  Random &random = program.random;
  size_t number = program.pick(hasDims);
  const Value input = program[number];
  if (random.chance(30)) {
    int64_t size = random.between(1, 7),
            at = random.below(input.shape.size() + 1);
    Shape shape = input.shape;
    shape.insert(shape.begin() + at, size);
    if (numElements(shape) > 4000)
      return;
    std::string empty = program.addEmpty(input.element, shape);
    std::string name = program.use(number);
    program.add("linalg.broadcast ins(" + name + " : " + input.type() +
                    ") outs(" + empty + " : " + typeText(input.element, shape) +
                    ") dimensions = [" + std::to_string(at) + "]",
                input.element, shape, input.quality);
    return;
  }
  Shape order, shape;
  for (size_t i = 0; i < input.shape.size(); ++i)
    order.push_back(i);
  random.shuffle(order);
  for (int64_t dim : order)
    shape.push_back(input.shape[dim]);
  std::string empty = program.addEmpty(input.element, shape);
  std::string name = program.use(number);
  program.add("linalg.transpose ins(" + name + " : " + input.type() +
                  ") outs(" + empty + " : " + typeText(input.element, shape) +
                  ") permutation = " + listText(order),
              input.element, shape, input.quality);
}

//===----------------------------------------------------------------------===//
// Arithmetic on tensors
//===----------------------------------------------------------------------===//

void mlir::tofu::fuzz::addTensorArithmetic(Program &program) {
  Random &random = program.random;
  size_t x = program.pick([](const Value &value) {
    return value.isUsable() && !isHalf(value.element) && value.element != "i1";
  });
  const Value input = program[x];
  size_t y = program.getOperand(input.element, input.shape);
  const Quality a = input.quality, b = program[y].quality;
  std::string xName = program.use(x), yName = program.use(y);
  auto add = [&](const std::string &op, const Quality &quality) {
    program.tame(
        program.add(op + " " + xName + ", " + yName + " : " + input.type(),
                    input.element, input.shape, quality));
  };
  if (!isReal(input.element)) {
    static const std::vector<std::string> kOps = {
        "arith.addi", "arith.muli", "arith.xori", "arith.minsi", "arith.maxui"};
    return add(random.pick(kOps), {});
  }
  bool integral = a.integral && b.integral;
  Quality sum = {a.bound + b.bound, a.error + b.error, integral};
  switch (random.below(5)) {
  case 0:
    return add("arith.addf", sum);
  case 1:
    return add("arith.subf", sum);
  case 2:
    return add("arith.mulf", {a.bound * b.bound,
                              a.bound * b.error + b.bound * a.error, integral});
  case 3:
    return add("arith.maximumf", larger(a, b));
  default:
    program.add("math.tanh " + xName + " : " + input.type(), input.element,
                input.shape, {1, a.error + 1e-7, false});
  }
}

void mlir::tofu::fuzz::addTensorCast(Program &program) {
  size_t number = program.pick([](const Value &value) {
    return value.isUsable() && value.element != "f64" && value.element != "i64";
  });
  const Value input = program[number];
  std::string element = "f64", op = "arith.extf";
  Quality quality = input.quality;
  if (input.element == "f32" && program.random.chance(60) &&
      quality.bound < 100) {
    element = program.random.chance(50) ? "bf16" : "f16";
    op = "arith.truncf";
    quality.error = quality.error == 0 ? 0 : 1e-2 * quality.bound;
    quality.integral = false;
  } else if (isHalf(input.element)) {
    element = "f32";
  } else if (input.element == "i1") {
    element = "f32";
    op = "arith.uitofp";
    quality = {1, 0, true};
  } else if (input.element == "i32") {
    element = "i64";
    op = program.random.chance(50) ? "arith.extsi" : "arith.extui";
  }
  std::string name = program.use(number);
  program.add(op + " " + name + " : " + input.type() + " to " +
                  typeText(element, input.shape),
              element, input.shape, quality);
}

//===----------------------------------------------------------------------===//
// Regions and calls
//===----------------------------------------------------------------------===//

void mlir::tofu::fuzz::addCall(Program &program) {
  size_t x = program.pick(isF32);
  const Value input = program[x];
  size_t y = program.getOperand("f32", input.shape);
  const Quality a = input.quality, b = program[y].quality;
  std::string type = input.type(),
              callee = "f" + program.freshName("").substr(1);
  program.addFunction("func.func private @" + callee + "(%x: " + type +
                      ", %y: " + type + ") -> " + type +
                      " {\n    %r = arith.mulf %x, %y : " + type +
                      "\n    %s = arith.addf %r, %x : " + type +
                      "\n    return %s : " + type + "\n}\n");
  std::string xName = program.use(x), yName = program.use(y);
  program.tame(program.add("func.call @" + callee + "(" + xName + ", " + yName +
                               ") : (" + type + ", " + type + ") -> " + type,
                           "f32", input.shape,
                           {a.bound * b.bound + a.bound,
                            a.bound * b.error + b.bound * a.error + a.error,
                            a.integral && b.integral}));
}

/// What a loop hands to the next trip, of what is there: %n is new, %a and %b
/// are what it got.
static std::string addHandover(Program &program, const std::string &type,
                               const std::string &trip,
                               const std::string &one) {
  static const std::vector<std::string> kPairs = {"%n, %a", "%n, %n", "%b, %n",
                                                  "%n, %b", "%m, %a", "%m, %n"};
  std::string pair = program.random.pick(kPairs), text;
  if (pair[1] == 'm')
    text = "      %o = arith.andi " + trip + ", " + one +
           " : index\n      %c = arith.cmpi eq, %o, " + one +
           " : index\n      %m = scf.if %c -> (" + type +
           ") {\n        %k = arith.negf %n : " + type +
           "\n        scf.yield %k : " + type +
           "\n      } else {\n        scf.yield %b : " + type + "\n      }\n";
  return text + "      scf.yield " + pair + " : " + type + ", " + type;
}

LoopHead::LoopHead(Program &program, unsigned most) {
  std::string zero = program.addOther("arith.constant 0 : index", "index");
  one = program.addOther("arith.constant 1 : index", "index");
  std::string trips = program.addOther(
      "arith.constant " + std::to_string(program.random.below(most)) +
          " : index",
      "index");
  trip = program.freshName("l");
  text = "scf.for " + trip + " = " + zero + " to " + trips + " step " + one;
}

/// The number of trips stays out of the error: each trip halves what it got.
void mlir::tofu::fuzz::addLoop(Program &program) {
  size_t x = program.pick(isF32);
  const Value input = program[x];
  size_t y = program.getOperand("f32", input.shape);
  const Quality a = input.quality, b = program[y].quality;
  std::string type = input.type();
  std::string half =
      program.addOther("arith.constant dense<0.5> : " + type, type);
  LoopHead loop(program, 6);
  std::string xName = program.use(x), yName = program.use(y);
  Value result = input;
  result.quality = {a.bound + 2 * b.bound, a.error + 2 * b.error, false};
  result.uses = 0;
  result.isArgument = false;
  program.addAll(
      loop.text + " iter_args(%a = " + xName + ", %b = " + yName + ") -> (" +
          type + ", " + type + ") {\n      %h = arith.mulf %a, " + half +
          " : " + type + "\n      %n = arith.addf %h, " + yName + " : " + type +
          "\n" + addHandover(program, type, loop.trip, loop.one) + "\n    }",
      {result, result});
}

void mlir::tofu::fuzz::addBranch(Program &program) {
  size_t x = program.pick(isF32);
  const Value input = program[x];
  size_t y = program.getOperand("f32", input.shape);
  std::string type = input.type(), condition = program.addScalarArgument("i1");
  std::string xName = program.use(x), yName = program.use(y);
  program.add(
      "scf.if " + condition + " -> (" + type + ") {\n      %n = arith.negf " +
          xName + " : " + type + "\n      scf.yield %n : " + type +
          "\n    } else {\n      scf.yield " + yName + " : " + type + "\n    }",
      "f32", input.shape, larger(input.quality, program[y].quality));
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

void mlir::tofu::fuzz::addRandomOperation(Program &program) {
  struct Kind {
    int weight;
    void (*add)(Program &);
  };
  static const std::vector<Kind> kKinds = {
      {22, addElementwise}, {4, addNamedElementwise},
      {12, addReduction},   {4, addNamedReduction},
      {3, addArgmax},       {7, addWindow},
      {12, addContraction}, {8, addNamedContraction},
      {8, addConvolution},  {9, addReshape},
      {6, addExtractSlice}, {5, addInsertSlice},
      {5, addPad},          {5, addConcat},
      {5, addTranspose},    {5, addTensorArithmetic},
      {3, addTensorCast},   {2, addCall},
      {3, addLoop},         {1, addBranch},
      {4, addGather},       {3, addScatter},
      {2, addComplexSum},   {2, addGenerate},
      {3, addSoftmax},      {4, addPack},
      {4, addGlobal},       {3, addForeignCall}};
  int64_t total = 0;
  for (const Kind &kind : kKinds)
    total += kind.weight;
  int64_t at = program.random.below(total);
  for (const Kind &kind : kKinds) {
    if (at < kind.weight)
      return kind.add(program);
    at -= kind.weight;
  }
}
