//===- LowerEntryPoints.cpp - The C interface of a program ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What upstream does for llvm.emit_c_interface is a wrapper that loads all
// fields of all descriptors and passes them one by one. With the hundreds of
// weights of a network LLVM takes seconds for such a call.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_LOWERENTRYPOINTS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

/// Rewrites the signature of one function.
class EntryPoint {
public:
  EntryPoint(func::FuncOp function, const LLVMTypeConverter &types)
      : function(function), types(types), builder(function.getContext()),
        loc(function.getLoc()),
        pointer(LLVM::LLVMPointerType::get(function.getContext())) {}

  LogicalResult lower();

private:
  Value loadField(Value address, Type descriptor, int32_t field);
  Value loadArgument(Value address, MemRefType type);
  LogicalResult lowerArguments();
  LogicalResult lowerResults();
  Value cast(Type type, Value value) {
    return UnrealizedConversionCastOp::create(builder, loc, type, value)
        .getResult(0);
  }

  func::FuncOp function;
  const LLVMTypeConverter &types;
  OpBuilder builder;
  Location loc;
  Type pointer;
};

} // namespace

Value EntryPoint::loadField(Value address, Type descriptor, int32_t field) {
  Value at = LLVM::GEPOp::create(builder, loc, pointer, descriptor, address,
                                 ArrayRef<LLVM::GEPArg>{0, field});
  return LLVM::LoadOp::create(builder, loc, pointer, at);
}

/// The buffer whose descriptor is at `address`. What the type says is not read.
Value EntryPoint::loadArgument(Value address, MemRefType type) {
  Type descriptor = types.convertType(type);
  if (type.hasStaticShape() && type.getLayout().isIdentity()) {
    Value allocated = loadField(address, descriptor, 0);
    Value aligned = loadField(address, descriptor, 1);
    return cast(type, MemRefDescriptor::fromStaticShape(
                          builder, loc, types, type, allocated, aligned));
  }
  return cast(type, LLVM::LoadOp::create(builder, loc, descriptor, address));
}

LogicalResult EntryPoint::lowerArguments() {
  builder.setInsertionPointToStart(&function.front());
  for (BlockArgument arg : function.getArguments()) {
    if (!isa<BaseMemRefType>(arg.getType()))
      continue;
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type || !types.convertType(type))
      return function.emitOpError()
             << "argument " << arg.getArgNumber()
             << " has no form on the host: " << arg.getType();
    arg.setType(pointer);
    Value buffer = loadArgument(arg, type);
    arg.replaceUsesWithIf(buffer, [&](OpOperand &use) {
      return !isa<LLVM::GEPOp, LLVM::LoadOp>(use.getOwner());
    });
  }
  return success();
}

/// Stores results to memory of the caller, which comes as a new first argument.
LogicalResult EntryPoint::lowerResults() {
  SmallVector<Type> fields;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    Type field = types.convertType(type);
    if (!field || isa<UnrankedMemRefType>(type))
      return function.emitOpError()
             << "result " << i << " has no form on the host: " << type;
    fields.push_back(field);
  }
  bool isLoneScalar =
      fields.size() == 1 && !isa<MemRefType>(function.getResultTypes()[0]);
  if (fields.empty() || isLoneScalar)
    return success();

  Value memory = function.front().insertArgument(0u, pointer, loc);
  auto record = LLVM::LLVMStructType::getLiteral(function.getContext(), fields);
  function.walk([&](func::ReturnOp op) {
    builder.setInsertionPoint(op);
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      Value at = LLVM::GEPOp::create(
          builder, loc, pointer, record, memory,
          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
      LLVM::StoreOp::create(builder, loc, cast(fields[i], operand), at);
    }
    op.getOperandsMutable().clear();
  });
  return success();
}

LogicalResult EntryPoint::lower() {
  SmallVector<Type> results(function.getResultTypes());
  if (failed(lowerArguments()) || failed(lowerResults()))
    return failure();
  bool storesResults = function.getNumArguments() &&
                       function.front().getNumArguments() !=
                           function.getFunctionType().getNumInputs();
  function.setType(builder.getFunctionType(
      function.front().getArgumentTypes(),
      storesResults ? ArrayRef<Type>() : ArrayRef<Type>(results)));
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  return success();
}

namespace {

struct LowerEntryPoints
    : public tofu::impl::LowerEntryPointsBase<LowerEntryPoints> {
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (!function.isPublic() || function.isExternal())
        continue;
      std::string name = ("_mlir_ciface_" + function.getSymName()).str();
      if (symbols.lookup(name)) {
        function.emitOpError() << "needs the name of another symbol: " << name;
        return signalPassFailure();
      }
      func::FuncOp entry = takeOver(function);
      entry.setName(name);
      // Keeps the SLP vectorizer, which takes quadratic time, off the many
      // stores of descriptors; the floating-point work is in kernels.
      entry->setAttr(
          "passthrough",
          Builder(&getContext()).getStrArrayAttr({"noimplicitfloat"}));
      if (failed(EntryPoint(entry, types).lower()))
        return signalPassFailure();
      ++numEntryPoints;
    }
  }

private:
  /// The function to turn into an entry point: a copy if others call it.
  func::FuncOp takeOver(func::FuncOp function) {
    std::optional<SymbolTable::UseRange> uses =
        SymbolTable::getSymbolUses(function, getOperation());
    if (uses && uses->empty())
      return function;
    auto copy = function.clone();
    function.setPrivate();
    getOperation().push_back(copy);
    return copy;
  }
};

} // namespace
