//===- RuntimeCalls.h - Calls of the runtime's C ABI ------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_RUNTIMECALLS_H
#define TOFU_LIB_CONVERSION_RUNTIMECALLS_H

#include "Tofu/Runtime/Runtime.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::tofu {

/// The source position that a person would look for: file:line:column, or a
/// name.
std::string describeLocation(Location loc);

/// Bytes of one element in memory.
int64_t getElementBytes(Type type);

/// True if `op` becomes a call of the runtime. `deviceMemory`: so do accesses
/// of single elements, as the host can't do them.
bool callsRuntime(Operation *op, bool deviceMemory);

/// Builds calls of Tofu/Runtime/Runtime.h into a module: declarations,
/// constant tables and texts, and descriptors in memory. The context is the
/// first argument of the function that the builder is in.
class RuntimeCalls {
public:
  explicit RuntimeCalls(ModuleOp module);

  /// Calls `name` with the context and `operands`; null if it returns nothing.
  Value call(OpBuilder &builder, Location loc, StringRef name, Type result,
             ValueRange operands);

  /// Calls `name` with stream, table, location and the descriptors of buffers.
  /// Between table and location may come the address of sizes.
  void callWithTable(OpBuilder &builder, Operation *op, StringRef name,
                     Value stream, ArrayRef<int64_t> table, ValueRange buffers,
                     Value sizes = {});

  /// The device's stream of a kind, as the function has it from its beginning.
  Value getStream(func::FuncOp function, TofuStreamKind kind);

  /// The address of an element of a buffer.
  Value getElement(OpBuilder &builder, Location loc, Value buffer,
                   ValueRange indices);

  /// The address of a constant table of 64-bit words.
  Value getTable(OpBuilder &builder, Location loc, ArrayRef<int64_t> words);

  /// The address of a constant, zero-terminated text.
  Value getText(OpBuilder &builder, Location loc, StringRef text);

  /// Rank of a ranked buffer and the address of its descriptor. `slot` tells
  /// the buffers of one call apart: slots are used again by later calls.
  std::pair<Value, Value> getDescriptor(OpBuilder &builder, Location loc,
                                        Value buffer, unsigned slot);

  /// The address of a value of LLVM's, in the slot of its type.
  Value getAddress(OpBuilder &builder, Location loc, Value value,
                   unsigned slot);

  /// The address of an array of addresses, which later calls use again.
  Value getAddresses(OpBuilder &builder, Location loc, ValueRange addresses);

  /// The address of an array of sizes, which later calls use again.
  Value getSizes(OpBuilder &builder, Location loc, ValueRange sizes);

  /// The buffer as a value of LLVM's, or the other way around.
  Value castToLLVM(OpBuilder &builder, Location loc, Value value);
  Value castFromLLVM(OpBuilder &builder, Location loc, Value value, Type type);

  /// The number `value` as LLVM has it.
  Value getWord(OpBuilder &builder, Location loc, int64_t value);

  /// Memory for a `type` in the entry block of the function that the builder is
  /// in; one per function, type and slot.
  Value getMemory(OpBuilder &builder, Location loc, Type type, unsigned slot);

  LLVMTypeConverter &getTypes() { return types; }
  Type getPointerType() { return pointer; }

private:
  Value storeAll(OpBuilder &builder, Location loc, Type element,
                 ValueRange values);
  LLVM::LLVMFuncOp declare(StringRef name, Type result, TypeRange operands);
  Value getGlobal(OpBuilder &builder, Location loc, StringRef prefix, Type type,
                  Attribute value);

  ModuleOp module;
  SymbolTable symbols;
  LLVMTypeConverter types;
  Type pointer, word;
  llvm::DenseMap<std::pair<Type, Attribute>, LLVM::GlobalOp> globals;
  llvm::DenseMap<std::tuple<Operation *, Type, unsigned>, Value> slots;
  llvm::DenseMap<std::pair<Operation *, unsigned>, Value> streams;
};

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_RUNTIMECALLS_H
