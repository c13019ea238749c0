//===- FreeBuffers.cpp - Free memory after its last use -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferLifetimes.h"
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
    getOperation()->walk([&](Block *block) {
      // With branches a block does not see all uses.
      if (block->getParent()->hasOneBlock())
        freeInBlock(*block);
    });
  }

private:
  void freeInBlock(Block &block) {
    SmallVector<memref::AllocOp> allocs(block.getOps<memref::AllocOp>());
    if (allocs.empty())
      return;
    BufferLifetimes lifetimes(block);
    OpBuilder builder(&getContext());
    for (memref::AllocOp alloc : allocs) {
      Operation *last = lifetimes.getLastUser(alloc.getResult());
      if (!last)
        last = alloc;
      if (last->hasTrait<OpTrait::IsTerminator>()) {
        ++numEscaping;
        continue;
      }
      builder.setInsertionPointAfter(last);
      memref::DeallocOp::create(builder, alloc.getLoc(), alloc.getResult());
      ++numFreed;
    }
  }
};

} // namespace
