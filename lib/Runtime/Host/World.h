//===- World.h - Devices as threads of one process --------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device is a thread that lives as long as its world. A run hands all of them
// the same function; they meet at the rendezvous of each collective. A world
// may span processes: then it has contexts for the devices of this one only.
//
// Failure. Whoever fails first leaves its message and raises the world's abort
// flag; a device leaves its program by longjmp, from the outermost frame of a
// runtime call only, where no destructor is pending. Functions below return
// false when the device must leave.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_WORLD_H
#define TOFU_LIB_RUNTIME_HOST_WORLD_H

#include "Memory.h"
#include "Rendezvous.h"
#include "Table.h"
#include "Tofu/Runtime/Backend.h"
#include "Views.h"

#include <atomic>
#include <condition_variable>
#include <csetjmp>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace mlir::tofu::host {

struct Mover;

/// One collective of the program, as a device has met it.
struct Collective {
  std::vector<int64_t> words;
  std::string location;
  Table table;
  Route route;
  TofuCollectiveStats stats;
};

struct Messages;

/// What a device shows to the others while they are in a collective. Copied, as
/// the caller's descriptors are gone once it has left.
struct Published {
  const Collective *collective = nullptr;
  int64_t sequence = 0;
  View src, dst;
};

} // namespace mlir::tofu::host

struct TofuContext {
  TofuWorld *world = nullptr;
  int64_t device = 0;
  /// Which of this process's devices it is.
  int64_t number = 0;
  pthread_t thread;
  std::jmp_buf start;

  mlir::tofu::host::Memory memory;
  mlir::tofu::host::Scratch scratch;

  /// The collectives met so far, in that order, and by hash of their tables.
  std::vector<std::unique_ptr<mlir::tofu::host::Collective>> collectives;
  std::unordered_multimap<uint64_t, mlir::tofu::host::Collective *> byHash;
  /// Of collectives without shared memory, once they have been met.
  std::unordered_map<const mlir::tofu::host::Collective *,
                     std::shared_ptr<mlir::tofu::host::Messages>>
      messages;
  int64_t sequence = 0;
  TofuContractStats contractions{};

  /// What a backend that is built on this one keeps.
  std::shared_ptr<void> extension;

  /// Read by the other devices between the rendezvous of a collective.
  alignas(64) mlir::tofu::host::Published published;
};

struct TofuWorld {
  /// With all devices in this process, or `only` one of them.
  explicit TofuWorld(const TofuWorldOptions &options,
                     std::optional<int64_t> only = std::nullopt);
  ~TofuWorld();

  /// Starts the threads; false if the system has none left.
  bool start();

  /// See TofuBackend::run.
  TofuStatus run(TofuBody body, void *user);

  int64_t numDevices() const { return contexts.size(); }
  double timeout() const { return timeoutSeconds; }

  /// Records the failure of a device, if it is the first of the run.
  void fail(int64_t device, const char *location, const std::string &message);
  /// Raises the flag for a failure of which another process has the message.
  void abort();
  bool isAborted() const { return aborted.load(std::memory_order_relaxed); }
  const std::atomic<bool> &abortFlag() const { return aborted; }

  /// By device; null for those of other processes.
  std::vector<std::unique_ptr<TofuContext>> contexts;
  /// How the host's functions move the data of collectives.
  const mlir::tofu::host::Mover *mover;
  /// Of the devices of this process, by their numbers.
  mlir::tofu::host::Rendezvous rendezvous;
  std::string error;

private:
  static void *runThread(void *context);
  void serve(TofuContext &context);
  void runBody(TofuContext &context);
  int64_t numHere() const { return here.size(); }
  bool waitForDevices(std::unique_lock<std::mutex> &lock);

  /// The contexts that there are.
  std::vector<TofuContext *> here;
  double timeoutSeconds;
  std::atomic<bool> aborted{false};

  /// The work at hand. A device is done with run number n when it has counted
  /// itself in `finished`.
  std::mutex mutex;
  std::condition_variable workChanged, deviceFinished;
  TofuBody body = nullptr;
  void *user = nullptr;
  int64_t runNumber = 0, finished = 0, started = 0;
  bool shuttingDown = false;
};

namespace mlir::tofu::host {

/// The host backend; others are built on it.
const TofuBackend &getHostBackend();

template <typename Function>
TofuSymbol makeSymbol(const char *name, Function *function) {
  return {name, reinterpret_cast<void *>(function)};
}

/// The functions of the host backend, with `ours` in the place of those of the
/// same names. A name that it doesn't have ends the process.
std::vector<TofuSymbol> replaceSymbols(std::initializer_list<TofuSymbol> ours);

/// Ends the device's run; call it from a runtime function's outermost frame.
[[noreturn]] void leave(TofuContext *context);

/// How the data of a collective move: of the one whose views are published.
struct Mover {
  /// Whether the devices meet before they move data, and after, so that each
  /// may access the memory of all. Then they also find out if they have come to
  /// different collectives.
  bool meets;
  /// Before the devices meet, and after all have moved their data. False if the
  /// device must leave.
  bool (*begin)(TofuContext &context);
  bool (*end)(TofuContext &context);
  /// The device's transfers, shares, and what it has the neutral element of.
  void (*pull)(TofuContext &context, const Collective &collective);
  void (*combineAndPush)(TofuContext &context, const Collective &collective);
  void (*fillNeutral)(TofuContext &context, const Collective &collective);
};

/// From memory to memory, by the threads of the devices.
const Mover &getHostMover();

/// Brings data from all devices to all (Runtime.h), as `mover` does it.
bool runCollective(TofuContext &context, const int64_t *words,
                   const char *location, const View &src, const View &dst,
                   const Mover &mover);

/// The table of a collective with the boxes that follow from the given sizes.
/// Empty, with the device failed, if these make no sense.
std::vector<int64_t> resolveSizes(TofuContext &context, const int64_t *words,
                                  const int64_t *sizes, const char *location);

/// The table of a collective that does what the even table says. Empty, with
/// the device failed, if that makes no sense.
std::vector<int64_t> expandEven(TofuContext &context, const int64_t *words,
                                const char *location);

/// The box of one dim that a device has, or must end with, by such a table.
Interval boxOfExpanded(const std::vector<int64_t> &table, int64_t device,
                       bool isDestination);

/// This device's box by the table of a shard, in dim `dim`. False, with the
/// device failed, if the table or the sizes make no sense.
bool findShard(TofuContext &context, const int64_t *words, const int64_t *sizes,
               int64_t dim, Interval &interval);

/// The collective that a table describes; null, with the device failed, if it
/// makes no sense.
Collective *findCollective(TofuContext &context, const int64_t *words,
                           const char *location);

/// A memref as programs pass it.
struct Memref {
  int64_t rank;
  const void *descriptor;
};

/// A, B and C, and with an epilogue a bias, which may be null.
using ContractionMemrefs = std::vector<Memref>;

/// C = A * B, or with an epilogue (Runtime.h).
bool runContraction(TofuContext &context, const int64_t *words,
                    const char *location, const ContractionMemrefs &memrefs);

/// Seconds of a steady clock.
double now();

/// "300 s", "0.25 s".
std::string formatSeconds(double seconds);

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_WORLD_H
