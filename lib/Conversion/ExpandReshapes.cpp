//===- ExpandReshapes.cpp - Expansions to several unknown dims ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_EXPANDRESHAPES
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

static bool hasManyUnknown(memref::ExpandShapeOp op) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  return llvm::any_of(op.getReassociationIndices(),
                      [&](const ReassociationIndices &group) {
                        return llvm::count_if(group, [&](int64_t dim) {
                                 return ShapedType::isDynamic(shape[dim]);
                               }) > 1;
                      });
}

/// `factor` * `size`.
static OpFoldResult multiply(OpBuilder &builder, Location loc,
                             OpFoldResult factor, OpFoldResult size) {
  AffineExpr a, b;
  bindSymbols(builder.getContext(), a, b);
  return affine::makeComposedFoldedAffineApply(builder, loc, a * b,
                                               {factor, size});
}

/// The elements of a group lie one after the other, as far apart as those of
/// the dim that it was.
static void rewrite(OpBuilder &builder, memref::ExpandShapeOp op) {
  Location loc = op.getLoc();
  builder.setInsertionPoint(op);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getSrc());
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape(),
                            strides(sizes.size());
  SmallVector<OpFoldResult> known = metadata.getConstifiedMixedStrides();
  for (auto [stride, group] :
       llvm::zip_equal(known, op.getReassociationIndices())) {
    OpFoldResult step = stride;
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = step;
      step = multiply(builder, loc, step, sizes[dim]);
    }
  }
  Value expanded = memref::ReinterpretCastOp::create(
      builder, loc, op.getSrc(), metadata.getConstifiedMixedOffset(), sizes,
      strides);
  if (expanded.getType() != op.getType())
    expanded = memref::CastOp::create(builder, loc, op.getType(), expanded);
  op.replaceAllUsesWith(expanded);
  op.erase();
}

namespace {

struct ExpandReshapes : public tofu::impl::ExpandReshapesBase<ExpandReshapes> {
  void runOnOperation() override {
    SmallVector<memref::ExpandShapeOp> ops;
    getOperation()->walk([&](memref::ExpandShapeOp op) {
      if (hasManyUnknown(op))
        ops.push_back(op);
    });
    OpBuilder builder(&getContext());
    for (memref::ExpandShapeOp op : ops)
      rewrite(builder, op);
  }
};

} // namespace
