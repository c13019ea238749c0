//===- UnpackModel.cpp - Semantics of linalg.unpack -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unpacking is tiled along the unpacked tensor, where a part begins within some
// tile of the source. It is cut along the tiles instead: what of the source a
// part reads is then affine. (Packing is read off its tiles, which are these.)
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Models.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::tofu;

/// The dim of the unpacked tensor that dim `i` of the tiles is of.
static int64_t getUnpackedDim(linalg::UnPackOp op, int64_t i) {
  ArrayRef<int64_t> permutation = op.getOuterDimsPerm();
  return permutation.empty() ? i : permutation[i];
}

/// The number among the inner tiles of the tile of dim `dim` of the unpacked
/// tensor; nothing if it has none.
static std::optional<unsigned> getTile(linalg::UnPackOp op, int64_t dim) {
  const int64_t *tiled = llvm::find(op.getInnerDimsPos(), dim);
  if (tiled == op.getInnerDimsPos().end())
    return std::nullopt;
  return tiled - op.getInnerDimsPos().begin();
}

/// The size of the tiles of dim `dim` of the unpacked tensor, 1 if it has none;
/// `kDynamic` if it is not known.
static int64_t getTileSize(linalg::UnPackOp op, int64_t dim) {
  std::optional<unsigned> tile = getTile(op, dim);
  auto source = cast<RankedTensorType>(op.getSource().getType());
  return tile ? source.getDimSize(op.getDestRank() + *tile) : 1;
}

/// How many tiles dim `i` of the tiles has: as many as its dim of the unpacked
/// tensor fills. `kDynamic` if neither tells.
static int64_t getNumTiles(linalg::UnPackOp op, int64_t i) {
  int64_t dim = getUnpackedDim(op, i), tile = getTileSize(op, dim);
  int64_t known =
      cast<RankedTensorType>(op.getSource().getType()).getDimSize(i);
  auto dest = cast<RankedTensorType>(op.getDest().getType());
  if (!ShapedType::isDynamic(known) || dest.isDynamicDim(dim) || tile < 1)
    return known;
  return llvm::divideCeil(dest.getDimSize(dim), tile);
}

/// True if all tiles of dim `i` are known to be in the unpacked tensor in full.
static bool fillsTiles(linalg::UnPackOp op, int64_t i) {
  using Bounds = ValueBoundsConstraintSet;
  int64_t dim = getUnpackedDim(op, i);
  Bounds::Variable tiles(op.getSource(), i);
  AffineExpr all = getAffineDimExpr(0, op.getContext()) * getTileSize(op, dim);
  FailureOr<bool> same = Bounds::areEqual(
      Bounds::Variable(op.getDest(), dim),
      Bounds::Variable(AffineMap::get(1, 0, all), ArrayRef(tiles)));
  return succeeded(same) && *same;
}

/// True if it is known what the tiles of dim `i` fill of the unpacked tensor.
/// Where its size is unknown, the last one may be cut off anywhere.
static bool isKnown(linalg::UnPackOp op, int64_t i) {
  int64_t dim = getUnpackedDim(op, i);
  if (!getTile(op, dim))
    return true;
  if (ShapedType::isDynamic(getTileSize(op, dim)))
    return false;
  auto dest = cast<RankedTensorType>(op.getDest().getType());
  return !dest.isDynamicDim(dim) || fillsTiles(op, i);
}

static SemanticsAttr compute(linalg::UnPackOp op, std::string &why) {
  auto dest = dyn_cast<RankedTensorType>(op.getDest().getType());
  auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
  if (!dest || !source) {
    why = "not on tensors only";
    return {};
  }
  SemanticsBuilder builder(op.getContext());
  SmallVector<AffineExpr> tiles, unpacked(dest.getRank());
  for (int64_t i = 0; i < dest.getRank(); ++i) {
    int64_t dim = getUnpackedDim(op, i);
    if (!isKnown(op, i)) {
      tiles.push_back({});
      why = ("keeps dim " + Twine(dim) +
             " of its result whole: how many tiles it has and where the last "
             "one ends, or how large they are, is not known")
                .str();
      continue;
    }
    tiles.push_back(builder.addDim(getNumTiles(op, i)));
    unpacked[dim] = tiles.back();
  }
  for (auto [i, dim] : llvm::enumerate(op.getInnerDimsPos())) {
    if (!unpacked[dim]) {
      tiles.push_back({});
      continue;
    }
    int64_t size = source.getDimSize(dest.getRank() + i);
    tiles.push_back(builder.addDim(size, DimKind::Unsplittable));
    unpacked[dim] = unpacked[dim] * size + tiles.back();
  }
  builder.addOperand(tiles);
  builder.addUnread();
  builder.addResult(unpacked);
  builder.addLinear(1);
  return builder.build();
}

namespace {
struct UnpackModel
    : public PartitionableOpInterface::ExternalModel<UnpackModel,
                                                     linalg::UnPackOp> {
  SemanticsAttr computeSemantics(Operation *op, std::string &why) const {
    return compute(cast<linalg::UnPackOp>(op), why);
  }
  FailureOr<SmallVector<Value>> createLocal(Operation *op,
                                            LocalPiece &piece) const {
    if (!piece.operands[0])
      return requireAllRead(piece);
    SmallVector<Value> operands = {piece.operands[0], piece.emptyResult(0)};
    for (Value size : cast<linalg::UnPackOp>(op).getInnerTiles())
      operands.push_back(piece.mapping.lookupOrDefault(size));
    return SmallVector<Value>(
        cloneLocal(piece, operands, operands[1].getType())->getResults());
  }
};
} // namespace

void mlir::tofu::registerUnpackModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::UnPackOp::attachInterface<UnpackModel>(*context);
  });
}
