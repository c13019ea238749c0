//===- ElementwiseModels.cpp - Semantics of arith and math on tensors -----===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Models.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::tofu;

static SemanticsAttr computeElementwise(Operation *op, std::string &why) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type) {
    why = "not on tensors";
    return {};
  }
  SemanticsBuilder builder(op->getContext());
  SmallVector<AffineExpr> index;
  for (int64_t size : type.getShape())
    index.push_back(builder.addDim(size));
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      builder.addOperand(index);
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    builder.addResult(index);
  return builder.build();
}

/// The number that all elements of the result are whatever the operands are
/// (x - x), or null.
static TypedAttr getFoldedSplat(Operation *op) {
  // A fold may change the operation.
  Operation *clone = op->clone();
  SmallVector<OpFoldResult> folded;
  bool isFolded = succeeded(clone->fold(folded)) && folded.size() == 1;
  clone->erase();
  if (!isFolded)
    return {};
  auto elements =
      dyn_cast_or_null<SplatElementsAttr>(dyn_cast<Attribute>(folded[0]));
  return elements ? elements.getSplatValue<TypedAttr>() : TypedAttr();
}

static FailureOr<SmallVector<Value>> createElementwise(LocalPiece &piece) {
  if (failed(requireAllRead(piece)))
    return failure();
  // Folded later, when its size isn't known, it would be a constant of no size.
  if (!piece.resultType(0).hasStaticShape() &&
      cast<RankedTensorType>(piece.op->getResult(0).getType()).hasStaticShape())
    if (TypedAttr splat = getFoldedSplat(piece.op)) {
      Location loc = piece.op->getLoc();
      Value scalar = arith::ConstantOp::create(piece.builder, loc, splat);
      return SmallVector<Value>(linalg::FillOp::create(piece.builder, loc,
                                                       scalar,
                                                       piece.emptyResult(0))
                                    .getResults());
    }
  SmallVector<Value> operands;
  for (Value operand : piece.op->getOperands()) {
    bool isTensor = isa<RankedTensorType>(operand.getType());
    operands.push_back(isTensor ? Value()
                                : piece.mapping.lookupOrDefault(operand));
  }
  auto *next = piece.operands.begin();
  for (Value &operand : operands)
    if (!operand)
      operand = *next++;
  SmallVector<Type> types;
  for (unsigned i = 0; i < piece.op->getNumResults(); ++i)
    types.push_back(piece.resultType(i));
  return SmallVector<Value>(cloneLocal(piece, operands, types)->getResults());
}

namespace {
template <typename OpTy>
struct ElementwiseModel
    : public PartitionableOpInterface::ExternalModel<ElementwiseModel<OpTy>,
                                                     OpTy> {
  SemanticsAttr computeSemantics(Operation *op, std::string &why) const {
    return computeElementwise(op, why);
  }
  FailureOr<SmallVector<Value>> createLocal(Operation *,
                                            LocalPiece &piece) const {
    return createElementwise(piece);
  }
};
} // namespace

template <typename OpTy>
static void attachOne(MLIRContext *context) {
  if constexpr (OpTy::template hasTrait<OpTrait::Elementwise>() &&
                OpTy::template hasTrait<OpTrait::Tensorizable>())
    OpTy::template attachInterface<ElementwiseModel<OpTy>>(*context);
}

template <typename... Ops>
static void attach(MLIRContext *context) {
  (attachOne<Ops>(context), ...);
}

void mlir::tofu::registerElementwiseModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attach<
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attach<
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
        >(context);
  });
}
