//===- Structure.h - Tensor operations in structured form -------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of the tensor dialect that are other, structured operations in
// short. What describes, cuts, fuses and lowers these then serves them too.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_STRUCTURE_H
#define TOFU_DIALECT_STRUCTURE_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tofu {

/// Below `root`, drops results of linalg.generic that nobody uses, such as the
/// index beside a maximum: the rest may then be cut, fused and vectorized.
LogicalResult dropUnusedResults(Operation *root);

/// Below `root`, makes several operations of a linalg.generic with reductions
/// that can't be cut, if some of its results don't depend on each other and can
/// be cut alone, such as a sum beside the index of a maximum.
LogicalResult splitReductions(RewriterBase &rewriter, Operation *root);

/// Below `root`, has the body of a linalg.generic extract from the inputs whose
/// index has more than sums of dims with positive factors, such as one that
/// runs backwards: unlike the indexing maps, what it extracts can be rebased to
/// a part. The affine, arith, linalg and tensor dialects must be loaded.
void structureIndexing(RewriterBase &rewriter, Operation *root);

/// Below `root`, rewrites tensor.generate, tensor.gather and tensor.bitcast to
/// linalg.generic, tensor.insert to tensor.insert_slice, and tensor.reshape to
/// collapse_shape and expand_shape where its result's size is known. The
/// linalg, arith and tensor dialects must be loaded.
void structureTensorOps(RewriterBase &rewriter, Operation *root);

/// One dim of a part of a tensor.
struct PartBounds {
  OpFoldResult offset, size;
};

/// A loop that does what `op` does, on the given tensors: `dest` is a part of
/// the destination, and what falls outside of it is left out. `bounds` has the
/// part's bounds for each of the scattered dims; nothing where it is whole.
Value createScatter(OpBuilder &builder, tensor::ScatterOp op, Value source,
                    Value dest, Value indices,
                    ArrayRef<std::optional<PartBounds>> bounds);

/// A loop that puts `slice`, with size one along the scattered dims, wherever
/// `op` puts a slice of its source.
Value createScatterOfOne(OpBuilder &builder, tensor::ScatterOp op, Value slice,
                         Value dest, Value indices,
                         ArrayRef<std::optional<PartBounds>> bounds);

} // namespace mlir::tofu

#endif // TOFU_DIALECT_STRUCTURE_H
