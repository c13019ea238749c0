//===- DynamicProgram.cpp - Random programs of unknown sizes --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations on tensors of f32, some dims of which have no size in their type.
// Numbers stay between -1 and 1, but for an infinity that a reduction may start
// from; what they are made of is added up once.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "Program.h"

#include <algorithm>

using namespace mlir::tofu::fuzz;

namespace {

/// A tensor, with the sizes that it has when the program runs.
struct Tensor {
  std::string name;
  Shape sizes;
  std::vector<bool> isUnknown; ///< per dim: its type has no size
  int uses = 0;

  size_t rank() const { return sizes.size(); }
  std::string type(const char *element = "f32") const {
    std::string text = "tensor<";
    for (size_t dim = 0; dim < rank(); ++dim)
      text += (isUnknown[dim] ? "?" : std::to_string(sizes[dim])) + "x";
    return text + element + ">";
  }
};

/// The function that is being written. Tensors are known by number.
class DynamicProgram {
public:
  explicit DynamicProgram(Random &random) : random(random) {}

  std::string generate();

private:
  using Operation = void (DynamicProgram::*)(Tensor);

  void addElementwise(Tensor x);
  void addReduction(Tensor x);
  void addArgmax(Tensor x);
  void addMatmul(Tensor x);
  void addSoftmax(Tensor x);
  void addTranspose(Tensor x);
  void addConcat(Tensor x);
  void addPad(Tensor x);
  void addWindow(Tensor x);
  void addSlice(Tensor x);
  void addCollapse(Tensor x);
  void addGather(Tensor x);
  void addScatter(Tensor x);
  void addUnpack(Tensor x);

  Tensor addArgument(Tensor like);
  Tensor getArgument();
  Tensor pick();
  Tensor dropDim(const Tensor &x, size_t dim);
  Tensor add(Tensor result, const std::string &text);
  void addBounded(Tensor sum, const std::string &text);
  std::string addOther(const std::string &text, const std::string &type);
  std::string constant(int64_t number);
  std::string addSize(const Tensor &x, size_t dim);
  std::string addEmpty(const Tensor &like, std::vector<std::string> unknown,
                       const char *element = "f32");
  std::string addFill(const Tensor &like, std::vector<std::string> unknown,
                      const std::string &number, const char *element = "f32");
  std::vector<std::string> getUnknown(const Tensor &x);
  std::vector<std::string> getUnknownBut(const Tensor &x, size_t dim);
  std::string addPoints(int64_t size, int64_t count);
  std::string str();

  Random &random;
  std::vector<Tensor> tensors;
  std::vector<std::string> inputs, arguments, resultNames, resultTypes;
  std::string statements;
  int64_t counter = 0;
};

} // namespace

static std::string list(size_t count, const char *prefix, size_t first = 0) {
  std::vector<std::string> items;
  for (size_t i = 0; i < count; ++i)
    items.push_back(prefix + std::to_string(first + i));
  return join(items);
}

/// An affine map from `numDims` dims.
static std::string mapText(size_t numDims,
                           const std::vector<std::string> &exprs) {
  return "affine_map<(" + list(numDims, "d") + ") -> (" + join(exprs) + ")>";
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Tensor DynamicProgram::addArgument(Tensor like) {
  like.name = "%arg" + std::to_string(arguments.size());
  like.uses = 0;
  arguments.push_back(like.name + ": " + like.type());
  std::string sizes;
  for (int64_t size : like.sizes)
    sizes += std::to_string(size) + "x";
  inputs.push_back(sizes + "f32");
  tensors.push_back(like);
  return like;
}

Tensor DynamicProgram::getArgument() {
  static const Shape kSizes = {1, 2, 3, 4, 5, 7, 8, 9, 12, 13};
  Tensor tensor;
  for (int64_t rank = random.between(1, 3); rank > 0; --rank) {
    tensor.sizes.push_back(random.pick(kSizes));
    tensor.isUnknown.push_back(random.chance(60));
  }
  return addArgument(tensor);
}

Tensor DynamicProgram::pick() {
  if (random.chance(10))
    return getArgument();
  size_t i =
      std::max(random.below(tensors.size()), random.below(tensors.size()));
  ++tensors[i].uses;
  return tensors[i];
}

std::string DynamicProgram::addOther(const std::string &text,
                                     const std::string &type) {
  std::string name = "%s" + std::to_string(counter++);
  statements += "    " + name + " = " + text + "  // " + type + "\n";
  return name;
}

Tensor DynamicProgram::add(Tensor result, const std::string &text) {
  result.name = addOther(text, result.type());
  result.uses = 0;
  tensors.push_back(result);
  return result;
}

/// Adds what may be larger than one, and makes it smaller.
void DynamicProgram::addBounded(Tensor sum, const std::string &text) {
  std::string name = addOther(text, sum.type());
  add(sum, "math.tanh " + name + " : " + sum.type());
}

std::string DynamicProgram::constant(int64_t number) {
  return addOther("arith.constant " + std::to_string(number) + " : index",
                  "index");
}

std::string DynamicProgram::addSize(const Tensor &x, size_t dim) {
  return addOther("tensor.dim " + x.name + ", " + constant(dim) + " : " +
                      x.type(),
                  "index");
}

/// The sizes that the type of `x` doesn't have.
std::vector<std::string> DynamicProgram::getUnknown(const Tensor &x) {
  std::vector<std::string> sizes;
  for (size_t dim = 0; dim < x.rank(); ++dim)
    if (x.isUnknown[dim])
      sizes.push_back(addSize(x, dim));
  return sizes;
}

/// The same without that of `dim`, if it is unknown.
std::vector<std::string> DynamicProgram::getUnknownBut(const Tensor &x,
                                                       size_t dim) {
  std::vector<std::string> sizes = getUnknown(x);
  if (x.isUnknown[dim])
    sizes.erase(sizes.begin() + std::count(x.isUnknown.begin(),
                                           x.isUnknown.begin() + dim, true));
  return sizes;
}

std::string DynamicProgram::addEmpty(const Tensor &like,
                                     std::vector<std::string> unknown,
                                     const char *element) {
  return addOther("tensor.empty(" + join(unknown) + ") : " + like.type(element),
                  like.type(element));
}

std::string DynamicProgram::addFill(const Tensor &like,
                                    std::vector<std::string> unknown,
                                    const std::string &number,
                                    const char *element) {
  std::string type = like.type(element);
  std::string scalar =
      addOther("arith.constant " + number + " : " + element, element);
  std::string empty = addEmpty(like, unknown, element);
  return addOther("linalg.fill ins(" + scalar + " : " + element + ") outs(" +
                      empty + " : " + type + ") -> " + type,
                  type);
}

Tensor DynamicProgram::dropDim(const Tensor &x, size_t dim) {
  Tensor rest = x;
  rest.sizes.erase(rest.sizes.begin() + dim);
  rest.isUnknown.erase(rest.isUnknown.begin() + dim);
  return rest;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void DynamicProgram::addElementwise(Tensor x) {
  static const std::vector<std::string> kUnary = {"math.tanh", "math.absf",
                                                  "arith.negf"};
  static const std::vector<std::string> kBinary = {
      "arith.maximumf", "arith.minimumf", "arith.mulf"};
  if (random.chance(40)) {
    add(x, random.pick(kUnary) + " " + x.name + " : " + x.type());
    return;
  }
  Tensor y = x;
  for (Tensor &other : tensors)
    if (other.type() == x.type() && other.sizes == x.sizes &&
        random.chance(50)) {
      ++other.uses;
      y = other;
    }
  if (y.name == x.name && random.chance(70))
    y = addArgument(x);
  add(x,
      random.pick(kBinary) + " " + x.name + ", " + y.name + " : " + x.type());
}

void DynamicProgram::addReduction(Tensor x) {
  static const std::vector<std::pair<std::string, std::string>> kReducers = {
      {"arith.maximumf", "0xFF800000"},
      {"arith.minimumf", "0.5"},
      {"arith.addf", "0.0"},
      {"arith.addf", "0.25"}};
  size_t dim = random.below(x.rank());
  Tensor result = dropDim(x, dim);
  std::vector<std::string> sizes = getUnknownBut(x, dim);
  const auto &[op, from] = random.pick(kReducers);
  std::string init = addFill(result, sizes, from);
  addBounded(result, "linalg.reduce { " + op + " } ins(" + x.name + " : " +
                         x.type() + ") outs(" + init + " : " + result.type() +
                         ") dimensions = [" + std::to_string(dim) + "]");
}

/// The greatest along a dim and where it is.
void DynamicProgram::addArgmax(Tensor x) {
  size_t dim = random.below(x.rank());
  Tensor result = dropDim(x, dim);
  std::vector<std::string> sizes = getUnknownBut(x, dim);
  std::string best = addFill(result, sizes, "-2.0");
  std::string at = addFill(result, sizes, "-1", "i32");
  std::vector<std::string> all, kept;
  std::vector<std::string> iterators;
  for (size_t i = 0; i < x.rank(); ++i) {
    all.push_back("d" + std::to_string(i));
    iterators.push_back(i == dim ? "\"reduction\"" : "\"parallel\"");
    if (i != dim)
      kept.push_back(all.back());
  }
  std::string map = mapText(x.rank(), kept);
  std::string types = result.type() + ", " + result.type("i32");
  std::string name = "%s" + std::to_string(counter++);
  statements += "    " + name + ":2 = linalg.generic {indexing_maps = [" +
                mapText(x.rank(), all) + ", " + map + ", " + map +
                "], iterator_types = [" + join(iterators) + "]} ins(" + x.name +
                " : " + x.type() + ") outs(" + best + ", " + at + " : " +
                types + ") {\n    ^bb0(%in: f32, %best: f32, %at: i32):\n" +
                "      %index = linalg.index " + std::to_string(dim) +
                " : index\n"
                "      %here = arith.index_cast %index : index to i32\n"
                "      %more = arith.cmpf ogt, %in, %best : f32\n"
                "      %value = arith.select %more, %in, %best : f32\n"
                "      %place = arith.select %more, %here, %at : i32\n"
                "      linalg.yield %value, %place : f32, i32\n    } -> (" +
                types + ")  // " + types + "\n";
  result.name = name + "#0";
  result.uses = 0;
  tensors.push_back(result);
  resultNames.push_back(name + "#1");
  resultTypes.push_back(result.type("i32"));
}

void DynamicProgram::addMatmul(Tensor x) {
  if (x.rank() != 2)
    return;
  Tensor y;
  y.sizes = {x.sizes[1], random.between(1, 9)};
  y.isUnknown = {random.chance(50), random.chance(50)};
  y = addArgument(y);
  Tensor result;
  result.sizes = {x.sizes[0], y.sizes[1]};
  result.isUnknown = {x.isUnknown[0], y.isUnknown[1]};
  std::vector<std::string> sizes;
  if (x.isUnknown[0])
    sizes.push_back(addSize(x, 0));
  if (y.isUnknown[1])
    sizes.push_back(addSize(y, 1));
  std::string init = addFill(result, sizes, "0.0");
  addBounded(result, "linalg.matmul ins(" + x.name + ", " + y.name + " : " +
                         x.type() + ", " + y.type() + ") outs(" + init + " : " +
                         result.type() + ") -> " + result.type());
}

void DynamicProgram::addSoftmax(Tensor x) {
  std::string empty = addEmpty(x, getUnknown(x));
  add(x, "linalg.softmax dimension(" + std::to_string(random.below(x.rank())) +
             ") ins(" + x.name + " : " + x.type() + ") outs(" + empty + " : " +
             x.type() + ") -> " + x.type());
}

void DynamicProgram::addTranspose(Tensor x) {
  std::vector<int64_t> order;
  for (size_t dim = 0; dim < x.rank(); ++dim)
    order.push_back(dim);
  random.shuffle(order);
  Tensor result = x;
  std::vector<std::string> sizes, numbers;
  for (size_t dim = 0; dim < x.rank(); ++dim) {
    result.sizes[dim] = x.sizes[order[dim]];
    result.isUnknown[dim] = x.isUnknown[order[dim]];
    numbers.push_back(std::to_string(order[dim]));
    if (result.isUnknown[dim])
      sizes.push_back(addSize(x, order[dim]));
  }
  std::string empty = addEmpty(result, sizes);
  add(result, "linalg.transpose ins(" + x.name + " : " + x.type() + ") outs(" +
                  empty + " : " + result.type() + ") permutation = [" +
                  join(numbers) + "]");
}

void DynamicProgram::addConcat(Tensor x) {
  size_t dim = random.below(x.rank());
  Tensor y = x;
  if (random.chance(60)) {
    y.sizes[dim] = random.between(1, 5);
    y.isUnknown[dim] = random.chance(50);
    y = addArgument(y);
  }
  Tensor result = x;
  result.sizes[dim] += y.sizes[dim];
  result.isUnknown[dim] = x.isUnknown[dim] || y.isUnknown[dim];
  add(result, "tensor.concat dim(" + std::to_string(dim) + ") " + x.name +
                  ", " + y.name + " : (" + x.type() + ", " + y.type() +
                  ") -> " + result.type());
}

void DynamicProgram::addPad(Tensor x) {
  Tensor result = x;
  std::vector<std::string> lows, highs;
  for (size_t dim = 0; dim < x.rank(); ++dim) {
    int64_t low = random.below(3), high = random.below(2);
    lows.push_back(std::to_string(low));
    highs.push_back(std::to_string(high));
    result.sizes[dim] += low + high;
  }
  std::string value = addOther("arith.constant 0.25 : f32", "f32");
  add(result, "tensor.pad " + x.name + " low[" + join(lows) + "] high[" +
                  join(highs) + "] {\n    ^bb0(" + "%p0: index" +
                  (x.rank() > 1 ? ", %p1: index" : "") +
                  (x.rank() > 2 ? ", %p2: index" : "") +
                  "):\n      tensor.yield " + value +
                  " : f32\n    } : " + x.type() + " to " + result.type());
}

/// The greatest of each window that slides over a dim, all of it or less.
void DynamicProgram::addWindow(Tensor x) {
  size_t dim = random.below(x.rank());
  int64_t length = random.between(1, 3), step = random.between(1, 2);
  if (x.sizes[dim] < length)
    return;
  Tensor result = x;
  result.sizes[dim] = (x.sizes[dim] - length) / step + 1;
  std::vector<std::string> sizes = getUnknown(x);
  if (x.isUnknown[dim]) {
    size_t at =
        std::count(x.isUnknown.begin(), x.isUnknown.begin() + dim, true);
    std::string last = addOther("arith.subi " + sizes[at] + ", " +
                                    constant(length) + " : index",
                                "index");
    std::string steps = addOther("arith.floordivsi " + last + ", " +
                                     constant(step) + " : index",
                                 "index");
    sizes[at] = addOther(
        "arith.addi " + steps + ", " + constant(1) + " : index", "index");
  }
  std::string init = addFill(result, sizes, "-2.0");
  std::string window =
      addOther("tensor.empty() : tensor<" + std::to_string(length) + "xf32>",
               "tensor<" + std::to_string(length) + "xf32>");
  std::vector<std::string> in, out, iterators;
  std::string offset = "d" + std::to_string(x.rank());
  for (size_t i = 0; i < x.rank(); ++i) {
    out.push_back("d" + std::to_string(i));
    in.push_back(i == dim ? out.back() + " * " + std::to_string(step) + " + " +
                                offset
                          : out.back());
    iterators.push_back("\"parallel\"");
  }
  iterators.push_back("\"reduction\"");
  size_t numDims = x.rank() + 1;
  add(result, "linalg.generic {indexing_maps = [" + mapText(numDims, in) +
                  ", " + mapText(numDims, {offset}) + ", " +
                  mapText(numDims, out) + "], iterator_types = [" +
                  join(iterators) + "]} ins(" + x.name + ", " + window + " : " +
                  x.type() + ", tensor<" + std::to_string(length) +
                  "xf32>) outs(" + init + " : " + result.type() +
                  ") {\n    ^bb0(%in: f32, %window: f32, %best: f32):\n"
                  "      %value = arith.maximumf %in, %best : f32\n"
                  "      linalg.yield %value : f32\n    } -> " +
                  result.type());
}

void DynamicProgram::addSlice(Tensor x) {
  size_t cut = random.below(x.rank());
  Tensor result = x;
  std::vector<std::string> offsets, sizes, ones;
  for (size_t dim = 0; dim < x.rank(); ++dim) {
    int64_t most = dim == cut ? std::min<int64_t>(x.sizes[dim] - 1, 3) : 0;
    int64_t first = random.below(most + 1),
            rest = random.below(most - first + 1);
    result.sizes[dim] -= first + rest;
    offsets.push_back(std::to_string(first));
    ones.push_back("1");
    sizes.push_back(std::to_string(result.sizes[dim]));
    if (x.isUnknown[dim])
      sizes.back() = addOther("arith.subi " + addSize(x, dim) + ", " +
                                  constant(first + rest) + " : index",
                              "index");
  }
  add(result, "tensor.extract_slice " + x.name + "[" + join(offsets) + "] [" +
                  join(sizes) + "] [" + join(ones) + "] : " + x.type() +
                  " to " + result.type());
}

void DynamicProgram::addCollapse(Tensor x) {
  if (x.rank() < 2)
    return;
  Tensor result = dropDim(x, 1);
  result.sizes[0] *= x.sizes[1];
  result.isUnknown[0] = x.isUnknown[0] || x.isUnknown[1];
  add(result, "tensor.collapse_shape " + x.name +
                  (x.rank() == 2 ? " [[0, 1]]" : " [[0, 1], [2]]") + " : " +
                  x.type() + " into " + result.type());
}

/// Different numbers below `size`, as one coordinate each.
std::string DynamicProgram::addPoints(int64_t size, int64_t count) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < size; ++i)
    numbers.push_back(i);
  random.shuffle(numbers);
  std::vector<std::string> items;
  for (int64_t i = 0; i < count; ++i)
    items.push_back("[" + std::to_string(numbers[i]) + "]");
  std::string type = "tensor<" + std::to_string(count) + "x1xindex>";
  return addOther("arith.constant dense<[" + join(items) + "]> : " + type,
                  type);
}

void DynamicProgram::addGather(Tensor x) {
  int64_t count = random.between(1, x.sizes[0]);
  std::string points = addPoints(x.sizes[0], count);
  Tensor result = x;
  result.sizes[0] = count;
  result.isUnknown[0] = false;
  add(result, "tensor.gather " + x.name + "[" + points +
                  "] gather_dims([0]) : (" + x.type() + ", tensor<" +
                  std::to_string(count) + "x1xindex>) -> " + result.type());
}

void DynamicProgram::addScatter(Tensor x) {
  int64_t count = random.between(1, x.sizes[0]);
  std::string points = addPoints(x.sizes[0], count);
  Tensor slices = x;
  slices.sizes[0] = count;
  slices.isUnknown[0] = false;
  slices = addArgument(slices);
  add(x, "tensor.scatter " + slices.name + " into " + x.name + "[" + points +
             "] scatter_dims([0]) unique : (" + slices.type() + ", " +
             x.type() + ", tensor<" + std::to_string(count) + "x1xindex>) -> " +
             x.type());
}

/// The last dim has the tiles of the first one, the last of which may not be
/// all in the result.
void DynamicProgram::addUnpack(Tensor x) {
  if (x.rank() < 2 || x.isUnknown.back())
    return addElementwise(x);
  int64_t tile = x.sizes.back();
  Tensor result = dropDim(x, x.rank() - 1);
  result.sizes[0] *= tile;
  result.isUnknown[0] = x.isUnknown[0] || random.chance(30);
  std::string into;
  if (result.isUnknown[0] && random.chance(50)) {
    std::string rows = addOther("arith.muli " + addSize(x, 0) + ", " +
                                    constant(tile) + " : index",
                                "index");
    std::vector<std::string> sizes = getUnknownBut(x, 0);
    sizes.insert(sizes.begin(), rows);
    into = addEmpty(result, sizes);
  } else {
    if (result.sizes[0] > 0)
      result.sizes[0] -= random.below(tile);
    result.isUnknown[0] = random.chance(70);
    into = addArgument(result).name;
  }
  add(result, "linalg.unpack " + x.name +
                  " inner_dims_pos = [0] inner_tiles = [" +
                  std::to_string(tile) + "] into " + into + " : " + x.type() +
                  " -> " + result.type());
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

std::string DynamicProgram::str() {
  for (const Tensor &tensor : tensors)
    if (!tensor.uses && tensor.name.rfind("%arg", 0) != 0) {
      resultNames.push_back(tensor.name);
      resultTypes.push_back(tensor.type());
    }
  std::string text;
  for (const std::string &input : inputs)
    text += kInputComment + input + "\n";
  text += "func.func @main(" + join(arguments) + ") -> (" + join(resultTypes) +
          ") {\n" + statements;
  return text + "    return " + join(resultNames) + " : " + join(resultTypes) +
         "\n}\n";
}

std::string DynamicProgram::generate() {
  static const std::vector<Operation> kOperations = {
      &DynamicProgram::addElementwise, &DynamicProgram::addReduction,
      &DynamicProgram::addArgmax,      &DynamicProgram::addMatmul,
      &DynamicProgram::addSoftmax,     &DynamicProgram::addTranspose,
      &DynamicProgram::addConcat,      &DynamicProgram::addPad,
      &DynamicProgram::addWindow,      &DynamicProgram::addSlice,
      &DynamicProgram::addCollapse,    &DynamicProgram::addGather,
      &DynamicProgram::addScatter,     &DynamicProgram::addUnpack};
  constexpr int64_t kMostElements = 2000;
  getArgument();
  for (int64_t count = random.between(2, 7); count > 0;) {
    Tensor x = pick();
    if (x.rank() == 0 || numElements(x.sizes) > kMostElements) {
      x = getArgument();
      ++tensors.back().uses;
    }
    (this->*random.pick(kOperations))(x);
    --count;
  }
  // Something must come of it.
  ++tensors.back().uses;
  addElementwise(tensors.back());
  return str();
}

std::string mlir::tofu::fuzz::generateDynamicProgram(uint64_t seed) {
  Random random(seed);
  return DynamicProgram(random).generate();
}
