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

using namespace mlir;
using namespace mlir::tofu;

/// The dim of the unpacked tensor that dim `i` of the tiles is of.
static int64_t getUnpackedDim(linalg::UnPackOp op, int64_t i) {
  ArrayRef<int64_t> permutation = op.getOuterDimsPerm();
  return permutation.empty() ? i : permutation[i];
}

/// True if the parts of a dim of the unpacked tensor, which has `numTiles`, are
/// known: what its tiles fill of it is, or it has none.
static bool isKnown(linalg::UnPackOp op, int64_t dim, int64_t numTiles) {
  auto source = cast<RankedTensorType>(op.getSource().getType());
  auto dest = cast<RankedTensorType>(op.getDest().getType());
  const int64_t *tiled = llvm::find(op.getInnerDimsPos(), dim);
  if (tiled == op.getInnerDimsPos().end())
    return true;
  int64_t inner = dest.getRank() + (tiled - op.getInnerDimsPos().begin());
  return !ShapedType::isDynamic(numTiles) && !dest.isDynamicDim(dim) &&
         !source.isDynamicDim(inner);
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
    if (!isKnown(op, dim, source.getDimSize(i))) {
      tiles.push_back({});
      why = ("keeps dim " + Twine(dim) +
             " of its result whole: how many tiles it has is not known")
                .str();
      continue;
    }
    int64_t size = source.getDimSize(i);
    tiles.push_back(builder.addDim(
        ShapedType::isDynamic(size) ? dest.getDimSize(dim) : size));
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
