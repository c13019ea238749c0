//===- RuntimeCalls.cpp - Calls of the runtime's C ABI --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "Tofu/Conversion/RuntimeTypes.h"

#include "Tofu/Dialect/BufferOps.h"
#include "Tofu/Runtime/Runtime.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::tofu;

std::string tofu::describeLocation(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  if (auto name = dyn_cast<NameLoc>(loc)) {
    if (isa<UnknownLoc>(name.getChildLoc()))
      return name.getName().str();
    return describeLocation(name.getChildLoc());
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return describeLocation(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (!isa<UnknownLoc>(part))
        return describeLocation(part);
  return "unknown location";
}

std::optional<TofuElementType> tofu::getRuntimeType(Type type) {
  if (type.isF32())
    return TOFU_F32;
  if (type.isF64())
    return TOFU_F64;
  if (type.isF16())
    return TOFU_F16;
  if (type.isBF16())
    return TOFU_BF16;
  if (type.isIndex())
    return TOFU_INDEX;
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    return part.isF32()   ? std::optional(TOFU_COMPLEX_F32)
           : part.isF64() ? std::optional(TOFU_COMPLEX_F64)
                          : std::nullopt;
  }
  if (!isa<IntegerType>(type))
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return TOFU_I1;
  case 8:
    return TOFU_I8;
  case 16:
    return TOFU_I16;
  case 32:
    return TOFU_I32;
  case 64:
    return TOFU_I64;
  default:
    return std::nullopt;
  }
}

int64_t tofu::getElementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * getElementBytes(complex.getElementType());
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// Whether a function is called that isn't part of the program.
static bool callsOutside(Operation *op) {
  if (isa<CallOp>(op))
    return true;
  auto call = dyn_cast<func::CallOp>(op);
  if (!call)
    return false;
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  return callee && callee.isExternal();
}

bool tofu::callsRuntime(Operation *op, bool deviceMemory) {
  if (isa<memref::AllocOp, memref::DeallocOp, GlobalMemoryOp, cf::AssertOp,
          DeviceIdOp, ShardOffsetOp, ShardSizeOp, ContractOp,
          CollectiveBufferOp, gpu::LaunchFuncOp>(op))
    return true;
  return deviceMemory &&
         (isa<memref::LoadOp, memref::StoreOp, memref::GetGlobalOp>(op) ||
          callsOutside(op));
}

RuntimeCalls::RuntimeCalls(ModuleOp module)
    : module(module), symbols(module), types(module.getContext()),
      pointer(LLVM::LLVMPointerType::get(module.getContext())),
      word(IntegerType::get(module.getContext(), 64)) {}

LLVM::LLVMFuncOp RuntimeCalls::declare(StringRef name, Type result,
                                       TypeRange operands) {
  if (auto known = symbols.lookup<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder builder(module.getContext());
  SmallVector<Type> inputs = {pointer};
  llvm::append_range(inputs, operands);
  Type output = result ? result : LLVM::LLVMVoidType::get(module.getContext());
  auto function =
      LLVM::LLVMFuncOp::create(builder, module.getLoc(), name,
                               LLVM::LLVMFunctionType::get(output, inputs));
  symbols.insert(function, module.getBody()->begin());
  return function;
}

Value RuntimeCalls::call(OpBuilder &builder, Location loc, StringRef name,
                         Type result, ValueRange operands) {
  LLVM::LLVMFuncOp callee = declare(name, result, operands.getTypes());
  Operation *at = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(at);
  if (!function)
    function = at->getParentOfType<func::FuncOp>();
  SmallVector<Value> all = {function.getArgument(0)};
  llvm::append_range(all, operands);
  auto call = LLVM::CallOp::create(builder, loc, callee, all);
  return result ? call.getResult() : Value();
}

void RuntimeCalls::callWithTable(OpBuilder &builder, Operation *op,
                                 StringRef name, Value stream,
                                 ArrayRef<int64_t> table, ValueRange buffers,
                                 Value sizes) {
  Location loc = op->getLoc();
  SmallVector<Value> operands = {stream, getTable(builder, loc, table)};
  if (sizes)
    operands.push_back(sizes);
  operands.push_back(getText(builder, loc, describeLocation(loc)));
  for (auto [slot, buffer] : llvm::enumerate(buffers)) {
    if (!buffer) {
      operands.append({getWord(builder, loc, 0),
                       LLVM::ZeroOp::create(builder, loc, pointer)});
      continue;
    }
    auto [rank, descriptor] = getDescriptor(builder, loc, buffer, slot);
    operands.append({rank, descriptor});
  }
  call(builder, loc, name, {}, operands);
}

Value RuntimeCalls::getStream(func::FuncOp function, TofuStreamKind kind) {
  Value &stream = streams[{function, kind}];
  if (!stream) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(&function.front());
    Location loc = function.getLoc();
    stream =
        call(atEntry, loc, "tofuStream", pointer, getWord(atEntry, loc, kind));
  }
  return stream;
}

Value RuntimeCalls::getElement(OpBuilder &builder, Location loc, Value buffer,
                               ValueRange indices) {
  auto type = cast<MemRefType>(buffer.getType());
  MemRefDescriptor descriptor(castToLLVM(builder, loc, buffer));
  Value number = descriptor.offset(builder, loc);
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value distance =
        LLVM::MulOp::create(builder, loc, castToLLVM(builder, loc, index),
                            descriptor.stride(builder, loc, dim));
    number = LLVM::AddOp::create(builder, loc, number, distance);
  }
  return LLVM::GEPOp::create(
      builder, loc, pointer, types.convertType(type.getElementType()),
      descriptor.alignedPtr(builder, loc), ArrayRef<LLVM::GEPArg>{number});
}

Value RuntimeCalls::getGlobal(OpBuilder &builder, Location loc,
                              StringRef prefix, Type type, Attribute value) {
  LLVM::GlobalOp &global = globals[{type, value}];
  if (!global) {
    OpBuilder inModule(module.getContext());
    global = LLVM::GlobalOp::create(inModule, module.getLoc(), type,
                                    /*isConstant=*/true,
                                    LLVM::Linkage::Internal, prefix, value);
    symbols.insert(global, module.getBody()->begin());
  }
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value RuntimeCalls::getTable(OpBuilder &builder, Location loc,
                             ArrayRef<int64_t> words) {
  int64_t size = words.size();
  auto value =
      DenseElementsAttr::get(RankedTensorType::get({size}, word), words);
  return getGlobal(builder, loc, "table", LLVM::LLVMArrayType::get(word, size),
                   value);
}

Value RuntimeCalls::getText(OpBuilder &builder, Location loc, StringRef text) {
  std::string terminated = text.str();
  terminated.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size());
  return getGlobal(builder, loc, "text", type,
                   builder.getStringAttr(terminated));
}

Value RuntimeCalls::getMemory(OpBuilder &builder, Location loc, Type type,
                              unsigned slot) {
  Operation *at = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(at);
  if (!function)
    function = at->getParentOfType<func::FuncOp>();
  Value &memory = slots[{function, type, slot}];
  if (!memory) {
    // In the entry block: a place in a loop would be a new one each time.
    OpBuilder atEntry = OpBuilder::atBlockBegin(&function.front());
    memory = LLVM::AllocaOp::create(atEntry, loc, pointer, type,
                                    getWord(atEntry, loc, 1));
  }
  return memory;
}

/// Stores the values, of LLVM's type `element`, one after the other.
Value RuntimeCalls::storeAll(OpBuilder &builder, Location loc, Type element,
                             ValueRange values) {
  Value memory =
      getMemory(builder, loc, LLVM::LLVMArrayType::get(element, values.size()),
                /*slot=*/0);
  for (auto [i, value] : llvm::enumerate(values)) {
    Value at = LLVM::GEPOp::create(builder, loc, pointer, element, memory,
                                   ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(builder, loc, value, at);
  }
  return memory;
}

Value RuntimeCalls::getSizes(OpBuilder &builder, Location loc,
                             ValueRange sizes) {
  auto words = llvm::map_to_vector(
      sizes, [&](Value size) { return castToLLVM(builder, loc, size); });
  return storeAll(builder, loc, word, words);
}

Value RuntimeCalls::getAddresses(OpBuilder &builder, Location loc,
                                 ValueRange addresses) {
  return storeAll(builder, loc, pointer, addresses);
}

Value RuntimeCalls::getAddress(OpBuilder &builder, Location loc, Value value,
                               unsigned slot) {
  Value memory = getMemory(builder, loc, value.getType(), slot);
  LLVM::StoreOp::create(builder, loc, value, memory);
  return memory;
}

std::pair<Value, Value> RuntimeCalls::getDescriptor(OpBuilder &builder,
                                                    Location loc, Value buffer,
                                                    unsigned slot) {
  Value descriptor = castToLLVM(builder, loc, buffer);
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  Value address = getAddress(builder, loc, descriptor, slot);
  return {getWord(builder, loc, rank), address};
}

Value RuntimeCalls::castToLLVM(OpBuilder &builder, Location loc, Value value) {
  return castFromLLVM(builder, loc, value, types.convertType(value.getType()));
}

Value RuntimeCalls::castFromLLVM(OpBuilder &builder, Location loc, Value value,
                                 Type type) {
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

Value RuntimeCalls::getWord(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, word,
                                  builder.getI64IntegerAttr(value));
}
