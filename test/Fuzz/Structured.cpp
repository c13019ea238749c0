//===- Structured.cpp - A linalg.generic while it is made -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Structured.h"

using namespace mlir::tofu::fuzz;

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
