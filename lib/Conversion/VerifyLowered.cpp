//===- VerifyLowered.cpp - Nothing is left to lower -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_VERIFYLOWERED
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// Conversion casts are a consequence: the operations around them are the
/// cause.
static bool isLowered(Operation *op) {
  return isa<ModuleOp, UnrealizedConversionCastOp>(op) ||
         isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect());
}

namespace {

struct VerifyLowered : public tofu::impl::VerifyLoweredBase<VerifyLowered> {
  void runOnOperation() override {
    bool hasCast = false, hasOther = false;
    getOperation()->walk([&](Operation *op) {
      hasCast |= isa<UnrealizedConversionCastOp>(op);
      if (isLowered(op))
        return;
      op->emitOpError("cannot be lowered for the host");
      hasOther = true;
    });
    if (hasCast && !hasOther)
      getOperation()->emitError("types remain that have no form on the host");
    if (hasCast || hasOther)
      signalPassFailure();
  }
};

} // namespace
