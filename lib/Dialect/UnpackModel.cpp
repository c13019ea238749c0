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

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
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

/// True if it is known how large the tiles of dim `i` are.
static bool hasKnownTile(linalg::UnPackOp op, int64_t i) {
  return getTileSize(op, getUnpackedDim(op, i)) >= 1;
}

/// True if the number of tiles of dim `i`, whose size is known, is known to fit
/// what they are tiles of.
static bool isKnownToFit(linalg::UnPackOp op, int64_t i) {
  int64_t dim = getUnpackedDim(op, i);
  auto source = cast<RankedTensorType>(op.getSource().getType());
  auto dest = cast<RankedTensorType>(op.getDest().getType());
  return !getTile(op, dim) ||
         (!source.isDynamicDim(i) && !dest.isDynamicDim(dim)) ||
         fillsTiles(op, i);
}

/// Adds the tiles of dim `i`. Where nothing tells how many there are, they
/// cover the unpacked tensor, of which the last one may be cut off anywhere.
static AffineExpr addTiles(SemanticsBuilder &builder, linalg::UnPackOp op,
                           int64_t i) {
  int64_t number = getNumTiles(op, i);
  if (ShapedType::isDynamic(number) && !isKnownToFit(op, i))
    return builder.addCoveringDim();
  return builder.addDim(number);
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
    if (!hasKnownTile(op, i)) {
      tiles.push_back({});
      why = ("keeps dim " + Twine(dim) +
             " of its result whole: how large its tiles are is not known")
                .str();
      continue;
    }
    tiles.push_back(addTiles(builder, op, i));
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

/// Lets the program fail if there are more or fewer tiles of dim `i` than it
/// takes: parts are found by the one number and by the other.
static void assertFit(LocalPiece &piece, linalg::UnPackOp op, int64_t i) {
  OpBuilder &builder = piece.builder;
  Location loc = op.getLoc();
  int64_t dim = getUnpackedDim(op, i);
  OpFoldResult size =
      piece.resultShape(0).getSize(op.getContext(), unsigned(dim));
  AffineExpr all = getAffineDimExpr(0, op.getContext());
  Value taken = getValueOrCreateConstantIndexOp(
      builder, loc,
      affine::makeComposedFoldedAffineApply(
          builder, loc, all.ceilDiv(getTileSize(op, dim)), size));
  Value given = getValueOrCreateConstantIndexOp(
      builder, loc, piece.operandShape(0).getSize(op.getContext(), i));
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     given, taken);
  cf::AssertOp::create(builder, loc, fits,
                       ("linalg.unpack: the tiles don't fit dim " + Twine(dim) +
                        " of the result")
                           .str());
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
    auto unpack = cast<linalg::UnPackOp>(op);
    for (int64_t i = 0, e = unpack.getDestRank(); i < e; ++i)
      if (hasKnownTile(unpack, i) && !isKnownToFit(unpack, i))
        assertFit(piece, unpack, i);
    SmallVector<Value> operands = {piece.operands[0], piece.emptyResult(0)};
    for (Value size : unpack.getInnerTiles())
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
