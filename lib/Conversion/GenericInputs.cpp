//===- GenericInputs.cpp - Fewer inputs of a generic ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericInputs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tofu;

/// The number that all elements of `value` are, as a value made at the
/// rewriter's position; null if there is none.
static Value getUniformElement(RewriterBase &rewriter, Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)))
    return {};
  auto element = dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
  if (!element || !isa<IntegerAttr, FloatAttr>(element))
    return {};
  return arith::ConstantOp::create(rewriter, value.getLoc(), element);
}

/// True if the loop bounds still follow from the operands that `kept` and the
/// outputs leave.
static bool coversLoops(linalg::GenericOp op, ArrayRef<OpOperand *> kept) {
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : kept)
    maps.push_back(op.getMatchingIndexingMap(operand));
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  return static_cast<bool>(
      inversePermutation(concatAffineMaps(maps, op.getContext())));
}

/// Builds `op` anew with the inputs `kept`; the other inputs' block arguments
/// have been replaced.
static linalg::GenericOp rebuild(RewriterBase &rewriter, linalg::GenericOp op,
                                 ArrayRef<OpOperand *> kept) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  llvm::BitVector dropped(op.getNumDpsInputs() + op.getNumDpsInits());
  dropped.set(0, op.getNumDpsInputs());
  for (OpOperand *operand : kept) {
    inputs.push_back(operand->get());
    maps.push_back(op.getMatchingIndexingMap(operand));
    dropped.reset(operand->getOperandNumber());
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  auto slim = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getOutputs(),
      maps, op.getIteratorTypesArray());
  rewriter.inlineRegionBefore(op.getRegion(), slim.getRegion(),
                              slim.getRegion().end());
  slim.getBody()->eraseArguments(dropped);
  rewriter.replaceOp(op, slim.getResults());
  return slim;
}

linalg::GenericOp tofu::simplifyInputs(RewriterBase &rewriter,
                                       linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return op;
  rewriter.setInsertionPoint(op);
  SmallVector<OpOperand *> kept;
  SmallVector<std::pair<OpOperand *, Value>> replaced;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    auto *same = llvm::find_if(kept, [&](OpOperand *other) {
      return other->get() == operand->get() &&
             op.getMatchingIndexingMap(other) == map;
    });
    if (same != kept.end()) {
      replaced.push_back({operand, op.getMatchingBlockArgument(*same)});
    } else if (Value element = getUniformElement(rewriter, operand->get())) {
      replaced.push_back({operand, element});
    } else {
      kept.push_back(operand);
    }
  }
  if (replaced.empty() || !coversLoops(op, kept))
    return op;
  for (auto [operand, value] : replaced)
    rewriter.replaceAllUsesWith(op.getMatchingBlockArgument(operand), value);
  return rebuild(rewriter, op, kept);
}
