//===- Tiling.h - Semantics of operations that can be tiled -----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation of any dialect that implements TilingInterface is cut without a
// model of its own: what a tile reads and writes is read off the slices that
// the interface takes in a scratch copy, with symbolic offsets and sizes, and a
// part is the tile of a device. Reductions are cut through
// PartialReductionOpInterface, each device making a tile of its own, and put
// together by the operation's own merge.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_DIALECT_TILING_H
#define TOFU_LIB_DIALECT_TILING_H

#include "Tofu/Dialect/Placement.h"

#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::tofu {

/// What `op` reads and writes, one iteration dim per loop and one more,
/// unsplittable, per window that a tile reads beyond its own elements. Null if
/// it can't be tiled on tensors of known sizes; `why` then says why.
SemanticsAttr computeTilingSemantics(TilingInterface op, std::string &why);

/// The tile of `piece.op` that this device computes.
FailureOr<SmallVector<Value>> createLocalTile(LocalPiece &piece);

/// The tile of `op` that makes partial results along loop `reduction`, from
/// `init`.
FailureOr<TilingResult> tilePartially(OpBuilder &builder, Operation *op,
                                      unsigned reduction, ValueRange init,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes);

/// What the partial results of one part start from, for loops of the given
/// sizes.
FailureOr<SmallVector<Value>> createPartialInit(OpBuilder &builder,
                                                Operation *op,
                                                unsigned reduction,
                                                ArrayRef<OpFoldResult> sizes);

/// The dim of result `i`'s partial results that numbers the parts of `loop`.
FailureOr<unsigned> getPartsDim(PartialReductionOpInterface op, unsigned i,
                                unsigned loop);

} // namespace mlir::tofu

#endif // TOFU_LIB_DIALECT_TILING_H
