//===- Exchange.cpp - Collectives by messages of NCCL ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where GPUs can't access each other's memory: a kernel packs the messages of a
// step and another one unpacks them, and ncclSend and ncclRecv bring them, as a
// group. Threads don't meet, and streams wait for nothing but these.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Messages.h"

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;
using host::Collective;
using host::Message;
using host::View;

namespace {

class NcclTransport : public host::Transport {
public:
  NcclTransport(Device &device, const Collective &collective)
      : device(device), table(collective.table),
        location(collective.location.c_str()),
        bytes(host::elementBytes(table.type)) {}

  char *allocate(int64_t size) override {
    return static_cast<char *>(
        device.allocateStaging(size, location, "memory for messages"));
  }
  void release(char *memory) override { device.releaseStaging(memory); }

  bool copy(const std::vector<host::ViewCopy> &copies) override {
    std::vector<Copy> launched;
    for (const host::ViewCopy &each : copies)
      launched.push_back(makeCopy(each.to, each.from));
    return device.check(launchCopies(device.moving, launched, bytes), location,
                        "a copy");
  }
  bool combine(const View &to, const View &from) override {
    return device.check(launchCombine(device.moving, makeRegion(to, from),
                                      to.data, from.data, table.combiner,
                                      table.type),
                        location, "a kernel that combines");
  }

  bool exchange(const host::MessageStep &step, const char *outgoing,
                char *incoming) override;

private:
  bool check(ncclResult_t result) {
    return device.check(result, location, host::kindName(table.kind));
  }

  Device &device;
  const host::Table &table;
  const char *location;
  int64_t bytes;
};

} // namespace

/// What moves are bytes, of all types.
bool NcclTransport::exchange(const host::MessageStep &step,
                             const char *outgoing, char *incoming) {
  if (step.sends.empty() && step.receives.empty())
    return true;
  if (!check(ncclGroupStart()))
    return false;
  bool good = true;
  for (const Message &message : step.sends) {
    size_t size = message.elements * bytes;
    good &=
        check(ncclSend(outgoing, size, ncclInt8, static_cast<int>(message.peer),
                       device.communicator, device.moving));
    outgoing += size;
  }
  for (const Message &message : step.receives) {
    size_t size = message.elements * bytes;
    good &=
        check(ncclRecv(incoming, size, ncclInt8, static_cast<int>(message.peer),
                       device.communicator, device.moving));
    incoming += size;
  }
  return device.settle(ncclGroupEnd(), {device.communicator}, location,
                       host::kindName(table.kind)) &&
         good;
}

static bool begin(TofuContext &) { return true; }
static bool end(TofuContext &context) { return !context.world->isAborted(); }

static void pull(TofuContext &context, const Collective &collective) {
  NcclTransport transport(getDevice(context), collective);
  host::moveByMessages(context, collective, transport);
}

static void combineAndPush(TofuContext &, const Collective &) {}

const host::Mover &cuda::getMessageMover() {
  static const host::Mover mover = {
      /*meets=*/false,           begin, end, pull, combineAndPush,
      getPeerMover().fillNeutral};
  return mover;
}
