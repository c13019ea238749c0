//===- Reducers.h - What reductions do to numbers ---------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_FUZZ_REDUCERS_H
#define TOFU_TEST_FUZZ_REDUCERS_H

#include "Structured.h"

namespace mlir::tofu::fuzz {

/// An operation that reduces, its neutral element, and another number.
struct Reducer {
  std::string op, neutral, other;
};

/// One that keeps numbers of that quality in bounds.
Reducer pickReducer(Random &random, const std::string &element,
                    const Quality &quality);

/// The quality of `count` numbers taken together by `op` with what they start
/// from.
Quality reduce(const std::string &op, const std::string &element, double count,
               const Quality &item, const Quality &init);

/// What a reduction starts from: the neutral element mostly, another number,
/// or a tensor.
std::pair<std::string, Quality> makeInit(Program &program,
                                         const std::string &element,
                                         const Shape &shape,
                                         const Reducer &reducer);

/// Reduces a leaf of the body to one or two results.
void addResults(Program &program, Structured &op, Scalar item, double count,
                const std::vector<int64_t> &kept);

} // namespace mlir::tofu::fuzz

#endif // TOFU_TEST_FUZZ_REDUCERS_H
