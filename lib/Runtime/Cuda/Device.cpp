//===- Device.cpp - A device of the CUDA backend --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Errors.h"

#include <algorithm>
#include <thread>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

cudaKernel_t KernelCache::find(const TofuKernel *kernel, cudaError_t &error) {
  std::lock_guard<std::mutex> lock(mutex);
  error = cudaSuccess;
  auto known = kernels.find(kernel);
  if (known != kernels.end())
    return known->second;
  cudaLibrary_t &library = libraries[kernel->image];
  if (!library)
    error = cudaLibraryLoadData(&library, kernel->image, nullptr, nullptr, 0,
                                nullptr, nullptr, 0);
  cudaKernel_t found = nullptr;
  if (error == cudaSuccess)
    error = cudaLibraryGetKernel(&found, library, kernel->name);
  if (error != cudaSuccess)
    return nullptr;
  kernels[kernel] = found;
  return found;
}

bool KernelCache::has(const TofuKernel *kernel) {
  std::lock_guard<std::mutex> lock(mutex);
  return kernels.count(kernel);
}

/// What can't be unloaded stays, for nobody.
KernelCache::~KernelCache() {
  for (auto &entry : libraries)
    if (entry.second)
      cudaLibraryUnload(entry.second);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

bool Device::fail(const char *location, const std::string &message) {
  context->world->fail(context->device, location, message);
  return false;
}

bool Device::check(cudaError_t error, const char *location, const char *what) {
  if (error == cudaSuccess)
    return true;
  return fail(location, std::string(what) + ": " + describe(error));
}

bool Device::check(ncclResult_t result, const char *location,
                   const char *what) {
  if (result == ncclSuccess || result == ncclInProgress)
    return true;
  return fail(location, std::string(what) + ": " + describe(result));
}

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

bool Device::open(std::string &error) {
  cudaError_t status = select();
  auto make = [&](cudaError_t next) {
    status = status == cudaSuccess ? next : status;
  };
  for (cudaStream_t &stream : streams)
    make(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (cudaEvent_t *event : {&arrived, &moved, &forked})
    make(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  make(cudaMalloc(&workspace, kWorkspaceBytes));
  make(staging.open());
  // Memory stays with the pool, from one run to the next.
  cudaMemPool_t pool = nullptr;
  uint64_t threshold = UINT64_MAX;
  make(cudaDeviceGetDefaultMemPool(&pool, gpu));
  make(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
                               &threshold));
  if (status != cudaSuccess) {
    error = std::string("GPU ") + std::to_string(gpu) + ": " + describe(status);
    return false;
  }
  cublasStatus_t made = cublasLtCreate(&blas);
  if (made == CUBLAS_STATUS_SUCCESS)
    return true;
  error = describe(made);
  return false;
}

/// Runs have said what was wrong: what can't be ended or freed here is left to
/// the end of the process.
Device::~Device() {
  selectToFree();
  for (cudaStream_t stream : streams)
    if (stream)
      cudaStreamSynchronize(stream);
  for (auto &entry : blocks)
    cudaFreeAsync(entry.first, streams[TOFU_COMPUTE]);
  abortCommunicators();
  convolutions.reset();
  if (blas)
    cublasLtDestroy(blas);
  cudaFree(workspace);
  staging.close();
  cudaFreeHost(kept);
  for (cudaEvent_t event : events)
    cudaEventDestroy(event);
  for (cudaEvent_t event : {arrived, moved, forked})
    if (event)
      cudaEventDestroy(event);
  for (cudaStream_t stream : streams)
    if (stream)
      cudaStreamDestroy(stream);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *Device::allocate(int64_t bytes, Kind kind) {
  void *memory = nullptr;
  // Each block has an address of its own.
  size_t least = std::max<int64_t>(bytes, 1);
  if (bytes < 0 ||
      cudaMallocAsync(&memory, least, streams[TOFU_COMPUTE]) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  Block &block = blocks[memory] = {bytes, kind, repetition.isCapturing};
  if (repetition.isCapturing)
    repetition.piece.allocated.emplace_back(memory, block);
  getBytes(kind) += bytes;
  int64_t program = getProgramBytes();
  peakProgram = std::max(peakProgram, program);
  peak = std::max(peak, program + getBytes(Kind::Input));
  return memory;
}

bool Device::holds(void *memory, Kind kind) const {
  auto it = blocks.find(memory);
  return it != blocks.end() && it->second.kind == kind;
}

cudaError_t Device::release(void *memory) {
  auto it = blocks.find(memory);
  getBytes(it->second.kind) -= it->second.bytes;
  blocks.erase(it);
  if (repetition.isCapturing)
    repetition.piece.freed.push_back(memory);
  return cudaFreeAsync(memory, streams[TOFU_COMPUTE]);
}

/// Between runs. An error of the GPU stays, and shows in the next run.
void Device::releaseAll(Kind kind) {
  for (auto it = blocks.begin(); it != blocks.end();) {
    auto block = it++;
    if (block->second.kind == kind)
      (void)release(block->first);
  }
}

CopyProgress Device::makeProgress(const char *location, const char *what) {
  return {[=](cudaError_t error) { return check(error, location, what); },
          [this](cudaEvent_t event) { return waitFor(event); }};
}

cudaError_t Device::allocateScratch(void *&memory, int64_t bytes,
                                    cudaStream_t stream) {
  cudaError_t error =
      cudaMallocAsync(&memory, std::max<int64_t>(bytes, 1), stream);
  if (error != cudaSuccess) {
    memory = nullptr;
    return error;
  }
  scratch[memory] = {bytes, stream};
  scratchBytes += bytes;
  peakScratch = std::max(peakScratch, scratchBytes);
  return cudaSuccess;
}

cudaError_t Device::releaseScratch(void *memory) {
  auto it = scratch.find(memory);
  auto [bytes, stream] = it->second;
  scratchBytes -= bytes;
  scratch.erase(it);
  return cudaFreeAsync(memory, stream);
}

void *Device::allocateStaging(int64_t bytes, const char *location,
                              const char *what) {
  void *memory = nullptr;
  check(allocateScratch(memory, bytes, moving), location, what);
  return memory;
}

void Device::releaseStaging(void *memory) {
  check(releaseScratch(memory), nullptr, "memory");
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

cudaStream_t Device::getStream(const TofuStream *stream) const {
  return stream
             ? reinterpret_cast<cudaStream_t>(const_cast<TofuStream *>(stream))
             : streams[TOFU_COMPUTE];
}

cudaEvent_t Device::getEvent(int64_t number) {
  if (number >= static_cast<int64_t>(events.size()))
    events.resize(number + 1);
  cudaEvent_t &event = events[number];
  if (!event &&
      cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess)
    event = nullptr;
  return event;
}

bool Device::isAborted() const {
  if (shared->processes && shared->processes->isNotified())
    context->world->abort();
  return context->world->isAborted();
}

/// Nothing hangs: a GPU that waits for one whose device has failed never ends
/// what it does.
bool Device::waitUntilDone(const std::function<cudaError_t()> &query,
                           const char *what) {
  double start = host::now(), timeout = context->world->timeout();
  for (;;) {
    cudaError_t status = query();
    if (status != cudaErrorNotReady)
      return check(status, nullptr, what);
    bool isGood =
        check(getAsyncError(), lastLocation, "this collective or one before");
    // What a GPU computes by itself may take as long as it wants.
    if (isGood && communicator && host::now() - start > timeout)
      isGood = fail(lastLocation,
                    "the GPU has not come to an end after " +
                        host::formatSeconds(timeout) +
                        (lastLocation ? "; this is the last collective that it "
                                        "was given"
                                      : ""));
    if (!isGood || isAborted()) {
      abortCommunicators();
      return false;
    }
    std::this_thread::yield();
  }
}

bool Device::waitFor(cudaStream_t stream) {
  return waitUntilDone([stream] { return cudaStreamQuery(stream); },
                       "a stream");
}

bool Device::waitFor(cudaEvent_t event) {
  return waitUntilDone([event] { return cudaEventQuery(event); }, "an event");
}

bool Device::synchronize() {
  for (cudaStream_t stream : streams)
    if (!waitFor(stream))
      return false;
  return true;
}
