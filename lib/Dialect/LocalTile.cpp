//===- LocalTile.cpp - The tile of one device -----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiling.h"

#include "Tofu/Dialect/Models.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tofu;

FailureOr<TilingResult>
mlir::tofu::tilePartially(OpBuilder &builder, Operation *op, unsigned reduction,
                          ValueRange init, ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) {
  llvm::SetVector<unsigned> dims;
  dims.insert(reduction);
  OpFoldResult number = builder.getIndexAttr(0);
  return cast<PartialReductionOpInterface>(op).tileToPartialReduction(
      builder, op->getLoc(),
      ReductionTilingStrategy::PartialReductionOuterParallel, init, offsets,
      sizes, dims, number);
}

FailureOr<SmallVector<Value>>
mlir::tofu::createPartialInit(OpBuilder &builder, Operation *op,
                              unsigned reduction,
                              ArrayRef<OpFoldResult> sizes) {
  llvm::SetVector<unsigned> dims;
  dims.insert(reduction);
  SmallVector<OpFoldResult> parts(sizes);
  parts[reduction] = builder.getIndexAttr(1);
  return cast<PartialReductionOpInterface>(op)
      .generateInitialTensorForPartialReduction(builder, op->getLoc(), parts,
                                                dims);
}

namespace {

/// Builds the tile of one device. The interface sees a copy of the operation on
/// placeholders of the global types; what it takes of them is then taken of the
/// local operands.
class LocalTile {
public:
  explicit LocalTile(LocalPiece &piece)
      : piece(piece), builder(piece.builder), loc(piece.op->getLoc()) {}

  FailureOr<SmallVector<Value>> create();

private:
  void createCopy();
  LogicalResult findBounds();
  FailureOr<SmallVector<Value>> createPartial();
  Value dropPartsDim(Value value, unsigned result);
  LogicalResult rebase(unsigned tensor);
  bool isWhole(unsigned tensor);
  Value takeSlice(tensor::ExtractSliceOp slice, unsigned tensor);
  Value cast(Value value, Type type);
  void clean();

  LocalPiece &piece;
  OpBuilder &builder;
  Location loc;
  Operation *copy = nullptr;
  SmallVector<Value> placeholders;
  SmallVector<OpFoldResult> ranges, offsets, sizes;
  std::optional<unsigned> reduction;
};

} // namespace

void LocalTile::createCopy() {
  IRMapping mapping = piece.mapping;
  SmallVector<Value> tensors = getTensorOperands(piece.op);
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    placeholders.push_back(tensor::EmptyOp::create(
        builder, loc, mlir::cast<RankedTensorType>(tensor.getType()),
        piece.operandShape(i).values));
    mapping.map(tensor, placeholders.back());
  }
  copy = builder.clone(*piece.op, mapping);
  // A tensor that is used twice has two placeholders.
  unsigned next = 0;
  for (OpOperand &operand : copy->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      operand.set(placeholders[next++]);
  for (StringRef name :
       {TofuDialect::kSemantics, TofuDialect::kStrategy, TofuDialect::kLayouts})
    copy->removeDiscardableAttr(name);
}

LogicalResult LocalTile::findBounds() {
  for (Range range :
       mlir::cast<TilingInterface>(copy).getIterationDomain(builder))
    ranges.push_back(range.size);
  if (ranges.size() > piece.semantics.getDims().size())
    return piece.op->emitOpError()
           << "has " << ranges.size() << " loops, its semantics "
           << piece.semantics.getDims().size() << " dims";
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    bool isCut = !piece.strategy.getDims()[loop].empty();
    offsets.push_back(isCut ? piece.iterationOffset(loop)
                            : builder.getIndexAttr(0));
    sizes.push_back(isCut ? piece.iterationSize(loop) : range);
    if (isCut &&
        piece.semantics.getDims()[loop].getKind() == DimKind::Reduction)
      reduction = loop;
  }
  return success();
}

Value LocalTile::cast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(builder, loc, type, value);
}

/// What a slice of the global operand is of the local one: all of it where the
/// operand has just the box of this tile.
Value LocalTile::takeSlice(tensor::ExtractSliceOp slice, unsigned tensor) {
  Value local = piece.operands[tensor];
  ArrayRef<AffineExpr> index = piece.semantics.getOperands()[tensor].getIndex();
  if (llvm::all_of(index, [](AffineExpr expr) { return bool(expr); }) &&
      slice.getType().getRank() == int64_t(index.size()))
    return cast(local, slice.getType());
  SmallVector<OpFoldResult> first = slice.getMixedOffsets(),
                            count = slice.getMixedSizes();
  for (auto [dim, expr] : llvm::enumerate(index)) {
    if (!expr)
      continue;
    first[dim] = builder.getIndexAttr(0);
    count[dim] = piece.operandSize(tensor, dim);
  }
  RankedTensorType type =
      tensor::ExtractSliceOp::inferCanonicalRankReducedResultType(
          slice.getType().getRank(),
          mlir::cast<RankedTensorType>(local.getType()), count);
  Value taken = tensor::ExtractSliceOp::create(builder, loc, type, local, first,
                                               count, slice.getMixedStrides());
  return cast(taken, slice.getType());
}

/// True if this device has all of an operand.
bool LocalTile::isWhole(unsigned tensor) {
  SmallVector<int64_t> shape = piece.operandShape(tensor).sizes;
  PlacementAttrInterface placement = getOperandPlacement(
      piece.semantics, piece.strategy, tensor, shape, piece.mesh);
  return llvm::all_of(llvm::seq<unsigned>(0, shape.size()), [&](unsigned dim) {
    return isWholeDim(placement, shape, dim, piece.mesh);
  });
}

/// Has the tile use the local operand.
LogicalResult LocalTile::rebase(unsigned tensor) {
  Value local = piece.operands[tensor];
  for (OpOperand &use :
       llvm::make_early_inc_range(placeholders[tensor].getUses())) {
    Operation *user = use.getOwner();
    if (copy->isAncestor(user))
      continue;
    if (auto dim = dyn_cast<tensor::DimOp>(user)) {
      std::optional<int64_t> number = dim.getConstantIndex();
      auto type = mlir::cast<RankedTensorType>(placeholders[tensor].getType());
      if (!number || *number < 0 || *number >= type.getRank())
        return piece.op->emitOpError("asks for a dim that is not known");
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(dim);
      dim.replaceAllUsesWith(getValueOrCreateConstantIndexOp(
          builder, loc,
          piece.operandShape(tensor).getSize(builder.getContext(), *number)));
      dim.erase();
      continue;
    }
    if (!local)
      return piece.op->emitOpError()
             << "operand " << tensor
             << " is not read by its semantics, but by the operation";
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(user);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user)) {
      slice.replaceAllUsesWith(takeSlice(slice, tensor));
      slice.erase();
      continue;
    }
    if (!isWhole(tensor))
      return piece.op->emitOpError()
             << "operand " << tensor << " is used whole, but cut";
    use.set(cast(local, placeholders[tensor].getType()));
  }
  return success();
}

/// The local result without the dim that numbers the parts.
Value LocalTile::dropPartsDim(Value value, unsigned result) {
  auto type = mlir::cast<RankedTensorType>(value.getType());
  int64_t rank =
      mlir::cast<RankedTensorType>(copy->getResult(result).getType()).getRank();
  if (type.getRank() == rank)
    return value;
  unsigned parts = *getPartsDim(mlir::cast<PartialReductionOpInterface>(copy),
                                result, *reduction);
  SmallVector<OpFoldResult> first(rank + 1, builder.getIndexAttr(0)),
      steps(rank + 1, builder.getIndexAttr(1)),
      count = tensor::getMixedSizes(builder, loc, value);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + parts);
  count[parts] = builder.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(builder, loc, type.clone(shape), value,
                                        first, count, steps);
}

/// A tile that starts from neutral elements.
FailureOr<SmallVector<Value>> LocalTile::createPartial() {
  FailureOr<SmallVector<Value>> global =
      createPartialInit(builder, copy, *reduction, ranges);
  FailureOr<SmallVector<Value>> local =
      createPartialInit(builder, copy, *reduction, sizes);
  if (failed(global) || failed(local))
    return failure();
  FailureOr<TilingResult> tile =
      tilePartially(builder, copy, *reduction, *global, offsets, sizes);
  if (failed(tile))
    return failure();
  for (auto [whole, part] : llvm::zip_equal(*global, *local))
    for (OpOperand &use : llvm::make_early_inc_range(whole.getUses())) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
      if (!slice) {
        use.set(part);
        continue;
      }
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(slice);
      SmallVector<OpFoldResult> first(slice.getSourceType().getRank(),
                                      builder.getIndexAttr(0));
      SmallVector<OpFoldResult> count =
          tensor::getMixedSizes(builder, loc, part);
      RankedTensorType type =
          tensor::ExtractSliceOp::inferCanonicalRankReducedResultType(
              slice.getType().getRank(),
              mlir::cast<RankedTensorType>(part.getType()), count);
      Value taken = tensor::ExtractSliceOp::create(
          builder, loc, type, part, first, count, slice.getMixedStrides());
      slice.replaceAllUsesWith(cast(taken, slice.getType()));
      slice.erase();
    }
  SmallVector<Value> results;
  for (auto [i, value] : llvm::enumerate(tile->tiledValues))
    results.push_back(dropPartsDim(value, i));
  return results;
}

/// Erases what was there for the interface only.
void LocalTile::clean() {
  copy->erase();
  for (Value placeholder : placeholders)
    if (placeholder.use_empty())
      placeholder.getDefiningOp()->erase();
}

FailureOr<SmallVector<Value>> LocalTile::create() {
  createCopy();
  if (failed(findBounds()))
    return failure();
  FailureOr<SmallVector<Value>> results = failure();
  if (reduction) {
    results = createPartial();
  } else {
    FailureOr<TilingResult> tile =
        mlir::cast<TilingInterface>(copy).getTiledImplementation(
            builder, offsets, sizes);
    if (succeeded(tile))
      results = tile->tiledValues;
  }
  if (failed(results) || results->size() != copy->getNumResults())
    return piece.op->emitOpError("could not be tiled");
  for (unsigned tensor = 0; tensor < placeholders.size(); ++tensor)
    if (failed(rebase(tensor)))
      return failure();
  clean();
  return results;
}

FailureOr<SmallVector<Value>> mlir::tofu::createLocalTile(LocalPiece &piece) {
  return LocalTile(piece).create();
}
