//===- GeneralizeOps.cpp - Rewrite operations to generic forms ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_GENERALIZEOPS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// Takes a softmax and its like apart into structured operations.
static LogicalResult decomposeAggregate(RewriterBase &rewriter,
                                        linalg::AggregatedOpInterface op) {
  rewriter.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
  if (failed(results))
    return op->emitOpError("cannot be taken apart into generic operations");
  rewriter.replaceOp(op, *results);
  return success();
}

/// Rewrites packing and unpacking to pads, reshapes and transposes.
static LogicalResult lowerPacking(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  bool done = false;
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    done = succeeded(linalg::lowerPack(rewriter, pack));
  else
    done = succeeded(linalg::lowerUnPack(rewriter, cast<linalg::UnPackOp>(op)));
  return done ? success()
              : op->emitOpError("cannot be lowered to reshapes and transposes");
}

/// The larger of zero and `amount`, or its negation.
static OpFoldResult getPositivePart(OpBuilder &builder, Location loc,
                                    OpFoldResult amount, bool negate) {
  if (std::optional<int64_t> known = getConstantIntValue(amount))
    return builder.getIndexAttr(
        std::max<int64_t>(negate ? -*known : *known, 0));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value value = cast<Value>(amount);
  if (negate)
    value = arith::SubIOp::create(builder, loc, zero, value);
  return arith::MaxSIOp::create(builder, loc, value, zero).getResult();
}

/// Padding by less than nothing takes elements away: has them taken away by a
/// slice, as upstream's decomposition ignores them.
static void sliceNegativePads(RewriterBase &rewriter, tensor::PadOp op) {
  SmallVector<OpFoldResult> lows = op.getMixedLowPad(),
                            highs = op.getMixedHighPad();
  auto isPositive = [](OpFoldResult amount) {
    std::optional<int64_t> known = getConstantIntValue(amount);
    return known && *known >= 0;
  };
  if (llvm::all_of(lows, isPositive) && llvm::all_of(highs, isPositive))
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> offsets, sizes,
      strides(lows.size(), rewriter.getIndexAttr(1));
  for (auto [dim, low, high] : llvm::enumerate(lows, highs)) {
    offsets.push_back(getPositivePart(rewriter, loc, low, /*negate=*/true));
    OpFoldResult cut = getPositivePart(rewriter, loc, high, /*negate=*/true);
    low = getPositivePart(rewriter, loc, low, /*negate=*/false);
    high = getPositivePart(rewriter, loc, high, /*negate=*/false);
    AffineExpr size, first, last;
    bindSymbols(op.getContext(), size, first, last);
    sizes.push_back(affine::makeComposedFoldedAffineApply(
        rewriter, loc, size - first - last,
        {tensor::getMixedSize(rewriter, loc, op.getSource(), dim),
         offsets.back(), cut}));
  }
  Value kept = tensor::ExtractSliceOp::create(rewriter, loc, op.getSource(),
                                              offsets, sizes, strides);
  auto pad = tensor::PadOp::create(rewriter, loc, op.getResultType(), kept,
                                   lows, highs, op.getNofold());
  rewriter.inlineRegionBefore(op.getRegion(), pad.getRegion(),
                              pad.getRegion().begin());
  rewriter.replaceOp(op, pad);
}

/// Rewrites `tensor.pad` and `tensor.concat` to insertions of slices.
static LogicalResult decomposeToSlices(RewriterBase &rewriter,
                                       Operation *root) {
  SmallVector<tensor::PadOp> pads;
  root->walk([&](tensor::PadOp op) { pads.push_back(op); });
  for (tensor::PadOp op : pads)
    sliceNegativePads(rewriter, op);
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<tensor::PadOp, tensor::ConcatOp>(op))
      ops.push_back(op);
  });
  RewritePatternSet patterns(root->getContext());
  linalg::populateDecomposePadPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  return applyOpPatternsGreedily(ops, std::move(patterns));
}

namespace {

struct GeneralizeOps : public tofu::impl::GeneralizeOpsBase<GeneralizeOps> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> aggregates, packings;
    getOperation()->walk([&](Operation *op) {
      if (isa<linalg::PackOp, linalg::UnPackOp>(op))
        packings.push_back(op);
      else if (isa<linalg::AggregatedOpInterface>(op))
        aggregates.push_back(op);
    });
    for (Operation *op : aggregates)
      if (failed(decomposeAggregate(rewriter,
                                    cast<linalg::AggregatedOpInterface>(op))))
        return signalPassFailure();
    for (Operation *op : packings)
      if (failed(lowerPacking(rewriter, op)))
        return signalPassFailure();
    if (failed(decomposeToSlices(rewriter, getOperation())))
      return signalPassFailure();
    generalizeNamed(rewriter);
  }

private:
  /// Fills stay: later passes look for them.
  void generalizeNamed(IRRewriter &rewriter) {
    SmallVector<linalg::LinalgOp> named;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      numGeneralized += succeeded(linalg::generalizeNamedOp(rewriter, op));
    }
  }
};

} // namespace
