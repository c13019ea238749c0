//===- FakeKernels.cpp - The backend's kernels on the host ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "Elements.h"
#include "Fake.h"
#include "Kernels.h"
#include "Views.h"

#include <cstring>
#include <functional>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;

/// Calls `visit` with where each element is on both sides.
static void forEach(const Region &region,
                    const std::function<void(int64_t, int64_t)> &visit,
                    int dim = 0, int64_t to = 0, int64_t from = 0) {
  if (dim == region.rank)
    return visit(to, from);
  for (int64_t i = 0; i < region.sizes[dim]; ++i)
    forEach(region, visit, dim + 1, to + i * region.to[dim],
            from + i * region.from[dim]);
}

cudaError_t cuda::launchCopy(cudaStream_t stream, const Region &region,
                             void *to, const void *from, int64_t bytes) {
  test::enqueue(stream, [=] {
    forEach(region, [&](int64_t target, int64_t source) {
      std::memcpy(static_cast<char *>(to) + target * bytes,
                  static_cast<const char *>(from) + source * bytes, bytes);
    });
  });
  return cudaSuccess;
}

cudaError_t cuda::launchCombine(cudaStream_t stream, const Region &region,
                                void *to, const void *from, int64_t combiner,
                                int64_t type) {
  int64_t bytes = host::elementBytes(type);
  test::enqueue(stream, [=] {
    forEach(region, [&](int64_t target, int64_t source) {
      host::getCombiner(combiner, type)
          .combine(static_cast<char *>(to) + target * bytes,
                   static_cast<const char *>(from) + source * bytes, 1);
    });
  });
  return cudaSuccess;
}

/// Goes through axes [`axis`, `end`).
static void
forEach(const ContractionWork &work, int axis, int end, int64_t a, int64_t b,
        int64_t c,
        const std::function<void(int64_t, int64_t, int64_t)> &visit) {
  if (axis == end)
    return visit(a, b, c);
  const ContractionAxis &each = work.axes[axis];
  for (int64_t i = 0; i < each.size; ++i)
    forEach(work, axis + 1, end, a + i * each.a, b + i * each.b, c + i * each.c,
            visit);
}

static void contract(const ContractionWork &work) {
  int64_t inBytes = host::elementBytes(work.inputType),
          outBytes = host::elementBytes(work.outputType);
  auto at = [](const void *memory, int64_t offset) {
    return static_cast<char *>(const_cast<void *>(memory)) + offset;
  };
  int end = work.numOuter + work.numInner;
  forEach(
      work, 0, work.numOuter, 0, 0, 0, [&](int64_t a, int64_t b, int64_t c) {
        char *target = at(work.c, c * outBytes);
        double sum = work.accumulate ? test::load(work.outputType, target) : 0;
        forEach(work, work.numOuter, end, a, b, c,
                [&](int64_t atA, int64_t atB, int64_t) {
                  sum += test::load(work.inputType, at(work.a, atA * inBytes)) *
                         test::load(work.inputType, at(work.b, atB * inBytes));
                });
        test::store(work.outputType, target, sum);
      });
  ++test::numContractions;
}

cudaError_t cuda::launchContraction(cudaStream_t stream,
                                    const ContractionWork &work) {
  test::enqueue(stream, [=] { contract(work); });
  return cudaSuccess;
}
