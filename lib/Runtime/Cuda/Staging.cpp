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

bool Staging::copyIn(void *to, const void *from, int64_t bytes,
                     cudaStream_t stream, const CopyProgress &progress) {
  for (int64_t at = 0; at < bytes; at += kChunkBytes) {
    int64_t part = std::min(kChunkBytes, bytes - at);
    Chunk *chunk = take(progress);
    if (!chunk)
      return false;
    std::memcpy(chunk->memory, static_cast<const char *>(from) + at, part);
    if (!progress.check(cudaMemcpyAsync(static_cast<char *>(to) + at,
                                        chunk->memory, part, cudaMemcpyDefault,
                                        stream)) ||
        !progress.check(cudaEventRecord(chunk->copied, stream)))
      return false;
  }
  return true;
}

/// The host takes a part while the GPU copies the next one.
bool Staging::copyParts(void *to, int64_t numParts,
                        const std::function<Part(int64_t)> &getPart,
                        cudaStream_t stream, const CopyProgress &progress) {
  auto *result = static_cast<char *>(to);
  const Chunk *before = nullptr;
  int64_t bytesBefore = 0;
  for (int64_t i = 0; i <= numParts; ++i) {
    const Chunk *chunk = nullptr;
    Part part = i < numParts ? getPart(i) : Part{};
    if (i < numParts) {
      chunk = take(progress);
      if (!chunk || !progress.check(part.copy(chunk->memory)) ||
          !progress.check(cudaEventRecord(chunk->copied, stream)))
        return false;
    }
    if (before) {
      if (!progress.waitFor(before->copied))
        return false;
      std::memcpy(result, before->memory, bytesBefore);
      result += bytesBefore;
    }
    before = chunk;
    bytesBefore = part.bytes;
  }
  return true;
}

bool Staging::copyOut(void *to, const void *from, int64_t bytes,
                      cudaStream_t stream, const CopyProgress &progress) {
  auto getPart = [=](int64_t i) -> Part {
    int64_t at = i * kChunkBytes, part = std::min(kChunkBytes, bytes - at);
    return {part, [=](void *chunk) {
              return cudaMemcpyAsync(chunk,
                                     static_cast<const char *>(from) + at, part,
                                     cudaMemcpyDefault, stream);
            }};
  };
  int64_t numParts = (bytes + kChunkBytes - 1) / kChunkBytes;
  return copyParts(to, numParts, getPart, stream, progress);
}

/// A part is as many steps of a loop, and all of the loops within, as fit: one
/// index of the loops around it.
bool Staging::packOut(const Copy &copy, int64_t elementBytes,
                      cudaStream_t stream, const CopyProgress &progress) {
  const Region &whole = copy.region;
  if (!whole.volume)
    return true;
  int64_t most = kChunkBytes / elementBytes, inner = 1;
  int loop = whole.rank - 1;
  while (loop > 0 && inner * whole.sizes[loop] <= most)
    inner *= whole.sizes[loop--];
  int64_t step = std::max<int64_t>(most / inner, 1);
  int64_t perIndex = (whole.sizes[loop] + step - 1) / step;
  int64_t numParts = perIndex;
  for (int outer = 0; outer < loop; ++outer)
    numParts *= whole.sizes[outer];

  auto getPart = [&](int64_t i) -> Part {
    int64_t first = i % perIndex * step, index = i / perIndex;
    int64_t offset = first * whole.from[loop];
    for (int outer = loop; outer-- > 0; index /= whole.sizes[outer])
      offset += index % whole.sizes[outer] * whole.from[outer];
    Region region;
    region.rank = whole.rank - loop;
    std::copy_n(whole.sizes + loop, region.rank, region.sizes);
    std::copy_n(whole.to + loop, region.rank, region.to);
    std::copy_n(whole.from + loop, region.rank, region.from);
    region.sizes[0] = std::min(step, whole.sizes[loop] - first);
    region.volume = region.sizes[0] * inner;
    const char *from =
        static_cast<const char *>(copy.from) + offset * elementBytes;
    return {region.volume * elementBytes, [=](void *chunk) {
              return launchCopy(stream, region, chunk, from, elementBytes);
            }};
  };
  return copyParts(copy.to, numParts, getPart, stream, progress);
}

bool Staging::wait(const CopyProgress &progress) {
  for (const Chunk &chunk : chunks)
    if (!progress.waitFor(chunk.copied))
      return false;
  return true;
}
