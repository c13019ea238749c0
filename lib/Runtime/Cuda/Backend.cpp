//===- Backend.cpp - The C interfaces of the CUDA backend -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host backend's world, whose devices have streams and memory of GPUs. As
// there, a failure leaves from the outermost frame of a call, which holds
// nothing with a destructor: functions below return false when the device must
// leave.
//
//===----------------------------------------------------------------------===//

// The library hides its symbols, but for what this declares.
#pragma GCC visibility push(default)
#include "Tofu/Runtime/Backend.h"
#pragma GCC visibility pop

#include "Convolution.h"
#include "Errors.h"
#include "Versions.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

using namespace mlir::tofu;
using namespace mlir::tofu::host;
using cuda::Device;

static Device &getDevice(TofuContext *context) {
  return cuda::getDevice(*context);
}

static void leaveIf(TofuContext *context, bool fails) {
  if (fails || context->world->isAborted())
    leave(context);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static bool failAllocation(Device &device, int64_t bytes) {
  return device.fail(nullptr, "no memory on GPU " + std::to_string(device.gpu) +
                                  " for " + std::to_string(bytes) + " bytes");
}

static void *alloc(TofuContext *context, int64_t bytes) {
  Device &device = getDevice(context);
  void *memory = device.allocate(bytes, Device::Kind::Program);
  leaveIf(context, !memory && !failAllocation(device, bytes));
  return memory;
}

static bool callFree(Device &device, void *memory) {
  if (!memory)
    return true;
  if (!device.holds(memory, Device::Kind::Program))
    return device.fail(nullptr, "memory is freed that is not the device's");
  return device.check(device.release(memory), nullptr, "memory is freed");
}

static void freeMemory(TofuContext *context, void *memory) {
  leaveIf(context, !callFree(getDevice(context), memory));
}

static void *findGlobal(Device &device, const char *name, int64_t bytes,
                        int8_t *isNew) {
  auto &[memory, knownBytes] = device.globals[name];
  *isNew = !memory;
  if (memory && knownBytes != bytes) {
    device.fail(nullptr, std::string("global ") + name + " has " +
                             std::to_string(knownBytes) +
                             " bytes, is asked for with " +
                             std::to_string(bytes));
    return nullptr;
  }
  if (memory)
    return memory;
  if (!device.obstructCapture("there is a new global"))
    return nullptr;
  memory = device.allocate(bytes, Device::Kind::Global);
  knownBytes = bytes;
  if (!memory)
    failAllocation(device, bytes);
  return memory;
}

static void *getGlobal(TofuContext *context, const char *name, int64_t bytes,
                       int8_t *isNew) {
  void *memory = findGlobal(getDevice(context), name, bytes, isNew);
  leaveIf(context, !memory);
  return memory;
}

/// Ready for all streams: the copy is done when this returns.
static void *findConstant(Device &device, const void *host, int64_t bytes) {
  void *&memory = device.constants[host];
  if (memory)
    return memory;
  if (!device.obstructCapture("there is a new constant"))
    return nullptr;
  memory = device.allocate(bytes, Device::Kind::Constant);
  if (!memory && !failAllocation(device, bytes))
    return nullptr;
  cudaStream_t stream = device.streams[TOFU_COMPUTE];
  bool isCopied = device.staging.copyIn(
                      memory, host, bytes, stream,
                      device.makeProgress(nullptr, "a copy of a constant")) &&
                  device.waitFor(stream);
  return isCopied ? memory : nullptr;
}

static void *getConstant(TofuContext *context, const void *host,
                         int64_t bytes) {
  void *memory = findConstant(getDevice(context), host, bytes);
  leaveIf(context, !memory);
  return memory;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static TofuStream *getStream(TofuContext *context, int64_t kind) {
  Device &device = getDevice(context);
  bool isKnown = kind >= 0 && kind < TOFU_NUM_STREAMS;
  return reinterpret_cast<TofuStream *>(device.streams[isKnown ? kind : 0]);
}

static bool callRecord(Device &device, TofuStream *stream, int64_t event) {
  return device.order([=, &device] {
    return device.check(
        cudaEventRecord(device.getEvent(event), device.getStream(stream)),
        nullptr, "an event");
  });
}

static void recordEvent(TofuContext *context, TofuStream *stream,
                        int64_t event) {
  leaveIf(context, !callRecord(getDevice(context), stream, event));
}

static bool callWait(Device &device, TofuStream *stream, int64_t event) {
  return device.order([=, &device] {
    return device.check(cudaStreamWaitEvent(device.getStream(stream),
                                            device.getEvent(event), 0),
                        nullptr, "an event");
  });
}

static void waitForEvent(TofuContext *context, TofuStream *stream,
                         int64_t event) {
  leaveIf(context, !callWait(getDevice(context), stream, event));
}

static void synchronize(TofuContext *context) {
  leaveIf(context, !getDevice(context).synchronize());
}

/// Of a program, which is about to do with the memory what the runtime doesn't
/// know.
static void synchronizeProgram(TofuContext *context) {
  Device &device = getDevice(context);
  leaveIf(context,
          !device.obstruct(nullptr, "the program waits for the device") ||
              !device.synchronize());
}

static bool callBeginGroup(Device &device) {
  return device.order([&device] { return device.isGrouping = true; });
}

static void beginGroup(TofuContext *context, TofuStream *stream) {
  leaveIf(context, !callBeginGroup(getDevice(context)));
}

static bool runPending(Device &device, TofuStream *stream) {
  std::vector<cuda::PendingEven> pending = std::move(device.pending);
  device.pending.clear();
  device.isGrouping = false;
  return pending.empty() ||
         cuda::runEven(device, device.getStream(stream), pending);
}

static bool callEndGroup(Device &device, TofuStream *stream) {
  return device.order([=, &device] { return runPending(device, stream); });
}

static void endGroup(TofuContext *context, TofuStream *stream) {
  leaveIf(context, !callEndGroup(getDevice(context), stream));
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Tables of programs stay; `made` is one that is made for the call.
static bool callCollective(TofuContext *context, TofuStream *stream,
                           const int64_t *table, const char *location,
                           int64_t srcRank, const void *src, int64_t dstRank,
                           const void *dst,
                           std::shared_ptr<const void> made = nullptr) {
  Device &device = getDevice(context);
  if (std::max(srcRank, dstRank) > kMaxRank)
    return device.fail(location, "a tensor has too many dims");
  int64_t type = table[TOFU_COLLECTIVE_TYPE];
  bool isKnown = type >= 0 && type < TOFU_NUM_ELEMENT_TYPES;
  int64_t bytes = isKnown ? elementBytes(type) : 1;
  View from = View::ofMemref(srcRank, src, bytes),
       to = View::ofMemref(dstRank, dst, bytes);
  return device.orderCollective(location, [=, &device, made = std::move(made)] {
    device.moving = device.getStream(stream);
    return runCollective(*context, table, location, from, to,
                         cuda::getMover(device));
  });
}

static void collective(TofuContext *context, TofuStream *stream,
                       const int64_t *table, const char *location,
                       int64_t srcRank, void *src, int64_t dstRank, void *dst) {
  leaveIf(context, !callCollective(context, stream, table, location, srcRank,
                                   src, dstRank, dst));
}

static bool callOfSizes(TofuContext *context, TofuStream *stream,
                        const int64_t *table, const int64_t *sizes,
                        const char *location, int64_t srcRank, void *src,
                        int64_t dstRank, void *dst) {
  auto resolved = std::make_shared<const std::vector<int64_t>>(
      resolveSizes(*context, table, sizes, location));
  return !resolved->empty() &&
         callCollective(context, stream, resolved->data(), location, srcRank,
                        src, dstRank, dst, resolved);
}

static void collectiveOfSizes(TofuContext *context, TofuStream *stream,
                              const int64_t *table, const int64_t *sizes,
                              const char *location, int64_t srcRank, void *src,
                              int64_t dstRank, void *dst) {
  leaveIf(context, !callOfSizes(context, stream, table, sizes, location,
                                srcRank, src, dstRank, dst));
}

static bool moveEven(TofuContext *context, TofuStream *stream,
                     const int64_t *table, const char *location,
                     const void *src, void *dst) {
  Device &device = getDevice(context);
  std::vector<int64_t> expanded = expandEven(*context, table, location);
  if (expanded.empty())
    return false;
  Interval from = boxOfExpanded(expanded, context->device, false),
           to = boxOfExpanded(expanded, context->device, true);
  if (!device.shared->usesNccl) {
    device.moving = device.getStream(stream);
    auto makeView = [](const void *data, Interval box) {
      return View::ofBox(static_cast<char *>(const_cast<void *>(data)), {box});
    };
    return runCollective(*context, expanded.data(), location,
                         makeView(src, from), makeView(dst, to),
                         cuda::getMover(device));
  }
  Collective *known = findCollective(*context, expanded.data(), location);
  if (!known)
    return false;
  int64_t bytes = elementBytes(known->table.type);
  ++known->stats.calls;
  known->stats.receivedBytes += known->route.received * bytes;
  known->stats.dataBytes += std::max(from.size(), to.size()) * bytes;
  int64_t numWords = TOFU_EVEN_HEADER + 2 * table[TOFU_EVEN_DEVICES];
  device.pending.push_back({{table, table + numWords}, location, src, dst});
  return device.isGrouping || runPending(device, stream);
}

static bool callEven(TofuContext *context, TofuStream *stream,
                     const int64_t *table, const char *location,
                     const void *src, void *dst) {
  return getDevice(context).orderCollective(location, [=] {
    return moveEven(context, stream, table, location, src, dst);
  });
}

static void evenCollective(TofuContext *context, TofuStream *stream,
                           const int64_t *table, const char *location,
                           const void *src, void *dst) {
  leaveIf(context, !callEven(context, stream, table, location, src, dst));
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

static bool callContraction(TofuContext *context, TofuStream *stream,
                            const int64_t *table, const char *location,
                            const host::ContractionMemrefs &memrefs) {
  Device &device = getDevice(context);
  for (const Memref &memref : memrefs)
    if (memref.rank > kMaxRank)
      return device.fail(location, "a tensor has too many dims");
  cudaStream_t on = device.getStream(stream);
  return device.obstructStream(on, location) &&
         cuda::runContraction(device, on, table, location, memrefs);
}

static void contract(TofuContext *context, TofuStream *stream,
                     const int64_t *table, const char *location, int64_t aRank,
                     void *a, int64_t bRank, void *b, int64_t cRank, void *c) {
  bool isGood = callContraction(context, stream, table, location,
                                {{aRank, a}, {bRank, b}, {cRank, c}});
  leaveIf(context, !isGood);
}

static void contractWithEpilogue(TofuContext *context, TofuStream *stream,
                                 const int64_t *table, const char *location,
                                 int64_t aRank, void *a, int64_t bRank, void *b,
                                 int64_t cRank, void *c, int64_t biasRank,
                                 void *bias) {
  bool isGood =
      callContraction(context, stream, table, location,
                      {{aRank, a}, {bRank, b}, {cRank, c}, {biasRank, bias}});
  leaveIf(context, !isGood);
}

static bool callKernel(Device &device, TofuStream *stream,
                       const TofuKernel *kernel, const char *location,
                       const int64_t *shape, void **arguments) {
  if (kernel->version != TOFU_TABLE_VERSION)
    return device.fail(location, "a kernel is of another version of Tofu");
  if (!kernel->image)
    return device.fail(location, "a kernel is not compiled for GPUs");
  if (!(shape[0] * shape[1] * shape[2]))
    return true;
  if (device.repetition.isCapturing && !device.shared->kernels.has(kernel) &&
      !device.obstruct(location, "there is a new kernel"))
    return false;
  cudaStream_t on = device.getStream(stream);
  if (!device.obstructStream(on, location))
    return false;
  cudaError_t error;
  cudaKernel_t found = device.shared->kernels.find(kernel, error);
  if (!device.check(error, location, kernel->name))
    return false;
  auto makeDim = [](const int64_t *words) {
    return dim3(static_cast<unsigned>(words[0]),
                static_cast<unsigned>(words[1]),
                static_cast<unsigned>(words[2]));
  };
  return device.check(cudaLaunchKernel(reinterpret_cast<const void *>(found),
                                       makeDim(shape), makeDim(shape + 3),
                                       arguments, 0, on),
                      location, kernel->name);
}

static void launch(TofuContext *context, TofuStream *stream,
                   const TofuKernel *kernel, const char *location,
                   const int64_t *shape, void **arguments) {
  leaveIf(context, !callKernel(getDevice(context), stream, kernel, location,
                               shape, arguments));
}

static bool callRead(Device &device, TofuStream *stream, void *host,
                     const void *memory, int64_t bytes) {
  if (!bytes)
    return true;
  if (!device.obstruct(nullptr, "the program reads the device's memory"))
    return false;
  return device.staging.copyOut(
      host, memory, bytes, device.getStream(stream),
      device.makeProgress(nullptr, "a read by the host"));
}

static void read(TofuContext *context, TofuStream *stream, void *host,
                 const void *memory, int64_t bytes) {
  leaveIf(context, !callRead(getDevice(context), stream, host, memory, bytes));
}

static void write(TofuContext *context, TofuStream *stream, void *memory,
                  const void *host, int64_t bytes) {
  Device &device = getDevice(context);
  cudaStream_t on = device.getStream(stream);
  leaveIf(context,
          bytes && (!device.obstructStream(on, nullptr) ||
                    !device.copyFromHost(memory, host, bytes, on, nullptr,
                                         "a write by the host")));
}

//===----------------------------------------------------------------------===//
// What runners call
//===----------------------------------------------------------------------===//

/// Lets GPUs access each other's memory; says which can't.
static std::string connect(int gpus) {
  for (int gpu = 0; gpu < gpus; ++gpu)
    for (int other = 0; other < gpus; ++other) {
      if (gpu == other)
        continue;
      int canAccess = 0;
      cudaError_t asked = cudaDeviceCanAccessPeer(&canAccess, gpu, other);
      cudaMemPool_t pool = nullptr;
      cudaMemAccessDesc access = {};
      access.location.type = cudaMemLocationTypeDevice;
      access.location.id = gpu;
      access.flags = cudaMemAccessFlagsProtReadWrite;
      if (asked != cudaSuccess || !canAccess ||
          cudaDeviceGetDefaultMemPool(&pool, other) != cudaSuccess ||
          cudaMemPoolSetAccess(pool, &access, 1) != cudaSuccess)
        return "GPU " + std::to_string(gpu) +
               " can't access the memory of GPU " + std::to_string(other);
    }
  return {};
}

/// Counts the GPUs; the reason if none can be used.
static std::string countGpus(int &gpus) {
  const std::string none = "no GPU can be used: ";
  if (std::string error = cuda::checkDriver(); !error.empty())
    return none + error;
  cudaError_t status = cudaGetDeviceCount(&gpus);
  if (status != cudaSuccess)
    return none + cuda::describe(status);
  return gpus ? "" : none + "there is none";
}

/// The first ones of those, as many as asked for; the reason if there are
/// fewer.
static std::string limitGpus(int64_t wanted, int &gpus) {
  if (wanted > gpus)
    return std::to_string(wanted) + " GPUs are asked for, there " +
           (gpus == 1 ? "is 1" : "are " + std::to_string(gpus));
  if (wanted)
    gpus = static_cast<int>(wanted);
  return {};
}

/// A line on a GPU.
static std::string describe(int gpu) {
  cudaDeviceProp properties;
  cudaError_t status = cudaGetDeviceProperties(&properties, gpu);
  std::string line = "GPU " + std::to_string(gpu) + ": ";
  if (status != cudaSuccess)
    return line + cuda::describe(status) + "\n";
  return line + properties.name + ", sm_" + std::to_string(properties.major) +
         std::to_string(properties.minor) + ", " +
         std::to_string(properties.totalGlobalMem >> 20) + " MiB\n";
}

/// A line on the libraries, as they are found when they are loaded, and one on
/// what is wrong with them.
static std::string describeLibraries() {
  std::string line =
      "with " + cuda::describeLibraries() + ", " + cuda::describeCudnn() + "\n";
  std::string error = cuda::checkLibraries();
  return error.empty() ? line : line + "unusable: " + error + "\n";
}

static const char *listDevices(char *error, int64_t errorBytes) {
  static std::string text;
  int gpus = 0;
  if (std::string reason = countGpus(gpus); !reason.empty()) {
    std::snprintf(error, errorBytes, "%s", reason.c_str());
    return nullptr;
  }
  text.clear();
  for (int gpu = 0; gpu < gpus; ++gpu)
    text += describe(gpu);
  text += describeLibraries();
  return text.c_str();
}

static std::vector<Device *> getDevices(TofuWorld &world) {
  std::vector<Device *> devices;
  for (auto &context : world.contexts)
    if (context && context->extension)
      devices.push_back(&getDevice(context.get()));
  return devices;
}

static cuda::Shared &getShared(TofuWorld &world) {
  return *getDevices(world).front()->shared;
}

/// For new communicators: of all processes, the first one says what they are
/// known by. The reason if NCCL can't.
static std::string makeId(cuda::Shared &shared) {
  if (!shared.usesNccl || (shared.processes && shared.processes->rank() != 0))
    return {};
  ncclResult_t result = ncclGetUniqueId(&shared.id);
  return result == ncclSuccess
             ? ""
             : "an identifier of communicators: " + cuda::describe(result);
}

/// Devices of one process are spread over the GPUs that are there; the reason
/// if they can't be.
static std::string spread(int64_t devices, int gpus, cuda::Shared &shared) {
  gpus = static_cast<int>(std::min<int64_t>(gpus, devices));
  std::string unreachable = connect(gpus);
  shared.usesNccl = devices > 1 && gpus == devices;
  shared.reachesPeers = unreachable.empty();
  if (shared.reachesPeers || shared.usesNccl)
    return {};
  return unreachable + ", and NCCL takes one device for each GPU: there are " +
         std::to_string(devices) + " for " + std::to_string(gpus);
}

/// A process has the GPU of its number on the machine. Launchers may show it
/// none but that one.
static std::string spreadProcesses(const Processes &processes, int gpus,
                                   cuda::Shared &shared) {
  shared.usesNccl = true;
  int local = processes.numLocal();
  if (gpus == 1 || local <= gpus)
    return {};
  return "there are " + std::to_string(local) +
         " processes on a machine with " + std::to_string(gpus) +
         " GPUs, and NCCL takes one for each GPU";
}

/// Opens the devices of this process; the reason if that fails.
static std::string open(TofuWorld &world, int64_t wantedGpus,
                        std::shared_ptr<cuda::Shared> shared) {
  int gpus = 0;
  if (std::string error = cuda::checkLibraries(); !error.empty())
    return error;
  if (std::string error = countGpus(gpus); !error.empty())
    return error;
  if (std::string error = limitGpus(wantedGpus, gpus); !error.empty())
    return error;
  const Processes *processes = shared->processes.get();
  std::string error = processes ? spreadProcesses(*processes, gpus, *shared)
                                : spread(world.numDevices(), gpus, *shared);
  // Runs get identifiers of their own; that there is one says that NCCL works.
  if (error.empty())
    error = makeId(*shared);
  for (auto &context : world.contexts) {
    if (!error.empty() || !context)
      continue;
    int64_t number = processes ? processes->localRank() : context->device;
    auto device = std::make_shared<Device>(
        context.get(), static_cast<int>(number % gpus), shared);
    context->extension = device;
    device->open(error);
  }
  return error;
}

/// The world without GPUs; null with the reason if that fails.
static TofuWorld *makeWorld(const TofuWorldOptions &options,
                            const Processes *processes, char *error,
                            int64_t errorBytes) {
  if (!processes) {
    TofuWorldOptions ofHost = options;
    ofHost.numGpus = 0;
    return getHostBackend().createWorld(&ofHost, error, errorBytes);
  }
  int count = processes->numProcesses();
  if (count != options.numDevices) {
    std::string devices = std::to_string(options.numDevices);
    std::snprintf(error, errorBytes,
                  "there %s %d process%s, and the number of devices is %s: "
                  "start %s processes, or one without a launcher",
                  count == 1 ? "is" : "are", count, count == 1 ? "" : "es",
                  devices.c_str(), devices.c_str());
    return nullptr;
  }
  auto world = std::make_unique<TofuWorld>(options, processes->rank());
  if (world->start())
    return world.release();
  std::snprintf(error, errorBytes, "no thread for the device");
  return nullptr;
}

static TofuWorld *createWorld(const TofuWorldOptions *options, char *error,
                              int64_t errorBytes) {
  auto shared = std::make_shared<cuda::Shared>();
  std::string reason =
      cuda::findProcesses(options->timeoutSeconds, shared->processes);
  std::snprintf(error, errorBytes, "%s", reason.c_str());
  Processes *processes = shared->processes.get();
  TofuWorld *world = nullptr;
  if (reason.empty())
    world = makeWorld(*options, processes, error, errorBytes);
  reason = world ? open(*world, options->numGpus, shared) : error;
  if (processes)
    reason = processes->findFirst(reason);
  if (reason.empty()) {
    if (processes)
      processes->broadcast(&shared->id, sizeof(shared->id));
    return world;
  }
  // All say the same.
  bool isSilent = processes && processes->isSilent();
  std::snprintf(error, errorBytes, "%s", isSilent ? "" : reason.c_str());
  if (world)
    getHostBackend().destroyWorld(world);
  return nullptr;
}

namespace {

struct Body {
  TofuBody body;
  void *user;
};

} // namespace

/// Owns nothing, as a failure leaves by longjmp.
static void runBody(TofuContext *context, int64_t number, void *user) {
  Device &device = getDevice(context);
  leaveIf(context, !device.check(device.select(), nullptr, "the GPU") ||
                       !device.openCommunicator());
  auto *body = static_cast<Body *>(user);
  body->body(context, number, body->user);
  leaveIf(context, !device.synchronize());
}

/// What a failed run leaves: collectives that never end, and globals that some
/// devices may have changed and others not. All devices make new communicators.
static void cleanUp(TofuWorld &world) {
  for (Device *device : getDevices(world)) {
    device->selectToFree();
    device->abortCommunicators();
    device->releaseAll(Device::Kind::Global);
    device->globals.clear();
  }
  // The run has its message: if NCCL can't, the next one says so.
  cuda::Shared &shared = getShared(world);
  shared.idError = makeId(shared);
  if (!shared.processes)
    return;
  shared.idError = shared.processes->findFirst(shared.idError);
  shared.processes->broadcast(&shared.id, sizeof(shared.id));
}

/// Devices replay runs only if all of them can.
static void agreeOnObstacles(TofuWorld &world) {
  std::string obstacle;
  for (Device *device : getDevices(world))
    if (obstacle.empty())
      obstacle = device->repetition.obstacle;
  cuda::Shared &shared = getShared(world);
  if (shared.processes)
    obstacle = shared.processes->findFirst(obstacle);
  if (obstacle.empty())
    return;
  for (Device *device : getDevices(world))
    device->repetition.obstacle = obstacle;
  shared.notice = "runs are not replayed as a graph of CUDA: " + obstacle;
}

static TofuStatus run(TofuWorld *world, TofuBody body, void *user) {
  for (Device *device : getDevices(*world)) {
    device->pending.clear();
    device->isGrouping = false;
    device->lastLocation = nullptr;
  }
  // A device that never comes back still has it.
  auto both = std::make_unique<Body>(Body{body, user});
  TofuStatus status = getHostBackend().run(world, runBody, both.get());
  if (status == TOFU_STUCK)
    both.release();
  if (Processes *processes = getShared(*world).processes.get())
    status = processes->agree(world->error, status);
  if (status == TOFU_FAILED)
    cleanUp(*world);
  else if (status == TOFU_OK)
    agreeOnObstacles(*world);
  return status;
}

static int8_t bring(TofuWorld *world, int64_t device, void *memory,
                    int64_t bytes, char *error, int64_t errorBytes) {
  Processes *processes = getShared(*world).processes.get();
  std::string reason =
      processes ? processes->bring(device, memory, bytes, world->timeout())
                : "";
  std::snprintf(error, errorBytes, "%s", reason.c_str());
  return reason.empty();
}

static void capture(TofuContext *context, TofuBody body, void *user) {
  Device &device = getDevice(context);
  leaveIf(context, !device.beginCapture());
  body(context, context->device, user);
  if (device.endCapture())
    leaveIf(context, !device.doCaptured());
  else
    body(context, context->device, user);
}

/// Owns nothing, as a failure leaves by longjmp.
static void repeat(TofuContext *context, TofuBody body, void *user) {
  Device &device = getDevice(context);
  bool isFirst = device.repetition.runs++ == 0;
  if (isFirst)
    device.repetition.writtenBytes = 0;
  if (isFirst || !device.repetition.obstacle.empty())
    body(context, context->device, user);
  else if (!device.repetition.isReady)
    capture(context, body, user);
  else
    leaveIf(context, !device.replay());
}

static const char *getNotice(TofuWorld *world) {
  return getShared(*world).notice.c_str();
}

/// The devices of a process finalize together, once no graph needs their
/// communicators any more.
static void destroyWorld(TofuWorld *world) {
  for (auto end : {&Device::dropGraphs, &Device::finalizeCommunicators,
                   &Device::destroyCommunicators})
    for (Device *device : getDevices(*world)) {
      device->selectToFree();
      (device->*end)();
    }
  getHostBackend().destroyWorld(world);
}

static void *allocateInput(TofuContext *context, int64_t bytes) {
  Device &device = getDevice(context);
  if (device.select() != cudaSuccess)
    return nullptr;
  void *memory = device.allocate(bytes, Device::Kind::Input);
  if (!memory ||
      cudaStreamSynchronize(device.streams[TOFU_COMPUTE]) == cudaSuccess)
    return memory;
  (void)device.release(memory);
  return nullptr;
}

static void releaseInput(TofuContext *context, void *memory) {
  Device &device = getDevice(context);
  device.selectToFree();
  if (device.holds(memory, Device::Kind::Input))
    (void)device.release(memory);
}

/// Of copies between runs, when devices wait for no others.
static cuda::CopyProgress makeProgress(Device &device, const char *what) {
  auto check = [&device, what](cudaError_t error) {
    return device.check(error, nullptr, what);
  };
  return {check, [check](cudaEvent_t event) {
            return check(cudaEventSynchronize(event));
          }};
}

static int8_t copyIn(TofuContext *context, void *memory, const void *host,
                     int64_t bytes) {
  Device &device = getDevice(context);
  cuda::CopyProgress progress = makeProgress(device, "a copy to the device");
  return progress.check(device.select()) &&
         device.staging.copyIn(memory, host, bytes,
                               device.streams[TOFU_COMPUTE], progress) &&
         device.staging.wait(progress);
}

static int8_t copyOut(TofuContext *context, void *host, const void *memory,
                      int64_t bytes) {
  Device &device = getDevice(context);
  cuda::CopyProgress progress = makeProgress(device, "a copy to the host");
  return progress.check(device.select()) &&
         device.staging.copyOut(host, memory, bytes,
                                device.streams[TOFU_COMPUTE], progress);
}

static int8_t packOut(TofuContext *context, void *host, const void *memory,
                      int64_t elementBytes, int64_t rank, const int64_t *sizes,
                      const int64_t *strides) {
  Device &device = getDevice(context);
  if (rank > kMaxRank)
    return device.fail(nullptr, "a tensor has too many dims");
  cuda::Copy copy = cuda::makeCopy(View::packed(host, rank, sizes),
                                   View::strided(memory, rank, sizes, strides));
  if (cuda::isContiguous(copy.region))
    return copyOut(context, host, memory, copy.region.volume * elementBytes);
  cuda::CopyProgress progress = makeProgress(device, "a copy to the host");
  return progress.check(device.select()) &&
         device.staging.packOut(copy, elementBytes,
                                device.streams[TOFU_COMPUTE], progress);
}

static void reset(TofuContext *context) {
  Device &device = getDevice(context);
  device.selectToFree();
  device.releaseAll(Device::Kind::Program);
}

static void resetStats(TofuContext *context) {
  getHostBackend().resetStats(context);
  Device &device = getDevice(context);
  device.peakProgram = device.getProgramBytes();
  device.peak = device.peakProgram + device.getBytes(Device::Kind::Input);
  device.peakScratch = device.scratchBytes;
}

static void getMemoryStats(TofuContext *context, TofuMemoryStats *stats) {
  Device &device = getDevice(context);
  *stats = {};
  stats->inputBytes = device.getBytes(Device::Kind::Input);
  stats->programBytes = device.getProgramBytes();
  stats->peakProgramBytes = device.peakProgram;
  stats->peakBytes = device.peak;
  stats->scratchBytes = cuda::kWorkspaceBytes + device.peakScratch;
}

static TofuBackend makeBackend() {
  static const std::vector<TofuSymbol> symbols = replaceSymbols({
      makeSymbol("tofuAlloc", alloc),
      makeSymbol("tofuFree", freeMemory),
      makeSymbol("tofuGlobal", getGlobal),
      makeSymbol("tofuConstant", getConstant),
      makeSymbol("tofuStream", getStream),
      makeSymbol("tofuRecord", recordEvent),
      makeSymbol("tofuWait", waitForEvent),
      makeSymbol("tofuSynchronize", synchronizeProgram),
      makeSymbol("tofuGroupBegin", beginGroup),
      makeSymbol("tofuGroupEnd", endGroup),
      makeSymbol("tofuCollective", collective),
      makeSymbol("tofuCollectiveOfSizes", collectiveOfSizes),
      makeSymbol("tofuEvenCollective", evenCollective),
      makeSymbol("tofuContract", contract),
      makeSymbol("tofuContractWithEpilogue", contractWithEpilogue),
      makeSymbol("tofuLaunch", launch),
      makeSymbol("tofuRead", read),
      makeSymbol("tofuWrite", write),
  });
  TofuBackend backend = getHostBackend();
  backend.name = "cuda";
  backend.form = TOFU_DEVICE_KERNELS;
  backend.symbols = symbols.data();
  backend.createWorld = createWorld;
  backend.destroyWorld = destroyWorld;
  backend.run = run;
  backend.allocate = allocateInput;
  backend.release = releaseInput;
  backend.copyIn = copyIn;
  backend.copyOut = copyOut;
  backend.packOut = packOut;
  backend.synchronize = synchronize;
  backend.reset = reset;
  backend.resetStats = resetStats;
  backend.memoryStats = getMemoryStats;
  backend.listDevices = listDevices;
  backend.bring = bring;
  backend.repeat = repeat;
  backend.notice = getNotice;
  return backend;
}

const TofuBackend *tofuGetBackend(void) {
  static const TofuBackend backend = makeBackend();
  return &backend;
}
