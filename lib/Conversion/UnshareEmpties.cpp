//===- UnshareEmpties.cpp - One destination for each use ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_UNSHAREEMPTIES
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// Gives every use of `op`'s result its own `op`, right before the user: memory
/// is not held longer than needed, and a fill is next to what completes it.
/// Returns the number of copies.
static int64_t copyPerUse(Operation *op) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : op->getUses())
    uses.push_back(&use);
  OpBuilder builder(op->getContext());
  for (OpOperand *use : uses) {
    builder.setInsertionPoint(use->getOwner());
    use->set(builder.clone(*op)->getResult(0));
  }
  if (!uses.empty())
    op->erase();
  return uses.empty() ? 0 : uses.size() - 1;
}

namespace {

struct UnshareEmpties : public tofu::impl::UnshareEmptiesBase<UnshareEmpties> {
  void runOnOperation() override {
    // Fills first: their copies share empties until those are copied in turn.
    SmallVector<Operation *> fills, empties;
    getOperation()->walk([&](linalg::FillOp fill) {
      if (fill.hasPureTensorSemantics() && isWrittenTo(fill.getResult(0)))
        fills.push_back(fill);
    });
    for (Operation *fill : fills)
      numCopies += copyPerUse(fill);
    getOperation()->walk([&](tensor::EmptyOp op) { empties.push_back(op); });
    for (Operation *empty : empties)
      numCopies += copyPerUse(empty);
  }

private:
  /// True if a use would overwrite the value, which makes bufferization copy
  /// it.
  static bool isWrittenTo(Value value) {
    return llvm::any_of(value.getUses(), [](OpOperand &use) {
      auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
      return (user && user.isDpsInit(&use)) ||
             isa<tensor::InsertSliceOp, tensor::InsertOp>(use.getOwner());
    });
  }
};

} // namespace
