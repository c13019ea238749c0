//===- Backend.cpp - The C interfaces of the host backend -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The library hides its symbols, but for what these declare.
#pragma GCC visibility push(default)
#include "Tofu/Runtime/Backend.h"
#include "Tofu/Runtime/Runtime.h"
#pragma GCC visibility pop

#include "World.h"

#include "Tofu/Runtime/Half.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

//===----------------------------------------------------------------------===//
// What programs call. A failure leaves from these frames, which by then hold
// nothing with a destructor.
//===----------------------------------------------------------------------===//

/// Largest number of devices; a rendezvous counts in 12 bits.
static constexpr int64_t kMaxDevices = 1024;

static void failAllocation(TofuContext *context, int64_t bytes) {
  context->world->fail(
      context->device, nullptr,
      "no memory for " + std::to_string(bytes) + " bytes beside the " +
          std::to_string(context->memory.bytesInUse()) + " in use");
}

static void failRank(TofuContext *context, const char *location) {
  context->world->fail(context->device, location,
                       "a tensor has more than " + std::to_string(kMaxRank) +
                           " dims");
}

void *tofuAlloc(TofuContext *context, int64_t bytes) {
  if (context->world->isAborted())
    leave(context);
  void *memory = context->memory.allocate(bytes, Memory::Kind::Program);
  if (memory)
    return memory;
  failAllocation(context, bytes);
  leave(context);
}

void tofuFree(TofuContext *context, void *memory) {
  if (!memory || context->memory.release(memory))
    return;
  context->world->fail(context->device, nullptr,
                       "memory is freed that is not the device's");
  leave(context);
}

static void *getGlobal(TofuContext *context, const char *name, int64_t bytes,
                       int8_t *isNew) {
  const Memory::Global *known = context->memory.findGlobal(name);
  *isNew = !known;
  if (known && known->bytes == bytes)
    return known->memory;
  if (known) {
    context->world->fail(
        context->device, nullptr,
        std::string("global ") + name + " has " + std::to_string(known->bytes) +
            " bytes, is asked for with " + std::to_string(bytes));
    return nullptr;
  }
  void *memory = context->memory.makeGlobal(name, bytes);
  if (!memory)
    failAllocation(context, bytes);
  return memory;
}

void *tofuGlobal(TofuContext *context, const char *name, int64_t bytes,
                 int8_t *isNew) {
  if (context->world->isAborted())
    leave(context);
  void *memory = getGlobal(context, name, bytes, isNew);
  if (!memory)
    leave(context);
  return memory;
}

int64_t tofuDeviceId(TofuContext *context) { return context->device; }

/// All work is done when a call returns, so there is one stream.
TofuStream *tofuStream(TofuContext *context, int64_t kind) { return nullptr; }

void tofuRecord(TofuContext *context, TofuStream *stream, int64_t event) {}

void tofuWait(TofuContext *context, TofuStream *stream, int64_t event) {}

void tofuSynchronize(TofuContext *context) {}

void tofuGroupBegin(TofuContext *context, TofuStream *stream) {}

void tofuGroupEnd(TofuContext *context, TofuStream *stream) {}

static bool callCollective(TofuContext *context, const int64_t *table,
                           const char *location, int64_t srcRank, void *src,
                           int64_t dstRank, void *dst) {
  if (std::max(srcRank, dstRank) > kMaxRank) {
    failRank(context, location);
    return false;
  }
  int64_t type = table[TOFU_COLLECTIVE_TYPE];
  bool isKnown = type >= 0 && type < TOFU_NUM_ELEMENT_TYPES;
  int64_t bytes = isKnown ? elementBytes(type) : 1;
  return runCollective(
      *context, table, location, View::ofMemref(srcRank, src, bytes),
      View::ofMemref(dstRank, dst, bytes), *context->world->mover);
}

void tofuCollective(TofuContext *context, TofuStream *stream,
                    const int64_t *table, const char *location, int64_t srcRank,
                    void *src, int64_t dstRank, void *dst) {
  if (!callCollective(context, table, location, srcRank, src, dstRank, dst))
    leave(context);
}

static bool callCollective(TofuContext *context, const int64_t *table,
                           const int64_t *sizes, const char *location,
                           int64_t srcRank, void *src, int64_t dstRank,
                           void *dst) {
  std::vector<int64_t> resolved =
      resolveSizes(*context, table, sizes, location);
  return !resolved.empty() && callCollective(context, resolved.data(), location,
                                             srcRank, src, dstRank, dst);
}

void tofuCollectiveOfSizes(TofuContext *context, TofuStream *stream,
                           const int64_t *table, const int64_t *sizes,
                           const char *location, int64_t srcRank, void *src,
                           int64_t dstRank, void *dst) {
  if (!callCollective(context, table, sizes, location, srcRank, src, dstRank,
                      dst))
    leave(context);
}

static bool callEven(TofuContext *context, const int64_t *table,
                     const char *location, const void *src, void *dst) {
  std::vector<int64_t> expanded = expandEven(*context, table, location);
  if (expanded.empty())
    return false;
  auto makeView = [&](const void *data, bool isDestination) {
    Interval box = boxOfExpanded(expanded, context->device, isDestination);
    return View::ofBox(static_cast<char *>(const_cast<void *>(data)), {box});
  };
  return runCollective(*context, expanded.data(), location,
                       makeView(src, false), makeView(dst, true),
                       *context->world->mover);
}

void tofuEvenCollective(TofuContext *context, TofuStream *stream,
                        const int64_t *table, const char *location,
                        const void *src, void *dst) {
  if (!callEven(context, table, location, src, dst))
    leave(context);
}

int64_t tofuShardOffset(TofuContext *context, const int64_t *table,
                        const int64_t *sizes, int64_t dim) {
  Interval shard;
  if (!findShard(*context, table, sizes, dim, shard))
    leave(context);
  return shard.lo;
}

int64_t tofuShardSize(TofuContext *context, const int64_t *table,
                      const int64_t *sizes, int64_t dim) {
  Interval shard;
  if (!findShard(*context, table, sizes, dim, shard))
    leave(context);
  return shard.size();
}

/// False if the device must leave the program, which no destructor survives.
static bool contract(TofuContext *context, const int64_t *table,
                     const char *location, const ContractionMemrefs &memrefs) {
  if (context->world->isAborted())
    return false;
  for (const Memref &memref : memrefs)
    if (memref.rank > kMaxRank) {
      failRank(context, location);
      return false;
    }
  return runContraction(*context, table, location, memrefs);
}

void tofuContract(TofuContext *context, TofuStream *stream,
                  const int64_t *table, const char *location, int64_t aRank,
                  void *a, int64_t bRank, void *b, int64_t cRank, void *c) {
  if (!contract(context, table, location, {{aRank, a}, {bRank, b}, {cRank, c}}))
    leave(context);
}

void tofuContractWithEpilogue(TofuContext *context, TofuStream *stream,
                              const int64_t *table, const char *location,
                              int64_t aRank, void *a, int64_t bRank, void *b,
                              int64_t cRank, void *c, int64_t biasRank,
                              void *bias) {
  if (!contract(context, table, location,
                {{aRank, a}, {bRank, b}, {cRank, c}, {biasRank, bias}}))
    leave(context);
}

static bool checkKernel(TofuContext *context, const TofuKernel *kernel,
                        const char *location) {
  const char *fault = kernel->version != TOFU_TABLE_VERSION
                          ? "a kernel is of another version of Tofu"
                      : !kernel->onHost
                          ? "a kernel is not compiled for the host"
                          : nullptr;
  if (fault)
    context->world->fail(context->device, location, fault);
  return !fault;
}

void tofuLaunch(TofuContext *context, TofuStream *stream,
                const TofuKernel *kernel, const char *location,
                const int64_t *shape, void **arguments) {
  if (context->world->isAborted() || !checkKernel(context, kernel, location))
    leave(context);
  kernel->onHost(arguments, shape);
}

/// Devices and the host have the same memory.
static void copyMemory(TofuContext *context, void *to, const void *from,
                       int64_t bytes) {
  if (bytes)
    std::memcpy(to, from, bytes);
}

void tofuRead(TofuContext *context, TofuStream *stream, void *host,
              const void *device, int64_t bytes) {
  copyMemory(context, host, device, bytes);
}

void tofuWrite(TofuContext *context, TofuStream *stream, void *device,
               const void *host, int64_t bytes) {
  copyMemory(context, device, host, bytes);
}

void *tofuConstant(TofuContext *context, const void *host, int64_t bytes) {
  return const_cast<void *>(host);
}

void tofuFail(TofuContext *context, const char *message, const char *location) {
  context->world->fail(context->device, location, message);
  leave(context);
}

//===----------------------------------------------------------------------===//
// What runners call
//===----------------------------------------------------------------------===//

static TofuWorld *createWorld(const TofuWorldOptions *options, char *error,
                              int64_t errorBytes) {
  int64_t devices = options->numDevices;
  if (devices < 1 || devices > kMaxDevices) {
    std::snprintf(
        error, errorBytes, "the host backend has 1 to %d devices, not %lld",
        static_cast<int>(kMaxDevices), static_cast<long long>(devices));
    return nullptr;
  }
  if (options->numGpus) {
    std::snprintf(error, errorBytes, "the devices of this backend are no GPUs");
    return nullptr;
  }
  auto world = std::make_unique<TofuWorld>(*options);
  if (world->start())
    return world.release();
  std::snprintf(error, errorBytes, "no threads for %lld devices",
                static_cast<long long>(devices));
  return nullptr;
}

static void destroyWorld(TofuWorld *world) { delete world; }

static TofuContext *getContext(TofuWorld *world, int64_t device) {
  return world->contexts[device].get();
}

static TofuStatus run(TofuWorld *world, TofuBody body, void *user) {
  return world->run(body, user);
}

static const char *getError(TofuWorld *world) { return world->error.c_str(); }

static void *allocate(TofuContext *context, int64_t bytes) {
  return context->memory.allocate(bytes, Memory::Kind::Input);
}

static void release(TofuContext *context, void *memory) {
  context->memory.release(memory);
}

static int8_t copyBetween(TofuContext *context, void *to, const void *from,
                          int64_t bytes) {
  copyMemory(context, to, from, bytes);
  return true;
}

static int8_t packOut(TofuContext *context, void *to, const void *from,
                      int64_t elementBytes, int64_t rank, const int64_t *sizes,
                      const int64_t *strides) {
  if (rank > kMaxRank) {
    context->world->fail(context->device, nullptr,
                         "a tensor has too many dims");
    return false;
  }
  host::copy(View::packed(to, rank, sizes),
             View::strided(from, rank, sizes, strides), elementBytes);
  return true;
}

static void synchronize(TofuContext *context) {}

static void reset(TofuContext *context) { context->memory.releaseProgram(); }

static void resetStats(TofuContext *context) {
  context->memory.resetPeaks();
  context->contractions = {};
  for (auto &collective : context->collectives) {
    TofuCollectiveStats &stats = collective->stats;
    stats = {stats.kind, stats.location, 0, 0, 0, 0.0, 0.0};
  }
}

static void getMemoryStats(TofuContext *context, TofuMemoryStats *stats) {
  *stats = context->memory.stats();
  stats->scratchBytes = context->scratch.bytes();
}

static void getContractStats(TofuContext *context, TofuContractStats *stats) {
  *stats = context->contractions;
}

static int64_t getCollectiveStats(TofuContext *context,
                                  TofuCollectiveStats *stats,
                                  int64_t capacity) {
  int64_t count = 0;
  for (auto &collective : context->collectives) {
    if (collective->stats.calls == 0)
      continue;
    if (count < capacity)
      stats[count] = collective->stats;
    ++count;
  }
  return count;
}

//===----------------------------------------------------------------------===//
// What generated code calls on processors without bf16
//===----------------------------------------------------------------------===//

/// A bf16 is returned in the low bits of the register that a float is.
static float roundToBFloat(float value) {
  return floatFromBits(bfloatFromFloat(value));
}

/// Rounds once: a float that isn't exact is made odd, which decides ties.
static float roundDoubleToBFloat(double value) {
  float rounded = static_cast<float>(value);
  bool isExact = static_cast<double>(rounded) == value || value != value ||
                 std::isinf(rounded);
  if (!isExact && !(floatBits(rounded) & 1)) {
    double error = value - static_cast<double>(rounded);
    float toward = error > 0 ? HUGE_VALF : -HUGE_VALF;
    rounded = std::nextafter(rounded, toward);
  }
  return roundToBFloat(rounded);
}

static const char *listDevices(char *, int64_t) {
  static const std::string text =
      "up to " + std::to_string(kMaxDevices) + " threads on " +
      std::to_string(std::max(1u, std::thread::hardware_concurrency())) +
      " cores\n";
  return text.c_str();
}

std::vector<TofuSymbol>
host::replaceSymbols(std::initializer_list<TofuSymbol> ours) {
  const TofuBackend &host = getHostBackend();
  std::vector<TofuSymbol> symbols(host.symbols, host.symbols + host.numSymbols);
  for (const TofuSymbol &our : ours) {
    auto symbol = std::find_if(symbols.begin(), symbols.end(),
                               [&](const TofuSymbol &other) {
                                 return !std::strcmp(other.name, our.name);
                               });
    // Programs would call the host's function with what only ours understands.
    if (symbol == symbols.end())
      std::abort();
    symbol->address = our.address;
  }
  return symbols;
}

const TofuBackend &host::getHostBackend() {
  static const TofuSymbol symbols[] = {
      makeSymbol("tofuAlloc", tofuAlloc),
      makeSymbol("tofuFree", tofuFree),
      makeSymbol("tofuGlobal", tofuGlobal),
      makeSymbol("tofuDeviceId", tofuDeviceId),
      makeSymbol("tofuStream", tofuStream),
      makeSymbol("tofuRecord", tofuRecord),
      makeSymbol("tofuWait", tofuWait),
      makeSymbol("tofuSynchronize", tofuSynchronize),
      makeSymbol("tofuGroupBegin", tofuGroupBegin),
      makeSymbol("tofuGroupEnd", tofuGroupEnd),
      makeSymbol("tofuEvenCollective", tofuEvenCollective),
      makeSymbol("tofuCollective", tofuCollective),
      makeSymbol("tofuCollectiveOfSizes", tofuCollectiveOfSizes),
      makeSymbol("tofuShardOffset", tofuShardOffset),
      makeSymbol("tofuShardSize", tofuShardSize),
      makeSymbol("tofuContract", tofuContract),
      makeSymbol("tofuContractWithEpilogue", tofuContractWithEpilogue),
      makeSymbol("tofuLaunch", tofuLaunch),
      makeSymbol("tofuRead", tofuRead),
      makeSymbol("tofuWrite", tofuWrite),
      makeSymbol("tofuConstant", tofuConstant),
      makeSymbol("tofuFail", tofuFail),
      makeSymbol("__truncsfbf2", roundToBFloat),
      makeSymbol("__truncdfbf2", roundDoubleToBFloat),
  };
  static const TofuBackend backend = {
      TOFU_BACKEND_VERSION,
      "host",
      TOFU_HOST_LOOPS,
      symbols,
      sizeof(symbols) / sizeof(*symbols),
      createWorld,
      destroyWorld,
      getContext,
      run,
      getError,
      allocate,
      release,
      copyBetween,
      copyBetween,
      packOut,
      synchronize,
      reset,
      resetStats,
      getMemoryStats,
      getContractStats,
      getCollectiveStats,
      /*record=*/nullptr,
      listDevices,
      /*bring=*/nullptr,
      /*repeat=*/nullptr,
      /*notice=*/nullptr,
  };
  return backend;
}
