//===- ReductionOperations.cpp - Random reductions ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations.h"
#include "Reducers.h"

#include <algorithm>
#include <cmath>

using namespace mlir::tofu::fuzz;

void mlir::tofu::fuzz::addReduction(Program &program) {
  Random &random = program.random;
  size_t primary = program.pick([](const Value &value) {
    return !value.shape.empty() && (value.isUsable() || isHalf(value.element));
  });
  const Value input = program[primary];
  Structured op(program);
  std::vector<int64_t> kept;
  Map map;
  double count = 1;
  int64_t sure = random.below(input.shape.size());
  for (size_t i = 0; i < input.shape.size(); ++i) {
    bool reduces = int64_t(i) == sure || random.chance(35);
    int64_t dim = op.addDim(input.shape[i], reduces);
    map.push_back(dimText(dim));
    if (reduces)
      count *= double(input.shape[i]);
    else
      kept.push_back(dim);
  }
  Scalar item = op.addInput(primary, map);
  if (input.isUsable() && !isHalf(input.element) && random.chance(30)) {
    std::vector<Scalar> leaves = {item};
    addSpecialLeaves(program, op, leaves);
    item = op.body.express(leaves, item.element);
  }
  addResults(program, op, item, count, kept);
}

void mlir::tofu::fuzz::addNamedReduction(Program &program) {
  Random &random = program.random;
  size_t primary = program.pick([](const Value &value) {
    return !value.shape.empty() && value.isUsable();
  });
  const Value input = program[primary];
  Reducer reducer = pickReducer(random, input.element, input.quality);
  std::vector<int64_t> dims = someDims(random, input.shape, 50);
  if (dims.empty())
    dims.push_back(random.below(input.shape.size()));
  Shape kept;
  std::vector<std::string> names;
  double count = 1;
  for (size_t i = 0; i < input.shape.size(); ++i) {
    if (std::find(dims.begin(), dims.end(), int64_t(i)) == dims.end()) {
      kept.push_back(input.shape[i]);
      continue;
    }
    names.push_back(std::to_string(i));
    count *= double(input.shape[i]);
  }
  auto [init, quality] = makeInit(program, input.element, kept, reducer);
  std::string name = program.use(primary);
  program.tame(program.add(
      "linalg.reduce { " + reducer.op + " } ins(" + name + " : " +
          input.type() + ") outs(" + init + " : " +
          typeText(input.element, kept) + ") dimensions = [" + join(names) +
          "]",
      input.element, kept,
      reduce(reducer.op, input.element, count, input.quality, quality)));
}

/// The largest element of each row and where it is; the first of several.
void mlir::tofu::fuzz::addArgmax(Program &program) {
  Random &random = program.random;
  size_t primary = program.pick([](const Value &value) {
    return !value.shape.empty() && isReal(value.element) &&
           value.quality.isExact();
  });
  const Value input = program[primary];
  Structured op(program);
  int64_t reduced = random.below(input.shape.size());
  std::vector<int64_t> kept;
  Map map;
  for (size_t i = 0; i < input.shape.size(); ++i) {
    bool reduces = int64_t(i) == reduced;
    map.push_back(dimText(op.addDim(input.shape[i], reduces)));
    if (!reduces)
      kept.push_back(i);
  }
  Scalar item = op.addInput(primary, map);
  Map resultMap;
  Shape shape;
  for (int64_t dim : kept) {
    resultMap.push_back(dimText(dim));
    shape.push_back(input.shape[dim]);
  }
  std::string largest =
      program.addFill("-1000.0 : " + input.element, input.element, shape);
  std::string place = program.addFill("0 : i32", "i32", shape);
  Scalar best = op.addResult(largest, input.element, shape, resultMap);
  Scalar at = op.addResult(place, "i32", shape, resultMap);
  Body &body = op.body;
  Scalar index = body.index(reduced, input.shape[reduced]);
  Scalar larger = body.add("arith.cmpf ogt, " + item.name + ", " + best.name +
                               " : " + input.element,
                           "i1", {});
  op.yield(body.add("arith.select " + larger.name + ", " + item.name + ", " +
                        best.name + " : " + input.element,
                    input.element, input.quality));
  op.yield(body.add("arith.select " + larger.name + ", " + index.name + ", " +
                        at.name + " : i32",
                    "i32", {}));
  op.finish();
}

/// An element-wise operation of f32 and complex numbers, with no more name than
/// that of its result.
static std::string addPlain(Program &program, const std::vector<Value> &inputs,
                            const std::string &element,
                            const std::string &statement) {
  const Shape &shape = inputs.front().shape;
  std::string type = typeText(element, shape);
  std::string map = "affine_map<(", dims, iterators;
  for (size_t i = 0; i < shape.size(); ++i) {
    dims += (i ? ", " : "") + dimText(i);
    iterators += std::string(i ? ", " : "") + "\"parallel\"";
  }
  map += dims + ") -> (" + dims + ")>";
  std::string maps, names, types, arguments;
  for (const Value &input : inputs) {
    maps += map + ", ";
    names += (names.empty() ? "" : ", ") + input.name;
    types += (types.empty() ? "" : ", ") + input.type();
    arguments += "%in" + std::to_string(&input - inputs.data()) + ": " +
                 input.element + ", ";
  }
  std::string empty = program.addEmpty(element, shape);
  return "linalg.generic {indexing_maps = [" + maps + map +
         "], iterator_types = [" + iterators + "]} ins(" + names + " : " +
         types + ") outs(" + empty + " : " + type + ") {\n    ^bb0(" +
         arguments + "%out: " + element + "):\n      %made = " + statement +
         "\n      linalg.yield %made : " + element + "\n    } -> " + type;
}

/// The sum of complex numbers along some dims, and a part of that.
void mlir::tofu::fuzz::addComplexSum(Program &program) {
  Random &random = program.random;
  size_t primary = program.pick([](const Value &value) {
    return !value.shape.empty() && value.isUsable() &&
           (value.element == "f32" || value.element == "f64");
  });
  size_t secondary =
      program.getOperand(program[primary].element, program[primary].shape);
  const Value x = program[primary], y = program[secondary];
  program.use(primary);
  program.use(secondary);
  Value made;
  made.element = "complex<" + x.element + ">";
  made.shape = x.shape;
  made.name =
      program.addOther(addPlain(program, {x, y}, made.element,
                                "complex.create %in0, %in1 : " + made.element),
                       made.type());
  std::vector<int64_t> dims = someDims(random, x.shape, 50);
  if (dims.empty())
    dims.push_back(random.below(x.shape.size()));
  Value sum;
  sum.element = made.element;
  std::string numbers;
  double count = 1;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (std::find(dims.begin(), dims.end(), int64_t(i)) == dims.end()) {
      sum.shape.push_back(x.shape[i]);
      continue;
    }
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(i);
    count *= double(x.shape[i]);
  }
  bool starts = random.chance(40);
  std::string real = starts ? "1.0" : "0.0",
              imaginary = starts ? "-0.5" : "0.0";
  std::string number =
      program.addOther("complex.constant [" + real + " : " + x.element + ", " +
                           imaginary + " : " + x.element + "] : " + sum.element,
                       sum.element);
  std::string empty = program.addEmpty(sum.element, sum.shape);
  std::string init = program.addOther(
      "linalg.fill ins(" + number + " : " + sum.element + ") outs(" + empty +
          " : " + sum.type() + ") -> " + sum.type(),
      sum.type());
  sum.name =
      program.addOther("linalg.reduce { complex.add } ins(" + made.name +
                           " : " + made.type() + ") outs(" + init + " : " +
                           sum.type() + ") dimensions = [" + numbers + "]",
                       sum.type());
  Quality item{std::max(x.quality.bound, y.quality.bound),
               std::max(x.quality.error, y.quality.error),
               x.quality.integral && y.quality.integral};
  Quality quality = reduce("arith.addf", x.element, count, item,
                           {starts ? 1.0 : 0.0, 0, !starts});
  std::string part = random.chance(50) ? "complex.re" : "complex.im";
  program.tame(program.add(
      addPlain(program, {sum}, x.element, part + " %in0 : " + sum.element),
      x.element, sum.shape, quality));
}
