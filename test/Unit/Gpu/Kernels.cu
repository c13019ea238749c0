//===- Kernels.cu - Kernels of tests --------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cstdint>

/// Seen by all: the clock of the GPU, in nanoseconds.
static __device__ uint64_t getTime() {
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

extern "C" __global__ void add(int64_t *to, const int64_t *a, const int64_t *b,
                               int64_t count, int64_t nanoseconds) {
  for (uint64_t start = getTime(); getTime() - start < nanoseconds;)
    ;
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count)
    to[i] = a[i] + b[i];
}

extern "C" __global__ void number(int64_t *to) {
  int64_t block =
      (int64_t(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int64_t thread =
      (int64_t(threadIdx.z) * blockDim.y + threadIdx.y) * blockDim.x +
      threadIdx.x;
  to[block * blockDim.x * blockDim.y * blockDim.z + thread] =
      blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.x +
      10000 * threadIdx.y + 100000 * threadIdx.z;
}
