//===- ThreadPlan.h - Which thread does what --------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_THREADPLAN_H
#define TOFU_LIB_CONVERSION_THREADPLAN_H

#include "NestEmitter.h"

namespace mlir::tofu {

/// Threads of a block. Enough to hide latencies, and few enough that blocks
/// with many registers still fit.
inline constexpr int64_t kBlockSize = 256;

/// Elements that keep all of a device busy, if each is the work of a thread.
inline constexpr int64_t kManyElements = 1 << 17;

/// How the loops of an operation are spread over threads.
struct ThreadPlan {
  /// First the loops of the grid, then those within a thread or shared.
  NestPlan nest;
  unsigned numGridGroups = 0;
  /// Threads that share the reductions of one element.
  int64_t threadsPerElement = 1;
  /// True if these are neighbours.
  bool sharersAreNeighbours = false;
  /// Blocks that share the reductions of one element. With several, what each
  /// has is a partial result in memory, which another kernel combines.
  int64_t blocksPerElement = 1;
  /// Neighbours that one thread has; loads of all come before the first store.
  int64_t elementsPerThread = 1;
  /// True if sizes, strides or offsets that only the launch knows say whether
  /// it can have them (createNeighbourCheck).
  bool isChecked = false;

  int64_t elementsPerBlock() const {
    return kBlockSize / threadsPerElement * elementsPerThread;
  }
};

/// The number of iterations of `loops` together; nothing if not known.
std::optional<int64_t> getKnownProduct(linalg::LinalgOp op,
                                       ArrayRef<unsigned> loops);

/// True if threads can share the reductions of `op`: parts can be combined in
/// any order. `reassociate`: sums and products of floats may be as well.
bool canShareReductions(linalg::LinalgOp op, bool reassociate);

/// How many threads of a block should share a reduction, if there are as many
/// reductions and each is as long; nothing if not known. `areNeighbours`: those
/// that share one, rather than those with different ones.
int64_t chooseSharers(std::optional<int64_t> reductions,
                      std::optional<int64_t> length, bool areNeighbours);

/// Orders loops of `op`, on buffers, such that neighbouring threads differ in
/// the last one as they should.
void arrangeForNeighbours(linalg::LinalgOp op,
                          SmallVectorImpl<unsigned> &loops);

/// How many neighbours along `group`, which loops of `op` on buffers are as
/// one, an access to memory takes together: a power of two that divides their
/// number, at most 16 bytes of any operand, where all operands have them next
/// to each other or the same for all; else 1. `isChecked`: sizes, strides and
/// offsets that aren't known are taken for multiples of it.
int64_t chooseWidth(linalg::LinalgOp op, ArrayRef<unsigned> group,
                    bool isChecked = false);

/// On the host, whether `width` neighbours along `group` can be accessed
/// together, and are enough for that: what chooseWidth takes for multiples must
/// be such. `sizes` are those of the loops.
Value createNeighbourCheck(OpBuilder &builder, linalg::LinalgOp op,
                           ArrayRef<unsigned> group, int64_t width,
                           ArrayRef<OpFoldResult> sizes);

/// Lets LLVM know of strides and offsets, in a kernel, what that check says.
void assumeNeighbours(OpBuilder &builder, linalg::LinalgOp op,
                      ArrayRef<unsigned> group, int64_t width);

/// The largest multiple of `factor`, a power of two, up to `value`.
OpFoldResult roundDown(OpBuilder &builder, Location loc, OpFoldResult value,
                       int64_t factor);

/// Lets `width` neighbours along `loop`, the last one of such a group, be
/// accessed together by `op`, in a kernel. All memory is aligned to 16 bytes
/// (Runtime.h).
void assumeAlignment(OpBuilder &builder, linalg::LinalgOp op, unsigned loop,
                     int64_t width);

/// Plans the kernel of `op`, on buffers. `reassociate`: sums and products of
/// floats may be shared as well.
ThreadPlan planThreads(linalg::LinalgOp op, bool reassociate);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_THREADPLAN_H
