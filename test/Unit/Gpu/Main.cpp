//===- Main.cpp - Runs tests of GPUs on a backend -------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   gpu-tests [--backend=NAME] [--libraries=FOLDER] [options of GoogleTest]
//
// The backend is cuda, or cuda_on_host; its library is in the folder lib beside
// that of this program, if nothing else is said. With TOFU_TEST_PEERS=0 GPUs
// seem not to reach each other's memory. Exit codes: 0 good, 1 a test failed,
// 2 usage, 3 there is no GPU.
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include "Tofu/Runtime/LoadBackend.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

using namespace mlir::tofu;
using namespace mlir::tofu::test;

static const TofuBackend *backend = nullptr;

const TofuBackend *tofuGetBackend(void) { return backend; }

const Runtime &test::getRuntime() {
  static const Runtime runtime;
  return runtime;
}

/// Found before CUDA's, as this program exports it.
extern "C" cudaError_t cudaDeviceCanAccessPeer(int *can, int gpu, int other) {
  *can = 0;
  const char *peers = std::getenv("TOFU_TEST_PEERS");
  if (peers && !std::atoi(peers))
    return cudaSuccess;
  std::string name = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);
  void *library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  void *symbol = library ? dlsym(library, __func__) : nullptr;
  return symbol ? reinterpret_cast<decltype(cudaDeviceCanAccessPeer) *>(symbol)(
                      can, gpu, other)
                : cudaErrorSharedObjectSymbolNotFound;
}

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

static int64_t numGpus = 0;

int64_t test::getNumGpus() { return numGpus; }

bool test::isOnHost() { return backend->form == TOFU_HOST_KERNELS; }

int64_t test::getNumDevices() {
  return std::min<int64_t>(std::max<int64_t>(numGpus, 2), 8);
}

double test::getTimeout() { return isOnHost() ? 0.2 : 30; }

/// Where GPUs don't reach each other's memory, each has one device.
static int64_t findMaxDevices() {
  TofuWorldOptions options = {numGpus + 1, 60, 0};
  char error[256] = "";
  TofuWorld *world = backend->createWorld(&options, error, sizeof(error));
  if (!world)
    return numGpus;
  backend->destroyWorld(world);
  return maxDevices;
}

/// Counts GPUs; false if there is none.
static bool lookAround() {
  char error[256] = "";
  const char *devices = backend->listDevices(error, sizeof(error));
  if (!devices) {
    std::fprintf(stderr, "gpu-tests: error: %s\n", error);
    return false;
  }
  for (const char *at = devices; (at = std::strstr(at, "GPU ")); ++at)
    ++numGpus;
  maxDevices = findMaxDevices();
  std::printf("%swith worlds of up to %d devices\n", devices,
              static_cast<int>(maxDevices));
  return true;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

static std::string getLibraryFolder() {
  char self[4096] = "";
  ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
  std::string folder(self, std::max<ssize_t>(size, 0));
  return folder.substr(0, folder.rfind('/')) + "/../lib";
}

/// The value of an argument --NAME=VALUE.
static bool parse(const char *argument, const std::string &name,
                  std::string &value) {
  std::string text = argument, prefix = "--" + name + "=";
  if (text.compare(0, prefix.size(), prefix))
    return false;
  value = text.substr(prefix.size());
  return true;
}

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string name = "cuda", folder = getLibraryFolder();
  for (int i = 1; i < argc; ++i)
    if (!parse(argv[i], "backend", name) &&
        !parse(argv[i], "libraries", folder)) {
      std::fprintf(stderr,
                   "usage: gpu-tests [--backend=NAME] [--libraries=FOLDER] "
                   "[options of GoogleTest]\n");
      return 2;
    }
  OrFailure<const TofuBackend *> loaded = loadBackend(name, folder);
  if (!loaded) {
    std::fprintf(stderr, "gpu-tests: error: %s\n", loaded.reason().c_str());
    return 3;
  }
  backend = *loaded;
  if (!testing::GTEST_FLAG(list_tests) && !lookAround())
    return 3;
  return RUN_ALL_TESTS();
}
