//===- TestWorld.h - A world of host devices for tests ----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_UNIT_RUNTIME_TESTWORLD_H
#define TOFU_TEST_UNIT_RUNTIME_TESTWORLD_H

#include "Indices.h"
#include "Tofu/Runtime/Backend.h"

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace mlir::tofu::test {

/// The backend's function of a name; null if it has none.
template <typename Function>
Function *find(const char *name) {
  const TofuBackend *backend = tofuGetBackend();
  for (int64_t i = 0; i < backend->numSymbols; ++i)
    if (!std::strcmp(backend->symbols[i].name, name))
      return reinterpret_cast<Function *>(backend->symbols[i].address);
  return nullptr;
}

/// The most devices that worlds can have here. What is more is no fault of a
/// test, which says so first.
inline int64_t maxDevices = 1024;
#define TOFU_NEEDS_DEVICES(count)                                              \
  if ((count) > maxDevices)                                                    \
  GTEST_SKIP() << "needs " << (count) << " devices, there can be " << maxDevices

/// What a device does; leaves through longjmp if it fails, so it must not own
/// anything when it calls the runtime.
using DeviceFunction = std::function<void(TofuContext *, int64_t)>;

class TestWorld {
public:
  explicit TestWorld(int64_t devices, double timeout = 60) : devices(devices) {
    TofuWorldOptions options = {devices, timeout, 0};
    char error[200] = "";
    world = backend->createWorld(&options, error, sizeof(error));
  }
  ~TestWorld() { backend->destroyWorld(world); }

  TofuStatus run(DeviceFunction newFunction) {
    // Outlives the run, which may leave a device behind.
    function = std::move(newFunction);
    auto body = [](TofuContext *context, int64_t device, void *user) {
      (*static_cast<const DeviceFunction *>(user))(context, device);
    };
    return backend->run(world, body, &function);
  }

  std::string error() const { return backend->error(world); }
  TofuWorld *getWorld() const { return world; }
  TofuContext *context(int64_t device) const {
    return backend->context(world, device);
  }

  TofuMemoryStats memory(int64_t device) const {
    TofuMemoryStats stats;
    backend->memoryStats(context(device), &stats);
    return stats;
  }
  std::vector<TofuCollectiveStats> collectives(int64_t device) const {
    std::vector<TofuCollectiveStats> stats(100);
    stats.resize(
        backend->collectiveStats(context(device), stats.data(), stats.size()));
    return stats;
  }

  const TofuBackend *backend = tofuGetBackend();
  const int64_t devices;

private:
  TofuWorld *world;
  DeviceFunction function;
};

/// A memref descriptor, with storage of its own.
class TestMemref {
public:
  /// Dims in memory in the order `order` (outermost first), with `gap` unused
  /// elements after each innermost row.
  TestMemref(std::vector<int64_t> sizes, const std::vector<size_t> &order,
             int64_t gap, int64_t elementBytes)
      : sizes(sizes), words(3 + 2 * sizes.size()) {
    int64_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      size_t dim = order[i];
      words[3 + dim] = sizes[dim];
      words[3 + sizes.size() + dim] = stride;
      stride = stride * sizes[dim] + (i + 1 == order.size() ? gap : 0);
    }
    // What isn't written doesn't look like a zero.
    storage.resize((stride + 1) * elementBytes + 64, 0x5a);
    words[2] = 1; // the offset, in elements
    char *data = storage.data();
    std::memcpy(&words[0], &data, sizeof(data));
    std::memcpy(&words[1], &data, sizeof(data));
  }

  int64_t rank() const { return sizes.size(); }
  void *descriptor() { return words.data(); }

  /// Address of the element at `index`.
  char *at(const std::vector<int64_t> &index, int64_t elementBytes) {
    int64_t offset = words[2];
    for (size_t dim = 0; dim < index.size(); ++dim)
      offset += index[dim] * words[3 + sizes.size() + dim];
    return storage.data() + offset * elementBytes;
  }

  std::vector<int64_t> sizes;

private:
  std::vector<char> storage;
  std::vector<int64_t> words;
};

} // namespace mlir::tofu::test

#endif // TOFU_TEST_UNIT_RUNTIME_TESTWORLD_H
