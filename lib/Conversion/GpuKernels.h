//===- GpuKernels.h - What all kernels for GPUs have in common --*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_GPUKERNELS_H
#define TOFU_LIB_CONVERSION_GPUKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::tofu {

//===----------------------------------------------------------------------===//
// Reductions that threads share
//===----------------------------------------------------------------------===//

/// `a`, in the place of what is there already, and `b` as output `output` of
/// `op` combines them.
Value cloneCombiner(OpBuilder &builder, linalg::LinalgOp op,
                    Operation *combiner, unsigned output, Value a, Value b);

/// What a thread's share of a reduction starts from.
Value createNeutralShare(OpBuilder &builder, Location loc, Operation *combiner);

/// Threads that exchange registers.
inline constexpr int64_t kWarpSize = 32;

/// A place in the block's memory for each of its threads, or for each of its
/// warps.
MemRefType getSharedType(Type type, bool isPerWarp = false);

/// A thread of a block: its number, that among those which share a reduction,
/// and how far apart the numbers of these are.
struct SharingThread {
  Value number, sharer;
  int64_t step;
};

/// Combines the shares of each reduction as a tree, into that of sharer 0.
/// `memory` has each thread's share of each output of `op`.
void combineShares(OpBuilder &builder, linalg::LinalgOp op,
                   ArrayRef<Operation *> combiners,
                   ArrayRef<BlockArgument> memory, const SharingThread &thread,
                   int64_t numSharers);

/// True if threads can exchange shares of the reductions of `op` as registers.
bool canShuffleShares(linalg::LinalgOp op);

/// Combines the shares of each reduction, of threads that are neighbours:
/// exchanges registers within a warp, and then, if there are several warps,
/// what each of these has in `memory`, which has a place for each. Returns what
/// all threads have then, to the bit.
SmallVector<Value> shuffleShares(OpBuilder &builder, linalg::LinalgOp op,
                                 ArrayRef<Operation *> combiners,
                                 ArrayRef<Value> shares,
                                 ArrayRef<BlockArgument> memory,
                                 const SharingThread &thread,
                                 int64_t numSharers);

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Constants are made anew in the kernel.
bool isConstantInKernel(Value value);

/// Makes an empty kernel that takes `operands`, with memory of the block.
gpu::GPUFuncOp createKernel(Location loc, SymbolTable &symbols, StringRef name,
                            ValueRange operands, ArrayRef<Type> shared);

/// Launches a kernel on blocks of kBlockSize threads.
void createLaunch(OpBuilder &builder, Location loc, gpu::GPUFuncOp kernel,
                  Value numBlocks, ValueRange operands);

/// Puts the launch of one kernel in the place of the operations of `function`,
/// which are over the rows that its `tofu.row_loops` says.
LogicalResult lowerRows(func::FuncOp function, SymbolTable &symbols,
                        bool reassociate);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_GPUKERNELS_H
