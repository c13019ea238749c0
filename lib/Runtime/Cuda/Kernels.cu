//===- Kernels.cu - The CUDA backend's own kernels ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gather.h"

#include "CombineElements.h"
#include "Epilogue.h"

#include <algorithm>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;

static constexpr int kBlockSize = 256;

/// Enough blocks for all elements, or to keep a device busy.
static int getNumBlocks(int64_t elements) {
  constexpr int64_t kMost = 4096;
  return static_cast<int>(
      std::min<int64_t>((elements + kBlockSize - 1) / kBlockSize, kMost));
}

/// A launch for so many elements. It returns its own error: cudaGetLastError
/// would also return what came before on this thread, such as the
/// cudaErrorNotReady of a stream that was asked while it was at work.
template <typename... Parameters, typename... Arguments>
static cudaError_t launch(cudaStream_t stream, int64_t elements,
                          void (*kernel)(Parameters...),
                          Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(getNumBlocks(elements));
  config.blockDim = dim3(kBlockSize);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/// The first element of a thread, and how far it is to its next.
__device__ static int64_t firstElement() {
  return int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ static int64_t elementStep() {
  return int64_t(gridDim.x) * blockDim.x;
}

/// Where element `number` of a region is on both sides.
__device__ static void locate(const Region &region, int64_t number, int64_t &to,
                              int64_t &from) {
  to = from = 0;
  for (int dim = region.rank; dim-- > 0;) {
    int64_t index = number % region.sizes[dim];
    number /= region.sizes[dim];
    to += index * region.to[dim];
    from += index * region.from[dim];
  }
}

//===----------------------------------------------------------------------===//
// Copies and combiners
//===----------------------------------------------------------------------===//

template <typename T>
__global__ static void copyRegion(Region region, T *to, const T *from) {
  for (int64_t i = firstElement(); i < region.volume; i += elementStep()) {
    int64_t target, source;
    locate(region, i, target, source);
    to[target] = from[source];
  }
}

template <typename T>
static cudaError_t copyAs(cudaStream_t stream, const Region &region, void *to,
                          const void *from) {
  return launch(stream, region.volume, copyRegion<T>, region,
                static_cast<T *>(to), static_cast<const T *>(from));
}

cudaError_t cuda::launchCopy(cudaStream_t stream, const Region &region,
                             void *to, const void *from, int64_t elementBytes) {
  if (!region.volume)
    return cudaSuccess;
  if (isContiguous(region))
    return cudaMemcpyAsync(to, from, region.volume * elementBytes,
                           cudaMemcpyDefault, stream);
  switch (elementBytes) {
  case 1:
    return copyAs<uint8_t>(stream, region, to, from);
  case 2:
    return copyAs<uint16_t>(stream, region, to, from);
  case 4:
    return copyAs<uint32_t>(stream, region, to, from);
  case 8:
    return copyAs<uint64_t>(stream, region, to, from);
  case 16:
    return copyAs<ulonglong2>(stream, region, to, from);
  default:
    return cudaErrorInvalidValue;
  }
}

template <typename T>
__global__ static void gatherParts(const __grid_constant__ Gather gather) {
  int64_t volume = gather.volume();
  for (int64_t i = firstElement(); i < volume; i += elementStep())
    copyElement<T>(gather, i);
}

cudaError_t cuda::launchGather(cudaStream_t stream, const Gather &gather,
                               int64_t elementBytes) {
  auto run = [&](auto *kernel) {
    return launch(stream, gather.volume(), kernel, gather);
  };
  switch (elementBytes) {
  case 1:
    return run(gatherParts<uint8_t>);
  case 2:
    return run(gatherParts<uint16_t>);
  case 4:
    return run(gatherParts<uint32_t>);
  case 8:
    return run(gatherParts<uint64_t>);
  case 16:
    return run(gatherParts<ulonglong2>);
  default:
    return cudaErrorInvalidValue;
  }
}

template <typename Element, typename Operator>
__global__ static void combineRegion(Region region,
                                     typename Element::Memory *to,
                                     const typename Element::Memory *from) {
  for (int64_t i = firstElement(); i < region.volume; i += elementStep()) {
    int64_t target, source;
    locate(region, i, target, source);
    to[target] = Element::store(Operator::apply(Element::load(to[target]),
                                                Element::load(from[source])));
  }
}

namespace {

struct LaunchCombine {
  struct Result {
    cudaError_t error = cudaErrorInvalidValue;
  };

  template <typename Element, typename Operator>
  Result operator()(Element, Operator) const {
    using Memory = typename Element::Memory;
    return {launch(stream, region.volume, combineRegion<Element, Operator>,
                   region, static_cast<Memory *>(to),
                   static_cast<const Memory *>(from))};
  }

  cudaStream_t stream;
  const Region &region;
  void *to;
  const void *from;
};

} // namespace

cudaError_t cuda::launchCombine(cudaStream_t stream, const Region &region,
                                void *to, const void *from, int64_t combiner,
                                int64_t type) {
  if (!region.volume)
    return cudaSuccess;
  return host::visitCombiner(combiner, type,
                             LaunchCombine{stream, region, to, from})
      .error;
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

template <typename Compute>
__device__ static Compute load(int64_t type, const void *memory, int64_t at) {
  switch (type) {
  case TOFU_F32:
    return static_cast<const float *>(memory)[at];
  case TOFU_F64:
    return static_cast<const double *>(memory)[at];
  case TOFU_F16:
    return floatFromHalf(static_cast<const uint16_t *>(memory)[at]);
  case TOFU_BF16:
    return floatFromBFloat(static_cast<const uint16_t *>(memory)[at]);
  case TOFU_I8:
    return static_cast<const int8_t *>(memory)[at];
  case TOFU_I16:
    return static_cast<const int16_t *>(memory)[at];
  case TOFU_I32:
    return static_cast<const int32_t *>(memory)[at];
  default:
    return static_cast<const int64_t *>(memory)[at];
  }
}

template <typename Compute>
__device__ static void store(int64_t type, void *memory, int64_t at,
                             Compute value) {
  switch (type) {
  case TOFU_F32:
    static_cast<float *>(memory)[at] = value;
    break;
  case TOFU_F64:
    static_cast<double *>(memory)[at] = value;
    break;
  case TOFU_F16:
    static_cast<uint16_t *>(memory)[at] = halfFromFloat(value);
    break;
  case TOFU_BF16:
    static_cast<uint16_t *>(memory)[at] = bfloatFromFloat(value);
    break;
  case TOFU_I8:
    static_cast<int8_t *>(memory)[at] = value;
    break;
  case TOFU_I16:
    static_cast<int16_t *>(memory)[at] = value;
    break;
  case TOFU_I32:
    static_cast<int32_t *>(memory)[at] = value;
    break;
  default:
    static_cast<int64_t *>(memory)[at] = value;
    break;
  }
}

/// Where element `number` of C is, and what belongs to it.
__device__ static ContractionAxis locate(const ContractionWork &work,
                                         int64_t number) {
  ContractionAxis at = {};
  for (int axis = work.numOuter; axis-- > 0;) {
    const ContractionAxis &outer = work.axes[axis];
    int64_t index = number % outer.size;
    number /= outer.size;
    at.a += index * outer.a;
    at.b += index * outer.b;
    at.c += index * outer.c;
    at.bias += index * outer.bias;
  }
  return at;
}

/// Integers have no epilogue.
template <typename Compute>
__device__ static Compute finish(const ContractionWork &work, Compute value,
                                 int64_t bias) {
  if constexpr (std::is_floating_point_v<Compute>) {
    if (work.bias)
      value += load<Compute>(work.outputType, work.bias, bias);
    value = host::activate(work.activation, value);
  }
  return value;
}

/// A thread for each element of C. Integers are unsigned, where overflow wraps.
template <typename Compute>
__global__ static void contract(ContractionWork work) {
  for (int64_t i = firstElement(); i < work.outerVolume; i += elementStep()) {
    const ContractionAxis at = locate(work, i);
    Compute sum = work.accumulate ? load<Compute>(work.outputType, work.c, at.c)
                                  : Compute(0);
    for (int64_t j = 0; j < work.innerVolume; ++j) {
      int64_t atA = at.a, atB = at.b, left = j;
      for (int axis = work.numInner; axis-- > 0;) {
        const ContractionAxis &inner = work.axes[work.numOuter + axis];
        int64_t index = left % inner.size;
        left /= inner.size;
        atA += index * inner.a;
        atB += index * inner.b;
      }
      sum += load<Compute>(work.inputType, work.a, atA) *
             load<Compute>(work.inputType, work.b, atB);
    }
    store<Compute>(work.outputType, work.c, at.c, finish(work, sum, at.bias));
  }
}

template <typename Compute>
__global__ static void applyEpilogue(ContractionWork work) {
  for (int64_t i = firstElement(); i < work.outerVolume; i += elementStep()) {
    ContractionAxis at = locate(work, i);
    Compute value = load<Compute>(work.outputType, work.c, at.c);
    store<Compute>(work.outputType, work.c, at.c, finish(work, value, at.bias));
  }
}

cudaError_t cuda::launchContraction(cudaStream_t stream,
                                    const ContractionWork &work) {
  if (!work.outerVolume)
    return cudaSuccess;
  bool isFloat = work.outputType <= TOFU_BF16;
  bool isDouble = work.outputType == TOFU_F64 || work.inputType == TOFU_F64;
  auto *kernel = !isFloat   ? contract<uint64_t>
                 : isDouble ? contract<double>
                            : contract<float>;
  return launch(stream, work.outerVolume, kernel, work);
}

cudaError_t cuda::launchEpilogue(cudaStream_t stream,
                                 const ContractionWork &work) {
  if (!work.outerVolume)
    return cudaSuccess;
  auto *kernel = work.outputType == TOFU_F64 ? applyEpilogue<double>
                                             : applyEpilogue<float>;
  return launch(stream, work.outerVolume, kernel, work);
}
