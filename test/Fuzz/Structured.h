//===- Structured.h - A linalg.generic while it is made ---------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_FUZZ_STRUCTURED_H
#define TOFU_TEST_FUZZ_STRUCTURED_H

#include "Program.h"

namespace mlir::tofu::fuzz {

/// The index expressions of an operand.
using Map = std::vector<std::string>;

inline std::string dimText(int64_t dim) { return "d" + std::to_string(dim); }

/// A map of an operand with the dims in `dims`, sometimes in another order and
/// with an index that is always zero, and the shape that goes with it.
std::pair<Map, Shape> makeMap(Random &random, std::vector<int64_t> dims,
                              const Shape &sizes);

std::vector<int64_t> allDims(const Shape &sizes);

/// Some of the dims, each with some chance.
std::vector<int64_t> someDims(Random &random, const Shape &sizes, int percent);

inline bool isUsable(const Value &value) { return value.isUsable(); }

class Structured {
public:
  explicit Structured(Program &program) : body(program), program(program) {}

  /// Adds a dim; returns its number.
  int64_t addDim(int64_t size, bool reduces = false);

  /// Adds an input; returns its block argument.
  Scalar addInput(size_t value, const Map &map);

  /// Adds a result, and `init`, which it starts from; returns the block
  /// argument.
  Scalar addResult(const std::string &init, const std::string &element,
                   const Shape &shape, const Map &map);

  void yield(const Scalar &scalar) { yielded.push_back(scalar); }

  /// Adds the statement; the results have the quality of what was yielded.
  std::vector<size_t> finish();

  const Shape &sizes() const { return dims; }

  Body body;

private:
  Program &program;
  Shape dims;
  std::vector<std::string> iterators, maps, inputs, inputTypes, inits,
      initTypes, arguments;
  std::vector<Value> results;
  std::vector<Scalar> yielded;
};

/// Adds leaves that aren't inputs to the body of `op` at times: an index, a
/// scalar of the program, and an entry of a tensor that it captures.
void addSpecialLeaves(Program &program, Structured &op,
                      std::vector<Scalar> &leaves);

} // namespace mlir::tofu::fuzz

#endif // TOFU_TEST_FUZZ_STRUCTURED_H
