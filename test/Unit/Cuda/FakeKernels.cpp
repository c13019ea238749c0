//===- FakeKernels.cpp - The backend's kernels on the host ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "Elements.h"
#include "Epilogue.h"
#include "Fake.h"
#include "Gather.h"
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
  ++test::numCopies;
  test::enqueueCopy(stream, [=] {
    forEach(region, [&](int64_t target, int64_t source) {
      std::memcpy(static_cast<char *>(to) + target * bytes,
                  static_cast<const char *>(from) + source * bytes, bytes);
    });
  });
  return cudaSuccess;
}

template <typename T>
static void enqueueGather(cudaStream_t stream, const Gather &gather) {
  test::enqueue(stream, [=] {
    for (int64_t i = 0; i < gather.volume(); ++i)
      copyElement<T>(gather, i);
  });
}

cudaError_t cuda::launchGather(cudaStream_t stream, const Gather &gather,
                               int64_t bytes) {
  struct TwoWords {
    uint64_t words[2];
  };
  ++test::numGathers;
  auto *enqueue = bytes == 1   ? enqueueGather<uint8_t>
                  : bytes == 2 ? enqueueGather<uint16_t>
                  : bytes == 4 ? enqueueGather<uint32_t>
                  : bytes == 8 ? enqueueGather<uint64_t>
                               : enqueueGather<TwoWords>;
  enqueue(stream, gather);
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
static void forEach(const ContractionWork &work, int axis, int end,
                    ContractionAxis at,
                    const std::function<void(const ContractionAxis &)> &visit) {
  if (axis == end)
    return visit(at);
  const ContractionAxis &each = work.axes[axis];
  for (int64_t i = 0; i < each.size; ++i) {
    forEach(work, axis + 1, end, at, visit);
    at.a += each.a;
    at.b += each.b;
    at.c += each.c;
    at.bias += each.bias;
  }
}

static char *elementOf(int64_t type, const void *memory, int64_t index) {
  return static_cast<char *>(const_cast<void *>(memory)) +
         index * host::elementBytes(type);
}

static double finish(const ContractionWork &work, const ContractionAxis &at,
                     double value) {
  if (work.bias)
    value += test::load(work.outputType,
                        elementOf(work.outputType, work.bias, at.bias));
  return host::activate(work.activation, value);
}

static void contract(const ContractionWork &work) {
  int64_t type = work.inputType;
  int end = work.numOuter + work.numInner;
  forEach(work, 0, work.numOuter, {}, [&](const ContractionAxis &at) {
    char *target = elementOf(work.outputType, work.c, at.c);
    double sum = work.accumulate ? test::load(work.outputType, target) : 0;
    forEach(work, work.numOuter, end, at, [&](const ContractionAxis &inner) {
      sum += test::load(type, elementOf(type, work.a, inner.a)) *
             test::load(type, elementOf(type, work.b, inner.b));
    });
    test::store(work.outputType, target, finish(work, at, sum));
  });
  ++test::numContractions;
}

cudaError_t cuda::launchContraction(cudaStream_t stream,
                                    const ContractionWork &work) {
  test::enqueue(stream, [=] { contract(work); });
  return cudaSuccess;
}

static void applyEpilogue(const ContractionWork &work) {
  forEach(work, 0, work.numOuter, {}, [&](const ContractionAxis &at) {
    char *target = elementOf(work.outputType, work.c, at.c);
    test::store(work.outputType, target,
                finish(work, at, test::load(work.outputType, target)));
  });
  ++test::numEpilogues;
}

cudaError_t cuda::launchEpilogue(cudaStream_t stream,
                                 const ContractionWork &work) {
  test::enqueue(stream, [=] { applyEpilogue(work); });
  return cudaSuccess;
}
