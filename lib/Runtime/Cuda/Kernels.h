//===- Kernels.h - The CUDA backend's own kernels ---------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies between strided memory, combining partial results, and contractions
// and epilogues that no library takes. Each is one launch on a stream, but for
// copies that there are several of.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_KERNELS_H
#define TOFU_LIB_RUNTIME_CUDA_KERNELS_H

#include <cstdint>
#include <cuda_runtime_api.h>
#include <vector>

namespace mlir::tofu::cuda {

/// More than any two tensors of kMaxRank dims need.
constexpr int kMaxLoops = 32;

/// Elements of two sides; strides in elements, the innermost dim last.
struct Region {
  int32_t rank = 0;
  int64_t volume = 1;
  int64_t sizes[kMaxLoops], to[kMaxLoops], from[kMaxLoops];
};

/// Whether both sides are memory without gaps.
inline bool isContiguous(const Region &region) {
  return !region.rank ||
         (region.rank == 1 && region.to[0] == 1 && region.from[0] == 1);
}

/// Copies elements of 1, 2, 4, 8 or 16 bytes.
cudaError_t launchCopy(cudaStream_t stream, const Region &region, void *to,
                       const void *from, int64_t elementBytes);

/// A copy of elements from one side of a region to the other one.
struct Copy {
  Region region;
  void *to;
  const void *from;
};

/// Several copies, none of which needs another one: all that are small or have
/// gaps by as few kernels as hold them.
cudaError_t launchCopies(cudaStream_t stream, const std::vector<Copy> &copies,
                         int64_t elementBytes);

/// to = to combined with from. `combiner` and `type` are in range, and the type
/// has the combiner.
cudaError_t launchCombine(cudaStream_t stream, const Region &region, void *to,
                          const void *from, int64_t combiner, int64_t type);

/// A loop of a contraction; strides in elements of A, B, C and the bias.
struct ContractionAxis {
  int64_t size, a, b, c, bias;
};

/// C = or += the sum over the last `numInner` axes of A * B; then the epilogue.
struct ContractionWork {
  int64_t inputType, outputType;
  bool accumulate;
  int64_t activation; ///< TofuActivation
  const void *a, *b;
  void *c;
  const void *bias; ///< of C's type; null for none
  int32_t numOuter, numInner;
  int64_t outerVolume, innerVolume;
  ContractionAxis axes[kMaxLoops];
};

/// Computes in f64 if a type is f64, else in f32; integers in 64 bits.
cudaError_t launchContraction(cudaStream_t stream, const ContractionWork &work);

/// Only the epilogue, of what C holds: floats.
cudaError_t launchEpilogue(cudaStream_t stream, const ContractionWork &work);

} // namespace mlir::tofu::cuda

#endif // TOFU_LIB_RUNTIME_CUDA_KERNELS_H
