//===- Staging.cpp - Pinned memory between host and GPU -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Staging.h"

#include <algorithm>
#include <cstring>

using namespace mlir::tofu::cuda;

cudaError_t Staging::open() {
  for (Chunk &chunk : chunks) {
    void *memory = nullptr;
    if (cudaError_t error = cudaMallocHost(&memory, kChunkBytes))
      return error;
    chunk.memory = static_cast<char *>(memory);
    if (cudaError_t error =
            cudaEventCreateWithFlags(&chunk.copied, cudaEventDisableTiming))
      return error;
  }
  return cudaSuccess;
}

/// At the end of the device, which says nothing any more.
void Staging::close() {
  for (Chunk &chunk : chunks) {
    cudaFreeHost(chunk.memory);
    if (chunk.copied)
      cudaEventDestroy(chunk.copied);
  }
}

Staging::Chunk *Staging::take(const CopyProgress &progress) {
  last = 1 - last;
  Chunk &chunk = chunks[last];
  return progress.waitFor(chunk.copied) ? &chunk : nullptr;
}

bool Staging::copy(const Chunk &chunk, void *to, const void *from,
                   int64_t bytes, cudaStream_t stream,
                   const CopyProgress &progress) {
  return progress.check(
             cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream)) &&
         progress.check(cudaEventRecord(chunk.copied, stream));
}

bool Staging::copyIn(void *to, const void *from, int64_t bytes,
                     cudaStream_t stream, const CopyProgress &progress) {
  for (int64_t at = 0; at < bytes; at += kChunkBytes) {
    int64_t part = std::min(kChunkBytes, bytes - at);
    Chunk *chunk = take(progress);
    if (!chunk)
      return false;
    std::memcpy(chunk->memory, static_cast<const char *>(from) + at, part);
    if (!copy(*chunk, static_cast<char *>(to) + at, chunk->memory, part, stream,
              progress))
      return false;
  }
  return true;
}

/// The host takes a part while the GPU copies the next one.
bool Staging::copyOut(void *to, const void *from, int64_t bytes,
                      cudaStream_t stream, const CopyProgress &progress) {
  auto *result = static_cast<char *>(to);
  const Chunk *before = nullptr;
  for (int64_t at = 0; at < bytes + kChunkBytes; at += kChunkBytes) {
    const Chunk *chunk = nullptr;
    int64_t part = std::min(kChunkBytes, bytes - at);
    if (part > 0) {
      chunk = take(progress);
      if (!chunk ||
          !copy(*chunk, chunk->memory, static_cast<const char *>(from) + at,
                part, stream, progress))
        return false;
    }
    if (before) {
      if (!progress.waitFor(before->copied))
        return false;
      int64_t begin = at - kChunkBytes;
      std::memcpy(result + begin, before->memory,
                  std::min(kChunkBytes, bytes - begin));
    }
    before = chunk;
  }
  return true;
}

bool Staging::wait(const CopyProgress &progress) {
  for (const Chunk &chunk : chunks)
    if (!progress.waitFor(chunk.copied))
      return false;
  return true;
}
