//===- LoopNest.h - Order and accesses of a loop nest -----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_LOOPNEST_H
#define TOFU_LIB_CONVERSION_LOOPNEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tofu {

/// How far apart in memory two neighbours along a loop are; not known where
/// dynamic.
using Strides = SmallVector<int64_t>;

/// The stride of each loop in what `operand` reads or writes (all dynamic if an
/// index is not linear).
Strides getLoopStrides(linalg::LinalgOp op, OpOperand *operand);

/// For each output the operation of the body that combines the old value with
/// the new one, if it may be done in any order (sums, products, minima, ...);
/// null for the others.
SmallVector<Operation *> getFreeCombiners(linalg::LinalgOp op);

/// An order of the loops, outermost first, such that LLVM can vectorize the
/// innermost one where there is such an order: it should walk through
/// contiguous memory, or sum up. Reductions keep their order among themselves
/// unless all combiners are free.
SmallVector<unsigned> chooseLoopOrder(linalg::LinalgOp op);

/// Number of innermost loops in `order` over which the outputs stay in place,
/// so that their values can be kept in registers.
unsigned countAccumulatingLoops(linalg::LinalgOp op, ArrayRef<unsigned> order);

/// Groups of neighbouring loops (in `order`) that are one loop over contiguous
/// memory for every operand. Each group is in order, outermost first.
SmallVector<SmallVector<unsigned>> collapseLoops(linalg::LinalgOp op,
                                                 ArrayRef<unsigned> order);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_LOOPNEST_H
