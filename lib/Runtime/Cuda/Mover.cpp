//===- Mover.cpp - Collectives by copies and kernels ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads meet, and leave what their streams are to do: each stream waits
// for all others to come to the collective, moves its device's data, and then
// waits for all others to have done so. Data go straight from the memory of one
// device to that of another one: all that a device gets by one gather, unless
// it is large or has many dims.
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "Device.h"

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;
using host::Collective;
using host::View;

Region cuda::makeRegion(const View &to, const View &from) {
  Region region;
  for (int64_t dim = 0; dim < to.rank; ++dim) {
    int64_t size = to.sizes[dim];
    region.volume *= size;
    if (size == 1)
      continue;
    int last = region.rank - 1;
    if (last >= 0 && region.to[last] == size * to.strides[dim] &&
        region.from[last] == size * from.strides[dim]) {
      region.sizes[last] *= size;
      region.to[last] = to.strides[dim];
      region.from[last] = from.strides[dim];
      continue;
    }
    region.sizes[region.rank] = size;
    region.to[region.rank] = to.strides[dim];
    region.from[region.rank] = from.strides[dim];
    ++region.rank;
  }
  return region;
}

static void copy(Device &device, const Collective &collective, const View &to,
                 const View &from) {
  int64_t bytes = host::elementBytes(collective.table.type);
  device.check(launchCopy(device.moving, makeRegion(to, from), to.data,
                          from.data, bytes),
               collective.location.c_str(), "a copy");
}

Copy cuda::makeCopy(const View &to, const View &from) {
  return {makeRegion(to, from), to.data, from.data};
}

static void copy(Device &device, const Collective &collective,
                 const std::vector<Copy> &copies) {
  int64_t bytes = host::elementBytes(collective.table.type);
  device.check(launchCopies(device.moving, copies, bytes),
               collective.location.c_str(), "a copy");
}

/// Lets the device's stream wait for an event of all others.
static bool waitForOthers(TofuContext &context, cudaEvent_t Device::*event) {
  Device &device = getDevice(context);
  bool good = true;
  for (auto &other : context.world->contexts)
    good &= device.check(
        cudaStreamWaitEvent(device.moving, getDevice(*other).*event, 0),
        nullptr, "an event");
  return good;
}

static bool begin(TofuContext &context) {
  Device &device = getDevice(context);
  return device.check(cudaEventRecord(device.arrived, device.moving), nullptr,
                      "an event");
}

static bool end(TofuContext &context) {
  return waitForOthers(context, &Device::moved) && !context.world->isAborted();
}

/// The first that comes after the devices have met.
static void pull(TofuContext &context, const Collective &collective) {
  Device &device = getDevice(context);
  if (collective.route.exchanges)
    waitForOthers(context, &Device::arrived);
  const host::Table &table = collective.table;
  int64_t bytes = host::elementBytes(table.type);
  std::vector<Copy> copies;
  for (const host::Transfer &transfer : collective.route.transfers) {
    const host::Published &peer =
        context.world->contexts[transfer.device]->published;
    View from = peer.src.part(table.from[transfer.device], transfer.box, bytes);
    View to = context.published.dst.part(table.to[context.device], transfer.box,
                                         bytes);
    if (from.data != to.data)
      copies.push_back(makeCopy(to, from));
  }
  copy(device, collective, copies);
}

/// Combines a share in memory of its own, in the order of the sources, and
/// gives it to all who need it.
static void combineShare(TofuContext &context, const Collective &collective,
                         const host::Share &share) {
  Device &device = getDevice(context);
  const host::Table &table = collective.table;
  const char *location = collective.location.c_str();
  int64_t bytes = host::elementBytes(table.type);
  void *memory = device.allocateStaging(host::volume(share.box) * bytes,
                                        location, "memory for partial results");
  if (!memory)
    return;
  View combined = View::ofBox(static_cast<char *>(memory), share.box);
  for (int64_t source : share.sources) {
    const View &src = context.world->contexts[source]->published.src;
    View from = src.part(table.from[source], share.box, bytes);
    if (source == share.sources.front())
      copy(device, collective, combined, from);
    else
      device.check(launchCombine(device.moving, makeRegion(combined, from),
                                 combined.data, from.data, table.combiner,
                                 table.type),
                   location, "a kernel that combines");
  }
  std::vector<Copy> copies;
  for (int64_t receiver : share.receivers) {
    const View &dst = context.world->contexts[receiver]->published.dst;
    copies.push_back(
        makeCopy(dst.part(table.to[receiver], share.box, bytes), combined));
  }
  copy(device, collective, copies);
  device.releaseStaging(memory);
}

/// The last before the devices meet again.
static void combineAndPush(TofuContext &context, const Collective &collective) {
  Device &device = getDevice(context);
  for (const host::Share &share : collective.route.shares)
    combineShare(context, collective, share);
  device.check(cudaEventRecord(device.moved, device.moving),
               collective.location.c_str(), "an event");
}

static void fillNeutral(TofuContext &context, const Collective &collective) {
  if (collective.route.neutral.empty())
    return;
  Device &device = getDevice(context);
  const host::Table &table = collective.table;
  const char *location = collective.location.c_str();
  int64_t bytes = host::elementBytes(table.type);
  alignas(16) char element[16];
  host::getCombiner(table.combiner, table.type).writeNeutral(element);
  void *memory = device.allocateStaging(sizeof(element), location,
                                        "memory for a neutral element");
  if (!memory || !device.copyFromHost(memory, element, sizeof(element),
                                      device.moving, location, "a copy"))
    return;
  std::vector<Copy> copies;
  for (const host::Box &box : collective.route.neutral) {
    View from = View::ofBox(static_cast<char *>(memory), box);
    std::fill_n(from.strides, from.rank, 0);
    copies.push_back(makeCopy(
        context.published.dst.part(table.to[context.device], box, bytes),
        from));
  }
  copy(device, collective, copies);
  device.releaseStaging(memory);
}

const host::Mover &cuda::getPeerMover() {
  static const host::Mover mover = {
      /*meets=*/true, begin, end, pull, combineAndPush, fillNeutral};
  return mover;
}
