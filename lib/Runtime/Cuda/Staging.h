//===- Staging.h - Pinned memory between host and GPU -----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU copies from and to pinned memory of the host without waiting, and no
// other. All data go by way of two chunks of it: while the GPU copies one of
// them the host copies the other. Elements with gaps between them a kernel
// packs into chunks, which GPUs can write to.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_STAGING_H
#define TOFU_LIB_RUNTIME_CUDA_STAGING_H

#include "Kernels.h"

#include <cstdint>
#include <cuda_runtime_api.h>
#include <functional>

namespace mlir::tofu::cuda {

/// How a copy goes on: each is false if it must end.
struct CopyProgress {
  std::function<bool(cudaError_t)> check;
  std::function<bool(cudaEvent_t)> waitFor;
};

class Staging {
public:
  static constexpr int64_t kChunkBytes = 4 << 20;

  /// Once, before any copy.
  cudaError_t open();
  /// Once the GPU has done all copies.
  void close();

  /// Copies in the order of the stream. When it returns, `from` may change.
  bool copyIn(void *to, const void *from, int64_t bytes, cudaStream_t stream,
              const CopyProgress &progress);
  /// When it returns, the copy is done.
  bool copyOut(void *to, const void *from, int64_t bytes, cudaStream_t stream,
               const CopyProgress &progress);
  /// The same of a copy to where elements lie one after the other.
  bool packOut(const Copy &copy, int64_t elementBytes, cudaStream_t stream,
               const CopyProgress &progress);
  /// Waits for all copies.
  bool wait(const CopyProgress &progress);

private:
  /// Memory, and when the GPU has done its last copy of it.
  struct Chunk {
    char *memory = nullptr;
    cudaEvent_t copied = nullptr;
  };

  /// What fits into a chunk, and how it gets there.
  struct Part {
    int64_t bytes;
    std::function<cudaError_t(void *chunk)> copy;
  };

  /// Brings parts to the host, one after the other.
  bool copyParts(void *to, int64_t numParts,
                 const std::function<Part(int64_t)> &getPart,
                 cudaStream_t stream, const CopyProgress &progress);
  /// The next one, which the GPU needs no more; null if the copy must end.
  Chunk *take(const CopyProgress &progress);
  Chunk chunks[2];
  int last = 0;
};

} // namespace mlir::tofu::cuda

#endif // TOFU_LIB_RUNTIME_CUDA_STAGING_H
