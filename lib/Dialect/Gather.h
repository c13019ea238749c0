//===- Gather.h - Tensors that a body extracts from -------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured operation whose body extracts from captured tensors: a gather.
// Where the indices are affine in the loops, the tensor is read in parts like
// any operand. A dim that is indexed by data can still be cut if the operation
// yields just what it extracts: each part yields what it has, and zero for the
// rest, and the parts add up.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_DIALECT_GATHER_H
#define TOFU_LIB_DIALECT_GATHER_H

#include "Tofu/Dialect/Placement.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::tofu {

/// True if an index is rebased to a part by leaving it as it is: a sum of dims
/// with positive factors and no constant is relative to the part's first index.
bool isRelative(AffineExpr expr);

/// A tensor dim that loop `loop` of `op` indexes by itself.
std::optional<TensorDim> findIndexed(linalg::LinalgOp op, unsigned loop);

/// Index of `captured`, one expression per dim over the loops of `op`; null
/// where not all uses are known to be alike and affine.
SmallVector<AffineExpr> getCapturedIndex(linalg::LinalgOp op, Value captured);

/// A dim of a captured tensor that is indexed by data and can be cut.
struct GatheredDim {
  Value table;
  unsigned dim;
  int64_t size;
};

/// The first dim of that kind; nothing if there is none.
std::optional<GatheredDim> findGatheredDim(linalg::LinalgOp op);

/// Rebases the extracts of `local`, whose linalg.index are global, to the boxes
/// that this device has of the captured tensors.
void rebaseExtracts(LocalPiece &piece, Operation *local,
                    const std::optional<GatheredDim> &gathered);

} // namespace mlir::tofu

#endif // TOFU_LIB_DIALECT_GATHER_H
