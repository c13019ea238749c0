//===- MergeParts.h - Plans of merges ---------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation that combines its partial results itself does so in operations
// of their own, which are cut like all others: where the fewest elements move.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_MERGEPARTS_H
#define TOFU_LIB_TRANSFORMS_MERGEPARTS_H

#include "Tofu/Dialect/Tofu.h"

namespace mlir::tofu {

/// The operations that merge partial results.
struct PlannedMerge {
  /// Per result of the operation: its partial results, numbered along a dim.
  SmallVector<StackOp> stacks;
  /// Per result: what its partial results are merged to.
  SmallVector<Value> merged;
};

/// Creates operations that number the partial results of `op`, which cuts a
/// reduction that its own region combines, and then such as merge them, all
/// with a plan. Emits an error and fails if it cannot.
FailureOr<PlannedMerge> createPlannedMerge(OpBuilder &builder, Operation *op,
                                           MeshOp meshOp);

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_MERGEPARTS_H
