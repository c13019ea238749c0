//===- FreeBuffers.cpp - Free memory after its last use -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferLifetimes.h"
#include "BufferOwners.h"
#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_FREEBUFFERS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

struct FreeBuffers : public tofu::impl::FreeBuffersBase<FreeBuffers> {
  void runOnOperation() override {
    BufferOwners owners(getOperation());
    numCopied += owners.handOver();
    getOperation()->walk([&](Block *block) {
      // With branches a block does not see all uses.
      if (block->getParent()->hasOneBlock())
        freeInBlock(*block, owners);
    });
  }

private:
  void freeInBlock(Block &block, const BufferOwners &owners) {
    SmallVector<Value> owned;
    auto add = [&](ValueRange values) {
      for (Value value : values)
        if (owners.isOwner(value) && !owners.isHandedOn(value))
          owned.push_back(value);
    };
    add(block.getArguments());
    for (Operation &op : block)
      add(op.getResults());
    if (owned.empty())
      return;
    BufferLifetimes lifetimes(block, &owners.getOwners());
    for (Value value : owned)
      free(value, lifetimes);
  }

  /// Frees `owner` after its last use.
  void free(Value owner, const BufferLifetimes &lifetimes) {
    Operation *last = lifetimes.getLastUser(owner);
    if (!last)
      last = owner.getDefiningOp();
    if (last && last->hasTrait<OpTrait::IsTerminator>()) {
      ++numEscaping;
      return;
    }
    OpBuilder builder(&getContext());
    if (last)
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointToStart(owner.getParentBlock());
    memref::DeallocOp::create(builder, owner.getLoc(), owner);
    ++numFreed;
  }
};

} // namespace
