//===- RegionReduction.h - Reductions combined by their body ----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions that no combiner describes, such as the index of the greatest
// element: their results go together. Where the body takes one element into
// what it has so far, it takes the partial results of a part likewise, if the
// order in which it is asked to do so doesn't matter.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_DIALECT_REGIONREDUCTION_H
#define TOFU_LIB_DIALECT_REGIONREDUCTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::tofu {

/// How a body combines.
struct RegionReduction {
  /// Per result, the value in the body that is taken into it.
  SmallVector<Value, 2> elements;
  /// True if elements may come in any order; else parts must follow each other.
  bool commutes = false;
};

/// The reduction of `op`, if its body only compares and selects, and parts of
/// it that start from its initial values combine to just what it computes, NaN
/// and signed zeros included. Nothing, and why, otherwise.
std::optional<RegionReduction> matchRegionReduction(linalg::LinalgOp op,
                                                    std::string &why);

/// The results of an operation that combines the partial results of `op`, which
/// are numbered by a first dim, and its initial values. Partial results that
/// are numbers may have a second dim of size one, along which the merge can be
/// cut.
FailureOr<SmallVector<Value>>
createLinalgMerge(OpBuilder &builder, linalg::LinalgOp op, ValueRange parts);

} // namespace mlir::tofu

#endif // TOFU_LIB_DIALECT_REGIONREDUCTION_H
