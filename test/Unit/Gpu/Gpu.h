//===- Gpu.h - What tests of GPUs share -------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests of the CUDA backend as a library, on the GPUs that there are. Each must
// also hold on the library cuda_on_host, which has none.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_UNIT_GPU_GPU_H
#define TOFU_TEST_UNIT_GPU_GPU_H

#include "TestWorld.h"

namespace mlir::tofu::test {

/// The backend's functions. They take memory of devices.
struct Runtime {
#define TOFU_FUNCTION(member, name)                                            \
  decltype(&::name) member = find<decltype(::name)>(#name)
  TOFU_FUNCTION(alloc, tofuAlloc);
  TOFU_FUNCTION(free, tofuFree);
  TOFU_FUNCTION(global, tofuGlobal);
  TOFU_FUNCTION(constant, tofuConstant);
  TOFU_FUNCTION(deviceId, tofuDeviceId);
  TOFU_FUNCTION(stream, tofuStream);
  TOFU_FUNCTION(record, tofuRecord);
  TOFU_FUNCTION(wait, tofuWait);
  TOFU_FUNCTION(synchronize, tofuSynchronize);
  TOFU_FUNCTION(beginGroup, tofuGroupBegin);
  TOFU_FUNCTION(endGroup, tofuGroupEnd);
  TOFU_FUNCTION(collective, tofuCollective);
  TOFU_FUNCTION(evenCollective, tofuEvenCollective);
  TOFU_FUNCTION(contract, tofuContract);
  TOFU_FUNCTION(contractWithEpilogue, tofuContractWithEpilogue);
  TOFU_FUNCTION(launch, tofuLaunch);
  TOFU_FUNCTION(read, tofuRead);
  TOFU_FUNCTION(write, tofuWrite);
  TOFU_FUNCTION(fail, tofuFail);
#undef TOFU_FUNCTION
};
const Runtime &getRuntime();

/// How many GPUs the backend sees.
int64_t getNumGpus();

/// Whether the GPUs are the host's, where nothing takes time.
bool isOnHost();

/// Devices of a test of several: as many as there are GPUs, if there are some.
int64_t getNumDevices();

/// Seconds in which communicators of all GPUs are made, at least.
double getTimeout();

/// Kernels, in one image. The arguments are words.
///   add(to, a, b, count, nanoseconds): to[i] = a[i] + b[i] after that time
///   number(to): the thread's numbers, in the order of threads
extern const TofuKernel addKernel, numberKernel;

/// Adds `count` words, by as many threads, after a time in which what doesn't
/// wait for it would be done.
void launchAdd(TofuContext *context, TofuStream *stream, void *to,
               const void *a, const void *b, int64_t count = 1,
               int64_t nanoseconds = 0);
constexpr int64_t kLong = 20 * 1000 * 1000;

} // namespace mlir::tofu::test

#endif // TOFU_TEST_UNIT_GPU_GPU_H
