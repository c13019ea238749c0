//===- ConvertCalls.cpp - Call functions of the user's --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"
#include "Tofu/Conversion/Passes.h"
#include "Tofu/Conversion/RuntimeTypes.h"
#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_CONVERTCALLS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

struct ConvertCalls : public tofu::impl::ConvertCallsBase<ConvertCalls> {
  void runOnOperation() override {
    SmallVector<CallOp> ops;
    getOperation().walk([&](CallOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    RuntimeCalls calls(getOperation());
    SymbolTable symbols(getOperation());
    DenseSet<Operation *> callees;
    for (CallOp op : ops) {
      auto callee = symbols.lookup<func::FuncOp>(op.getCallee());
      if (!callee) {
        op.emitOpError() << "unknown function: " << op.getCalleeAttr();
        return signalPassFailure();
      }
      if (failed(convert(op, callee, calls, symbols)))
        return signalPassFailure();
      callees.insert(callee);
      ++numCalls;
    }
    for (Operation *callee : callees)
      if (SymbolTable::symbolKnownUseEmpty(callee, getOperation()))
        callee->erase();
  }

private:
  /// How a value that is no buffer is passed; null if it can't be. C widens
  /// small integers.
  static Value passScalar(OpBuilder &builder, CallOp op, Value value,
                          RuntimeCalls &calls) {
    Type type = value.getType();
    Type word = builder.getI32Type();
    if (type.isF32() || type.isF64() || type.isInteger(32) ||
        type.isInteger(64))
      return value;
    if (type.isIndex())
      return calls.castToLLVM(builder, op.getLoc(), value);
    if (type.isInteger(1))
      return arith::ExtUIOp::create(builder, op.getLoc(), word, value);
    if (type.isInteger(8) || type.isInteger(16))
      return arith::ExtSIOp::create(builder, op.getLoc(), word, value);
    return {};
  }

  static FailureOr<Value> pass(OpBuilder &builder, CallOp op, Value value,
                               unsigned slot, RuntimeCalls &calls) {
    auto buffer = dyn_cast<MemRefType>(value.getType());
    if (!buffer) {
      if (Value scalar = passScalar(builder, op, value, calls))
        return scalar;
      return op.emitOpError()
             << "input " << slot << " can't be passed: " << value.getType()
             << "; a tensor of rank 0 may hold it";
    }
    if (!buffer.getLayout().isIdentity() ||
        !getRuntimeType(buffer.getElementType()))
      return op.emitOpError()
             << "operand " << slot << " can't be passed: " << buffer;
    return calls.getDescriptor(builder, op.getLoc(), value, slot).second;
  }

  static FailureOr<LLVM::LLVMFuncOp>
  declare(func::FuncOp callee, TypeRange types, SymbolTable &symbols) {
    MLIRContext *context = callee.getContext();
    std::string name = ("_mlir_ciface_" + callee.getSymName()).str();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                            llvm::to_vector(types));
    if (Operation *known = symbols.lookup(name)) {
      auto function = dyn_cast<LLVM::LLVMFuncOp>(known);
      if (function && function.getFunctionType() == type)
        return function;
      return callee.emitOpError()
             << "needs the name of another symbol: " << name;
    }
    OpBuilder builder(context);
    auto function =
        LLVM::LLVMFuncOp::create(builder, callee.getLoc(), name, type);
    symbols.insert(function, callee->getIterator());
    return function;
  }

  static LogicalResult convert(CallOp op, func::FuncOp callee,
                               RuntimeCalls &calls, SymbolTable &symbols) {
    OpBuilder builder(op);
    if (Value condition = op.getCondition())
      builder.setInsertionPointToStart(
          scf::IfOp::create(builder, op.getLoc(), condition, /*hasElse=*/false)
              .thenBlock());
    SmallVector<Value> arguments;
    for (Value value : llvm::concat<Value>(op.getInputs(), op.getOuts())) {
      FailureOr<Value> argument =
          pass(builder, op, value, arguments.size(), calls);
      if (failed(argument))
        return failure();
      arguments.push_back(*argument);
    }
    FailureOr<LLVM::LLVMFuncOp> function =
        declare(callee, ValueRange(arguments).getTypes(), symbols);
    if (failed(function))
      return failure();
    LLVM::CallOp::create(builder, op.getLoc(), *function, arguments);
    op.erase();
    return success();
  }
};

} // namespace
