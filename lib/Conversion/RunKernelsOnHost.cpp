//===- RunKernelsOnHost.cpp - Kernels as loops over threads ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Within a block, all threads go from one barrier to the next before any goes
// on: there is a loop over threads for each part of the kernel between two.
// What a thread hands from one part to another is in an array with a place for
// each thread. What it has from another thread by a shuffle is in such an array
// as well, for which the shuffle begins a part.
//
//===----------------------------------------------------------------------===//

#include "GpuKernels.h"
#include "KernelRecords.h"
#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_RUNKERNELSONHOST
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {

/// Values along x, y and z.
using Triple = std::array<Value, 3>;

/// Builds the host's function for one kernel.
class HostKernel {
public:
  HostKernel(gpu::GPUFuncOp kernel, LLVM::LLVMFuncOp function)
      : kernel(kernel), function(function), loc(kernel.getLoc()),
        builder(kernel.getContext()), types(kernel.getContext()) {}

  /// Emits an error if the kernel's form isn't one of those taken.
  LogicalResult verify();
  LogicalResult build();

private:
  using Part = SmallVector<Operation *>;

  Value loadArgument(Value arguments, unsigned i, Type type);
  Value loadWord(Value words, unsigned i);
  void mapArguments();
  Triple openLoops(const Triple &bounds);
  LogicalResult buildBlock();
  bool isSameForAll(Operation *op);
  SmallVector<Part> splitAtBarriers();
  void buildPart(const Part &part);
  LogicalResult makeArrays(ArrayRef<Part> parts);
  SetVector<Value> getOperands(const Part &part);
  void loadHanded(const Part &part);
  Value getOther(gpu::ShuffleOp shuffle);
  void loadFromOther(gpu::ShuffleOp shuffle);
  void clone(Operation *op);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  gpu::GPUFuncOp kernel;
  LLVM::LLVMFuncOp function;
  Location loc;
  OpBuilder builder;
  LLVMTypeConverter types;
  IRMapping mapping;
  Triple gridSize, blockSize, block, thread;
  /// The thread's place in arrays.
  Value place;
  DenseSet<Value> ofThread;
  llvm::MapVector<Value, Value> arrays;
};

} // namespace

static bool isKnown(gpu::ShuffleOp shuffle) {
  gpu::ShuffleMode mode = shuffle.getMode();
  return getConstantIntValue(shuffle.getWidth()) == kWarpSize &&
         (mode == gpu::ShuffleMode::DOWN || mode == gpu::ShuffleMode::IDX) &&
         shuffle.getValid().use_empty();
}

LogicalResult HostKernel::verify() {
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitOpError("has several blocks");
  if (!kernel.getKnownBlockSize())
    return kernel.emitOpError("has no known block size");
  if (kernel.getNumPrivateAttributions())
    return kernel.emitOpError("has private memory");
  for (Type type : kernel.getFunctionType().getInputs())
    if (!types.convertType(type) || isa<BaseMemRefType>(type))
      return kernel.emitOpError() << "has an argument of type " << type;
  WalkResult result = kernel.walk([&](Operation *op) {
    auto shuffle = dyn_cast<gpu::ShuffleOp>(op);
    if (!shuffle && !isa<gpu::BarrierOp>(op))
      return WalkResult::advance();
    if (op->getParentOp() != kernel) {
      op->emitOpError("is within control flow");
      return WalkResult::interrupt();
    }
    if (!shuffle || isKnown(shuffle))
      return WalkResult::advance();
    shuffle.emitOpError("isn't of all threads of a warp of 32, is of another "
                        "mode than down and idx, or says whether the result is "
                        "valid");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

Value HostKernel::loadArgument(Value arguments, unsigned i, Type type) {
  Type pointer = arguments.getType();
  Value at = LLVM::GEPOp::create(builder, loc, pointer, pointer, arguments,
                                 ArrayRef<LLVM::GEPArg>{int32_t(i)});
  Value address = LLVM::LoadOp::create(builder, loc, pointer, at);
  Value value =
      LLVM::LoadOp::create(builder, loc, types.convertType(type), address);
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

Value HostKernel::loadWord(Value words, unsigned i) {
  Type word = builder.getI64Type();
  Value at = LLVM::GEPOp::create(builder, loc, words.getType(), word, words,
                                 ArrayRef<LLVM::GEPArg>{int32_t(i)});
  Value value = LLVM::LoadOp::create(builder, loc, word, at);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

/// Workgroup memory is the same for all blocks, which come one after the other.
void HostKernel::mapArguments() {
  Value arguments = function.getArgument(0), shape = function.getArgument(1);
  unsigned numArguments = kernel.getFunctionType().getNumInputs();
  for (auto [i, arg] : llvm::enumerate(
           kernel.getBody().getArguments().take_front(numArguments)))
    mapping.map(arg, loadArgument(arguments, i, arg.getType()));
  for (BlockArgument arg : kernel.getWorkgroupAttributions()) {
    auto type = MemRefType::Builder(cast<MemRefType>(arg.getType()))
                    .setMemorySpace(Attribute());
    mapping.map(arg, memref::AllocaOp::create(builder, loc, MemRefType(type)));
  }
  ArrayRef<int32_t> known = *kernel.getKnownBlockSize();
  for (unsigned i = 0; i < 3; ++i) {
    gridSize[i] = loadWord(shape, i);
    blockSize[i] = constant(known[i]);
  }
}

/// Opens a loop along each of x, y and z, the first innermost.
Triple HostKernel::openLoops(const Triple &bounds) {
  Triple ivs;
  Value zero = constant(0), one = constant(1);
  for (unsigned i = 3; i-- > 0;) {
    ivs[i] = zero;
    if (getConstantIntValue(bounds[i]) == 1)
      continue;
    auto loop = scf::ForOp::create(builder, loc, zero, bounds[i], one);
    ivs[i] = loop.getInductionVar();
    builder.setInsertionPointToStart(loop.getBody());
  }
  return ivs;
}

/// True if one computation does for all threads of a block. Divisions are no
/// exception: they are outside of control flow, so all threads come by.
bool HostKernel::isSameForAll(Operation *op) {
  if (op->getNumRegions() || isa<gpu::ThreadIdOp, gpu::LaneIdOp>(op) ||
      !isMemoryEffectFree(op))
    return false;
  return llvm::none_of(op->getOperands(), [&](Value operand) {
    return ofThread.contains(operand);
  });
}

/// The threads' own operations in parts; the others are copied.
SmallVector<HostKernel::Part> HostKernel::splitAtBarriers() {
  SmallVector<Part> parts(1);
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<gpu::BarrierOp>(op)) {
      parts.emplace_back();
    } else if (isa<gpu::ShuffleOp>(op)) {
      parts.emplace_back().push_back(&op);
      ofThread.insert(op.result_begin(), op.result_end());
    } else if (isSameForAll(&op)) {
      clone(&op);
    } else {
      parts.back().push_back(&op);
      ofThread.insert(op.result_begin(), op.result_end());
    }
  }
  return parts;
}

/// Copies an operation with what it says of threads and blocks.
void HostKernel::clone(Operation *op) {
  Operation *copy = builder.clone(*op, mapping);
  auto replace = [&](Operation *id, gpu::Dimension dim, const Triple &values) {
    Value value = values[static_cast<unsigned>(dim)];
    id->getResult(0).replaceAllUsesWith(value);
    if (id == copy)
      mapping.map(op->getResult(0), value);
    id->erase();
  };
  copy->walk([&](Operation *id) {
    if (auto typed = dyn_cast<gpu::ThreadIdOp>(id))
      replace(id, typed.getDimension(), thread);
    else if (auto typed = dyn_cast<gpu::BlockIdOp>(id))
      replace(id, typed.getDimension(), block);
    else if (auto typed = dyn_cast<gpu::BlockDimOp>(id))
      replace(id, typed.getDimension(), blockSize);
    else if (auto typed = dyn_cast<gpu::GridDimOp>(id))
      replace(id, typed.getDimension(), gridSize);
  });
}

/// Makes an array for each value that a part has from one before it.
LogicalResult HostKernel::makeArrays(ArrayRef<Part> parts) {
  DenseMap<Value, unsigned> madeIn;
  OpBuilder atEntry = OpBuilder::atBlockBegin(&function.front());
  ArrayRef<int32_t> known = *kernel.getKnownBlockSize();
  int64_t threads = int64_t(known[0]) * known[1] * known[2];
  auto hand = [&](Value value) -> LogicalResult {
    if (!BaseMemRefType::isValidElementType(value.getType()))
      return kernel.emitOpError()
             << "hands a value past a barrier: " << value.getType();
    Value &array = arrays[value];
    if (!array)
      array = memref::AllocaOp::create(
          atEntry, loc, MemRefType::get({threads}, value.getType()));
    return success();
  };
  for (auto [number, part] : llvm::enumerate(parts)) {
    for (Value operand : getOperands(part)) {
      auto it = madeIn.find(operand);
      if (it != madeIn.end() && it->second != number && failed(hand(operand)))
        return failure();
    }
    for (Operation *op : part)
      for (Value result : op->getResults())
        madeIn[result] = number;
  }
  return success();
}

/// All that the operations use, in their regions too.
SetVector<Value> HostKernel::getOperands(const Part &part) {
  SetVector<Value> operands;
  for (Operation *op : part)
    op->walk([&](Operation *user) {
      operands.insert(user->operand_begin(), user->operand_end());
    });
  return operands;
}

/// Loads what the part has from ones before it.
void HostKernel::loadHanded(const Part &part) {
  for (Value operand : getOperands(part))
    if (Value array = arrays.lookup(operand))
      if (!llvm::is_contained(part, operand.getDefiningOp()))
        mapping.map(operand,
                    memref::LoadOp::create(builder, loc, array, place));
}

void HostKernel::buildPart(const Part &part) {
  OpBuilder::InsertionGuard guard(builder);
  thread = openLoops(blockSize);
  place = thread[2];
  for (unsigned i : {1, 0})
    place = builder.createOrFold<arith::AddIOp>(
        loc, builder.createOrFold<arith::MulIOp>(loc, place, blockSize[i]),
        thread[i]);
  loadHanded(part);
  for (Operation *op : part) {
    if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op))
      loadFromOther(shuffle);
    else
      clone(op);
    for (Value result : op->getResults())
      if (Value array = arrays.lookup(result))
        memref::StoreOp::create(builder, loc, mapping.lookup(result), array,
                                place);
  }
}

/// Where the thread is whose value a shuffle gives: of the warp's, that of a
/// number, or one that is further on, if there is one.
Value HostKernel::getOther(gpu::ShuffleOp shuffle) {
  Value number =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                 mapping.lookupOrDefault(shuffle.getOffset()));
  Value size = constant(kWarpSize);
  Value lane = arith::RemUIOp::create(builder, loc, place, size);
  if (shuffle.getMode() == gpu::ShuffleMode::IDX)
    return arith::AddIOp::create(
        builder, loc, arith::SubIOp::create(builder, loc, place, lane), number);
  Value further = arith::AddIOp::create(builder, loc, lane, number);
  Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        further, size);
  return arith::SelectOp::create(
      builder, loc, isThere, arith::AddIOp::create(builder, loc, place, number),
      place);
}

/// What is the same for all threads is in no array.
void HostKernel::loadFromOther(gpu::ShuffleOp shuffle) {
  Value array = arrays.lookup(shuffle.getValue());
  Value value =
      array ? memref::LoadOp::create(builder, loc, array, getOther(shuffle))
                  .getResult()
            : mapping.lookupOrDefault(shuffle.getValue());
  mapping.map(shuffle.getShuffleResult(), value);
}

LogicalResult HostKernel::buildBlock() {
  SmallVector<Part> parts = splitAtBarriers();
  if (failed(makeArrays(parts)))
    return failure();
  for (const Part &part : parts)
    if (!part.empty())
      buildPart(part);
  return success();
}

LogicalResult HostKernel::build() {
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  mapArguments();
  OpBuilder atEnd = OpBuilder::atBlockEnd(entry);
  LLVM::ReturnOp::create(atEnd, loc, ValueRange());
  builder.setInsertionPoint(entry->getTerminator());
  block = openLoops(gridSize);
  return buildBlock();
}

namespace {

struct RunKernelsOnHost
    : public tofu::impl::RunKernelsOnHostBase<RunKernelsOnHost> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    RuntimeCalls calls(getOperation());
    KernelRecords records(getOperation());
    auto define = [&](gpu::GPUModuleOp module) -> LogicalResult {
      for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
        FailureOr<LLVM::LLVMFuncOp> function = convert(kernel, symbols);
        if (failed(function))
          return failure();
        records.define(calls, kernel, /*image=*/{}, /*imageBytes=*/0,
                       FlatSymbolRefAttr::get(*function));
        ++numKernels;
      }
      return success();
    };
    if (failed(replaceKernelModules(getOperation(), define)))
      signalPassFailure();
  }

private:
  static FailureOr<LLVM::LLVMFuncOp> convert(gpu::GPUFuncOp kernel,
                                             SymbolTable &symbols) {
    MLIRContext *context = kernel.getContext();
    OpBuilder builder(context);
    Type pointer = LLVM::LLVMPointerType::get(context);
    auto function = LLVM::LLVMFuncOp::create(
        builder, kernel.getLoc(), (kernel.getName() + "_on_host").str(),
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                    {pointer, pointer}),
        LLVM::Linkage::Internal);
    symbols.insert(function);
    HostKernel host(kernel, function);
    if (failed(host.verify()) || failed(host.build()))
      return failure();
    return function;
  }
};

} // namespace
