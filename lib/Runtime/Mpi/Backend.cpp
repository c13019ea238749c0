//===- Backend.cpp - The C interfaces of the MPI backend ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host backend's world with one device in each process; programs call the
// host's functions, and collectives are messages.
//
//===----------------------------------------------------------------------===//

// The library hides its symbols, but for what this declares.
#pragma GCC visibility push(default)
#include "Tofu/Runtime/Backend.h"
#include "Processes.h"
#pragma GCC visibility pop

#include "Combine.h"
#include "Job.h"

#include <cstdio>

using namespace mlir::tofu;
using namespace mlir::tofu::host;
using mpi::Job;

Job &mpi::getJob(TofuWorld &world) {
  for (auto &context : world.contexts)
    if (context)
      return *static_cast<Job *>(context->extension.get());
  std::abort();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

namespace {

class MpiTransport : public Transport {
public:
  MpiTransport(TofuContext &context, const Collective &collective)
      : context(context), collective(collective),
        bytes(elementBytes(collective.table.type)) {}

  /// Staging comes and goes like a stack. It stays with the device, so that
  /// messages under way have memory whatever happens.
  char *allocate(int64_t size) override {
    if (void *memory = context.scratch.get(depth, size)) {
      ++depth;
      return static_cast<char *>(memory);
    }
    context.world->fail(context.device, collective.location.c_str(),
                        "no memory for messages of " + std::to_string(size) +
                            " bytes");
    return nullptr;
  }
  void release(char *) override { --depth; }

  bool copy(const std::vector<host::ViewCopy> &copies) override {
    for (const host::ViewCopy &each : copies)
      host::copy(each.to, each.from, bytes);
    return true;
  }
  bool combine(const View &to, const View &from) override;

  bool exchange(const MessageStep &step, const char *outgoing,
                char *incoming) override {
    return mpi::getJob(*context.world)
        .exchange(context, collective, step, outgoing, incoming);
  }

private:
  TofuContext &context;
  const Collective &collective;
  int64_t bytes;
  int depth = 0;
};

} // namespace

/// `to` is contiguous; what isn't, is copied first.
bool MpiTransport::combine(const View &to, const View &from) {
  const Table &table = collective.table;
  int64_t size = to.volume();
  View addend = from;
  if (!from.isContiguous()) {
    addend = to;
    addend.data = allocate(size * bytes);
    if (!addend.data)
      return false;
    host::copy(addend, from, bytes);
    release(addend.data);
  }
  getCombiner(table.combiner, table.type).combine(to.data, addend.data, size);
  return true;
}

static bool begin(TofuContext &) { return true; }
static bool end(TofuContext &context) { return !context.world->isAborted(); }

static void pull(TofuContext &context, const Collective &collective) {
  MpiTransport transport(context, collective);
  moveByMessages(context, collective, transport);
}

static void combineAndPush(TofuContext &, const Collective &) {}

const Mover &mpi::getMover() {
  static const Mover mover = {
      /*meets=*/false,           begin, end, pull, combineAndPush,
      getHostMover().fillNeutral};
  return mover;
}

//===----------------------------------------------------------------------===//
// What runners call
//===----------------------------------------------------------------------===//

static std::string countText(int64_t count, const char *what,
                             const char *plural) {
  return std::to_string(count) + " " + (count == 1 ? what : plural);
}

static TofuWorld *createWorld(const TofuWorldOptions *options, char *error,
                              int64_t errorBytes) {
  std::string reason = Job::start();
  auto job = reason.empty() ? std::make_shared<Job>() : nullptr;
  if (job && job->numProcesses() != options->numDevices)
    reason = "the program is for " +
             countText(options->numDevices, "device", "devices") +
             ", and there " + (job->numProcesses() == 1 ? "is " : "are ") +
             countText(job->numProcesses(), "process", "processes") +
             ": start it with mpirun -n " + std::to_string(options->numDevices);
  if (reason.empty() && options->numGpus)
    reason = "the devices of this backend are no GPUs";
  if (reason.empty()) {
    auto world = std::make_unique<TofuWorld>(*options, job->rank());
    world->contexts[job->rank()]->extension = job;
    world->mover = &mpi::getMover();
    if (world->start())
      return world.release();
    reason = "no thread for the device";
  }
  // All say the same.
  bool isSilent = job && job->rank() != 0;
  std::snprintf(error, errorBytes, "%s", isSilent ? "" : reason.c_str());
  return nullptr;
}

static TofuStatus run(TofuWorld *world, TofuBody body, void *user) {
  TofuStatus status = getHostBackend().run(world, body, user);
  TofuStatus agreed = mpi::getJob(*world).agree(world->error, status);
  if (agreed == TOFU_FAILED)
    for (auto &context : world->contexts)
      if (context)
        context->memory.releaseGlobals();
  return agreed;
}

static int8_t bring(TofuWorld *world, int64_t device, void *memory,
                    int64_t bytes, char *error, int64_t errorBytes) {
  std::string reason =
      mpi::getJob(*world).bring(device, memory, bytes, world->timeout());
  std::snprintf(error, errorBytes, "%s", reason.c_str());
  return reason.empty();
}

static const char *listDevices(char *, int64_t) {
  return "the processes that mpirun starts, one for each device\n";
}

static TofuBackend makeBackend() {
  TofuBackend backend = getHostBackend();
  backend.name = "mpi";
  backend.createWorld = createWorld;
  backend.run = run;
  backend.bring = bring;
  backend.listDevices = listDevices;
  return backend;
}

const TofuBackend *tofuGetBackend(void) {
  static const TofuBackend backend = makeBackend();
  return &backend;
}

Processes *tofuStartProcesses(char *error, int64_t errorBytes) {
  std::string reason = Job::start();
  std::snprintf(error, errorBytes, "%s", reason.c_str());
  return reason.empty() ? new Job : nullptr;
}
