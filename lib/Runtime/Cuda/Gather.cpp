//===- Gather.cpp - Copies that share a launch ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gather.h"

#include <algorithm>

using namespace mlir::tofu::cuda;

/// Memory without gaps from so many bytes on is left to the copy engines, which
/// move it by other means than a kernel's loads, and beside kernels.
static constexpr int64_t kMinEngineBytes = 1 << 20;

static bool isGathered(const Copy &copy, int64_t elementBytes) {
  const Region &region = copy.region;
  bool isForEngine =
      isContiguous(region) && region.volume * elementBytes >= kMinEngineBytes;
  return !isForEngine && region.rank <= kMostPartLoops;
}

static void add(Gather &gather, const Copy &copy) {
  const Region &region = copy.region;
  int64_t begin = gather.volume();
  GatherPart &part = gather.parts[gather.count++];
  part.end = begin + region.volume;
  part.to = copy.to;
  part.from = copy.from;
  part.rank = region.rank;
  std::copy_n(region.sizes, region.rank, part.sizes);
  std::copy_n(region.to, region.rank, part.toStrides);
  std::copy_n(region.from, region.rank, part.fromStrides);
}

cudaError_t mlir::tofu::cuda::launchCopies(cudaStream_t stream,
                                           const std::vector<Copy> &copies,
                                           int64_t elementBytes) {
  std::vector<const Copy *> together;
  cudaError_t error = cudaSuccess;
  auto launchOne = [&](const Copy &copy) {
    return launchCopy(stream, copy.region, copy.to, copy.from, elementBytes);
  };
  for (const Copy &copy : copies)
    if (!copy.region.volume)
      continue;
    else if (isGathered(copy, elementBytes))
      together.push_back(&copy);
    else if (error == cudaSuccess)
      error = launchOne(copy);
  for (size_t begin = 0; begin < together.size() && error == cudaSuccess;
       begin += kMostParts) {
    size_t end = std::min<size_t>(together.size(), begin + kMostParts);
    if (end - begin == 1) {
      error = launchOne(*together[begin]);
      continue;
    }
    Gather gather;
    for (size_t i = begin; i < end; ++i)
      add(gather, *together[i]);
    error = launchGather(stream, gather, elementBytes);
  }
  return error;
}
