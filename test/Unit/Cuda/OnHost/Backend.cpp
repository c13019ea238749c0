//===- Backend.cpp - The CUDA backend with GPUs that are not there --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For whole programs, whose kernels are functions of the host. How many GPUs
// there seem to be, and whether they reach each other's memory, are in the
// environment: TOFU_TEST_GPUS (8 if there is none) and TOFU_TEST_PEERS (1).
//
//===----------------------------------------------------------------------===//

// In this library that is the CUDA backend's.
#undef tofuGetBackend
#pragma GCC visibility push(default)
#include "Tofu/Runtime/Backend.h"
#pragma GCC visibility pop

#include "Device.h"
#include "Fake.h"
#ifdef TOFU_FAKE_CUDNN
#include "FakeCudnn.h"
#endif

#include <cstdlib>
#include <cstring>

using namespace mlir::tofu;

extern "C" const TofuBackend *getCudaBackend(void);

/// Words and numbers are copied, as a launch does.
static void launch(TofuContext *context, TofuStream *stream,
                   const TofuKernel *kernel, const char *location,
                   const int64_t *shape, void **arguments) {
  std::vector<int64_t> sizes(shape, shape + 6);
  std::vector<std::vector<char>> values;
  for (int64_t i = 0; i < kernel->numArguments; ++i) {
    auto *value = static_cast<const char *>(arguments[i]);
    values.emplace_back(value, value + kernel->arguments[2 * i]);
  }
  auto run = [=]() mutable {
    std::vector<void *> addresses;
    for (std::vector<char> &value : values)
      addresses.push_back(value.data());
    kernel->onHost(addresses.data(), sizes.data());
  };
  cuda::Device &device = cuda::getDevice(*context);
  if (device.obstructStream(device.getStream(stream), location))
    test::enqueue(device.getStream(stream), run);
}

static int getNumber(const char *name, int otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

static TofuBackend makeBackend() {
  test::numFakeGpus = getNumber("TOFU_TEST_GPUS", 8);
  test::canReachPeers = getNumber("TOFU_TEST_PEERS", 1) != 0;
#ifdef TOFU_FAKE_CUDNN
  test::tofuGetFakeCudnn()->enqueue = test::enqueue;
#endif
  TofuBackend backend = *getCudaBackend();
  static std::vector<TofuSymbol> symbols(backend.symbols,
                                         backend.symbols + backend.numSymbols);
  for (TofuSymbol &symbol : symbols)
    if (!std::strcmp(symbol.name, "tofuLaunch"))
      symbol = host::makeSymbol(symbol.name, launch);
  backend.name = "cuda_on_host";
  backend.form = TOFU_HOST_KERNELS;
  backend.symbols = symbols.data();
  return backend;
}

const TofuBackend *tofuGetBackend(void) {
  static const TofuBackend backend = makeBackend();
  return &backend;
}
