//===- Gather.h - Copies that share a launch --------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a collective brings to a device from several others is one kernel, which
// reads their memory: MultiFetch of the Tofu paper.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_GATHER_H
#define TOFU_LIB_RUNTIME_CUDA_GATHER_H

#include "Kernels.h"

#include "Tofu/Runtime/Half.h"

namespace mlir::tofu::cuda {

/// As many parts as the 4 KiB of a kernel's arguments hold.
constexpr int kMostParts = 16, kMostPartLoops = 5;

/// A copy of a gather; strides in elements, the innermost loop last.
struct GatherPart {
  int64_t end; ///< elements of this part and all before it
  void *to;
  const void *from;
  int64_t rank;
  int64_t sizes[kMostPartLoops], toStrides[kMostPartLoops],
      fromStrides[kMostPartLoops];
};

/// Copies in any order.
struct Gather {
  int64_t count = 0;
  GatherPart parts[kMostParts];

  TOFU_HOST_DEVICE int64_t volume() const {
    return count ? parts[count - 1].end : 0;
  }
};
static_assert(sizeof(Gather) <= 4096 - 256, "kernels have other arguments");

/// Copies element `number` of all parts.
template <typename T>
TOFU_HOST_DEVICE void copyElement(const Gather &gather, int64_t number) {
  const GatherPart *part = gather.parts;
  while (number >= part->end)
    ++part;
  if (part != gather.parts)
    number -= part[-1].end;
  int64_t to = 0, from = 0;
  for (int64_t loop = part->rank; loop-- > 0;) {
    int64_t index = number % part->sizes[loop];
    number /= part->sizes[loop];
    to += index * part->toStrides[loop];
    from += index * part->fromStrides[loop];
  }
  static_cast<T *>(part->to)[to] = static_cast<const T *>(part->from)[from];
}

/// One kernel, of elements of 1, 2, 4, 8 or 16 bytes.
cudaError_t launchGather(cudaStream_t stream, const Gather &gather,
                         int64_t elementBytes);

} // namespace mlir::tofu::cuda

#endif // TOFU_LIB_RUNTIME_CUDA_GATHER_H
