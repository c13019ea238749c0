//===- KernelRecords.cpp - How programs refer to kernels ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelRecords.h"

#include "Tofu/Runtime/Runtime.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"

using namespace mlir;
using namespace mlir::tofu;

/// The attribute of a kernel that names its record.
static constexpr StringLiteral kRecord = "record";

/// The one that says what it takes.
static constexpr StringLiteral kArguments = "record_arguments";

/// TofuKernel.
static LLVM::LLVMStructType getRecordType(MLIRContext *context) {
  Type word = IntegerType::get(context, 64);
  Type pointer = LLVM::LLVMPointerType::get(context);
  return LLVM::LLVMStructType::getLiteral(
      context, {word, pointer, pointer, word, pointer, word, pointer});
}

gpu::GPUFuncOp KernelRecords::lookup(gpu::LaunchFuncOp launch) {
  return dyn_cast_or_null<gpu::GPUFuncOp>(
      SymbolTable::lookupSymbolIn(module, launch.getKernel()));
}

Value KernelRecords::getRecord(OpBuilder &builder, Location loc,
                               gpu::GPUFuncOp kernel) {
  auto name = kernel->getAttrOfType<FlatSymbolRefAttr>(kRecord);
  if (!name) {
    OpBuilder inModule(module.getContext());
    auto record = LLVM::GlobalOp::create(
        inModule, kernel.getLoc(), getRecordType(module.getContext()),
        /*isConstant=*/true, LLVM::Linkage::External,
        (kernel.getName() + "_record").str(), Attribute());
    symbols.insert(record, module.getBody()->begin());
    name = FlatSymbolRefAttr::get(record);
    kernel->setAttr(kRecord, name);
  }
  return LLVM::AddressOfOp::create(
      builder, loc, LLVM::LLVMPointerType::get(module.getContext()),
      name.getAttr());
}

void KernelRecords::setArguments(gpu::GPUFuncOp kernel,
                                 ArrayRef<int64_t> words) {
  kernel->setAttr(kArguments,
                  DenseI64ArrayAttr::get(module.getContext(), words));
}

void KernelRecords::define(RuntimeCalls &calls, SymbolOpInterface kernel,
                           LLVM::GlobalOp image, int64_t imageBytes,
                           FlatSymbolRefAttr onHost) {
  auto name = kernel->getAttrOfType<FlatSymbolRefAttr>(kRecord);
  if (!name)
    return;
  auto record = symbols.lookup<LLVM::GlobalOp>(name.getAttr());
  if (!record || !record.getInitializerRegion().empty())
    return;
  Location loc = kernel.getLoc();
  OpBuilder builder =
      OpBuilder::atBlockBegin(&record.getInitializerRegion().emplaceBlock());
  Type pointer = calls.getPointerType();
  auto address = [&](FlatSymbolRefAttr symbol) -> Value {
    if (!symbol)
      return LLVM::ZeroOp::create(builder, loc, pointer);
    return LLVM::AddressOfOp::create(builder, loc, pointer, symbol.getAttr());
  };
  auto words = kernel->getAttrOfType<DenseI64ArrayAttr>(kArguments);
  bool takesAny = words && !words.empty();
  Value fields[] = {
      calls.getWord(builder, loc, TOFU_TABLE_VERSION),
      calls.getText(builder, loc, kernel.getName()),
      address(image ? FlatSymbolRefAttr::get(image) : FlatSymbolRefAttr()),
      calls.getWord(builder, loc, imageBytes),
      address(onHost),
      calls.getWord(builder, loc, takesAny ? words.size() / 2 : 0),
      takesAny ? calls.getTable(builder, loc, words.asArrayRef())
               : Value(LLVM::ZeroOp::create(builder, loc, pointer))};
  Value whole = LLVM::PoisonOp::create(builder, loc, record.getGlobalType());
  for (auto [i, field] : llvm::enumerate(fields))
    whole = LLVM::InsertValueOp::create(builder, loc, whole, field, i);
  LLVM::ReturnOp::create(builder, loc, whole);
  record.setLinkage(LLVM::Linkage::Internal);
}

LogicalResult tofu::replaceKernelModules(
    ModuleOp module, function_ref<LogicalResult(gpu::GPUModuleOp)> define) {
  SmallVector<gpu::GPUModuleOp> kernels(module.getOps<gpu::GPUModuleOp>());
  for (gpu::GPUModuleOp each : kernels) {
    if (failed(define(each)))
      return failure();
    each.erase();
  }
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  return success();
}

SmallVector<SmallVector<int32_t, 2>> tofu::getPassedFields(MemRefType type) {
  constexpr int32_t kAligned = 1, kOffset = 2, kSizes = 3, kStrides = 4;
  SmallVector<SmallVector<int32_t, 2>> fields = {{kAligned}};
  auto [strides, offset] = type.getStridesAndOffset();
  if (ShapedType::isDynamic(offset))
    fields.push_back({kOffset});
  for (int32_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      fields.push_back({kSizes, dim});
  for (int32_t dim = 0; dim < type.getRank(); ++dim)
    if (ShapedType::isDynamic(strides[dim]))
      fields.push_back({kStrides, dim});
  return fields;
}

/// Builds the buffer from parameters of the kernel, which are inserted from
/// `position` on. Moves the position past these.
static Value unpackBuffer(OpBuilder &builder, Block &entry, unsigned &position,
                          MemRefType type, Location loc) {
  LLVMTypeConverter types(builder.getContext());
  Type word = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto descriptor =
      MemRefDescriptor::poison(builder, loc, types.convertType(type));
  Value address = entry.insertArgument(position++, pointer, loc);
  descriptor.setAllocatedPtr(builder, loc, address);
  descriptor.setAlignedPtr(builder, loc, address);
  auto get = [&](int64_t known) -> Value {
    if (ShapedType::isDynamic(known))
      return entry.insertArgument(position++, word, loc);
    return LLVM::ConstantOp::create(builder, loc, word, known);
  };
  auto [strides, offset] = type.getStridesAndOffset();
  descriptor.setOffset(builder, loc, get(offset));
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    descriptor.setSize(builder, loc, dim, get(size));
  for (auto [dim, stride] : llvm::enumerate(strides))
    descriptor.setStride(builder, loc, dim, get(stride));
  return UnrealizedConversionCastOp::create(builder, loc, TypeRange(type),
                                            ValueRange(Value(descriptor)))
      .getResult(0);
}

void tofu::flattenKernelArguments(gpu::GPUFuncOp kernel) {
  Block &entry = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  DictionaryAttr none = builder.getDictionaryAttr({});
  SmallVector<DictionaryAttr> attributes;
  unsigned position = 0;
  for (unsigned i = 0, end = kernel.getFunctionType().getNumInputs(); i < end;
       ++i) {
    DictionaryAttr given = kernel.getArgAttrDict(i);
    attributes.push_back(given ? given : none);
    BlockArgument arg = entry.getArgument(position);
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type || !type.isStrided()) {
      ++position;
      continue;
    }
    Value buffer = unpackBuffer(builder, entry, position, type, arg.getLoc());
    arg = entry.getArgument(position);
    arg.replaceAllUsesWith(buffer);
    entry.eraseArgument(position);
    attributes.resize(position, none);
  }
  SmallVector<Type> inputs(entry.getArgumentTypes());
  inputs.resize(position);
  kernel.setFunctionType(builder.getFunctionType(inputs, {}));
  kernel.setAllArgAttrs(attributes);
}
