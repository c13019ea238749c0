//===- GeneralizeCopies.cpp - Copies as loop nests ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericCopy.h"
#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_GENERALIZECOPIES
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

void mlir::tofu::createGenericCopy(OpBuilder &builder, Location loc, Value from,
                                   Value to) {
  int64_t rank = cast<MemRefType>(to.getType()).getRank();
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      builder, loc, TypeRange(), ValueRange(from), ValueRange(to), maps,
      iterators, [](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(inner, loc, args.front());
      });
}

namespace {

struct GeneralizeCopies
    : public tofu::impl::GeneralizeCopiesBase<GeneralizeCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) { copies.push_back(op); });
    for (memref::CopyOp copy : copies) {
      if (!isa<MemRefType>(copy.getSource().getType()) ||
          !isa<MemRefType>(copy.getTarget().getType())) {
        copy.emitOpError("copies a buffer of unknown rank");
        return signalPassFailure();
      }
      generalize(copy);
    }
  }

private:
  void generalize(memref::CopyOp copy) {
    OpBuilder builder(copy);
    createGenericCopy(builder, copy.getLoc(), copy.getSource(),
                      copy.getTarget());
    copy->erase();
    ++numCopies;
  }
};

} // namespace
