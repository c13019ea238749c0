//===- ElementwiseOperations.cpp - Element by element ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations.h"
#include "Structured.h"

using namespace mlir::tofu::fuzz;

/// An element type to go with another one.
static std::string elementLike(Random &random, const std::string &element) {
  static const std::vector<std::string> kOthers = {"f32", "i32", "f32", "i1",
                                                   "f64", "i64", "bf16"};
  if (!isHalf(element) && random.chance(85))
    return element;
  return isHalf(element) && random.chance(60) ? "f32" : random.pick(kOthers);
}

/// Adds the dims of `value`, in some order; gives its map.
static Map addDimsOf(Random &random, Structured &op, const Shape &shape) {
  std::vector<int64_t> order = allDims(shape);
  if (random.chance(30))
    random.shuffle(order);
  Map map(shape.size());
  for (int64_t dim : order)
    map[dim] = dimText(op.addDim(shape[dim]));
  return map;
}

/// Adds inputs that are broadcast or permuted; gives the leaves of the body.
static void addOtherInputs(Program &program, Structured &op,
                           const std::string &element,
                           std::vector<Scalar> &leaves) {
  Random &random = program.random;
  for (int64_t i = random.below(3); i > 0; --i) {
    auto [map, shape] =
        makeMap(random, someDims(random, op.sizes(), 75), op.sizes());
    size_t operand = program.getOperand(elementLike(random, element), shape);
    leaves.push_back(op.addInput(operand, map));
  }
}

void mlir::tofu::fuzz::addElementwise(Program &program) {
  Random &random = program.random;
  size_t primary = program.pick(isUsable);
  Structured op(program);
  Map map = addDimsOf(random, op, program[primary].shape);
  int64_t extra = random.between(2, 7);
  if (random.chance(15) && numElements(op.sizes()) * extra < 4000)
    op.addDim(extra);
  std::string element = elementLike(random, program[primary].element);
  std::vector<Scalar> leaves = {op.addInput(primary, map)};
  addOtherInputs(program, op, element, leaves);
  addSpecialLeaves(program, op, leaves);

  int64_t numResults = random.chance(15) ? 2 : 1;
  for (int64_t i = 0; i < numResults; ++i) {
    auto [resultMap, shape] = makeMap(random, allDims(op.sizes()), op.sizes());
    std::string init;
    bool reads = random.chance(15);
    size_t old = reads ? program.getOperand(element, shape) : 0;
    init = reads ? program.use(old) : program.addEmpty(element, shape);
    Scalar out = op.addResult(init, element, shape, resultMap);
    if (reads) {
      out.quality = program[old].quality;
      leaves.push_back(out);
    }
  }
  for (int64_t i = 0; i < numResults; ++i)
    op.yield(op.body.express(leaves, element));
  op.finish();
}

//===----------------------------------------------------------------------===//
// Named operations, element by element
//===----------------------------------------------------------------------===//

void mlir::tofu::fuzz::addNamedElementwise(Program &program) {
  Random &random = program.random;
  size_t x = program.pick([](const Value &value) {
    return value.isUsable() &&
           (value.element == "f32" || value.element == "f64");
  });
  const Value input = program[x];
  std::string empty = program.addEmpty(input.element, input.shape);
  std::string tail =
      " outs(" + empty + " : " + input.type() + ") -> " + input.type();
  if (random.chance(40)) {
    static const std::vector<std::string> kUnary = {"negf", "abs", "tanh",
                                                    "erf"};
    const std::string &op = random.pick(kUnary);
    Quality quality = input.quality;
    if (op == "tanh" || op == "erf")
      quality = {1, quality.error + 1e-7, false};
    std::string name = program.use(x);
    program.add("linalg." + op + " ins(" + name + " : " + input.type() + ")" +
                    tail,
                input.element, input.shape, quality);
    return;
  }
  size_t y = program.getOperand(input.element, input.shape);
  const Quality &a = input.quality, b = program[y].quality;
  static const std::vector<std::string> kBinary = {"add", "sub", "mul", "max",
                                                   "min"};
  const std::string &op = random.pick(kBinary);
  Quality quality = {a.bound + b.bound, a.error + b.error,
                     a.integral && b.integral};
  if (op == "mul")
    quality = {a.bound * b.bound, a.bound * b.error + b.bound * a.error,
               a.integral && b.integral};
  std::string xName = program.use(x), yName = program.use(y);
  program.tame(program.add("linalg." + op + " ins(" + xName + ", " + yName +
                               " : " + input.type() + ", " + input.type() +
                               ")" + tail,
                           input.element, input.shape, quality));
}
