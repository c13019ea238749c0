//===- GpuKernels.cpp - What all kernels for GPUs have in common ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuKernels.h"

#include "ThreadPlan.h"
#include "Tofu/Dialect/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tofu;

Value tofu::cloneCombiner(OpBuilder &builder, linalg::LinalgOp op,
                          Operation *combiner, unsigned output, Value a,
                          Value b) {
  bool isFirst = combiner->getOperand(0) == op.getRegionOutputArgs()[output];
  IRMapping mapping;
  mapping.map(combiner->getOperand(0), isFirst ? a : b);
  mapping.map(combiner->getOperand(1), isFirst ? b : a);
  return builder.clone(*combiner, mapping)->getResult(0);
}

/// Not all combinations of numbers with infinity are the number where NaN gives
/// way; those with NaN are.
Value tofu::createNeutralShare(OpBuilder &builder, Location loc,
                               Operation *combiner) {
  Combiner kind = getCombiner(combiner);
  Type type = combiner->getResult(0).getType();
  if (kind != Combiner::MinNum && kind != Combiner::MaxNum)
    return createNeutralScalar(builder, loc, type, kind);
  auto real = cast<FloatType>(type);
  return arith::ConstantOp::create(
      builder, loc,
      FloatAttr::get(real, APFloat::getNaN(real.getFloatSemantics())));
}

MemRefType tofu::getSharedType(Type type, bool isPerWarp) {
  auto space = gpu::AddressSpaceAttr::get(
      type.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  int64_t places = isPerWarp ? kBlockSize / kWarpSize : kBlockSize;
  return MemRefType::get({places}, type, MemRefLayoutAttrInterface(), space);
}

void tofu::combineShares(OpBuilder &builder, linalg::LinalgOp op,
                         ArrayRef<Operation *> combiners,
                         ArrayRef<BlockArgument> memory,
                         const SharingThread &thread, int64_t numSharers) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  for (int64_t half = numSharers / 2; half > 0; half /= 2) {
    gpu::BarrierOp::create(builder, loc);
    Value combines = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, thread.sharer, constant(half));
    auto branch = scf::IfOp::create(builder, loc, combines, /*hasElse=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value other = arith::AddIOp::create(builder, loc, thread.number,
                                        constant(half * thread.step));
    for (auto [output, shares] : llvm::enumerate(memory)) {
      Value a = memref::LoadOp::create(builder, loc, shares, thread.number);
      Value b = memref::LoadOp::create(builder, loc, shares, other);
      memref::StoreOp::create(
          builder, loc,
          cloneCombiner(builder, op, combiners[output], output, a, b), shares,
          thread.number);
    }
  }
}

bool tofu::canShuffleShares(linalg::LinalgOp op) {
  return llvm::all_of(op.getRegionOutputArgs(), [](BlockArgument arg) {
    return arg.getType().isF32() || arg.getType().isInteger(32);
  });
}

/// A value of another thread of the warp: that whose number in it is `number`,
/// or which is so many further on; the thread's own if there is none. All
/// threads of the warp take part.
static Value shuffle(OpBuilder &builder, Location loc, Value value,
                     gpu::ShuffleMode mode, Value number) {
  Value width = arith::ConstantIntOp::create(builder, loc, kWarpSize, 32);
  return gpu::ShuffleOp::create(builder, loc, value, number, width, mode)
      .getShuffleResult();
}

/// Of threads that share, the first one has what all have together once each
/// has added what is further on, whatever the last ones get from others. All
/// take it from the first.
static void combineInWarp(OpBuilder &builder, linalg::LinalgOp op,
                          ArrayRef<Operation *> combiners,
                          MutableArrayRef<Value> shares,
                          const SharingThread &thread, int64_t numSharers) {
  Location loc = op.getLoc();
  for (int64_t half = numSharers / 2; half > 0; half /= 2) {
    Value distance = arith::ConstantIntOp::create(builder, loc, half, 32);
    for (auto [output, share] : llvm::enumerate(shares)) {
      Value other =
          shuffle(builder, loc, share, gpu::ShuffleMode::DOWN, distance);
      share =
          cloneCombiner(builder, op, combiners[output], output, share, other);
    }
  }
  Value first =
      arith::SubIOp::create(builder, loc, thread.number, thread.sharer);
  Value lane = arith::RemUIOp::create(
      builder, loc, first,
      arith::ConstantIndexOp::create(builder, loc, kWarpSize));
  lane = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), lane);
  for (Value &share : shares)
    share = shuffle(builder, loc, share, gpu::ShuffleMode::IDX, lane);
}

SmallVector<Value> tofu::shuffleShares(OpBuilder &builder, linalg::LinalgOp op,
                                       ArrayRef<Operation *> combiners,
                                       ArrayRef<Value> shares,
                                       ArrayRef<BlockArgument> memory,
                                       const SharingThread &thread,
                                       int64_t numSharers) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  SmallVector<Value> results(shares);
  combineInWarp(builder, op, combiners, results, thread,
                std::min(numSharers, kWarpSize));
  if (numSharers <= kWarpSize)
    return results;
  // All threads of a warp have the same to store.
  Value warp =
      arith::DivUIOp::create(builder, loc, thread.number, constant(kWarpSize));
  for (auto [result, places] : llvm::zip_equal(results, memory))
    memref::StoreOp::create(builder, loc, result, places, warp);
  gpu::BarrierOp::create(builder, loc);
  Value first = arith::DivUIOp::create(
      builder, loc,
      arith::SubIOp::create(builder, loc, thread.number, thread.sharer),
      constant(kWarpSize));
  for (auto [output, places] : llvm::enumerate(memory)) {
    results[output] = memref::LoadOp::create(builder, loc, places, first);
    for (int64_t i = 1; i < numSharers / kWarpSize; ++i) {
      Value next = memref::LoadOp::create(
          builder, loc, places,
          arith::AddIOp::create(builder, loc, first, constant(i)).getResult());
      results[output] = cloneCombiner(builder, op, combiners[output], output,
                                      results[output], next);
    }
  }
  return results;
}

bool tofu::isConstantInKernel(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// Where all of the buffer's memory is not aliased by other arguments of the
/// function, as the function says.
static bool isUnaliased(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  auto function = arg ? dyn_cast<func::FuncOp>(arg.getOwner()->getParentOp())
                      : func::FuncOp();
  return function &&
         function.getArgAttr(arg.getArgNumber(),
                             LLVM::LLVMDialect::getNoAliasAttrName());
}

gpu::GPUFuncOp tofu::createKernel(Location loc, SymbolTable &symbols,
                                  StringRef name, ValueRange operands,
                                  ArrayRef<Type> shared) {
  OpBuilder builder(loc.getContext());
  auto kernel = gpu::GPUFuncOp::create(
      builder, loc, name, builder.getFunctionType(operands.getTypes(), {}),
      shared);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel.setKnownBlockSize(
      ArrayRef<int32_t>{static_cast<int32_t>(kBlockSize), 1, 1});
  symbols.insert(kernel);
  for (auto [i, value] : llvm::enumerate(operands))
    if (isUnaliased(value))
      kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
  return kernel;
}

void tofu::createLaunch(OpBuilder &builder, Location loc, gpu::GPUFuncOp kernel,
                        Value numBlocks, ValueRange operands) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value threads = arith::ConstantIndexOp::create(builder, loc, kBlockSize);
  gpu::LaunchFuncOp::create(builder, loc, kernel,
                            gpu::KernelDim3{numBlocks, one, one},
                            gpu::KernelDim3{threads, one, one},
                            /*dynamicSharedMemorySize=*/Value(), operands);
}
