//===- Sizes.cpp - Tables of values of any size ---------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Geometry.h"
#include "Tofu/Runtime/Runtime.h"
#include "World.h"

using namespace mlir::tofu;
using namespace mlir::tofu::host;

/// False, with the device failed, if there is no value of these sizes on these
/// devices.
static bool checkGeometry(TofuContext &context, const Geometry &geometry,
                          const char *location) {
  std::string error;
  for (int64_t size : geometry.getShape())
    if (size < 0)
      error = "a tensor has size " + std::to_string(size);
  int64_t devices = context.world->numDevices();
  if (geometry.numDevices() != devices)
    error = "a mesh is of " + std::to_string(geometry.numDevices()) +
            " devices, there are " + std::to_string(devices);
  if (error.empty())
    return true;
  context.world->fail(context.device, location, error);
  return false;
}

std::vector<int64_t> host::resolveSizes(TofuContext &context,
                                        const int64_t *words,
                                        const int64_t *sizes,
                                        const char *location) {
  Table table;
  std::string error;
  int64_t devices = context.world->numDevices();
  if (!table.readHeader(words, devices, error)) {
    context.world->fail(context.device, location, error);
    return {};
  }
  int64_t fixed = TOFU_COLLECTIVE_HEADER + 3 * devices;
  Geometry geometry(words + fixed, sizes);
  if (!checkGeometry(context, geometry, location))
    return {};
  std::vector<int64_t> resolved(words, words + fixed);
  for (int placement = 0; placement < 2; ++placement) {
    geometry.readPlacement();
    for (int64_t device = 0; device < devices; ++device)
      for (Interval interval : geometry.getBox(device))
        resolved.insert(resolved.end(), {interval.lo, interval.hi});
  }
  return resolved;
}

bool host::findShard(TofuContext &context, const int64_t *words,
                     const int64_t *sizes, int64_t dim, Interval &interval) {
  if (words[0] != TOFU_TABLE_VERSION) {
    context.world->fail(context.device, nullptr,
                        "table has version " + std::to_string(words[0]) +
                            ", the runtime reads " +
                            std::to_string(TOFU_TABLE_VERSION));
    return false;
  }
  Geometry geometry(words + 1, sizes);
  if (!checkGeometry(context, geometry, nullptr))
    return false;
  geometry.readPlacement();
  interval = geometry.getBox(context.device)[dim];
  return true;
}
