//===- BufferizationModels.cpp - Semantics of bufferization operations ----===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Models.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::tofu;

/// An element-wise copy. What the destination holds is not read, but where it
/// lies says where the result lies: each device must have its part of it.
static SemanticsAttr
computeMaterialize(bufferization::MaterializeInDestinationOp op,
                   std::string &why) {
  if (op->getNumResults() == 0) {
    why = "it writes to a buffer";
    return {};
  }
  SemanticsBuilder builder(op->getContext());
  SmallVector<AffineExpr> index;
  for (auto [size, other] : llvm::zip_equal(
           cast<RankedTensorType>(op.getDest().getType()).getShape(),
           cast<RankedTensorType>(op.getSource().getType()).getShape()))
    index.push_back(builder.addDim(ShapedType::isDynamic(size) ? other : size));
  builder.addOperand(index);
  builder.addOperand(index);
  builder.addResult(index);
  return builder.build();
}

namespace {
struct MaterializeModel
    : public PartitionableOpInterface::ExternalModel<
          MaterializeModel, bufferization::MaterializeInDestinationOp> {
  SemanticsAttr computeSemantics(Operation *op, std::string &why) const {
    return computeMaterialize(
        cast<bufferization::MaterializeInDestinationOp>(op), why);
  }
  FailureOr<SmallVector<Value>> createLocal(Operation *,
                                            LocalPiece &piece) const {
    if (failed(requireAllRead(piece)))
      return failure();
    Operation *local =
        cloneLocal(piece, piece.operands, piece.operands[1].getType());
    return SmallVector<Value>(local->getResults());
  }
};
} // namespace

void mlir::tofu::registerBufferizationModels(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, bufferization::BufferizationDialect *) {
        bufferization::MaterializeInDestinationOp::attachInterface<
            MaterializeModel>(*context);
      });
}
