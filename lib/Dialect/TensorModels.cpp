//===- TensorModels.cpp - Semantics of tensor operations ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Combiners.h"
#include "Tofu/Dialect/Models.h"
#include "Tofu/Dialect/Structure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::tofu;

static bool areStatic(Operation *op, std::string &why) {
  if (!hasDynamicTensors(op))
    return true;
  why = "sizes are not known";
  return false;
}

static AffineExpr zero(Operation *op) {
  return getAffineConstantExpr(0, op->getContext());
}

/// Sizes of this device's box of the result.
static SmallVector<OpFoldResult> getResultSizes(LocalPiece &piece) {
  SmallVector<OpFoldResult> sizes;
  auto type = cast<RankedTensorType>(piece.op->getResult(0).getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(piece.resultSize(0, dim));
  return sizes;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// Adds the dims of the expanded side of a reshape; gives the index of every
/// expanded dim, and of every collapsed one. Parts of the first dim of a group
/// that isn't of size one are contiguous on the collapsed side; parts of the
/// others are where the parts of those before them have one index each. If the
/// first is of unknown size, the others stay whole, as parts of any size may
/// come; if another one is, so does the first, as how far its elements are
/// apart is not known.
static std::pair<SmallVector<AffineExpr>, SmallVector<AffineExpr>>
addReshapeDims(Operation *op, SemanticsBuilder &builder,
               ArrayRef<int64_t> expanded,
               ArrayRef<ReassociationIndices> groups) {
  SmallVector<AffineExpr> index(expanded.size(), zero(op)), collapsed;
  for (const ReassociationIndices &group : groups) {
    SmallVector<int64_t> dims = llvm::filter_to_vector(
        group, [&](int64_t dim) { return expanded[dim] != 1; });
    auto isUnknown = [&](int64_t dim) {
      return ShapedType::isDynamic(expanded[dim]);
    };
    bool cuttable =
        llvm::none_of(llvm::drop_begin(dims, dims.empty() ? 0 : 1), isUnknown);
    bool isKnown = llvm::none_of(dims, isUnknown);
    AffineExpr sum = zero(op), outer;
    for (int64_t dim : dims) {
      if (isKnown && outer)
        index[dim] = builder.addDimAfter(outer, expanded[dim]);
      else
        index[dim] = builder.addDim(expanded[dim], cuttable && !outer
                                                       ? DimKind::Parallel
                                                       : DimKind::Unsplittable);
      outer = index[dim];
      if (cuttable)
        sum = sum * expanded[dim] + index[dim];
    }
    collapsed.push_back(cuttable ? sum : AffineExpr());
  }
  // Without groups all expanded dims have size one.
  return {index, collapsed};
}

static SemanticsAttr compute(tensor::ExpandShapeOp op, std::string &) {
  SemanticsBuilder builder(op.getContext());
  auto [expanded, collapsed] = addReshapeDims(
      op, builder, op.getResultType().getShape(), op.getReassociationIndices());
  builder.addOperand(collapsed);
  builder.addResult(expanded);
  builder.addLinear(1);
  return builder.build();
}

static SemanticsAttr compute(tensor::CollapseShapeOp op, std::string &) {
  SemanticsBuilder builder(op.getContext());
  auto [expanded, collapsed] = addReshapeDims(
      op, builder, op.getSrcType().getShape(), op.getReassociationIndices());
  builder.addOperand(expanded);
  builder.addResult(collapsed);
  builder.addLinear(1);
  return builder.build();
}

static Value create(LocalPiece &piece, tensor::ExpandShapeOp op) {
  return tensor::ExpandShapeOp::create(
      piece.builder, op.getLoc(), piece.resultType(0), piece.operands[0],
      op.getReassociationIndices(), getResultSizes(piece));
}

static Value create(LocalPiece &piece, tensor::CollapseShapeOp op) {
  return tensor::CollapseShapeOp::create(piece.builder, op.getLoc(),
                                         piece.resultType(0), piece.operands[0],
                                         op.getReassociationIndices());
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// True if it is known how the elements of a slice follow each other. Where it
/// begins need not be.
template <typename SliceOp>
static bool isKnownSlice(SliceOp op, std::string &why) {
  if (llvm::any_of(op.getStaticStrides(), ShapedType::isDynamic)) {
    why = "the slice is not known";
    return false;
  }
  if (llvm::any_of(op.getStaticStrides(), [](int64_t s) { return s < 0; })) {
    why = "the slice runs backwards";
    return false;
  }
  return true;
}

/// True if a slice of unknown size is certain to be all of dim `dim` of
/// `tensor`.
template <typename SliceOp>
static bool isAllOf(SliceOp op, Value tensor, unsigned dim) {
  using Bounds = ValueBoundsConstraintSet;
  if (op.getStaticOffsets()[dim] != 0 || op.getStaticStrides()[dim] != 1)
    return false;
  FailureOr<bool> isAll = Bounds::areEqual(
      Bounds::Variable(op.getMixedSizes()[dim]), Bounds::Variable(tensor, dim));
  return succeeded(isAll) && *isAll;
}

/// True if each device can take its part of dim `dim` of a slice: it is known
/// where that is in the source.
static bool isCuttable(tensor::ExtractSliceOp op, unsigned dim) {
  return !ShapedType::isDynamic(op.getStaticOffsets()[dim]) &&
         (!ShapedType::isDynamic(op.getStaticSizes()[dim]) ||
          isAllOf(op, op.getSource(), dim));
}

static SemanticsAttr compute(tensor::ExtractSliceOp op, std::string &why) {
  if (!isKnownSlice(op, why))
    return {};
  SemanticsBuilder builder(op.getContext());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<AffineExpr> in, out;
  for (int64_t dim = 0; dim < op.getSourceType().getRank(); ++dim) {
    // A slice that begins anywhere is taken from the whole dim.
    bool known = isCuttable(op, dim);
    AffineExpr offset =
        getAffineConstantExpr(op.getStaticOffsets()[dim], op.getContext());
    if (dropped[dim]) {
      in.push_back(known ? offset : AffineExpr());
      continue;
    }
    out.push_back(
        builder.addDim(op.getStaticSizes()[dim],
                       known ? DimKind::Parallel : DimKind::Unsplittable));
    in.push_back(known ? out.back() * op.getStaticStrides()[dim] + offset
                       : AffineExpr());
  }
  builder.addOperand(in);
  builder.addResult(out);
  builder.addLinear(1);
  return builder.build();
}

static OpFoldResult mapped(const LocalPiece &piece, OpFoldResult value) {
  return isa<Attribute>(value)
             ? value
             : piece.mapping.lookupOrDefault(cast<Value>(value));
}

/// The operand's box begins and ends with the slice of this part, but for dims
/// that it has whole.
static Value create(LocalPiece &piece, tensor::ExtractSliceOp op) {
  OpBuilder &builder = piece.builder;
  int64_t rank = op.getSourceType().getRank();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)), sizes,
      results = getResultSizes(piece);
  auto *next = results.begin();
  for (int64_t dim = 0; dim < rank; ++dim) {
    sizes.push_back(dropped[dim] ? OpFoldResult(builder.getIndexAttr(1))
                                 : *next++);
    if (!isCuttable(op, dim))
      offsets[dim] = mapped(piece, op.getMixedOffsets()[dim]);
  }
  return tensor::ExtractSliceOp::create(builder, op.getLoc(),
                                        piece.resultType(0), piece.operands[0],
                                        offsets, sizes, op.getMixedStrides());
}

/// Where, in a device's part of dim `dim` of the result, a tensor begins that
/// is placed at `offset` of the whole dim: at the part's end if it begins
/// behind it.
static OpFoldResult getStartWithin(LocalPiece &piece, int64_t offset,
                                   unsigned dim) {
  OpBuilder &builder = piece.builder;
  Location loc = piece.op->getLoc();
  if (offset <= 0)
    return builder.getIndexAttr(0);
  OpFoldResult partOffset = piece.resultOffset(0, dim),
               partSize = piece.resultSize(0, dim);
  std::optional<int64_t> first = getConstantIntValue(partOffset),
                         size = getConstantIntValue(partSize);
  if (first && size)
    return builder.getIndexAttr(
        std::clamp<int64_t>(offset - *first, 0, std::max<int64_t>(*size, 0)));
  Value start = arith::SubIOp::create(
      builder, loc, arith::ConstantIndexOp::create(builder, loc, offset),
      getValueOrCreateConstantIndexOp(builder, loc, partOffset));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  start = arith::MaxSIOp::create(builder, loc, start, zero);
  return arith::MinSIOp::create(
             builder, loc, start,
             getValueOrCreateConstantIndexOp(builder, loc, partSize))
      .getResult();
}

/// True if each device can insert what of the source falls into its part of dim
/// `dim` of the destination: if the dim has a place in the rank-reduced source
/// and no gaps, and it is known where the source begins and ends.
static bool isCuttable(tensor::InsertSliceOp op, unsigned dim) {
  if (op.getDroppedDims()[dim] || op.getStaticStrides()[dim] != 1 ||
      ShapedType::isDynamic(op.getStaticOffsets()[dim]))
    return false;
  bool isKnown = !ShapedType::isDynamic(op.getStaticSizes()[dim]);
  if (op.getDestType().isDynamicDim(dim))
    return !isKnown && isAllOf(op, op.getDest(), dim);
  return isKnown;
}

/// A dim that can be cut is cut on both sides.
static SemanticsAttr compute(tensor::InsertSliceOp op, std::string &why) {
  if (!isKnownSlice(op, why))
    return {};
  SemanticsBuilder builder(op.getContext());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<AffineExpr> source, dest;
  for (auto [dim, size] : llvm::enumerate(op.getDestType().getShape())) {
    bool cuttable = isCuttable(op, dim);
    dest.push_back(builder.addDim(size, cuttable ? DimKind::Parallel
                                                 : DimKind::Unsplittable));
    if (!dropped[dim])
      source.push_back(cuttable ? dest.back() - op.getStaticOffsets()[dim]
                                : AffineExpr());
  }
  builder.addOperand(source);
  builder.addOperand(dest);
  builder.addResult(dest);
  builder.addLinear(3);
  return builder.build();
}

static Value create(LocalPiece &piece, tensor::InsertSliceOp op) {
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(),
                            sizes = op.getMixedSizes();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  unsigned sourceDim = 0;
  for (int64_t dim = 0; dim < op.getDestType().getRank(); ++dim) {
    offsets[dim] = mapped(piece, offsets[dim]);
    sizes[dim] = mapped(piece, sizes[dim]);
    if (dropped[dim])
      continue;
    if (isCuttable(op, dim)) {
      offsets[dim] = getStartWithin(piece, op.getStaticOffsets()[dim], dim);
      sizes[dim] = piece.operandSize(0, sourceDim);
    }
    ++sourceDim;
  }
  return tensor::InsertSliceOp::create(piece.builder, op.getLoc(),
                                       piece.operands[0], piece.operands[1],
                                       offsets, sizes, op.getMixedStrides());
}

//===----------------------------------------------------------------------===//
// Pad, concat, cast
//===----------------------------------------------------------------------===//

/// True if each device can take what of the source falls into its part of dim
/// `dim` of the result: if it is known where the source begins, and of an
/// unknown size that it is the source's. Padding may be negative.
static bool isCuttable(tensor::PadOp op, unsigned dim) {
  int64_t low = op.getStaticLow()[dim];
  if (op.getResultType().isDynamicDim(dim))
    return low == 0 && op.getStaticHigh()[dim] == 0 &&
           op.getSourceType().isDynamicDim(dim);
  return !ShapedType::isDynamic(low) && !op.getSourceType().isDynamicDim(dim);
}

static SemanticsAttr compute(tensor::PadOp op, std::string &why) {
  if (llvm::any_of(op.getBody()->getArguments(),
                   [](BlockArgument arg) { return !arg.use_empty(); })) {
    why = "the padding depends on the index";
    return {};
  }
  SemanticsBuilder builder(op.getContext());
  SmallVector<AffineExpr> in, out;
  for (auto [dim, size] : llvm::enumerate(op.getResultType().getShape())) {
    bool cuttable = isCuttable(op, dim);
    out.push_back(builder.addDim(size, cuttable ? DimKind::Parallel
                                                : DimKind::Unsplittable));
    in.push_back(cuttable ? out.back() - op.getStaticLow()[dim] : AffineExpr());
  }
  builder.addOperand(in);
  SmallVector<Value> tensors = getTensorOperands(op);
  for (Value captured : llvm::drop_begin(tensors))
    builder.addWhole(cast<RankedTensorType>(captured.getType()).getRank());
  builder.addResult(out);
  return builder.build();
}

/// What is left of a padded dim on both sides of the `size` source indices that
/// begin at `low`.
static OpFoldResult getRest(LocalPiece &piece, OpFoldResult whole,
                            OpFoldResult low, OpFoldResult size) {
  OpBuilder &builder = piece.builder;
  Location loc = piece.op->getLoc();
  std::optional<int64_t> a = getConstantIntValue(whole),
                         b = getConstantIntValue(low),
                         c = getConstantIntValue(size);
  if (a && b && c)
    return builder.getIndexAttr(*a - *b - *c);
  auto value = [&](OpFoldResult result) {
    return getValueOrCreateConstantIndexOp(builder, loc, result);
  };
  Value rest = arith::SubIOp::create(builder, loc, value(whole), value(low));
  return arith::SubIOp::create(builder, loc, rest, value(size)).getResult();
}

static Value create(LocalPiece &piece, tensor::PadOp op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(piece.mapping.lookupOrDefault(operand));
  operands[0] = piece.operands[0];
  SmallVector<OpFoldResult> lows, highs;
  for (auto [dim, low, high] :
       llvm::enumerate(op.getMixedLowPad(), op.getMixedHighPad())) {
    if (isConstantIntValue(low, 0) && isConstantIntValue(high, 0)) {
      lows.push_back(low);
      highs.push_back(high);
      continue;
    }
    if (!isCuttable(op, dim)) {
      lows.push_back(mapped(piece, low));
      highs.push_back(mapped(piece, high));
      continue;
    }
    lows.push_back(getStartWithin(piece, op.getStaticLow()[dim], dim));
    highs.push_back(getRest(piece, piece.resultSize(0, dim), lows.back(),
                            piece.operandSize(0, dim)));
  }
  auto clone = cast<tensor::PadOp>(
      cloneLocal(piece, operands, TypeRange(piece.resultType(0))));
  auto pad =
      tensor::PadOp::create(piece.builder, op.getLoc(), piece.resultType(0),
                            piece.operands[0], lows, highs, op.getNofold());
  pad.getRegion().takeBody(clone.getRegion());
  clone.erase();
  return pad;
}

/// Each device joins what of the inputs falls into its part, if it is known
/// where that is.
static SemanticsAttr compute(tensor::ConcatOp op, std::string &) {
  SemanticsBuilder builder(op.getContext());
  bool isKnown =
      !op.getResultType().isDynamicDim(op.getDim()) &&
      llvm::none_of(op->getOperandTypes(), [&](Type type) {
        return cast<RankedTensorType>(type).isDynamicDim(op.getDim());
      });
  SmallVector<AffineExpr> out;
  for (auto [dim, size] : llvm::enumerate(op.getResultType().getShape()))
    out.push_back(builder.addDim(size, isKnown || dim != op.getDim()
                                           ? DimKind::Parallel
                                           : DimKind::Unsplittable));
  int64_t start = 0;
  for (Value input : op.getInputs()) {
    SmallVector<AffineExpr> in = out;
    in[op.getDim()] = isKnown ? out[op.getDim()] - start : AffineExpr();
    builder.addOperand(in);
    if (isKnown)
      start += cast<RankedTensorType>(input.getType()).getDimSize(op.getDim());
  }
  builder.addResult(out);
  if (op.getInputs().size() < 62)
    builder.addLinear((int64_t(1) << op.getInputs().size()) - 1);
  return builder.build();
}

static Value create(LocalPiece &piece, tensor::ConcatOp op) {
  return tensor::ConcatOp::create(piece.builder, op.getLoc(),
                                  piece.resultType(0), op.getDim(),
                                  piece.operands);
}

/// Both sides have the size that one of them knows.
static SemanticsAttr compute(tensor::CastOp op, std::string &why) {
  auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto to = dyn_cast<RankedTensorType>(op.getType());
  if (!from || !to) {
    why = "not on tensors of known rank";
    return {};
  }
  SemanticsBuilder builder(op.getContext());
  SmallVector<AffineExpr> index;
  for (auto [a, b] : llvm::zip_equal(from.getShape(), to.getShape()))
    index.push_back(builder.addDim(ShapedType::isDynamic(a) ? b : a));
  builder.addOperand(index);
  builder.addResult(index);
  builder.addLinear(1);
  return builder.build();
}

static Value create(LocalPiece &piece, tensor::CastOp op) {
  return tensor::CastOp::create(piece.builder, op.getLoc(), piece.resultType(0),
                                piece.operands[0]);
}

//===----------------------------------------------------------------------===//
// Scatter, from_elements
//===----------------------------------------------------------------------===//

/// Every part of the result goes through all slices, and takes what falls into
/// it. Parts of the slices make results that add up: the slices have places of
/// their own.
static SemanticsAttr compute(tensor::ScatterOp op, std::string &) {
  SemanticsBuilder builder(op.getContext());
  SmallVector<AffineExpr> place, slices;
  for (int64_t size : op.getDestType().getShape())
    place.push_back(builder.addDim(size));
  bool addsUp =
      bool(getNeutral(op.getDestType().getElementType(), Combiner::Sum));
  for (int64_t size : op.getIndicesType().getShape().drop_back())
    slices.push_back(
        addsUp ? builder.addDim(size, DimKind::Reduction, Combiner::Sum)
               : builder.addDim(size, DimKind::Unsplittable));
  bool keepsAll =
      op.getSourceType().getRank() == int64_t(slices.size() + place.size());
  for (auto [dim, expr] : llvm::enumerate(place)) {
    if (!llvm::is_contained(op.getScatterDims(), int64_t(dim)))
      slices.push_back(expr);
    else if (keepsAll)
      slices.push_back(zero(op));
  }
  builder.addOperand(slices);
  builder.addOperand(place);
  builder.addWhole(op.getIndicesType().getRank());
  builder.addResult(place);
  builder.addLinear(3);
  return builder.build();
}

/// The axes that cut the slices.
static AxesAttr getSliceAxes(LocalPiece &piece) {
  SmallVector<StringAttr> axes;
  for (auto [dim, cut] :
       llvm::zip_equal(piece.semantics.getDims(), piece.strategy.getDims()))
    if (dim.getKind() == DimKind::Reduction)
      llvm::append_range(axes, cut.getNames());
  return AxesAttr::get(piece.op->getContext(), axes);
}

/// What a part of the slices is added to: the destination on the first devices
/// along `axes`, but for the places of all slices, and what changes no sum.
static Value createAddends(LocalPiece &piece, tensor::ScatterOp op,
                           AxesAttr axes,
                           ArrayRef<std::optional<PartBounds>> bounds) {
  OpBuilder &builder = piece.builder;
  Location loc = op.getLoc();
  Value dest = piece.operands[1], indices = piece.operands[2];
  auto type = cast<RankedTensorType>(dest.getType());
  Value isFirst =
      createIsFirst(builder, loc, piece.strategy.getMesh(), axes, piece.mesh);
  Value neutral =
      createNeutralScalar(builder, loc, type.getElementType(), Combiner::Sum);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, dest);
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  Value addend =
      linalg::GenericOp::create(
          builder, loc, empty.getType(), dest, empty, maps, iterators,
          [&](OpBuilder &b, Location loc, ValueRange args) {
            Value element =
                arith::SelectOp::create(b, loc, isFirst, args[0], neutral);
            linalg::YieldOp::create(b, loc, element);
          })
          .getResult(0);
  for (int64_t dim : op.getScatterDims())
    sizes[dim] = builder.getIndexAttr(1);
  Value slice =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  slice = linalg::FillOp::create(builder, loc, neutral, slice).getResult(0);
  return createScatterOfOne(builder, op, slice, addend, indices, bounds);
}

/// The indices of this device's part of the slices.
static Value createPartIndices(LocalPiece &piece, tensor::ScatterOp op) {
  OpBuilder &builder = piece.builder;
  int64_t rank = op.getIndicesType().getRank(),
          firstDim = op.getDestType().getRank();
  SmallVector<OpFoldResult> first(rank, builder.getIndexAttr(0)),
      steps(rank, builder.getIndexAttr(1)),
      count = tensor::getMixedSizes(builder, op.getLoc(), piece.operands[2]);
  for (int64_t dim = 0; dim + 1 < rank; ++dim) {
    first[dim] = piece.iterationOffset(firstDim + dim);
    count[dim] = piece.iterationSize(firstDim + dim);
  }
  return tensor::ExtractSliceOp::create(builder, op.getLoc(), piece.operands[2],
                                        first, count, steps);
}

static Value create(LocalPiece &piece, tensor::ScatterOp op) {
  SmallVector<std::optional<PartBounds>> bounds;
  for (int64_t dim : op.getScatterDims()) {
    bounds.push_back(std::nullopt);
    if (!piece.strategy.getDims()[dim].empty())
      bounds.back() =
          PartBounds{piece.resultOffset(0, dim), piece.resultSize(0, dim)};
  }
  Value dest = piece.operands[1], indices = piece.operands[2];
  if (AxesAttr axes = getSliceAxes(piece); !axes.empty()) {
    dest = createAddends(piece, op, axes, bounds);
    indices = createPartIndices(piece, op);
  }
  return createScatter(piece.builder, op, piece.operands[0], dest, indices,
                       bounds);
}

/// Each device takes a part of the few elements, which all have.
static SemanticsAttr compute(tensor::FromElementsOp op, std::string &) {
  SemanticsBuilder builder(op.getContext());
  SmallVector<AffineExpr> index;
  for (int64_t size : op.getType().getShape())
    index.push_back(builder.addDim(size));
  builder.addResult(index);
  return builder.build();
}

static Value create(LocalPiece &piece, tensor::FromElementsOp op) {
  OpBuilder &builder = piece.builder;
  SmallVector<Value> elements;
  for (Value element : op.getElements())
    elements.push_back(piece.mapping.lookupOrDefault(element));
  Value whole = tensor::FromElementsOp::create(builder, op.getLoc(),
                                               op.getType(), elements);
  if (piece.resultType(0) == op.getType())
    return whole;
  SmallVector<OpFoldResult> offsets, ones;
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    offsets.push_back(piece.resultOffset(0, dim));
    ones.push_back(builder.getIndexAttr(1));
  }
  return tensor::ExtractSliceOp::create(builder, op.getLoc(),
                                        piece.resultType(0), whole, offsets,
                                        getResultSizes(piece), ones);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Every device has the element; along a dim with an index that is not known it
/// may be anywhere.
static SemanticsAttr compute(tensor::ExtractOp op, std::string &why) {
  if (!areStatic(op, why))
    return {};
  SemanticsBuilder builder(op.getContext());
  SmallVector<AffineExpr> index;
  for (auto [at, size] :
       llvm::zip_equal(op.getIndices(), op.getTensor().getType().getShape())) {
    std::optional<int64_t> known = getConstantIntValue(at);
    bool isInside = known && *known >= 0 && *known < size;
    index.push_back(isInside ? getAffineConstantExpr(*known, op.getContext())
                             : AffineExpr());
  }
  builder.addOperand(index);
  builder.addResult({});
  return builder.build();
}

static Value create(LocalPiece &piece, tensor::ExtractOp op) {
  SmallVector<Value> indices;
  for (auto [dim, at] : llvm::enumerate(op.getIndices())) {
    Value &index = indices.emplace_back(piece.mapping.lookupOrDefault(at));
    // The element is the first one of what is at hand.
    if (!isConstantIntValue(piece.operandOffset(0, dim), 0))
      index = arith::ConstantIndexOp::create(piece.builder, op.getLoc(), 0);
  }
  return tensor::ExtractOp::create(piece.builder, op.getLoc(),
                                   piece.operands[0], indices);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
template <typename OpTy>
struct TensorModel
    : public PartitionableOpInterface::ExternalModel<TensorModel<OpTy>, OpTy> {
  SemanticsAttr computeSemantics(Operation *op, std::string &why) const {
    return compute(cast<OpTy>(op), why);
  }
  FailureOr<SmallVector<Value>> createLocal(Operation *op,
                                            LocalPiece &piece) const {
    if (failed(requireAllRead(piece)))
      return failure();
    return SmallVector<Value>{create(piece, cast<OpTy>(op))};
  }
};
} // namespace

template <typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<TensorModel<Ops>>(*context), ...);
}

void mlir::tofu::registerTensorModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attach<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
           tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::PadOp,
           tensor::ConcatOp, tensor::CastOp, tensor::ScatterOp,
           tensor::FromElementsOp, tensor::ExtractOp>(context);
  });
}
