//===- GeneralizeOps.cpp - Rewrite operations to generic forms ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/Structure.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
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

/// Rewrites packing and unpacking to pads, reshapes and transposes. Not to a
/// lone slice where there is but one tile: upstream takes that of the wrong
/// dims.
static LogicalResult lowerPacking(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  bool done = false;
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    done = succeeded(linalg::lowerPack(rewriter, pack,
                                       /*lowerPadLikeWithInsertSlice=*/false));
  else
    done = succeeded(
        linalg::lowerUnPack(rewriter, cast<linalg::UnPackOp>(op),
                            /*lowerUnpadLikeWithExtractSlice=*/false));
  return done ? success()
              : op->emitOpError("cannot be lowered to reshapes and transposes");
}

/// Rewrites the transforms of Winograd's convolution to products of small
/// matrices. Upstream does so for sizes that are known, so each tile is made on
/// its own: one by one of the loops that may have any number of iterations.
template <typename TransformOp>
static LogicalResult lowerTransforms(
    RewriterBase &rewriter, Operation *root, ArrayRef<int64_t> tileSizes,
    FailureOr<Operation *> (*decompose)(RewriterBase &, TransformOp)) {
  SmallVector<TransformOp> ops;
  root->walk([&](TransformOp op) { ops.push_back(op); });
  for (TransformOp op : ops) {
    scf::SCFTilingOptions options;
    options.setTileSizes(getAsIndexOpFoldResult(op.getContext(), tileSizes));
    rewriter.setInsertionPoint(op);
    FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(
        rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(tiled))
      return op->emitOpError("cannot be lowered tile by tile");
    rewriter.replaceOp(op, tiled->replacements);
    for (Operation *tile : tiled->tiledOps) {
      rewriter.setInsertionPoint(tile);
      if (failed(decompose(rewriter, cast<TransformOp>(tile))))
        return tile->emitOpError("cannot be lowered to products of matrices");
    }
  }
  return success();
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

/// The strides of a slice, with ones where there is just one element.
template <typename SliceOp>
static SmallVector<OpFoldResult> getPlainStrides(SliceOp op) {
  Builder builder(op.getContext());
  SmallVector<OpFoldResult> strides = op.getMixedStrides();
  for (auto [stride, size] : llvm::zip_equal(strides, op.getMixedSizes()))
    if (isConstantIntValue(size, 1))
      stride = builder.getIndexAttr(1);
  return strides;
}

/// True if a dim that stays may be taken for one that is dropped: if both have,
/// or may come to have, one index, and there is more than ones between them.
template <typename SliceOp>
static bool hasAmbiguousDims(SliceOp op) {
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  auto isOne = [&](unsigned dim) { return isConstantIntValue(sizes[dim], 1); };
  auto mayBeOne = [&](unsigned dim) {
    return isOne(dim) || !getConstantIntValue(sizes[dim]);
  };
  for (unsigned drop : dropped.set_bits())
    for (unsigned stay = 0; stay < sizes.size(); ++stay) {
      auto [first, last] = std::minmax(drop, stay);
      if (!dropped[stay] && mayBeOne(stay) &&
          !llvm::all_of(llvm::seq(first + 1, last), isOne))
        return true;
    }
  return false;
}

/// True if what upstream makes of dropped dims may be wrong: it goes by strides
/// to tell which dims the slice of a buffer drops, those of the buffer, and
/// takes the first ones of several that are alike. Unknown ones are, and those
/// around a dim of size one.
template <typename SliceOp>
static bool dropsUnclearly(SliceOp op, ArrayRef<OpFoldResult> strides) {
  bool areOnes = llvm::all_of(strides, [](OpFoldResult stride) {
    return isConstantIntValue(stride, 1);
  });
  return op.getDroppedDims().any() && (!areOnes || hasAmbiguousDims(op));
}

/// Each dim that stays, with the dropped ones before it; the last one takes
/// those after it too.
static SmallVector<ReassociationIndices>
groupDropped(const llvm::SmallBitVector &dropped) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices group;
  for (unsigned dim = 0; dim < dropped.size(); ++dim) {
    group.push_back(dim);
    if (dropped[dim])
      continue;
    groups.push_back(group);
    group.clear();
  }
  if (!groups.empty())
    groups.back().append(group);
  return groups;
}

/// Takes the slice with all its dims, and drops some of them from that.
static Value createSlice(IRRewriter &rewriter, tensor::ExtractSliceOp op,
                         ArrayRef<OpFoldResult> strides) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  if (!dropsUnclearly(op, strides))
    return tensor::ExtractSliceOp::create(rewriter, loc, op.getType(),
                                          op.getSource(), op.getMixedOffsets(),
                                          sizes, strides);
  Value wide = tensor::ExtractSliceOp::create(
      rewriter, loc, op.getSource(), op.getMixedOffsets(), sizes, strides);
  Value narrow = tensor::CollapseShapeOp::create(
      rewriter, loc, wide, groupDropped(op.getDroppedDims()));
  if (narrow.getType() == op.getType())
    return narrow;
  return tensor::CastOp::create(rewriter, loc, op.getType(), narrow);
}

/// The source with the dims that it lacks.
static Value addDropped(IRRewriter &rewriter, tensor::InsertSliceOp op) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> sizes;
  const int64_t *next = op.getSourceType().getShape().begin();
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes())) {
    shape.push_back(dropped[dim] ? 1 : *next++);
    sizes.push_back(ShapedType::isDynamic(shape.back())
                        ? size
                        : OpFoldResult(rewriter.getIndexAttr(shape.back())));
  }
  return tensor::ExpandShapeOp::create(
      rewriter, op.getLoc(), op.getSourceType().clone(shape), op.getSource(),
      groupDropped(dropped), sizes);
}

static Value createSlice(IRRewriter &rewriter, tensor::InsertSliceOp op,
                         ArrayRef<OpFoldResult> strides) {
  Value source = op.getSource();
  if (dropsUnclearly(op, strides))
    source = addDropped(rewriter, op);
  return tensor::InsertSliceOp::create(rewriter, op.getLoc(), source,
                                       op.getDest(), op.getMixedOffsets(),
                                       op.getMixedSizes(), strides);
}

/// Leaves no slices whose dropped dims are unclear.
template <typename SliceOp>
static void simplifyStrides(IRRewriter &rewriter, Operation *root) {
  SmallVector<SliceOp> slices;
  root->walk([&](SliceOp op) {
    if (op.getDroppedDims().any() || !op.hasUnitStride())
      slices.push_back(op);
  });
  for (SliceOp op : slices) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOp(op, createSlice(rewriter, op, getPlainStrides(op)));
  }
}

namespace {

struct GeneralizeOps : public tofu::impl::GeneralizeOpsBase<GeneralizeOps> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    structureTensorOps(rewriter, getOperation());
    lowerScatters(rewriter);
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
    if (failed(lowerTransforms(rewriter, getOperation(), {1, 0, 0, 1},
                               linalg::decomposeWinogradFilterTransformOp)) ||
        failed(lowerTransforms(rewriter, getOperation(), {0, 0, 1, 1, 1, 1},
                               linalg::decomposeWinogradInputTransformOp)) ||
        failed(lowerTransforms(rewriter, getOperation(), {0, 0, 1, 1, 1, 1},
                               linalg::decomposeWinogradOutputTransformOp)))
      return signalPassFailure();
    if (failed(decomposeToSlices(rewriter, getOperation())))
      return signalPassFailure();
    simplifyStrides<tensor::ExtractSliceOp>(rewriter, getOperation());
    simplifyStrides<tensor::InsertSliceOp>(rewriter, getOperation());
    generalizeNamed(rewriter);
  }

private:
  void lowerScatters(IRRewriter &rewriter) {
    SmallVector<tensor::ScatterOp> scatters;
    getOperation()->walk([&](tensor::ScatterOp op) { scatters.push_back(op); });
    for (tensor::ScatterOp op : scatters) {
      rewriter.setInsertionPoint(op);
      SmallVector<std::optional<PartBounds>> whole(op.getScatterDims().size());
      rewriter.replaceOp(op,
                         createScatter(rewriter, op, op.getSource(),
                                       op.getDest(), op.getIndices(), whole));
    }
  }

  /// The body of a named operation, which is not in the program's text, is
  /// where the operation is, whatever it is fused with.
  static void locateBody(linalg::LinalgOp op) {
    op->walk([&](Operation *inner) {
      if (isa<UnknownLoc>(inner->getLoc()))
        inner->setLoc(op->getLoc());
    });
  }

  /// Fills stay: later passes look for them.
  void generalizeNamed(IRRewriter &rewriter) {
    SmallVector<linalg::LinalgOp> named;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()))
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      locateBody(op);
      numGeneralized += succeeded(linalg::generalizeNamedOp(rewriter, op));
    }
  }
};

} // namespace
