//===- ProtectArguments.cpp - Mark arguments that must not be written -----===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/Signature.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_PROTECTARGUMENTS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

struct ProtectArguments
    : public tofu::impl::ProtectArgumentsBase<ProtectArguments> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    SmallVector<Attribute> writable(function.getNumArguments());
    for (BlockArgument arg : function.getArguments()) {
      unsigned index = arg.getArgNumber();
      if (!isa<TensorType>(arg.getType()) ||
          function.getArgAttr(index, "tf.aliasing_output"))
        continue;
      writable[index] = BoolAttr::get(&getContext(), false);
      ++numProtected;
    }
    setArgAttrs(function,
                bufferization::BufferizationDialect::kWritableAttrName,
                writable);
  }
};

} // namespace
