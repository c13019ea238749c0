//===- Structured.cpp - A linalg.generic while it is made -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Structured.h"

using namespace mlir::tofu::fuzz;

std::pair<Map, Shape> mlir::tofu::fuzz::makeMap(Random &random,
                                                std::vector<int64_t> dims,
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

std::vector<int64_t> mlir::tofu::fuzz::allDims(const Shape &sizes) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < sizes.size(); ++i)
    dims.push_back(i);
  return dims;
}

std::vector<int64_t>
mlir::tofu::fuzz::someDims(Random &random, const Shape &sizes, int percent) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (random.chance(percent))
      dims.push_back(i);
  return dims;
}

int64_t Structured::addDim(int64_t size, bool reduces) {
  dims.push_back(size);
  iterators.push_back(reduces ? "\"reduction\"" : "\"parallel\"");
  return dims.size() - 1;
}

Scalar Structured::addInput(size_t value, const Map &map) {
  maps.push_back(join(map));
  inputs.push_back(program.use(value));
  const Value &input = program[value];
  inputTypes.push_back(input.type());
  Scalar scalar = {program.freshName("i"), input.element, input.quality};
  arguments.push_back(scalar.name + ": " + scalar.element);
  return scalar;
}

Scalar Structured::addResult(const std::string &init,
                             const std::string &element, const Shape &shape,
                             const Map &map) {
  maps.push_back(join(map));
  inits.push_back(init);
  Value result;
  result.element = element;
  result.shape = shape;
  results.push_back(result);
  initTypes.push_back(result.type());
  Scalar scalar = {program.freshName("o"), element, {}};
  arguments.push_back(scalar.name + ": " + element);
  return scalar;
}

std::vector<size_t> Structured::finish() {
  std::vector<std::string> names, mapTexts, types, scalars;
  for (size_t i = 0; i < dims.size(); ++i)
    names.push_back(dimText(i));
  for (const std::string &map : maps)
    mapTexts.push_back("affine_map<(" + join(names) + ") -> (" + map + ")>");
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].quality = yielded[i].quality;
    types.push_back(yielded[i].element);
    scalars.push_back(yielded[i].name);
  }
  std::string text = "linalg.generic {indexing_maps = [" + join(mapTexts) +
                     "],\n      iterator_types = [" + join(iterators) + "]}\n";
  if (!inputs.empty())
    text += "      ins(" + join(inputs) + " : " + join(inputTypes) + ")\n";
  text += "      outs(" + join(inits) + " : " + join(initTypes) + ") {\n";
  text += "    ^bb0(" + join(arguments) + "):\n" + body.str();
  text += "      linalg.yield " + join(scalars) + " : " + join(types) +
          "\n    } -> ";
  if (results.size() == 1)
    return {program.add(text + initTypes[0], results[0].element,
                        results[0].shape, results[0].quality)};
  return program.addAll(text + "(" + join(initTypes) + ")", results);
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

void mlir::tofu::fuzz::addSpecialLeaves(Program &program, Structured &op,
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
