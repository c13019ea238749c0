//===- Placement.cpp - Boxes and local types from attributes --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Placement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

GlobalShape GlobalShape::get(ArrayRef<OpFoldResult> mixed) {
  GlobalShape shape;
  dispatchIndexOpFoldResults(mixed, shape.values, shape.sizes);
  return shape;
}

OpFoldResult GlobalShape::getSize(MLIRContext *context, unsigned dim) const {
  if (!ShapedType::isDynamic(sizes[dim]))
    return IntegerAttr::get(IndexType::get(context), sizes[dim]);
  return values[llvm::count_if(ArrayRef(sizes).take_front(dim),
                               ShapedType::isDynamic)];
}

/// The boxes of a tensor; see `getBoxes`.
static SmallVector<search::Box> getBoxes(const search::Placement &placement,
                                         ArrayRef<int64_t> shape,
                                         const search::Mesh &mesh) {
  constexpr int64_t kElementsPerDevice = 16;
  SmallVector<int64_t> known(shape);
  for (int64_t &size : known)
    if (ShapedType::isDynamic(size))
      size = kElementsPerDevice * mesh.numDevices();
  return placement.boxes(known, mesh);
}

SmallVector<search::Box> mlir::tofu::getBoxes(PlacementAttrInterface placement,
                                              ArrayRef<int64_t> shape,
                                              MeshOp mesh) {
  search::Mesh info = mesh.getMesh();
  return ::getBoxes(placement.getPlacement(shape, info), shape, info);
}

namespace {
/// How the boxes of a tensor follow from its sizes, dim by dim.
struct DimBoxes {
  DimBoxes(PlacementAttrInterface attr, ArrayRef<int64_t> shape,
           const search::Mesh &mesh)
      : placement(attr.getPlacement(shape, mesh)), shape(shape), mesh(mesh),
        boxes(::getBoxes(placement, shape, mesh)) {}

  /// True if no unknown size has a part in the intervals of `dim`.
  bool isKnown(unsigned dim) const {
    return !ShapedType::isDynamic(shape[dim]) &&
           llvm::all_of(placement.index[dim].terms, [&](const auto &term) {
             if (!search::isUnknown(placement.dimSizes[term.dim]))
               return true;
             std::optional<unsigned> filled = placement.findFilled(term.dim);
             return filled && !ShapedType::isDynamic(shape[*filled]);
           });
  }

  /// The axes longer than one that cut the tensor's dim itself, outermost
  /// first; nothing if it is not cut, but covered in another way.
  std::optional<search::Axes> getAxes(unsigned dim) const {
    const search::LinearExpr &expr = placement.index[dim];
    search::Axes axes;
    if (expr.whole)
      return axes;
    if (expr.terms.size() != 1 || !expr.isDim(expr.terms[0].dim) ||
        placement.dimSizes[expr.terms[0].dim] != shape[dim])
      return std::nullopt;
    for (unsigned axis : placement.dimAxes[expr.terms[0].dim])
      if (mesh.sizes[axis] > 1)
        axes.push_back(axis);
    return axes;
  }

  search::Placement placement;
  ArrayRef<int64_t> shape;
  const search::Mesh &mesh;
  SmallVector<search::Box> boxes;
};
} // namespace

/// True if two placements are the same, but for what is partial.
static bool isSameAttribute(PlacementAttrInterface a,
                            PlacementAttrInterface b) {
  return a.withPartial({}, Combiner::None) == b.withPartial({}, Combiner::None);
}

/// Compares boxes dim by dim: by `isSo` what is known of their intervals, and
/// by `areAxesSo` cuts of the tensor's own dims. False where that doesn't tell.
static bool compareDims(
    const DimBoxes &a, const DimBoxes &b,
    function_ref<bool(search::Interval, search::Interval)> isSo,
    function_ref<bool(ArrayRef<unsigned>, ArrayRef<unsigned>)> areAxesSo) {
  for (unsigned dim = 0; dim < a.shape.size(); ++dim) {
    if (a.isKnown(dim) && b.isKnown(dim)) {
      for (auto [x, y] : llvm::zip_equal(a.boxes, b.boxes))
        if (!isSo(x[dim], y[dim]))
          return false;
      continue;
    }
    std::optional<search::Axes> x = a.getAxes(dim), y = b.getAxes(dim);
    if (!x || !y || !areAxesSo(*x, *y))
      return false;
  }
  return true;
}

bool mlir::tofu::haveSameBoxes(PlacementAttrInterface a,
                               PlacementAttrInterface b,
                               ArrayRef<int64_t> shape,
                               const search::Mesh &mesh) {
  if (isSameAttribute(a, b))
    return true;
  return compareDims(
      DimBoxes(a, shape, mesh), DimBoxes(b, shape, mesh),
      [](search::Interval x, search::Interval y) { return x == y; },
      [](ArrayRef<unsigned> x, ArrayRef<unsigned> y) { return x == y; });
}

bool mlir::tofu::areBoxesWithin(PlacementAttrInterface inner,
                                PlacementAttrInterface outer,
                                ArrayRef<int64_t> shape,
                                const search::Mesh &mesh) {
  if (isSameAttribute(inner, outer))
    return true;
  DimBoxes in(inner, shape, mesh), out(outer, shape, mesh);
  auto dims = llvm::seq<unsigned>(0, shape.size());
  if (llvm::all_of(dims, [&](unsigned dim) {
        return in.isKnown(dim) && out.isKnown(dim);
      }))
    return search::areWithin(in.boxes, out.boxes);
  // Parts of parts lie within them.
  return compareDims(
      in, out,
      [](search::Interval x, search::Interval y) {
        return search::overlap(x, y) == x.size();
      },
      [](ArrayRef<unsigned> x, ArrayRef<unsigned> y) {
        return x.take_front(y.size()) == y;
      });
}

std::optional<int64_t>
mlir::tofu::getUniformOffset(PlacementAttrInterface placement,
                             ArrayRef<int64_t> shape, unsigned dim,
                             const search::Mesh &mesh) {
  DimBoxes boxes(placement, shape, mesh);
  if (boxes.isKnown(dim))
    return search::uniformOffset(boxes.boxes, dim);
  std::optional<search::Axes> axes = boxes.getAxes(dim);
  return axes && axes->empty() ? std::optional<int64_t>(0) : std::nullopt;
}

std::optional<int64_t>
mlir::tofu::getUniformSize(PlacementAttrInterface placement,
                           ArrayRef<int64_t> shape, unsigned dim,
                           const search::Mesh &mesh) {
  DimBoxes boxes(placement, shape, mesh);
  return boxes.isKnown(dim) ? search::uniformSize(boxes.boxes, dim)
                            : std::nullopt;
}

bool mlir::tofu::isWholeDim(PlacementAttrInterface placement,
                            ArrayRef<int64_t> shape, unsigned dim,
                            const search::Mesh &mesh) {
  std::optional<search::Axes> axes =
      DimBoxes(placement, shape, mesh).getAxes(dim);
  return axes && axes->empty();
}

bool mlir::tofu::isSamePlacement(PlacementAttrInterface a,
                                 PlacementAttrInterface b,
                                 RankedTensorType global, MeshOp mesh) {
  if (a == b)
    return true;
  ArrayRef<int64_t> shape = global.getShape();
  if (a.getPartialAxes() != b.getPartialAxes() ||
      a.getCombiner() != b.getCombiner())
    return false;
  return haveSameBoxes(a, b, shape, mesh.getMesh());
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
  DimBoxes boxes(placement, global.getShape(), mesh);
  SmallVector<int64_t> shape(global.getRank(), ShapedType::kDynamic);
  for (int64_t dim = 0; dim < global.getRank(); ++dim)
    if (boxes.isKnown(dim))
      shape[dim] =
          search::uniformSize(boxes.boxes, dim).value_or(ShapedType::kDynamic);
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

std::optional<TensorDim> mlir::tofu::findDimOfSize(Operation *op,
                                                   SemanticsAttr semantics,
                                                   unsigned dim) {
  AffineExpr alone = getAffineDimExpr(dim, op->getContext());
  auto find = [&](ArrayRef<AccessAttr> accesses,
                  ValueRange tensors) -> std::optional<TensorDim> {
    for (auto [access, tensor] : llvm::zip_equal(accesses, tensors))
      for (auto [i, expr] : llvm::enumerate(access.getIndex()))
        if (expr == alone &&
            cast<RankedTensorType>(tensor.getType()).isDynamicDim(i))
          return TensorDim{tensor, unsigned(i)};
    return std::nullopt;
  };
  if (auto found = find(semantics.getOperands(), getTensorOperands(op)))
    return found;
  return find(semantics.getResults(), op->getResults());
}

std::optional<TensorDim> mlir::tofu::getReadDim(Operation *op) {
  auto read = dyn_cast<ShapedDimOpInterface>(op);
  if (!read || !isa<RankedTensorType>(read.getShapedValue().getType()))
    return std::nullopt;
  std::optional<int64_t> dim = getConstantIntValue(read.getDimension());
  auto type = cast<RankedTensorType>(read.getShapedValue().getType());
  if (!dim || *dim < 0 || *dim >= type.getRank())
    return std::nullopt;
  return TensorDim{read.getShapedValue(), unsigned(*dim)};
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
    sizes.push_back(dim.getCovering() ? search::kCoveringSize : dim.getSize());
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
                      partial, semantics.getCombiner(resolved, i), mesh);
}

//===----------------------------------------------------------------------===//
// LocalPiece
//===----------------------------------------------------------------------===//

OpFoldResult mlir::tofu::getShardOffset(OpBuilder &builder, Location loc,
                                        unsigned dim,
                                        PlacementAttrInterface placement,
                                        const GlobalShape &shape,
                                        const search::Mesh &mesh) {
  if (auto offset = getUniformOffset(placement, shape.sizes, dim, mesh))
    return builder.getIndexAttr(*offset);
  return ShardOffsetOp::create(builder, loc, builder.getIndexType(), dim,
                               placement, shape)
      .getResult();
}

OpFoldResult mlir::tofu::getShardSize(OpBuilder &builder, Location loc,
                                      unsigned dim,
                                      PlacementAttrInterface placement,
                                      const GlobalShape &shape,
                                      const search::Mesh &mesh) {
  if (auto size = getUniformSize(placement, shape.sizes, dim, mesh))
    return builder.getIndexAttr(*size);
  if (isWholeDim(placement, shape.sizes, dim, mesh))
    return shape.getSize(builder.getContext(), dim);
  return ShardSizeOp::create(builder, loc, builder.getIndexType(), dim,
                             placement, shape)
      .getResult();
}

Value mlir::tofu::createIsFirst(OpBuilder &builder, Location loc,
                                FlatSymbolRefAttr meshName, AxesAttr axes,
                                const search::Mesh &mesh) {
  auto line =
      LayoutAttr::get(builder.getContext(), meshName, {axes},
                      AxesAttr::get(builder.getContext(), {}), Combiner::None);
  int64_t count = mesh.numCoordinates(axes.resolve(mesh));
  Value number = ShardOffsetOp::create(builder, loc, builder.getIndexType(),
                                       /*dim=*/0, line, ArrayRef(count));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                               zero);
}

Value mlir::tofu::createLocalEmpty(OpBuilder &builder, Location loc,
                                   Type elementType, const GlobalShape &shape,
                                   PlacementAttrInterface placement,
                                   const search::Mesh &mesh) {
  SmallVector<OpFoldResult> sizes;
  for (unsigned dim = 0; dim < shape.sizes.size(); ++dim)
    sizes.push_back(getShardSize(builder, loc, dim, placement, shape, mesh));
  return tensor::EmptyOp::create(builder, loc, sizes, elementType);
}

PlacementAttrInterface LocalPiece::iterationSpace() const {
  MLIRContext *context = op->getContext();
  AxesAttr none = AxesAttr::get(context, ArrayRef<StringAttr>());
  return LayoutAttr::get(context, strategy.getMesh(), strategy.getDims(), none,
                         Combiner::None);
}

/// The size of an unknown dim that nothing tells, and that is never cut, is 0:
/// where it begins doesn't depend on it.
GlobalShape LocalPiece::iterationShape() const {
  GlobalShape shape;
  for (auto [dim, size] : llvm::enumerate(semantics.getShape())) {
    shape.sizes.push_back(size);
    if (!ShapedType::isDynamic(size))
      continue;
    std::optional<TensorDim> like = findDimOfSize(op, semantics, dim);
    if (!like) {
      shape.sizes.back() = 0;
      continue;
    }
    OpFoldResult known =
        getShape(like->tensor).getSize(op->getContext(), like->dim);
    shape.values.push_back(cast<Value>(known));
  }
  return shape;
}

GlobalShape LocalPiece::operandShape(unsigned i) const {
  return getShape(getTensorOperands(op)[i]);
}

GlobalShape LocalPiece::resultShape(unsigned i) const {
  return getShape(op->getResult(i));
}

PlacementAttrInterface
LocalPiece::operandPlacement(unsigned i, ArrayRef<int64_t> shape) const {
  return getOperandPlacement(semantics, strategy, i, shape, mesh);
}

PlacementAttrInterface
LocalPiece::resultPlacement(unsigned i, ArrayRef<int64_t> shape) const {
  return getResultPlacement(semantics, strategy, i, shape, mesh);
}

RankedTensorType LocalPiece::resultType(unsigned i) const {
  auto global = cast<RankedTensorType>(op->getResult(i).getType());
  return getLocalType(global, resultPlacement(i, global.getShape()), mesh);
}

Value LocalPiece::emptyResult(unsigned i) {
  auto global = cast<RankedTensorType>(op->getResult(i).getType());
  return createLocalEmpty(builder, op->getLoc(), global.getElementType(),
                          resultShape(i), resultPlacement(i, global.getShape()),
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
  GlobalShape shape = operandShape(i);
  return getShardOffset(builder, op->getLoc(), dim,
                        operandPlacement(i, shape.sizes), shape, mesh);
}

OpFoldResult LocalPiece::operandSize(unsigned i, unsigned dim) {
  GlobalShape shape = operandShape(i);
  return getShardSize(builder, op->getLoc(), dim,
                      operandPlacement(i, shape.sizes), shape, mesh);
}

OpFoldResult LocalPiece::resultOffset(unsigned i, unsigned dim) {
  GlobalShape shape = resultShape(i);
  return getShardOffset(builder, op->getLoc(), dim,
                        resultPlacement(i, shape.sizes), shape, mesh);
}

OpFoldResult LocalPiece::resultSize(unsigned i, unsigned dim) {
  GlobalShape shape = resultShape(i);
  return getShardSize(builder, op->getLoc(), dim,
                      resultPlacement(i, shape.sizes), shape, mesh);
}
