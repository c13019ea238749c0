//===- FakeCuda.cpp - The CUDA runtime on the host ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever is put on a stream is done at once, so there is nothing to wait for.
//
//===----------------------------------------------------------------------===//

#include "Fake.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>

using mlir::tofu::test::numFakeGpus;

/// Addresses for handles that nobody looks into.
static char handle;

template <typename Handle>
static cudaError_t make(Handle *result) {
  *result = reinterpret_cast<Handle>(&handle);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = numFakeGpus;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "Fake %d", device);
  properties->major = 9;
  properties->totalGlobalMem = size_t(80) << 30;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device < numFakeGpus ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  *can = mlir::tofu::test::canReachPeers;
  return cudaSuccess;
}
const char *cudaGetErrorName(cudaError_t) { return "cudaErrorOfTest"; }
const char *cudaGetErrorString(cudaError_t) { return "an error"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int) {
  return make(pool);
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc *,
                                 size_t) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) {
  return cudaSuccess;
}
cudaError_t cudaMalloc(void **memory, size_t bytes) {
  *memory = std::malloc(bytes);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaMallocHost(void **memory, size_t bytes) {
  return cudaMalloc(memory, bytes);
}
cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t) {
  return cudaMalloc(memory, bytes);
}
cudaError_t cudaFree(void *memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void *memory) { return cudaFree(memory); }
cudaError_t cudaFreeAsync(void *memory, cudaStream_t) {
  return cudaFree(memory);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  return make(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned) {
  return event ? cudaSuccess : cudaErrorInvalidResourceHandle;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  return make(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return event ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

/// Kernels of programs are functions of the host here, and images say which.
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                cudaJitOption *, void **, unsigned,
                                cudaLibraryOption *, void **, unsigned) {
  *library = reinterpret_cast<cudaLibrary_t>(const_cast<void *>(code));
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) { return cudaSuccess; }
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                 const char *name) {
  if (std::strcmp(name, "known"))
    return cudaErrorSymbolNotFound;
  *kernel = reinterpret_cast<cudaKernel_t>(library);
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
                             void **arguments, size_t, cudaStream_t) {
  auto *run = *reinterpret_cast<void (*const *)(void **, dim3, dim3)>(kernel);
  run(arguments, grid, block);
  return cudaSuccess;
}
