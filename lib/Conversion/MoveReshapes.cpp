//===- MoveReshapes.cpp - Reshapes out of chains of generics --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_MOVERESHAPES
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

static bool isElementwise(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() == 0;
}

/// True if the reshape at `operand` lies between element-wise generics, so that
/// they can be fused once it is gone: `operand` is either the expansion's
/// source or an element-wise generic's input.
static bool isInChain(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  Operation *user = operand->getOwner();
  if (isa<tensor::ExpandShapeOp>(user))
    return isElementwise(producer) && producer->hasOneUse() &&
           llvm::all_of(user->getUsers(), isElementwise);
  auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(producer);
  if (!collapse || !isElementwise(user))
    return false;
  Operation *source = collapse.getSrc().getDefiningOp();
  return isElementwise(source) && source->hasOneUse() && collapse->hasOneUse();
}

namespace {

struct MoveReshapes : public tofu::impl::MoveReshapesBase<MoveReshapes> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isElementwise(op) || isa<tensor::ExpandShapeOp>(op))
        ops.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(
        patterns, [this](OpOperand *operand) {
          bool moves = isInChain(operand);
          numMoved += moves;
          return moves;
        });
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
