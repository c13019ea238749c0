//===- Backend.cpp - The C interfaces of the recording backend ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host backend, with streams between the program and the work. As there, a
// failure leaves from the outermost frame of a call, which holds nothing with a
// destructor: functions below return false when the device must leave.
//
//===----------------------------------------------------------------------===//

// The library hides its symbols, but for what this declares.
#pragma GCC visibility push(default)
#include "Tofu/Runtime/Backend.h"
#pragma GCC visibility pop

#include "Device.h"
#include "World.h"

#include <cstring>

using namespace mlir::tofu;
using namespace mlir::tofu::host;
using namespace mlir::tofu::recording;

static Device &getDevice(TofuContext *context) {
  return *static_cast<Device *>(context->extension.get());
}

/// What memory holds that nobody has written to: NaN in floats of all widths.
static constexpr int kGarbage = 0xff;

static void fill(void *memory, int64_t bytes) {
  if (bytes)
    std::memset(memory, kGarbage, bytes);
}

static void leaveIf(TofuContext *context, bool fails) {
  if (fails || context->world->isAborted())
    leave(context);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Lets the memory be there once the compute stream has come so far.
static bool beginBlock(TofuContext *context, void *memory, int64_t bytes,
                       Device::Kind kind, const char *call) {
  Device &device = getDevice(context);
  device.addBlock(memory, bytes, kind);
  device.note({call, TOFU_COMPUTE, {}, nullptr, bytes});
  return device.enqueue(TOFU_COMPUTE, {"an allocation", nullptr},
                        {{memory, false, true}}, [memory, bytes] {
                          fill(memory, bytes);
                          return true;
                        });
}

static void *alloc(TofuContext *context, int64_t bytes) {
  void *memory = tofuAlloc(context, bytes);
  leaveIf(context,
          !beginBlock(context, memory, bytes, Device::Kind::Program, "alloc"));
  return memory;
}

static bool endBlock(TofuContext *context, void *memory) {
  Device &device = getDevice(context);
  int64_t bytes = device.free(memory);
  if (bytes < 0)
    return false;
  device.note({"free", TOFU_COMPUTE, {}, nullptr, bytes});
  return device.enqueue(TOFU_COMPUTE, {}, {}, [context, memory, bytes] {
    fill(memory, bytes);
    return context->memory.release(memory);
  });
}

static void freeMemory(TofuContext *context, void *memory) {
  leaveIf(context, memory && !endBlock(context, memory));
}

static void *getGlobal(TofuContext *context, const char *name, int64_t bytes,
                       int8_t *isNew) {
  void *memory = tofuGlobal(context, name, bytes, isNew);
  leaveIf(context, *isNew && !beginBlock(context, memory, bytes,
                                         Device::Kind::Global, "global"));
  return memory;
}

static void *getConstant(TofuContext *context, const void *host,
                         int64_t bytes) {
  getDevice(context).addBlock(host, bytes, Device::Kind::Constant);
  return tofuConstant(context, host, bytes);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static TofuStream *getStream(TofuContext *context, int64_t kind) {
  return getDevice(context).getHandle(kind);
}

static void recordEvent(TofuContext *context, TofuStream *stream,
                        int64_t event) {
  Device &device = getDevice(context);
  int number = device.getStream(stream);
  device.record(number, event);
  device.note({"record", number, {}, nullptr, -1, event});
}

static void waitForEvent(TofuContext *context, TofuStream *stream,
                         int64_t event) {
  Device &device = getDevice(context);
  int number = device.getStream(stream);
  device.wait(number, event);
  device.note({"wait", number, {}, nullptr, -1, event});
}

static void synchronize(TofuContext *context) {
  getDevice(context).note({"synchronize", -1});
  leaveIf(context, !getDevice(context).synchronizeAll());
}

static void beginGroup(TofuContext *context, TofuStream *stream) {
  Device &device = getDevice(context);
  int number = device.getStream(stream);
  device.note({"group_begin", number});
  leaveIf(context, !device.beginGroup(number));
}

static void endGroup(TofuContext *context, TofuStream *stream) {
  Device &device = getDevice(context);
  device.note({"group_end", device.getStream(stream)});
  leaveIf(context, !device.endGroup());
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// False, with the device failed, if the fixed part of a table makes no sense.
static bool checkHeader(TofuContext *context, const int64_t *words,
                        const char *location) {
  Table table;
  std::string error;
  if (table.readHeader(words, context->world->numDevices(), error))
    return true;
  context->world->fail(context->device, location, error);
  return false;
}

/// Queues a collective with a copy of its table, whose fixed part is sound.
static bool enqueueCollective(TofuContext *context, TofuStream *stream,
                              const int64_t *words, const char *location,
                              const View &src, const View &dst) {
  Device &device = getDevice(context);
  std::vector<Use> uses;
  if (src.volume())
    uses.push_back({src.data, true, false});
  if (dst.volume())
    uses.push_back({dst.data, false, true});
  int number = device.getStream(stream);
  const char *kind = kindName(words[TOFU_COLLECTIVE_KIND]);
  int64_t bytes = std::max(src.volume(), dst.volume()) *
                  elementBytes(words[TOFU_COLLECTIVE_TYPE]);
  device.note({kind, number, {}, location, bytes});
  std::vector<int64_t> table(words, words + Table::numWords(words));
  return device.enqueue(
      number, {kind, location}, uses, [=, table = std::move(table)] {
        return runCollective(*context, table.data(), location, src, dst,
                             *context->world->mover);
      });
}

static bool callCollective(TofuContext *context, TofuStream *stream,
                           const int64_t *table, const char *location,
                           int64_t srcRank, void *src, int64_t dstRank,
                           void *dst) {
  if (!checkHeader(context, table, location))
    return false;
  if (std::max(srcRank, dstRank) > kMaxRank) {
    context->world->fail(context->device, location,
                         "a tensor has too many dims");
    return false;
  }
  int64_t bytes = elementBytes(table[TOFU_COLLECTIVE_TYPE]);
  return enqueueCollective(context, stream, table, location,
                           View::ofMemref(srcRank, src, bytes),
                           View::ofMemref(dstRank, dst, bytes));
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
  std::vector<int64_t> resolved =
      resolveSizes(*context, table, sizes, location);
  return !resolved.empty() &&
         callCollective(context, stream, resolved.data(), location, srcRank,
                        src, dstRank, dst);
}

static void collectiveOfSizes(TofuContext *context, TofuStream *stream,
                              const int64_t *table, const int64_t *sizes,
                              const char *location, int64_t srcRank, void *src,
                              int64_t dstRank, void *dst) {
  leaveIf(context, !callOfSizes(context, stream, table, sizes, location,
                                srcRank, src, dstRank, dst));
}

static bool callEven(TofuContext *context, TofuStream *stream,
                     const int64_t *table, const char *location,
                     const void *src, void *dst) {
  std::vector<int64_t> expanded = expandEven(*context, table, location);
  if (expanded.empty() || !checkHeader(context, expanded.data(), location))
    return false;
  auto makeView = [&](const void *data, bool isDestination) {
    Interval box = boxOfExpanded(expanded, context->device, isDestination);
    return View::ofBox(static_cast<char *>(const_cast<void *>(data)), {box});
  };
  return enqueueCollective(context, stream, expanded.data(), location,
                           makeView(src, false), makeView(dst, true));
}

static void evenCollective(TofuContext *context, TofuStream *stream,
                           const int64_t *table, const char *location,
                           const void *src, void *dst) {
  leaveIf(context, !callEven(context, stream, table, location, src, dst));
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

/// Queues a contraction with copies of the descriptors.
static bool enqueueContraction(TofuContext *context, TofuStream *stream,
                               const int64_t *table, const char *location,
                               const ContractionMemrefs &memrefs) {
  std::vector<std::vector<int64_t>> words;
  std::vector<Use> uses;
  for (size_t i = 0; i < memrefs.size(); ++i) {
    const auto *descriptor =
        static_cast<const int64_t *>(memrefs[i].descriptor);
    words.emplace_back();
    if (!descriptor)
      continue;
    if (memrefs[i].rank > kMaxRank) {
      context->world->fail(context->device, location,
                           "a tensor has too many dims");
      return false;
    }
    words.back().assign(descriptor, descriptor + 3 + 2 * memrefs[i].rank);
    bool isOutput = i == 2;
    View view = View::ofMemref(memrefs[i].rank, descriptor, 1);
    if (view.volume())
      uses.push_back({reinterpret_cast<const void *>(descriptor[1]),
                      !isOutput || table[TOFU_CONTRACT_ACCUMULATE] != 0,
                      isOutput});
  }
  Device &device = getDevice(context);
  int number = device.getStream(stream);
  device.note({"contract", number, {}, location});
  return device.enqueue(number, {"a contraction", location}, uses, [=] {
    ContractionMemrefs copies = memrefs;
    for (size_t i = 0; i < copies.size(); ++i)
      copies[i].descriptor = words[i].empty() ? nullptr : words[i].data();
    return runContraction(*context, table, location, copies);
  });
}

static void contract(TofuContext *context, TofuStream *stream,
                     const int64_t *table, const char *location, int64_t aRank,
                     void *a, int64_t bRank, void *b, int64_t cRank, void *c) {
  bool isGood = enqueueContraction(context, stream, table, location,
                                   {{aRank, a}, {bRank, b}, {cRank, c}});
  leaveIf(context, !isGood);
}

static void contractWithEpilogue(TofuContext *context, TofuStream *stream,
                                 const int64_t *table, const char *location,
                                 int64_t aRank, void *a, int64_t bRank, void *b,
                                 int64_t cRank, void *c, int64_t biasRank,
                                 void *bias) {
  bool isGood = enqueueContraction(
      context, stream, table, location,
      {{aRank, a}, {bRank, b}, {cRank, c}, {biasRank, bias}});
  leaveIf(context, !isGood);
}

namespace {

/// A launch that may come later than its call.
struct Launch {
  Launch(const TofuKernel *kernel, const int64_t *shape, void **arguments)
      : kernel(kernel), shape(shape, shape + 6) {
    for (int64_t i = 0; i < kernel->numArguments; ++i) {
      Value value = {};
      std::memcpy(value.bytes, arguments[i],
                  std::min<int64_t>(kernel->arguments[2 * i], sizeof(value)));
      values.push_back(value);
    }
  }

  void run() {
    std::vector<void *> &addresses = passed;
    addresses.clear();
    for (Value &value : values)
      addresses.push_back(value.bytes);
    kernel->onHost(addresses.data(), shape.data());
  }

  /// Of any type that kernels take, complex<f64> being the largest.
  struct alignas(16) Value {
    char bytes[16];
  };
  const TofuKernel *kernel;
  std::vector<int64_t> shape;
  std::vector<Value> values;
  /// Not in a frame, as a division by zero leaves these.
  std::vector<void *> passed;
};

} // namespace

static bool enqueueLaunch(TofuContext *context, TofuStream *stream,
                          const TofuKernel *kernel, const char *location,
                          const int64_t *shape, void **arguments) {
  const char *fault = kernel->version != TOFU_TABLE_VERSION
                          ? "a kernel is of another version of Tofu"
                      : !kernel->onHost
                          ? "a kernel is not compiled for the host"
                          : nullptr;
  if (fault) {
    context->world->fail(context->device, location, fault);
    return false;
  }
  std::vector<Use> uses;
  bool runs = shape[0] * shape[1] * shape[2] > 0;
  for (int64_t i = 0; i < kernel->numArguments && runs; ++i) {
    int64_t access = kernel->arguments[2 * i + 1];
    if (!access)
      continue;
    void *memory;
    std::memcpy(&memory, arguments[i], sizeof(memory));
    uses.push_back(
        {memory, (access & TOFU_READS) != 0, (access & TOFU_WRITES) != 0});
  }
  Device &device = getDevice(context);
  int number = device.getStream(stream);
  Entry entry = {"launch", number, kernel->name, location};
  entry.shape.assign(shape, shape + 6);
  device.note(std::move(entry));
  auto launch = std::make_shared<Launch>(kernel, shape, arguments);
  return device.enqueue(number,
                        {std::string("kernel ") + kernel->name, location}, uses,
                        [launch] {
                          launch->run();
                          return true;
                        });
}

static void launch(TofuContext *context, TofuStream *stream,
                   const TofuKernel *kernel, const char *location,
                   const int64_t *shape, void **arguments) {
  leaveIf(context,
          !enqueueLaunch(context, stream, kernel, location, shape, arguments));
}

static bool readNow(TofuContext *context, TofuStream *stream, void *host,
                    const void *memory, int64_t bytes) {
  Device &device = getDevice(context);
  int number = device.getStream(stream);
  device.note({"read", number, {}, nullptr, bytes});
  auto copy = [=] {
    std::memcpy(host, memory, bytes);
    return true;
  };
  if (!bytes)
    return true;
  bool isQueued = device.enqueue(number, {"a read by the host", nullptr},
                                 {{memory, true, false}}, copy);
  // Nothing is left here that a division by zero would not come back to.
  return isQueued && device.synchronize(number);
}

static void read(TofuContext *context, TofuStream *stream, void *host,
                 const void *memory, int64_t bytes) {
  leaveIf(context, !readNow(context, stream, host, memory, bytes));
}

static bool enqueueWrite(TofuContext *context, TofuStream *stream, void *memory,
                         const void *host, int64_t bytes) {
  Device &device = getDevice(context);
  int number = device.getStream(stream);
  device.note({"write", number, {}, nullptr, bytes});
  const auto *from = static_cast<const char *>(host);
  std::vector<char> copy(from, from + bytes);
  return !bytes ||
         device.enqueue(number, {"a write by the host", nullptr},
                        {{memory, false, true}},
                        [memory, copy = std::move(copy)] {
                          std::memcpy(memory, copy.data(), copy.size());
                          return true;
                        });
}

static void write(TofuContext *context, TofuStream *stream, void *memory,
                  const void *host, int64_t bytes) {
  leaveIf(context, !enqueueWrite(context, stream, memory, host, bytes));
}

//===----------------------------------------------------------------------===//
// What runners call
//===----------------------------------------------------------------------===//

static TofuWorld *createWorld(const TofuWorldOptions *options, char *error,
                              int64_t errorBytes) {
  TofuWorld *world = getHostBackend().createWorld(options, error, errorBytes);
  if (!world)
    return nullptr;
  for (auto &context : world->contexts)
    context->extension = std::make_shared<Device>(context.get());
  return world;
}

namespace {

struct Body {
  TofuBody body;
  void *user;
};

} // namespace

/// Owns nothing, as a failure leaves by longjmp.
static void runBody(TofuContext *context, int64_t device, void *user) {
  auto *body = static_cast<Body *>(user);
  body->body(context, device, body->user);
  leaveIf(context, !getDevice(context).synchronizeAll());
}

static TofuStatus run(TofuWorld *world, TofuBody body, void *user) {
  for (auto &context : world->contexts)
    getDevice(context.get()).restart();
  // A device that never comes back still has it.
  auto both = std::make_unique<Body>(Body{body, user});
  TofuStatus status = getHostBackend().run(world, runBody, both.get());
  if (status == TOFU_STUCK)
    both.release();
  if (status != TOFU_OK)
    for (auto &context : world->contexts)
      getDevice(context.get()).removeBlocks(Device::Kind::Global);
  return status;
}

static void *allocateInput(TofuContext *context, int64_t bytes) {
  void *memory = getHostBackend().allocate(context, bytes);
  if (memory)
    getDevice(context).addBlock(memory, bytes, Device::Kind::Input);
  return memory;
}

static void releaseInput(TofuContext *context, void *memory) {
  getDevice(context).removeBlock(memory);
  getHostBackend().release(context, memory);
}

static void reset(TofuContext *context) {
  getDevice(context).removeBlocks(Device::Kind::Program);
  getHostBackend().reset(context);
}

static void resetStats(TofuContext *context) {
  getHostBackend().resetStats(context);
  getDevice(context).resetPeak();
}

static void getMemoryStats(TofuContext *context, TofuMemoryStats *stats) {
  getHostBackend().memoryStats(context, stats);
  const Device &device = getDevice(context);
  stats->programBytes = device.getProgramBytes();
  stats->peakProgramBytes = device.getPeakBytes();
  stats->peakBytes = stats->inputBytes + device.getPeakBytes();
}

static const char *getRecord(TofuWorld *world) {
  static thread_local std::string text;
  std::vector<const Device *> devices;
  for (auto &context : world->contexts)
    devices.push_back(&getDevice(context.get()));
  text = toJson(devices);
  return text.c_str();
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
      makeSymbol("tofuSynchronize", synchronize),
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
  backend.name = "recording";
  backend.form = TOFU_HOST_KERNELS;
  backend.symbols = symbols.data();
  backend.createWorld = createWorld;
  backend.run = run;
  backend.allocate = allocateInput;
  backend.release = releaseInput;
  backend.synchronize = synchronize;
  backend.reset = reset;
  backend.resetStats = resetStats;
  backend.memoryStats = getMemoryStats;
  backend.record = getRecord;
  return backend;
}

const TofuBackend *tofuGetBackend(void) {
  static const TofuBackend backend = makeBackend();
  return &backend;
}
