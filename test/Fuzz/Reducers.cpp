//===- Reducers.cpp - What reductions do to numbers -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reducers.h"

#include <cmath>

using namespace mlir::tofu::fuzz;

static double epsilonOf(const std::string &element) {
  return element == "f64" ? 2e-16 : 1e-7;
}

/// Infinity as bits.
static std::string infinityText(const std::string &element, bool negative) {
  if (element == "f64")
    return negative ? "0xFFF0000000000000" : "0x7FF0000000000000";
  if (element == "f32")
    return negative ? "0xFF800000" : "0x7F800000";
  if (element == "bf16")
    return negative ? "0xFF80" : "0x7F80";
  return negative ? "0xFC00" : "0x7C00";
}

Reducer mlir::tofu::fuzz::pickReducer(Random &random,
                                      const std::string &element,
                                      const Quality &quality) {
  if (element == "i1") {
    static const std::vector<Reducer> kBits = {
        {"arith.andi", "true", "true"},
        {"arith.ori", "false", "true"},
        {"arith.xori", "false", "true"},
        {"arith.addi", "false", "true"},
    };
    return random.pick(kBits);
  }
  std::string type = " : " + element;
  if (!isReal(element)) {
    static const std::vector<Reducer> kWhole = {
        {"arith.addi", "0", "5"},     {"arith.muli", "1", "3"},
        {"arith.maxsi", "-999", "1"}, {"arith.minsi", "999", "-2"},
        {"arith.maxui", "0", "3"},    {"arith.minui", "-1", "2"},
        {"arith.andi", "-1", "13"},   {"arith.ori", "0", "4"},
        {"arith.xori", "0", "9"}};
    Reducer reducer = random.pick(kWhole);
    return {reducer.op, reducer.neutral + type, reducer.other + type};
  }
  // Maxima and minima start from infinity or from something large.
  bool large = random.chance(40);
  std::string low = large ? "-1000.0" : infinityText(element, true);
  std::string high = large ? "1000.0" : infinityText(element, false);
  const std::vector<Reducer> reducers = {
      {"arith.maximumf", low, "0.25"}, {"arith.minimumf", high, "0.5"},
      {"arith.maxnumf", low, "-0.5"},  {"arith.minnumf", high, "0.125"},
      {"arith.addf", "0.0", "1.0"},    {"arith.addf", "-0.0", "0.5"},
      {"arith.addf", "0.0", "-2.0"},   {"arith.mulf", "1.0", "0.5"}};
  bool adds = !isHalf(element);
  bool multiplies = adds && quality.bound <= 1;
  int64_t count = multiplies ? 8 : adds ? 7 : 4;
  const Reducer &reducer = reducers[random.below(count)];
  return {reducer.op, reducer.neutral + type, reducer.other + type};
}

Quality mlir::tofu::fuzz::reduce(const std::string &op,
                                 const std::string &element, double count,
                                 const Quality &item, const Quality &init) {
  if (!isReal(element))
    return {};
  Quality result;
  result.integral = item.integral && init.integral;
  if (op == "arith.addf") {
    result.bound = count * item.bound + init.bound;
    bool exact = result.integral && item.isExact() && init.isExact() &&
                 result.bound < 8e6;
    if (!exact)
      result.error = count * item.error + init.error +
                     std::sqrt(count) * item.bound * epsilonOf(element);
    return result;
  }
  if (op == "arith.mulf") {
    result.bound = std::max(1.0, init.bound);
    result.error = count * (item.error + epsilonOf(element)) + init.error;
    return result;
  }
  result.bound = std::max(item.bound, init.bound);
  result.error = std::max(item.error, init.error);
  return result;
}

std::pair<std::string, Quality>
mlir::tofu::fuzz::makeInit(Program &program, const std::string &element,
                           const Shape &shape, const Reducer &reducer) {
  Random &random = program.random;
  int64_t kind = random.below(10);
  if (kind < 6)
    return {program.addFill(reducer.neutral, element, shape), {0, 0, true}};
  if (kind < 8)
    return {program.addFill(reducer.other, element, shape), {2, 0, false}};
  size_t init = program.getOperand(element, shape);
  return {program.use(init), program[init].quality};
}

void mlir::tofu::fuzz::addResults(Program &program, Structured &op, Scalar item,
                                  double count,
                                  const std::vector<int64_t> &kept) {
  Random &random = program.random;
  Reducer reducer = pickReducer(random, item.element, item.quality);
  int64_t numResults = random.chance(12) ? 2 : 1;
  std::vector<Scalar> outs;
  for (int64_t i = 0; i < numResults; ++i) {
    auto [map, shape] = makeMap(random, kept, op.sizes());
    auto [init, quality] = makeInit(program, item.element, shape, reducer);
    outs.push_back(op.addResult(init, item.element, shape, map));
    outs.back().quality = quality;
  }
  std::vector<size_t> results;
  for (int64_t i = 0; i < numResults; ++i) {
    if (i && random.chance(40))
      reducer = pickReducer(random, item.element, item.quality);
    Quality quality =
        reduce(reducer.op, item.element, count, item.quality, outs[i].quality);
    bool swap = random.chance(30);
    const Scalar &x = swap ? outs[i] : item, &y = swap ? item : outs[i];
    op.yield(op.body.add(reducer.op + " " + x.name + ", " + y.name + " : " +
                             item.element,
                         item.element, quality));
  }
  for (size_t result : op.finish())
    program.tame(result);
}
