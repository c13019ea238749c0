//===- ConvertToRuntime.cpp - Call the runtime ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAccesses.h"
#include "CollectiveTables.h"
#include "KernelRecords.h"
#include "RuntimeCalls.h"
#include "Tofu/Conversion/Passes.h"
#include "Tofu/Conversion/RuntimeTypes.h"
#include "Tofu/Dialect/BufferOps.h"
#include "Tofu/Dialect/Placement.h"
#include "Tofu/Runtime/Runtime.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_CONVERTTORUNTIME
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// True for types that have a size in memory that the runtime knows.
static bool hasElementBytes(Type type) {
  return isa<ComplexType>(type) ? getRuntimeType(type).has_value()
                                : type.isIntOrIndexOrFloat();
}

/// True if the address and size of the buffer's elements are known.
static bool canAccess(MemRefType type) {
  return hasElementBytes(type.getElementType()) && type.isStrided();
}

/// The table of Tofu/Runtime/Runtime.h for a contraction.
static FailureOr<SmallVector<int64_t>> makeContractTable(ContractOp op) {
  Type input = getElementTypeOrSelf(op.getLhs().getType());
  Type output = getElementTypeOrSelf(op.getOut().getType());
  std::optional<TofuElementType> inputType = getRuntimeType(input);
  std::optional<TofuElementType> outputType = getRuntimeType(output);
  if (!inputType || !outputType)
    return op.emitOpError() << "the runtime does not know elements of type "
                            << (inputType ? output : input);
  SmallVector<int64_t> table = {
      TOFU_TABLE_VERSION, *inputType, *outputType, op.getAccumulate(),
      static_cast<int64_t>(op.getMap(0).getNumDims())};
  for (unsigned i = 0; i < 3; ++i)
    table.push_back(op.getMap(i).getNumResults());
  auto addDims = [&](AffineMap map) {
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      table.push_back(dim ? static_cast<int64_t>(dim.getPosition()) : -1);
    }
  };
  for (unsigned i = 0; i < 3; ++i)
    addDims(op.getMap(i));
  if (op.hasEpilogue())
    table.push_back(static_cast<int64_t>(op.getActivation()));
  if (op.getBias())
    addDims(op.getMap(3));
  return table;
}

namespace {

/// Rewrites one operation after the other.
class Converter {
public:
  Converter(ModuleOp module)
      : accesses(module), calls(module), kernels(module),
        builder(module.getContext()) {}

  LogicalResult convert(Operation *op) {
    builder.setInsertionPoint(op);
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<memref::AllocOp, memref::DeallocOp, GlobalMemoryOp,
                  cf::AssertOp, DeviceIdOp, ShardOffsetOp, ShardSizeOp,
                  ContractOp, CollectiveBufferOp, gpu::LaunchFuncOp,
                  memref::LoadOp, memref::StoreOp, memref::GetGlobalOp>(
                [&](auto typed) { return rewrite(typed); })
            .Case<CallOp, func::CallOp>([&](auto) { return announceCall(op); });
    // The call itself comes later.
    if (succeeded(result) && !isa<CallOp, func::CallOp>(op))
      op->erase();
    return result;
  }

private:
  LogicalResult rewrite(memref::AllocOp op);
  LogicalResult rewrite(memref::DeallocOp op);
  LogicalResult rewrite(GlobalMemoryOp op);
  FailureOr<Value> makeBuffer(Operation *op, MemRefType type,
                              ValueRange dynamicSizes,
                              function_ref<Value(Value)> getMemory);
  LogicalResult rewrite(cf::AssertOp op);
  LogicalResult rewrite(DeviceIdOp op);
  LogicalResult rewrite(ShardOffsetOp op) {
    return rewriteBound(op, "tofuShardOffset",
                        [](search::Interval part) { return part.lo; });
  }
  LogicalResult rewrite(ShardSizeOp op) {
    return rewriteBound(op, "tofuShardSize",
                        [](search::Interval part) { return part.size(); });
  }
  template <typename OpTy>
  LogicalResult rewriteBound(OpTy op, StringRef name,
                             function_ref<int64_t(search::Interval)> bound);
  template <typename OpTy>
  Value callForBound(OpTy op, StringRef name, const search::Mesh &mesh);
  Value getDevice(Operation *op);
  LogicalResult rewrite(ContractOp op);
  LogicalResult rewrite(CollectiveBufferOp op);
  LogicalResult rewrite(gpu::LaunchFuncOp op);
  bool canPass(Type type);
  void passArgument(Location loc, Value value,
                    SmallVectorImpl<Value> &addresses);
  SmallVector<int64_t> describeArguments(gpu::LaunchFuncOp op,
                                         gpu::GPUFuncOp kernel);
  LogicalResult rewrite(memref::LoadOp op);
  LogicalResult rewrite(memref::StoreOp op);
  LogicalResult rewrite(memref::GetGlobalOp op);
  LogicalResult announceCall(Operation *op);

  Value getStream(Operation *op);

  BufferAccesses accesses;
  RuntimeCalls calls;
  KernelRecords kernels;
  OpBuilder builder;
};

} // namespace

/// A buffer in the memory that `getMemory` returns for a number of bytes.
FailureOr<Value> Converter::makeBuffer(Operation *op, MemRefType type,
                                       ValueRange dynamicSizes,
                                       function_ref<Value(Value)> getMemory) {
  Location loc = op->getLoc();
  Type element = type.getElementType();
  if (!type.getLayout().isIdentity() || !hasElementBytes(element))
    return op->emitOpError() << "cannot be allocated by the runtime: " << type;

  // Sizes and strides, innermost first.
  SmallVector<Value> sizes(type.getRank()), strides(type.getRank());
  auto dynamic = dynamicSizes.end();
  Value stride = calls.getWord(builder, loc, 1);
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    sizes[dim] = type.isDynamicDim(dim)
                     ? calls.castToLLVM(builder, loc, *--dynamic)
                     : calls.getWord(builder, loc, type.getDimSize(dim));
    strides[dim] = stride;
    stride = LLVM::MulOp::create(builder, loc, stride, sizes[dim]);
  }
  Value bytes = LLVM::MulOp::create(
      builder, loc, stride,
      calls.getWord(builder, loc, getElementBytes(element)));
  Value memory = getMemory(bytes);

  auto descriptor = MemRefDescriptor::poison(
      builder, loc, calls.getTypes().convertType(type));
  descriptor.setAllocatedPtr(builder, loc, memory);
  descriptor.setAlignedPtr(builder, loc, memory);
  descriptor.setConstantOffset(builder, loc, 0);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    descriptor.setSize(builder, loc, dim, sizes[dim]);
    descriptor.setStride(builder, loc, dim, strides[dim]);
  }
  return calls.castFromLLVM(builder, loc, descriptor, type);
}

LogicalResult Converter::rewrite(memref::AllocOp op) {
  FailureOr<Value> buffer =
      makeBuffer(op, op.getType(), op.getDynamicSizes(), [&](Value bytes) {
        return calls.call(builder, op.getLoc(), "tofuAlloc",
                          calls.getPointerType(), bytes);
      });
  if (failed(buffer))
    return failure();
  op.replaceAllUsesWith(*buffer);
  return success();
}

LogicalResult Converter::rewrite(GlobalMemoryOp op) {
  Location loc = op.getLoc();
  Value flag = LLVM::AllocaOp::create(builder, loc, calls.getPointerType(),
                                      builder.getI8Type(),
                                      calls.getWord(builder, loc, 1));
  FailureOr<Value> buffer = makeBuffer(
      op, cast<MemRefType>(op.getMemory().getType()), op.getSizes(),
      [&](Value bytes) {
        Value name = calls.getText(builder, loc, op.getName());
        return calls.call(builder, loc, "tofuGlobal", calls.getPointerType(),
                          {name, bytes, flag});
      });
  if (failed(buffer))
    return failure();
  Value isNew = LLVM::LoadOp::create(builder, loc, builder.getI8Type(), flag);
  Value bit = arith::TruncIOp::create(builder, loc, builder.getI1Type(), isNew);
  op.getMemory().replaceAllUsesWith(*buffer);
  op.getIsNew().replaceAllUsesWith(bit);
  return success();
}

LogicalResult Converter::rewrite(memref::DeallocOp op) {
  Location loc = op.getLoc();
  if (!isa<MemRefType>(op.getMemref().getType()))
    return op.emitOpError("frees a buffer of unknown rank");
  MemRefDescriptor descriptor(calls.castToLLVM(builder, loc, op.getMemref()));
  calls.call(builder, loc, "tofuFree", {},
             descriptor.allocatedPtr(builder, loc));
  return success();
}

LogicalResult Converter::rewrite(cf::AssertOp op) {
  Location loc = op.getLoc();
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value fails = arith::XOrIOp::create(builder, loc, op.getArg(), yes);
  auto branch = scf::IfOp::create(builder, loc, fails, /*hasElse=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  calls.call(builder, loc, "tofuFail", {},
             {calls.getText(builder, loc, op.getMsg()),
              calls.getText(builder, loc, describeLocation(loc))});
  return success();
}

Value Converter::getDevice(Operation *op) {
  return calls.call(builder, op->getLoc(), "tofuDeviceId", builder.getI64Type(),
                    {});
}

LogicalResult Converter::rewrite(DeviceIdOp op) {
  op.getResult().replaceAllUsesWith(calls.castFromLLVM(
      builder, op.getLoc(), getDevice(op), builder.getIndexType()));
  return success();
}

/// Lets the runtime find a bound of this device's box of a value whose sizes
/// are not known.
template <typename OpTy>
Value Converter::callForBound(OpTy op, StringRef name,
                              const search::Mesh &mesh) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = op.getGlobalShape();
  SmallVector<int64_t> table = {TOFU_TABLE_VERSION};
  appendShape(table, shape, mesh);
  appendPlacement(table, op.getPlacement().getPlacement(shape, mesh));
  return calls.call(builder, loc, name, builder.getI64Type(),
                    {calls.getTable(builder, loc, table),
                     calls.getSizes(builder, loc, op.getDynamicSizes()),
                     calls.getWord(builder, loc, op.getDim())});
}

/// Looks up a bound of this device's box: a constant if all have the same.
template <typename OpTy>
LogicalResult
Converter::rewriteBound(OpTy op, StringRef name,
                        function_ref<int64_t(search::Interval)> bound) {
  Location loc = op.getLoc();
  MeshOp mesh = lookupMesh(op, op.getPlacement().getMesh());
  if (!mesh)
    return op.emitOpError() << "unknown mesh: " << op.getPlacement().getMesh();
  if (!op.getShape().isStatic()) {
    Value value = callForBound(op, name, mesh.getMesh());
    op.getResult().replaceAllUsesWith(
        calls.castFromLLVM(builder, loc, value, builder.getIndexType()));
    return success();
  }
  SmallVector<int64_t> bounds;
  for (const search::Box &box :
       getBoxes(op.getPlacement(), op.getGlobalShape(), mesh))
    bounds.push_back(bound(box[op.getDim()]));
  Value value;
  if (llvm::all_equal(bounds)) {
    value = calls.getWord(builder, loc, bounds.front());
  } else {
    Value table = calls.getTable(builder, loc, bounds);
    Type word = builder.getI64Type();
    Value at = LLVM::GEPOp::create(builder, loc, table.getType(), word, table,
                                   ArrayRef<LLVM::GEPArg>{getDevice(op)});
    value = LLVM::LoadOp::create(builder, loc, word, at);
  }
  op.getResult().replaceAllUsesWith(
      calls.castFromLLVM(builder, loc, value, builder.getIndexType()));
  return success();
}

LogicalResult Converter::rewrite(ContractOp op) {
  FailureOr<SmallVector<int64_t>> table = makeContractTable(op);
  if (failed(table))
    return failure();
  SmallVector<Value> buffers = {op.getLhs(), op.getRhs(), op.getOut()};
  if (op.hasEpilogue())
    buffers.push_back(op.getBias());
  calls.callWithTable(builder, op,
                      op.hasEpilogue() ? "tofuContractWithEpilogue"
                                       : "tofuContract",
                      getStream(op), *table, buffers);
  return success();
}

LogicalResult Converter::rewrite(CollectiveBufferOp op) {
  FailureOr<SmallVector<int64_t>> table = makeCollectiveTable(op);
  if (failed(table))
    return failure();
  callCollective(calls, builder, op, getStream(op), *table);
  return success();
}

bool Converter::canPass(Type type) {
  if (auto buffer = dyn_cast<MemRefType>(type))
    return canAccess(buffer);
  return !isa<UnrankedMemRefType>(type) && calls.getTypes().convertType(type);
}

/// Appends the addresses of what the kernel gets for `value`: as
/// flattenKernelArguments has it.
void Converter::passArgument(Location loc, Value value,
                             SmallVectorImpl<Value> &addresses) {
  Value lowered = calls.castToLLVM(builder, loc, value);
  Value address = calls.getAddress(builder, loc, lowered, addresses.size());
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type) {
    addresses.push_back(address);
    return;
  }
  for (ArrayRef<int32_t> field : getPassedFields(type)) {
    SmallVector<LLVM::GEPArg> indices = {0};
    for (int32_t position : field)
      indices.push_back(position);
    addresses.push_back(LLVM::GEPOp::create(
        builder, loc, address.getType(), lowered.getType(), address, indices));
  }
}

/// What TofuKernel says of each argument.
SmallVector<int64_t> Converter::describeArguments(gpu::LaunchFuncOp op,
                                                  gpu::GPUFuncOp kernel) {
  constexpr int64_t kWordBytes = 8;
  SmallVector<Access> known(accesses.getArguments(kernel));
  DataLayout layout = DataLayout::closest(op);
  SmallVector<int64_t> words;
  for (auto [i, value] : llvm::enumerate(op.getKernelOperands())) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type) {
      Type passed = calls.getTypes().convertType(value.getType());
      words.append({int64_t(layout.getTypeSize(passed)), 0});
      continue;
    }
    words.append({kWordBytes, (known[i].reads ? TOFU_READS : 0) |
                                  (known[i].writes ? TOFU_WRITES : 0)});
    for (size_t rest = getPassedFields(type).size(); --rest;)
      words.append({kWordBytes, 0});
  }
  return words;
}

LogicalResult Converter::rewrite(gpu::LaunchFuncOp op) {
  Location loc = op.getLoc();
  gpu::GPUFuncOp kernel = kernels.lookup(op);
  if (!kernel)
    return op.emitOpError() << "unknown kernel: " << op.getKernel();
  if (op.getAsyncToken() || !op.getAsyncDependencies().empty() ||
      op.hasClusterSize() || op.getDynamicSharedMemorySize())
    return op.emitOpError("has more than a grid and arguments");
  SmallVector<Value> addresses;
  for (Value value : op.getKernelOperands())
    if (!canPass(value.getType()))
      return op.emitOpError() << "can't pass a value of " << value.getType();
  for (Value value : op.getKernelOperands())
    passArgument(loc, value, addresses);
  kernels.setArguments(kernel, describeArguments(op, kernel));
  gpu::KernelDim3 grid = op.getGridSizeOperandValues(),
                  block = op.getBlockSizeOperandValues();
  Value shape = calls.getSizes(
      builder, loc, {grid.x, grid.y, grid.z, block.x, block.y, block.z});
  calls.call(builder, loc, "tofuLaunch", {},
             {getStream(op), kernels.getRecord(builder, loc, kernel),
              calls.getText(builder, loc, describeLocation(loc)), shape,
              calls.getAddresses(builder, loc, addresses)});
  return success();
}

LogicalResult Converter::rewrite(memref::LoadOp op) {
  Location loc = op.getLoc();
  if (!canAccess(op.getMemRefType()))
    return op.emitOpError()
           << "can't read from a device: " << op.getMemRefType();
  Type element = calls.getTypes().convertType(op.getType());
  Value host = calls.getMemory(builder, loc, element, /*slot=*/0);
  calls.call(builder, loc, "tofuRead", {},
             {getStream(op), host,
              calls.getElement(builder, loc, op.getMemRef(), op.getIndices()),
              calls.getWord(builder, loc, getElementBytes(op.getType()))});
  Value value = LLVM::LoadOp::create(builder, loc, element, host);
  op.replaceAllUsesWith(calls.castFromLLVM(builder, loc, value, op.getType()));
  return success();
}

LogicalResult Converter::rewrite(memref::StoreOp op) {
  Location loc = op.getLoc();
  Value value = op.getValueToStore();
  if (!canAccess(op.getMemRefType()))
    return op.emitOpError()
           << "can't write to a device: " << op.getMemRefType();
  Value host = calls.getAddress(
      builder, loc, calls.castToLLVM(builder, loc, value), /*slot=*/0);
  calls.call(builder, loc, "tofuWrite", {},
             {getStream(op),
              calls.getElement(builder, loc, op.getMemRef(), op.getIndices()),
              host,
              calls.getWord(builder, loc, getElementBytes(value.getType()))});
  return success();
}

/// The device's copy of a constant.
LogicalResult Converter::rewrite(memref::GetGlobalOp op) {
  Location loc = op.getLoc();
  auto constant = cast<memref::GetGlobalOp>(builder.clone(*op));
  MemRefDescriptor onHost(calls.castToLLVM(builder, loc, constant));
  FailureOr<Value> buffer = makeBuffer(op, op.getType(), {}, [&](Value bytes) {
    return calls.call(builder, loc, "tofuConstant", calls.getPointerType(),
                      {onHost.alignedPtr(builder, loc), bytes});
  });
  if (failed(buffer))
    return failure();
  op.replaceAllUsesWith(*buffer);
  return success();
}

/// A function of the user's knows no stream, and even if it gets no memory, the
/// runtime must know that the program depends on more than it has.
LogicalResult Converter::announceCall(Operation *op) {
  calls.call(builder, op->getLoc(), "tofuSynchronize", {}, {});
  return success();
}

Value Converter::getStream(Operation *op) {
  return calls.getStream(op->getParentOfType<func::FuncOp>(), TOFU_COMPUTE);
}

namespace {

struct ConvertToRuntime
    : public tofu::impl::ConvertToRuntimeBase<ConvertToRuntime> {
  using ConvertToRuntimeBase::ConvertToRuntimeBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    WalkResult result =
        getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
          // Kernels are with the memory.
          if (isa<gpu::GPUModuleOp>(op))
            return WalkResult::skip();
          if (!callsRuntime(op, deviceMemory))
            return WalkResult::advance();
          ops.push_back(op);
          return hasContext(op) ? WalkResult::advance()
                                : WalkResult::interrupt();
        });
    if (result.wasInterrupted())
      return signalPassFailure();
    Converter converter(getOperation());
    for (Operation *op : ops) {
      if (failed(converter.convert(op)))
        return signalPassFailure();
      ++numCalls;
    }
    getOperation().walk(flattenKernelArguments);
    for (MeshOp mesh :
         llvm::make_early_inc_range(getOperation().getOps<MeshOp>()))
      mesh.erase();
  }

private:
  /// Emits an error if `op`'s function was not given a context.
  static bool hasContext(Operation *op) {
    auto function = op->getParentOfType<func::FuncOp>();
    if (function && function.getNumArguments() &&
        isa<LLVM::LLVMPointerType>(function.getArgument(0).getType()))
      return true;
    op->emitOpError("is in a function without a device context");
    return false;
  }
};

} // namespace
