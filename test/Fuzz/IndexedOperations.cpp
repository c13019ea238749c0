//===- IndexedOperations.cpp - Random operations that go by indices -------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathers, scatters and generators; softmax and packing, which are read off
// their tiles.
//
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include <algorithm>

using namespace mlir::tofu::fuzz;

static std::string listText(const Shape &numbers) {
  std::vector<std::string> items;
  for (int64_t number : numbers)
    items.push_back(std::to_string(number));
  return "[" + join(items) + "]";
}

static bool hasDims(const Value &value) {
  return !value.shape.empty() && value.isUsable();
}

/// Dims of a shape, at least one, in any order.
static Shape pickDims(Random &random, const Shape &shape) {
  Shape dims;
  for (size_t i = 0; i < shape.size(); ++i)
    dims.push_back(i);
  random.shuffle(dims);
  dims.resize(random.between(1, std::min<int64_t>(dims.size(), 2)));
  return dims;
}

static bool contains(const Shape &list, int64_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

namespace {
/// Coordinates along some dims of a tensor, all different if they must be.
struct Coordinates {
  Shape dims;
  std::vector<Shape> points;
  std::string type, constant;

  Coordinates(Program &program, const Shape &shape, bool areUnique) {
    Random &random = program.random;
    dims = pickDims(random, shape);
    std::sort(dims.begin(), dims.end());
    for (int64_t i = random.between(1, 5); i > 0; --i) {
      Shape point;
      for (int64_t dim : dims)
        point.push_back(random.below(shape[dim]));
      if (!areUnique ||
          std::find(points.begin(), points.end(), point) == points.end())
        points.push_back(point);
    }
    std::vector<std::string> items;
    for (const Shape &point : points)
      items.push_back(listText(point));
    type = typeText(random.chance(50) ? "index" : "i32",
                    {int64_t(points.size()), int64_t(dims.size())});
    constant = program.addOther(
        "arith.constant dense<[" + join(items) + "]> : " + type, type);
  }

  /// The shape of the slices at the points; of the dims with a coordinate,
  /// those of size one or nothing is left.
  Shape getSlices(const Shape &shape, bool keeps) const {
    Shape slices = {int64_t(points.size())};
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (!contains(dims, dim))
        slices.push_back(shape[dim]);
      else if (keeps)
        slices.push_back(1);
    return slices;
  }
};
} // namespace

void mlir::tofu::fuzz::addGather(Program &program) {
  size_t number = program.pick(hasDims);
  const Value table = program[number];
  Coordinates at(program, table.shape, /*areUnique=*/false);
  Shape shape = at.getSlices(table.shape, program.random.chance(40));
  std::string name = program.use(number);
  program.add("tensor.gather " + name + "[" + at.constant + "] gather_dims(" +
                  listText(at.dims) + ") : (" + table.type() + ", " + at.type +
                  ") -> " + typeText(table.element, shape),
              table.element, shape, table.quality);
}

void mlir::tofu::fuzz::addScatter(Program &program) {
  size_t number = program.pick(hasDims);
  const Value dest = program[number];
  Coordinates at(program, dest.shape, /*areUnique=*/true);
  Shape shape = at.getSlices(dest.shape, program.random.chance(40));
  size_t slices = program.getOperand(dest.element, shape);
  const Quality a = dest.quality, b = program[slices].quality;
  std::string from = program.use(slices), into = program.use(number);
  program.add("tensor.scatter " + from + " into " + into + "[" + at.constant +
                  "] scatter_dims(" + listText(at.dims) + ") unique : (" +
                  program[slices].type() + ", " + dest.type() + ", " + at.type +
                  ") -> " + dest.type(),
              dest.element, dest.shape,
              {std::max(a.bound, b.bound), std::max(a.error, b.error),
               a.integral && b.integral});
}

/// Takes elements of a tensor, of which one dim may run backwards.
void mlir::tofu::fuzz::addGenerate(Program &program) {
  Random &random = program.random;
  size_t number = program.pick(hasDims);
  const Value input = program[number];
  int64_t backwards = random.chance(50) ? random.below(input.shape.size()) : -1;
  std::vector<std::string> arguments, indices;
  std::string reverse;
  for (size_t dim = 0; dim < input.shape.size(); ++dim) {
    indices.push_back(program.freshName("g"));
    arguments.push_back(indices.back() + ": index");
    if (int64_t(dim) != backwards)
      continue;
    std::string last = program.addOther(
        "arith.constant " + std::to_string(input.shape[dim] - 1) + " : index",
        "index");
    reverse =
        "      %r = arith.subi " + last + ", " + indices.back() + " : index\n";
    indices.back() = "%r";
  }
  std::string name = program.use(number);
  program.add("tensor.generate {\n    ^bb0(" + join(arguments) + "):\n" +
                  reverse + "      %x = tensor.extract " + name + "[" +
                  join(indices) + "] : " + input.type() +
                  "\n      tensor.yield %x : " + input.element +
                  "\n    } : " + input.type(),
              input.element, input.shape, input.quality);
}

//===----------------------------------------------------------------------===//
// What is read off its tiles
//===----------------------------------------------------------------------===//

void mlir::tofu::fuzz::addSoftmax(Program &program) {
  Random &random = program.random;
  size_t number = program.pick([](const Value &value) {
    return !value.shape.empty() && value.element == "f32" && value.isUsable() &&
           value.quality.bound < 50;
  });
  const Value input = program[number];
  std::string empty = program.addEmpty(input.element, input.shape);
  int64_t dim = random.below(input.shape.size());
  std::string name = program.use(number);
  program.add("linalg.softmax dimension(" + std::to_string(dim) + ") ins(" +
                  name + " : " + input.type() + ") outs(" + empty + " : " +
                  input.type() + ") -> " + input.type(),
              input.element, input.shape, {1, 2 * input.quality.error, false});
}

/// Packs a tensor into tiles, and maybe unpacks it again.
void mlir::tofu::fuzz::addPack(Program &program) {
  Random &random = program.random;
  size_t number = program.pick([](const Value &value) {
    return hasDims(value) && value.shape.size() < 4;
  });
  const Value input = program[number];
  Shape dims = pickDims(random, input.shape), outer, order, tiles, packed;
  for (size_t dim = 0; dim < input.shape.size(); ++dim) {
    outer.push_back(input.shape[dim]);
    order.push_back(dim);
  }
  for (int64_t dim : dims) {
    tiles.push_back(random.between(1, 4));
    outer[dim] = (outer[dim] + tiles.back() - 1) / tiles.back();
  }
  if (random.chance(40))
    random.shuffle(order);
  for (int64_t dim : order)
    packed.push_back(outer[dim]);
  packed.insert(packed.end(), tiles.begin(), tiles.end());
  if (numElements(packed) > 4000)
    return;
  std::string how = " outer_dims_perm = " + listText(order) +
                    " inner_dims_pos = " + listText(dims) +
                    " inner_tiles = " + listText(tiles) + " into ";
  std::string padding = program.addOther(
      "arith.constant " + numberText(random.below(2), input.element),
      input.element);
  std::string empty = program.addEmpty(input.element, packed);
  std::string name = program.use(number);
  std::string type = typeText(input.element, packed);
  Quality quality = input.quality;
  quality.bound = std::max(quality.bound, 1.0);
  size_t result = program.add("linalg.pack " + name + " padding_value(" +
                                  padding + " : " + input.element + ")" + how +
                                  empty + " : " + input.type() + " -> " + type,
                              input.element, packed, quality);
  if (random.chance(50))
    return;
  empty = program.addEmpty(input.element, input.shape);
  name = program.use(result);
  program.add("linalg.unpack " + name + how + empty + " : " + type + " -> " +
                  input.type(),
              input.element, input.shape, input.quality);
}
