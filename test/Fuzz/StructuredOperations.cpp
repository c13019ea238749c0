//===- StructuredOperations.cpp - Random linalg operations ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operations.h"
#include "Structured.h"

#include <algorithm>
#include <cmath>

using namespace mlir::tofu::fuzz;

/// Largest iteration space of an operation.
static constexpr int64_t kMostWork = 100000;

static double epsilonOf(const std::string &element) {
  return element == "f64" ? 2e-16 : 1e-7;
}

/// A map of an operand with the dims in `dims`, sometimes in another order and
/// with an index that is always zero, and the shape that goes with it.
static std::pair<Map, Shape> makeMap(Random &random, std::vector<int64_t> dims,
                                     const Shape &sizes) {
  if (random.chance(30))
    random.shuffle(dims);
  Map map;
  Shape shape;
  int64_t zeroAt = random.chance(10) ? random.below(dims.size() + 1) : -1;
  for (size_t i = 0; i <= dims.size(); ++i) {
    if (int64_t(i) == zeroAt) {
      map.push_back("0");
      shape.push_back(1);
    }
    if (i == dims.size())
      break;
    map.push_back(dimText(dims[i]));
    shape.push_back(sizes[dims[i]]);
  }
  return {map, shape};
}

static std::vector<int64_t> allDims(const Shape &sizes) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < sizes.size(); ++i)
    dims.push_back(i);
  return dims;
}

/// Some of the dims, each with some chance.
static std::vector<int64_t> someDims(Random &random, const Shape &sizes,
                                     int percent) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (random.chance(percent))
      dims.push_back(i);
  return dims;
}

/// An element type to go with another one.
static std::string elementLike(Random &random, const std::string &element) {
  static const std::vector<std::string> kOthers = {"f32", "i32", "f32", "i1",
                                                   "f64", "i64", "bf16"};
  if (!isHalf(element) && random.chance(85))
    return element;
  return isHalf(element) && random.chance(60) ? "f32" : random.pick(kOthers);
}

static bool isUsable(const Value &value) { return value.isUsable(); }

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

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

/// An entry of a whole tensor that the body captures, at an index made of a
/// leaf or of a dim.
static bool gather(Program &program, Structured &op, const Scalar &index,
                   std::vector<Scalar> &leaves) {
  Random &random = program.random;
  Scalar where = index;
  if (isReal(where.element) || !op.body.convert(where, "i32"))
    return false;
  int64_t rows = random.between(1, 9);
  size_t table = program.getOperand("f32", {rows, 3});
  Body &body = op.body;
  Scalar size =
      body.add("arith.constant " + std::to_string(rows) + " : i32", "i32", {});
  Scalar part = body.add(
      "arith.remui " + where.name + ", " + size.name + " : i32", "i32", {});
  Scalar cast = body.add("arith.index_cast " + part.name + " : i32 to index",
                         "index", {});
  Scalar one = body.add("arith.constant 1 : index", "index", {});
  std::string name = program.use(table);
  leaves.push_back(body.add("tensor.extract " + name + "[" + cast.name + ", " +
                                one.name + "] : " + program[table].type(),
                            "f32", program[table].quality));
  return true;
}

static void addSpecialLeaves(Program &program, Structured &op,
                             std::vector<Scalar> &leaves) {
  Random &random = program.random;
  Scalar first = leaves.front();
  if (random.chance(15) && !op.sizes().empty()) {
    int64_t dim = random.below(op.sizes().size());
    first = op.body.index(dim, op.sizes()[dim]);
    leaves.push_back(first);
  }
  if (random.chance(12))
    leaves.push_back({program.addScalarArgument("f32"), "f32", {}});
  if (random.chance(12))
    gather(program, op, first, leaves);
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
// Reductions
//===----------------------------------------------------------------------===//

namespace {
struct Reducer {
  std::string op, neutral, other;
};
} // namespace

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

static Reducer pickReducer(Random &random, const std::string &element,
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

/// What a reduction starts from: the neutral element mostly, another number,
/// or a tensor.
static std::pair<std::string, Quality> makeInit(Program &program,
                                                const std::string &element,
                                                const Shape &shape,
                                                const Reducer &reducer) {
  Random &random = program.random;
  int64_t kind = random.below(10);
  if (kind < 6)
    return {program.addFill(reducer.neutral, element, shape), {0, 0, true}};
  if (kind < 8)
    return {program.addFill(reducer.other, element, shape), {2, 0, false}};
  size_t init = program.getOperand(element, shape);
  return {program.use(init), program[init].quality};
}

/// Reduces two leaves in the body, one for each result.
static void addResults(Program &program, Structured &op, Scalar item,
                       double count, const std::vector<int64_t> &kept) {
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

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Slides over dims of a value; with weights, or only along it.
void mlir::tofu::fuzz::addWindow(Program &program) {
  Random &random = program.random;
  size_t primary = program.pick([](const Value &value) {
    return !value.shape.empty() && value.isUsable() && !isHalf(value.element) &&
           numElements(value.shape) < 600;
  });
  const Value input = program[primary];
  Structured op(program);
  Map map, weightMap;
  Shape weightShape;
  std::vector<int64_t> kept;
  double count = 1;
  bool reduces = random.chance(70);
  for (int64_t size : input.shape) {
    bool slides = size >= 3 && (weightMap.empty() || random.chance(40));
    if (!slides) {
      kept.push_back(op.addDim(size));
      map.push_back(dimText(kept.back()));
      continue;
    }
    int64_t window = random.between(1, std::min<int64_t>(size, 3));
    int64_t dilation =
        window > 1 && size > 2 * window ? random.between(1, 2) : 1;
    int64_t reach = dilation * (window - 1) + 1;
    int64_t stride = random.between(1, 2);
    int64_t numPlaces = (size - reach) / stride + 1;
    int64_t place = op.addDim(numPlaces);
    int64_t offset = op.addDim(window, reduces);
    kept.push_back(place);
    if (!reduces)
      kept.push_back(offset);
    else
      count *= double(window);
    map.push_back(dimText(place) + " * " + std::to_string(stride) + " + " +
                  dimText(offset) + " * " + std::to_string(dilation));
    weightMap.push_back(dimText(offset));
    weightShape.push_back(window);
  }
  if (weightMap.empty())
    return;
  if (random.chance(30)) {
    weightMap.push_back(dimText(op.addDim(random.between(1, 5))));
    kept.push_back(op.sizes().size() - 1);
    weightShape.push_back(op.sizes().back());
  }
  if (numElements(op.sizes()) > kMostWork)
    return;
  size_t weight = program.getOperand(input.element, weightShape);
  std::vector<Scalar> leaves = {op.addInput(primary, map),
                                op.addInput(weight, weightMap)};
  if (reduces) {
    addResults(program, op, op.body.express(leaves, input.element), count,
               kept);
    return;
  }
  auto [resultMap, shape] = makeMap(random, kept, op.sizes());
  op.addResult(program.addEmpty(input.element, shape), input.element, shape,
               resultMap);
  op.yield(op.body.express(leaves, input.element));
  op.finish();
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// Element type that products of `element` are added up in.
static std::string sumElement(const std::string &element) {
  return isHalf(element) ? "f32" : element;
}

void mlir::tofu::fuzz::addContraction(Program &program) {
  Random &random = program.random;
  size_t primary = program.pick([](const Value &value) {
    return !value.shape.empty() && value.isUsable() && value.element != "i1";
  });
  const Value input = program[primary];
  Structured op(program);
  std::vector<int64_t> left, right, kept;
  double count = 1;
  int64_t sure = random.below(input.shape.size());
  for (size_t i = 0; i < input.shape.size(); ++i) {
    int64_t kind = int64_t(i) == sure ? 0 : random.below(3);
    int64_t dim = op.addDim(input.shape[i], kind == 0);
    left.push_back(dim);
    if (kind == 0)
      count *= double(input.shape[i]);
    if (kind != 2)
      right.push_back(dim);
    if (kind != 0)
      kept.push_back(dim);
  }
  for (int64_t i = random.below(3); i > 0; --i) {
    int64_t dim = op.addDim(random.between(1, 9));
    right.push_back(dim);
    kept.push_back(dim);
  }
  if (numElements(op.sizes()) > kMostWork)
    return;
  if (random.chance(50))
    random.shuffle(right);
  Map leftMap;
  for (int64_t dim : left)
    leftMap.push_back(dimText(dim));
  auto [rightMap, shape] = makeMap(random, right, op.sizes());
  size_t other = program.getOperand(input.element, shape);
  Scalar x = op.addInput(primary, leftMap), y = op.addInput(other, rightMap);
  if (random.chance(50))
    std::swap(x, y);
  std::string element = sumElement(input.element);
  op.body.convert(x, element);
  op.body.convert(y, element);
  bool real = isReal(element);
  std::string times = real ? "arith.mulf " : "arith.muli ";
  Quality quality = {x.quality.bound * y.quality.bound,
                     x.quality.error * y.quality.bound +
                         y.quality.error * x.quality.bound,
                     x.quality.integral && y.quality.integral};
  Scalar product = op.body.add(times + x.name + ", " + y.name + " : " + element,
                               element, quality);
  // Mostly sums; other combiners are no contractions, but fine as reductions.
  if (random.chance(8)) {
    addResults(program, op, product, count, kept);
    return;
  }
  Reducer sum = {real ? "arith.addf" : "arith.addi",
                 real ? "0.0 : " + element : "0 : " + element,
                 real ? "1.0 : " + element : "2 : " + element};
  auto [map, resultShape] = makeMap(random, kept, op.sizes());
  auto [init, initQuality] = makeInit(program, element, resultShape, sum);
  Scalar out = op.addResult(init, element, resultShape, map);
  op.yield(op.body.add(
      sum.op + " " + out.name + ", " + product.name + " : " + element, element,
      reduce(sum.op, element, count, quality, initQuality)));
  program.tame(op.finish().front());
}

/// A named operation with two inputs that sums up products.
static void addProducts(Program &program, const std::string &op, size_t left,
                        const Shape &rightShape, const Shape &resultShape,
                        double count) {
  const Value x = program[left];
  size_t right = program.getOperand(x.element, rightShape);
  const Value y = program[right];
  std::string element = sumElement(x.element);
  bool real = isReal(element);
  Reducer sum = {real ? "arith.addf" : "arith.addi",
                 real ? "0.0 : " + element : "0 : " + element,
                 real ? "1.0 : " + element : "2 : " + element};
  auto [init, quality] = makeInit(program, element, resultShape, sum);
  Quality product = {x.quality.bound * y.quality.bound,
                     x.quality.error * y.quality.bound +
                         y.quality.error * x.quality.bound,
                     x.quality.integral && y.quality.integral};
  std::string xName = program.use(left), yName = program.use(right);
  std::string type = typeText(element, resultShape);
  program.tame(program.add(
      op + " ins(" + xName + ", " + yName + " : " + x.type() + ", " + y.type() +
          ") outs(" + init + " : " + type + ") -> " + type,
      element, resultShape, reduce(sum.op, element, count, product, quality)));
}

void mlir::tofu::fuzz::addNamedContraction(Program &program) {
  Random &random = program.random;
  size_t left = program.pick([](const Value &value) {
    size_t rank = value.shape.size();
    return rank >= 1 && rank <= 3 && value.isUsable() && value.element != "i1";
  });
  Shape s = program[left].shape;
  int64_t n = random.between(1, 12);
  if (s.size() == 1) {
    if (random.chance(30))
      return addProducts(program, "linalg.dot", left, s, {}, double(s[0]));
    return addProducts(program, "linalg.vecmat", left, {s[0], n}, {n},
                       double(s[0]));
  }
  if (s.size() == 2) {
    static const std::string kMaps[] = {
        "linalg.matmul",
        "linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, "
        "affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, "
        "d1)>]",
        "linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, "
        "affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, "
        "d1)>]"};
    switch (random.below(4)) {
    case 0:
      return addProducts(program, kMaps[0], left, {s[1], n}, {s[0], n},
                         double(s[1]));
    case 1:
      return addProducts(program, kMaps[1], left, {n, s[1]}, {s[0], n},
                         double(s[1]));
    case 2:
      return addProducts(program, kMaps[2], left, {s[0], n}, {s[1], n},
                         double(s[0]));
    default:
      return addProducts(program, "linalg.matvec", left, {s[1]}, {s[0]},
                         double(s[1]));
    }
  }
  if (random.chance(30))
    return addProducts(program, "linalg.batch_reduce_matmul", left,
                       {s[0], s[2], n}, {s[1], n}, double(s[0] * s[2]));
  return addProducts(program, "linalg.batch_matmul", left, {s[0], s[2], n},
                     {s[0], s[1], n}, double(s[2]));
}

//===----------------------------------------------------------------------===//
// Convolutions and pooling
//===----------------------------------------------------------------------===//

namespace {
/// Named convolutions by their axes: n batch, h and w space, c input channels,
/// f output channels, g groups, m multiplier.
struct Convolution {
  const char *name, *input, *filter, *output;
};
} // namespace

static const std::vector<Convolution> kConvolutions = {
    {"conv_1d_nwc_wcf", "nwc", "wcf", "nwf"},
    {"conv_1d_ncw_fcw", "ncw", "fcw", "nfw"},
    {"conv_2d", "hw", "hw", "hw"},
    {"conv_2d_nhwc_hwcf", "nhwc", "hwcf", "nhwf"},
    {"conv_2d_nhwc_fhwc", "nhwc", "fhwc", "nhwf"},
    {"conv_2d_nchw_fchw", "nchw", "fchw", "nfhw"},
    {"conv_2d_ngchw_fgchw", "ngchw", "fgchw", "ngfhw"},
    {"conv_2d_ngchw_gfchw", "ngchw", "gfchw", "ngfhw"},
    {"depthwise_conv_1d_nwc_wc", "nwc", "wc", "nwc"},
    {"depthwise_conv_2d_nhwc_hwc", "nhwc", "hwc", "nhwc"},
    {"depthwise_conv_2d_nchw_chw", "nchw", "chw", "nchw"},
    {"depthwise_conv_2d_nhwc_hwcm", "nhwc", "hwcm", "nhwcm"},
    {"pooling_nhwc_sum", "nhwc", "hw", "nhwc"},
    {"pooling_nchw_sum", "nchw", "hw", "nchw"},
    {"pooling_nhwc_max", "nhwc", "hw", "nhwc"},
    {"pooling_nchw_max", "nchw", "hw", "nchw"},
    {"pooling_nhwc_min", "nhwc", "hw", "nhwc"},
};

void mlir::tofu::fuzz::addConvolution(Program &program) {
  Random &random = program.random;
  const Convolution &kind = random.pick(kConvolutions);
  std::string name = kind.name, axes = kind.input;
  bool pools = name[0] == 'p';
  auto isSpace = [](char axis) { return axis == 'h' || axis == 'w'; };

  int64_t sizes[128] = {}, windows[128] = {}, strides[128] = {},
          dilations[128] = {}, places[128] = {};
  for (char axis : std::string("nhwcfgm"))
    sizes[int(axis)] = random.between(1, isSpace(axis) ? 9 : 4);
  Shape inputShape;
  for (char axis : axes)
    inputShape.push_back(sizes[int(axis)]);
  // An old value of that rank does as well.
  size_t input = program.pick([&](const Value &value) {
    return value.element == "f32" && value.isUsable() &&
           value.shape.size() == axes.size() && numElements(value.shape) < 800;
  });
  if (input == program.size() || random.chance(30))
    input = program.addArgument("f32", inputShape);
  inputShape = program[input].shape;
  for (size_t i = 0; i < axes.size(); ++i)
    sizes[int(axes[i])] = inputShape[i];

  double count = 1;
  std::vector<std::string> strideTexts, dilationTexts;
  for (char c : axes) {
    int axis = c;
    if (!isSpace(c))
      continue;
    windows[axis] = random.between(1, std::min<int64_t>(3, sizes[axis]));
    dilations[axis] =
        windows[axis] * 2 < sizes[axis] ? random.between(1, 2) : 1;
    strides[axis] = random.between(1, 3);
    places[axis] = (sizes[axis] - dilations[axis] * (windows[axis] - 1) - 1) /
                       strides[axis] +
                   1;
    strideTexts.push_back(std::to_string(strides[axis]));
    dilationTexts.push_back(std::to_string(dilations[axis]));
    count *= double(windows[axis]);
  }
  Shape filterShape, outputShape;
  for (char c : std::string(kind.filter)) {
    filterShape.push_back(isSpace(c) ? windows[int(c)] : sizes[int(c)]);
    if (c == 'c' && std::string(kind.output).find('c') == std::string::npos)
      count *= double(sizes[int(c)]);
  }
  for (char c : std::string(kind.output))
    outputShape.push_back(isSpace(c) ? places[int(c)] : sizes[int(c)]);
  std::string attributes = "linalg." + name;
  if (name != "conv_2d")
    attributes += " {strides = dense<[" + join(strideTexts) + "]> : tensor<" +
                  std::to_string(strideTexts.size()) +
                  "xi64>, dilations = dense<[" + join(dilationTexts) +
                  "]> : tensor<" + std::to_string(strideTexts.size()) +
                  "xi64>}";
  else
    for (size_t i = 0; i < axes.size(); ++i)
      outputShape[i] = sizes[int(axes[i])] - windows[int(axes[i])] + 1;
  if (!pools)
    return addProducts(program, attributes, input, filterShape, outputShape,
                       count);

  bool adds = name.find("sum") != std::string::npos;
  bool max = name.find("max") != std::string::npos;
  Reducer reducer = {adds ? "arith.addf" : "arith.maximumf",
                     adds  ? "0.0 : f32"
                     : max ? "-1000.0 : f32"
                           : "1000.0 : f32",
                     "0.5 : f32"};
  auto [init, quality] = makeInit(program, "f32", outputShape, reducer);
  std::string window = program.addEmpty("f32", filterShape);
  std::string x = program.use(input), type = typeText("f32", outputShape);
  program.tame(program.add(
      attributes + " ins(" + x + ", " + window + " : " + program[input].type() +
          ", " + typeText("f32", filterShape) + ") outs(" + init + " : " +
          type + ") -> " + type,
      "f32", outputShape,
      reduce(reducer.op, "f32", count, program[input].quality, quality)));
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
