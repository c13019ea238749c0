//===- RaiseContractions.cpp - Contractions for the runtime ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractionMatch.h"
#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_RAISECONTRACTIONS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// What a zero fill writes over, if `value` is one.
static Value getZeroFilled(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  if (!fill || !(matchPattern(fill.getInputs()[0], m_PosZeroFloat()) ||
                 matchPattern(fill.getInputs()[0], m_NegZeroFloat())))
    return {};
  return fill.getOutputs()[0];
}

/// Looks through producers of both inputs. Widening is undone on both or none:
/// there is one input type.
static void absorbProducers(Contraction &contraction) {
  Contraction candidate = contraction;
  lookThroughProducers(candidate, 0);
  lookThroughProducers(candidate, 1);
  if (getElementTypeOrSelf(candidate.operands[0]) ==
      getElementTypeOrSelf(candidate.operands[1]))
    contraction = candidate;
}

namespace {

struct RaiseContractions
    : public tofu::impl::RaiseContractionsBase<RaiseContractions> {
  using RaiseContractionsBase::RaiseContractionsBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    // Last one first, so that producers that lost their only use can go.
    for (linalg::LinalgOp op : llvm::reverse(ops)) {
      if (op->use_empty() && isa<linalg::GenericOp>(op.getOperation()) &&
          isOpTriviallyDead(op)) {
        rewriter.eraseOp(op);
        continue;
      }
      std::optional<Contraction> contraction = matchContraction(op, depthwise);
      if (contraction && isWorthACall(*contraction))
        raise(rewriter, op, *contraction);
    }
  }

private:
  /// Short floats are always left to the runtime, which sums in f32 and rounds
  /// once; loops would round as often as the compiler sees fit.
  bool isWorthACall(const Contraction &contraction) const {
    Type type = getElementTypeOrSelf(contraction.operands[2].getType());
    if (type.isF16() || type.isBF16())
      return true;
    int64_t work = contraction.getWork();
    return work < 0 || work >= minWork;
  }

  void raise(IRRewriter &rewriter, linalg::LinalgOp op,
             Contraction contraction) {
    absorbProducers(contraction);
    bool accumulate = true;
    if (Value filled = getZeroFilled(contraction.operands[2])) {
      contraction.operands[2] = filled;
      accumulate = false;
    }
    rewriter.setInsertionPoint(op);
    auto call = ContractOp::create(
        rewriter, op.getLoc(), op->getResultTypes(), contraction.operands[0],
        contraction.operands[1], contraction.operands[2], /*bias=*/Value(),
        rewriter.getAffineMapArrayAttr(contraction.maps),
        accumulate ? rewriter.getUnitAttr() : UnitAttr());
    rewriter.replaceOp(op, call.getResults());
    ++numRaised;
  }
};

} // namespace
