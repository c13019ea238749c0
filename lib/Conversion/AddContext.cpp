//===- AddContext.cpp - Pass the device context along ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"
#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_ADDCONTEXT
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// True if the function itself calls the runtime or is called by it.
static bool usesRuntime(func::FuncOp function, bool deviceMemory) {
  if (function.isPublic())
    return true;
  return function
      ->walk([&](Operation *op) {
        return callsRuntime(op, deviceMemory) ? WalkResult::interrupt()
                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

struct AddContext : public tofu::impl::AddContextBase<AddContext> {
  using AddContextBase::AddContextBase;

  void runOnOperation() override {
    SymbolTableCollection symbols;
    SmallVector<std::pair<func::CallOp, func::FuncOp>> calls;
    getOperation().walk([&](func::CallOp call) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (callee && !callee.isExternal() &&
          call->getParentOfType<func::FuncOp>())
        calls.push_back({call, callee});
    });

    SetVector<Operation *> users;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && usesRuntime(function, deviceMemory))
        users.insert(function);
    addCallers(calls, users);

    for (Operation *op : users)
      addArgument(cast<func::FuncOp>(op));
    for (auto [call, callee] : calls)
      if (users.contains(callee))
        call->insertOperands(
            0, call->getParentOfType<func::FuncOp>().getArgument(0));
  }

private:
  /// Adds the functions that call one of `users`, until there are no more.
  static void addCallers(ArrayRef<std::pair<func::CallOp, func::FuncOp>> calls,
                         SetVector<Operation *> &users) {
    for (size_t before = 0; before != users.size();) {
      before = users.size();
      for (auto [call, callee] : calls)
        if (users.contains(callee))
          users.insert(call->getParentOfType<func::FuncOp>());
    }
  }

  void addArgument(func::FuncOp function) {
    // Only LLVM's attributes mean anything from here on.
    SmallVector<DictionaryAttr> kept;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      kept.push_back(
          keepLLVM(function_interface_impl::getArgAttrs(function, i)));
    function_interface_impl::setAllArgAttrDicts(function,
                                                ArrayRef<DictionaryAttr>(kept));
    kept.clear();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      kept.push_back(
          keepLLVM(function_interface_impl::getResultAttrs(function, i)));
    function_interface_impl::setAllResultAttrDicts(
        function, ArrayRef<DictionaryAttr>(kept));
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    if (failed(function.insertArgument(0, pointer, {}, function.getLoc())))
      return signalPassFailure();
    ++numFunctions;
  }

  DictionaryAttr keepLLVM(ArrayRef<NamedAttribute> attrs) {
    auto kept = llvm::filter_to_vector(attrs, [](NamedAttribute attr) {
      return attr.getName().strref().starts_with("llvm.");
    });
    return DictionaryAttr::get(&getContext(), kept);
  }
};

} // namespace
