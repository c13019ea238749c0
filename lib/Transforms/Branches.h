//===- Branches.h - Branches and loops in a plan ----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations inside a branch or loop are planned like all others. The
// operation itself only hands values on: into regions, around a loop, and out.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_BRANCHES_H
#define TOFU_LIB_TRANSFORMS_BRANCHES_H

#include "Tofu/Dialect/Tofu.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::tofu {

/// True if the operations in the regions of `op` are planned one by one: it is
/// a branch or a loop (RegionBranchOpInterface) whose regions have one block
/// each.
bool isPlannedBranch(Operation *op);

/// A tensor that is handed on: an operand of a branch or of a terminator in it,
/// and the arguments of regions and results that it may become.
struct Handover {
  OpOperand *operand;
  SmallVector<Value, 2> inputs;
};

/// What the branch `op` hands on, in order: its own operands, then those of
/// each region's terminator.
SmallVector<Handover> getHandovers(Operation *op);

/// The layout that the plan gives `value`, an argument of a function or region
/// or the result of an operation (of a load, that of the global); null if it
/// has none.
LayoutAttr getPlannedLayout(Value value);

/// The layout of all that `handover`, of the branch `op`, may become. Fails,
/// with an error, if one has none or they differ.
FailureOr<LayoutAttr> getHandoverLayout(Operation *op,
                                        const Handover &handover);

/// Times that `block` runs for every run of its function, where that is known;
/// loops of unknown length count once.
int64_t getTripCount(Block *block);

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_BRANCHES_H
