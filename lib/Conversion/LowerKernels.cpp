//===- LowerKernels.cpp - Loop nests that LLVM vectorizes -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Differs from upstream's convert-linalg-to-loops in what makes LLVM's
// vectorizer succeed: the order of the loops, several loops over contiguous
// memory as one, accumulators in registers, sums that may be reassociated, and
// booleans as bytes.
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"
#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_LOWERKERNELS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

struct LowerKernels : public tofu::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (unsigned i = 0; i < ops.size(); ++i) {
      if (!ops[i].hasPureBufferSemantics()) {
        ops[i]->emitOpError("is not on buffers");
        return signalPassFailure();
      }
      linalg::FillOp fill =
          i + 1 < ops.size() ? getStart(ops[i], ops[i + 1]) : linalg::FillOp();
      if (fill) {
        lower(ops[i + 1], fill);
        fill->erase();
        ++i;
      } else {
        lower(ops[i], {});
      }
    }
  }

private:
  void lower(linalg::LinalgOp op, linalg::FillOp fill) {
    OpBuilder builder(op);
    NestPlan plan = planLoops(op, chooseLoopOrder(op));
    // A fill that the accumulators start from needs no pass of its own.
    bool takesFill = fill && visitsOutputsOnce(op, plan);
    NestEmitter nest =
        start(builder, op, takesFill ? fill : linalg::FillOp(), plan);
    if (fill && !takesFill)
      start(builder, fill, {}, planLoops(fill, chooseLoopOrder(fill)))
          .emitLoops(0);
    nest.emitLoops(0);
    op->erase();
    ++numLowered;
  }

  NestEmitter start(OpBuilder &builder, linalg::LinalgOp op,
                    linalg::FillOp fill, const NestPlan &plan) {
    SmallVector<OpFoldResult> sizes;
    for (Range range : op.createLoopRanges(builder, op.getLoc()))
      sizes.push_back(range.size);
    return NestEmitter(builder, op, fill, plan, sizes, reassociate);
  }
};

} // namespace
