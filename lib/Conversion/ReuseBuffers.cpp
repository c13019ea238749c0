//===- ReuseBuffers.cpp - Compute into an input that is done with ---------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferLifetimes.h"
#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_REUSEBUFFERS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// True if the caller gave up the argument.
static bool isDonated(BlockArgument arg) {
  auto function = dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp());
  return function && arg.getOwner() == &function.front() &&
         function.getArgAttr(arg.getArgNumber(), "tf.aliasing_output");
}

/// True if elements of `input` are read only by the iteration that writes the
/// same element of `init`.
static bool isPointwise(linalg::GenericOp op, OpOperand *input,
                        OpOperand *init) {
  AffineMap map = op.getMatchingIndexingMap(init);
  return map == op.getMatchingIndexingMap(input) && map.isPermutation() &&
         op.getNumReductionLoops() == 0 &&
         !op.payloadUsesValueFromOperand(init);
}

namespace {

struct ReuseBuffers : public tofu::impl::ReuseBuffersBase<ReuseBuffers> {
  void runOnOperation() override {
    getOperation()->walk([&](Block *block) {
      // With branches a block does not see all uses.
      if (!isa<linalg::LinalgOp>(block->getParentOp()) &&
          block->getParent()->hasOneBlock())
        reuseInBlock(*block);
    });
  }

private:
  void reuseInBlock(Block &block) {
    BufferLifetimes lifetimes(block);
    // Buffers whose first use has been seen.
    DenseSet<Value> touched;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (generic && generic.hasPureBufferSemantics())
        for (OpOperand &init : generic.getDpsInitsMutable())
          if (!touched.contains(init.get()))
            reuseForInit(lifetimes, generic, &init);
      for (Value operand : op.getOperands())
        touched.insert(operand);
    }
  }

  void reuseForInit(BufferLifetimes &lifetimes, linalg::GenericOp op,
                    OpOperand *init) {
    auto alloc = init->get().getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getBlock() != op->getBlock() ||
        !alloc.getSymbolOperands().empty())
      return;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!isPointwise(op, input, init) || !isDoneWith(lifetimes, op, input) ||
          !isSameSize(alloc, input->get()))
        continue;
      Value buffer = input->get();
      lifetimes.merge(lifetimes.getRoots(buffer).front(), alloc.getResult());
      alloc.getResult().replaceAllUsesWith(buffer);
      alloc.erase();
      ++numReused;
      return;
    }
  }

  /// True if `op` is the last to use the memory of `input`, by this operand
  /// only, and it may be overwritten.
  static bool isDoneWith(const BufferLifetimes &lifetimes, linalg::GenericOp op,
                         OpOperand *input) {
    SmallVector<Value, 1> roots = lifetimes.getRoots(input->get());
    if (roots.size() != 1)
      return false;
    Value root = roots.front();
    bool ours = root.getDefiningOp<memref::AllocOp>() &&
                root.getParentBlock() == op->getBlock();
    if (auto arg = dyn_cast<BlockArgument>(root))
      ours = isDonated(arg) && arg.getOwner() == op->getBlock();
    if (!ours || lifetimes.getLastUser(root) != op.getOperation())
      return false;
    unsigned uses = 0;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        uses += llvm::is_contained(lifetimes.getRoots(operand), root);
    });
    return uses == 1;
  }

  /// True if `buffer` has the type and the sizes of what `alloc` makes.
  static bool isSameSize(memref::AllocOp alloc, Value buffer) {
    if (alloc.getType() != buffer.getType())
      return false;
    auto other = buffer.getDefiningOp<memref::AllocOp>();
    return alloc.getType().hasStaticShape() ||
           (other && other.getDynamicSizes() == alloc.getDynamicSizes());
  }
};

} // namespace
