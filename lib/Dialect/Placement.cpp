//===- Placement.cpp - Boxes and local types from attributes --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Placement.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tofu;

MeshOp mlir::tofu::lookupMesh(Operation *op, FlatSymbolRefAttr symbol) {
  return SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, symbol);
}

SmallVector<search::Box> mlir::tofu::getBoxes(PlacementAttrInterface placement,
                                              ArrayRef<int64_t> shape,
                                              MeshOp mesh) {
  search::Mesh info = mesh.getMesh();
  return placement.getPlacement(shape, info).boxes(shape, info);
}

bool mlir::tofu::isSamePlacement(PlacementAttrInterface a,
                                 PlacementAttrInterface b,
                                 RankedTensorType global, MeshOp mesh) {
  if (a == b || !global.hasStaticShape())
    return true;
  ArrayRef<int64_t> shape = global.getShape();
  return a.getPartialAxes() == b.getPartialAxes() &&
         a.getCombiner() == b.getCombiner() &&
         getBoxes(a, shape, mesh) == getBoxes(b, shape, mesh);
}

search::Axes mlir::tofu::resolvePartial(PlacementAttrInterface placement,
                                        const search::Mesh &mesh) {
  return AxesAttr::get(placement.getContext(), placement.getPartialAxes())
      .resolve(mesh);
}

/// An axis of `axes` that is not in `others`; null if there is none.
static StringAttr findOther(ArrayRef<StringAttr> axes,
                            ArrayRef<StringAttr> others) {
  const StringAttr *it = llvm::find_if(
      axes, [&](StringAttr axis) { return !llvm::is_contained(others, axis); });
  return it == axes.end() ? StringAttr() : *it;
}

LogicalResult
mlir::tofu::verifyPartialAxes(function_ref<InFlightDiagnostic()> emitError,
                              PartialRule rule, StringRef fromName,
                              PlacementAttrInterface from, StringRef toName,
                              PlacementAttrInterface to) {
  ArrayRef<StringAttr> before = from.getPartialAxes(),
                       after = to.getPartialAxes();
  if (!before.empty() && !after.empty() &&
      from.getCombiner() != to.getCombiner())
    return emitError() << fromName << " is a partial "
                       << stringifyCombiner(from.getCombiner()) << ", "
                       << toName << " a partial "
                       << stringifyCombiner(to.getCombiner());
  if (rule == PartialRule::Any)
    return success();
  if (StringAttr axis = findOther(after, before))
    return emitError() << toName << " is partial over " << axis.getValue()
                       << ", " << fromName
                       << " is not; only a fetch makes partial results";
  StringAttr combined = findOther(before, after);
  if (combined && rule == PartialRule::Keeps)
    return emitError() << fromName << " is partial over " << combined.getValue()
                       << ", " << toName
                       << " is not; only reductions and fetches combine";
  if (!combined && rule == PartialRule::Combines)
    return emitError() << fromName << " is not partial over any axis that "
                       << toName << " is not";
  return success();
}

RankedTensorType mlir::tofu::getLocalType(RankedTensorType global,
                                          PlacementAttrInterface placement,
                                          const search::Mesh &mesh) {
  if (!global.hasStaticShape())
    return global;
  SmallVector<search::Box> boxes =
      placement.getPlacement(global.getShape(), mesh)
          .boxes(global.getShape(), mesh);
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < global.getRank(); ++dim)
    shape.push_back(
        search::uniformSize(boxes, dim).value_or(ShapedType::kDynamic));
  return global.clone(shape);
}

SmallVector<Value> mlir::tofu::getTensorOperands(Operation *op) {
  SmallVector<Value> tensors;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      tensors.push_back(operand);
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    if (isa<RankedTensorType>(value.getType()))
      tensors.push_back(value);
  return tensors;
}

bool mlir::tofu::hasDynamicTensors(Operation *op) {
  auto isDynamic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  return llvm::any_of(op->getOperandTypes(), isDynamic) ||
         llvm::any_of(op->getResultTypes(), isDynamic);
}

//===----------------------------------------------------------------------===//
// Placements of operands and results
//===----------------------------------------------------------------------===//

/// The layout that an access with the given dims is, if it is one: every tensor
/// dim is whole, an uncut index, or an iteration dim of its own size.
static LayoutAttr getAsLayout(SemanticsAttr semantics, StrategyAttr strategy,
                              AccessAttr access, ArrayRef<int64_t> shape,
                              AxesAttr partial, Combiner combiner) {
  MLIRContext *context = semantics.getContext();
  AxesAttr none = AxesAttr::get(context, ArrayRef<StringAttr>());
  SmallVector<AxesAttr> dims;
  for (auto [expr, size] : llvm::zip_equal(access.getIndex(), shape)) {
    if (!expr || (isa<AffineConstantExpr>(expr) && size == 1)) {
      dims.push_back(none);
      continue;
    }
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || semantics.getDims()[dim.getPosition()].getSize() != size)
      return {};
    dims.push_back(strategy.getDims()[dim.getPosition()]);
  }
  return LayoutAttr::get(context, strategy.getMesh(), dims, partial, combiner);
}

static PlacementAttrInterface
getPlacement(SemanticsAttr semantics, StrategyAttr strategy, AccessAttr access,
             ArrayRef<int64_t> shape, const search::Axes &partialAxes,
             Combiner combiner, const search::Mesh &mesh) {
  MLIRContext *context = semantics.getContext();
  AxesAttr partial = AxesAttr::get(context, partialAxes, mesh);
  if (partialAxes.empty())
    combiner = Combiner::None;
  if (!access.getRead())
    return LayoutAttr::getWhole(strategy.getMesh(), shape.size());
  if (LayoutAttr layout =
          getAsLayout(semantics, strategy, access, shape, partial, combiner))
    return layout;
  // Only dims that the index names belong to the boxes.
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SmallVector<AxesAttr> axes;
  DenseMap<AffineExpr, AffineExpr> renumber;
  for (auto [i, dim] : llvm::enumerate(semantics.getDims())) {
    bool used = llvm::any_of(access.getIndex(), [&, i = i](AffineExpr expr) {
      return expr && expr.isFunctionOfDim(i);
    });
    if (!used)
      continue;
    renumber[getAffineDimExpr(i, context)] =
        getAffineDimExpr(names.size(), context);
    names.push_back(dim.getName());
    sizes.push_back(dim.getSize());
    axes.push_back(strategy.getDims()[i]);
  }
  SmallVector<AffineExpr> index;
  for (AffineExpr expr : access.getIndex())
    index.push_back(expr ? expr.replace(renumber) : expr);
  return BoxesAttr::get(context, strategy.getMesh(), names, sizes, axes, index,
                        partial, combiner);
}

PlacementAttrInterface
mlir::tofu::getOperandPlacement(SemanticsAttr semantics, StrategyAttr strategy,
                                unsigned i, ArrayRef<int64_t> shape,
                                const search::Mesh &mesh) {
  search::Axes partial;
  if (llvm::is_contained(strategy.getPartialOperands(), int64_t(i)))
    partial = strategy.getPartial().resolve(mesh);
  return getPlacement(semantics, strategy, semantics.getOperands()[i], shape,
                      partial, Combiner::Sum, mesh);
}

PlacementAttrInterface
mlir::tofu::getResultPlacement(SemanticsAttr semantics, StrategyAttr strategy,
                               unsigned i, ArrayRef<int64_t> shape,
                               const search::Mesh &mesh) {
  search::Strategy resolved = strategy.resolve(mesh);
  search::Axes partial = resolved.partial;
  for (auto [dim, axes] : llvm::zip_equal(semantics.getDims(), resolved.dims))
    if (dim.getKind() == DimKind::Reduction)
      partial.append(axes.begin(), axes.end());
  llvm::sort(partial);
  return getPlacement(semantics, strategy, semantics.getResults()[i], shape,
                      partial, semantics.getCombiner(resolved), mesh);
}

//===----------------------------------------------------------------------===//
// LocalPiece
//===----------------------------------------------------------------------===//

OpFoldResult mlir::tofu::getShardOffset(OpBuilder &builder, Location loc,
                                        unsigned dim,
                                        PlacementAttrInterface placement,
                                        ArrayRef<int64_t> shape,
                                        const search::Mesh &mesh) {
  if (auto offset = search::uniformOffset(
          placement.getPlacement(shape, mesh).boxes(shape, mesh), dim))
    return builder.getIndexAttr(*offset);
  return ShardOffsetOp::create(builder, loc, builder.getIndexType(), dim,
                               placement, shape)
      .getResult();
}

OpFoldResult mlir::tofu::getShardSize(OpBuilder &builder, Location loc,
                                      unsigned dim,
                                      PlacementAttrInterface placement,
                                      ArrayRef<int64_t> shape,
                                      const search::Mesh &mesh) {
  if (auto size = search::uniformSize(
          placement.getPlacement(shape, mesh).boxes(shape, mesh), dim))
    return builder.getIndexAttr(*size);
  return ShardSizeOp::create(builder, loc, builder.getIndexType(), dim,
                             placement, shape)
      .getResult();
}

Value mlir::tofu::createLocalEmpty(OpBuilder &builder, Location loc,
                                   RankedTensorType global,
                                   PlacementAttrInterface placement,
                                   const search::Mesh &mesh) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < global.getRank(); ++dim)
    sizes.push_back(
        getShardSize(builder, loc, dim, placement, global.getShape(), mesh));
  return tensor::EmptyOp::create(builder, loc, sizes, global.getElementType());
}

PlacementAttrInterface LocalPiece::iterationSpace() const {
  MLIRContext *context = op->getContext();
  AxesAttr none = AxesAttr::get(context, ArrayRef<StringAttr>());
  return LayoutAttr::get(context, strategy.getMesh(), strategy.getDims(), none,
                         Combiner::None);
}

SmallVector<int64_t> LocalPiece::iterationShape() const {
  return llvm::map_to_vector(
      semantics.getDims(), [](IterationDimAttr dim) { return dim.getSize(); });
}

RankedTensorType LocalPiece::globalOperandType(unsigned i) const {
  return cast<RankedTensorType>(getTensorOperands(op)[i].getType());
}

RankedTensorType LocalPiece::resultType(unsigned i) const {
  auto global = cast<RankedTensorType>(op->getResult(i).getType());
  return getLocalType(
      global,
      getResultPlacement(semantics, strategy, i, global.getShape(), mesh),
      mesh);
}

Value LocalPiece::emptyResult(unsigned i) {
  auto global = cast<RankedTensorType>(op->getResult(i).getType());
  return createLocalEmpty(
      builder, op->getLoc(), global,
      getResultPlacement(semantics, strategy, i, global.getShape(), mesh),
      mesh);
}

OpFoldResult LocalPiece::iterationOffset(unsigned dim) {
  return getShardOffset(builder, op->getLoc(), dim, iterationSpace(),
                        iterationShape(), mesh);
}

OpFoldResult LocalPiece::iterationSize(unsigned dim) {
  return getShardSize(builder, op->getLoc(), dim, iterationSpace(),
                      iterationShape(), mesh);
}

OpFoldResult LocalPiece::operandOffset(unsigned i, unsigned dim) {
  ArrayRef<int64_t> shape = globalOperandType(i).getShape();
  return getShardOffset(
      builder, op->getLoc(), dim,
      getOperandPlacement(semantics, strategy, i, shape, mesh), shape, mesh);
}

OpFoldResult LocalPiece::operandSize(unsigned i, unsigned dim) {
  ArrayRef<int64_t> shape = globalOperandType(i).getShape();
  return getShardSize(builder, op->getLoc(), dim,
                      getOperandPlacement(semantics, strategy, i, shape, mesh),
                      shape, mesh);
}

OpFoldResult LocalPiece::resultOffset(unsigned i, unsigned dim) {
  auto global = cast<RankedTensorType>(op->getResult(i).getType());
  return getShardOffset(
      builder, op->getLoc(), dim,
      getResultPlacement(semantics, strategy, i, global.getShape(), mesh),
      global.getShape(), mesh);
}

OpFoldResult LocalPiece::resultSize(unsigned i, unsigned dim) {
  auto global = cast<RankedTensorType>(op->getResult(i).getType());
  return getShardSize(
      builder, op->getLoc(), dim,
      getResultPlacement(semantics, strategy, i, global.getShape(), mesh),
      global.getShape(), mesh);
}
