//===- Device.h - A device with streams on the host -------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams are queues of tasks. A task runs as late as it may: when a wait, a
// synchronization or the end asks for it, so that whoever forgot to wait for it
// finds that it hasn't happened. Memory that the compute stream hasn't reached
// the allocation of, or has freed, holds garbage.
//
// Beside that all accesses are checked as they are queued, whatever runs when:
// each stream knows how far it has waited for the other ones, and each block of
// memory who accessed it last.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_RECORDING_DEVICE_H
#define TOFU_LIB_RUNTIME_RECORDING_DEVICE_H

#include "Tofu/Runtime/Backend.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mlir::tofu::recording {

/// For each stream, how many of its tasks are known to be done.
using Clock = std::array<int64_t, TOFU_NUM_STREAMS>;

/// Who accesses memory: "kernel k", and where in the program; null if unknown.
struct Actor {
  std::string name;
  const char *location = nullptr;
};

/// An access of memory by a task.
struct Use {
  const void *memory;
  bool reads, writes;
};

/// What a record says of one call.
struct Entry {
  const char *call;
  int stream;
  std::string name = {};
  const char *location = nullptr;
  int64_t bytes = -1, event = -1;
  std::vector<int64_t> shape = {};
};

/// What runs on a stream. False if the device must leave.
using Task = std::function<bool()>;

class Device {
public:
  explicit Device(TofuContext *context) : context(context) {}

  /// The handle of a stream, and back. Null is the compute stream.
  TofuStream *getHandle(int64_t kind);
  int getStream(TofuStream *handle) const;

  /// Queues a task. False, with the device failed, if an access goes wrong.
  bool enqueue(int stream, const Actor &actor, const std::vector<Use> &uses,
               Task task);

  void record(int stream, int64_t event);
  void wait(int stream, int64_t event);

  /// Runs what the streams have. False if the device must leave.
  bool synchronize(int stream);
  bool synchronizeAll();

  /// Collectives in between are one task, which runs them backwards.
  bool beginGroup(int stream);
  bool endGroup();
  bool isInGroup() const { return group.stream >= 0; }

  /// Memory comes and goes.
  enum class Kind { Input, Program, Global, Constant };
  void addBlock(const void *memory, int64_t bytes, Kind kind);
  void removeBlock(const void *memory);
  void removeBlocks(Kind kind);

  /// Marks a block of the program as freed, from the next task on, and returns
  /// its size. -1, with the device failed, if it isn't one.
  int64_t free(const void *memory);

  /// Bytes of the program's memory as the program has it: what is freed later,
  /// as all tasks are, counts no more.
  int64_t getProgramBytes() const { return programBytes; }
  int64_t getPeakBytes() const { return peakBytes; }
  void resetPeak() { peakBytes = programBytes; }

  /// Forgets what a run has left.
  void restart();

  void note(Entry entry) { entries.push_back(std::move(entry)); }
  const std::vector<Entry> &getEntries() const { return entries; }

private:
  struct Stream {
    std::deque<Task> tasks;
    int64_t queued = 0, done = 0;
    /// What is known to be done before what comes next.
    Clock saw{};
  };
  struct Event {
    Clock saw{};
  };
  struct Access {
    int64_t position = 0;
    Actor actor;
  };
  struct Block {
    int64_t bytes;
    Kind kind;
    bool isFreed = false;
    std::array<Access, TOFU_NUM_STREAMS> reads, writes;
  };
  struct Group {
    int stream = -1;
    std::vector<Task> tasks;
  };

  Block *findBlock(const void *memory);
  void count(const Block &block, int64_t sign);
  bool check(int stream, const Actor &actor, const Use &use);
  bool checkOrder(int stream, const Actor &actor, const Use &use, Block &block);
  bool fail(const Actor &actor, const std::string &message);
  bool drain(int stream, int64_t position);
  void push(int stream, Task task);

  TofuContext *context;
  std::array<Stream, TOFU_NUM_STREAMS> streams;
  std::map<int64_t, Event> events;
  /// By address; freed ones until something else is there.
  std::map<uintptr_t, Block> blocks;
  int64_t programBytes = 0, peakBytes = 0;
  Group group;
  std::vector<Entry> entries;
};

/// What the devices did, as JSON.
std::string toJson(const std::vector<const Device *> &devices);

} // namespace mlir::tofu::recording

#endif // TOFU_LIB_RUNTIME_RECORDING_DEVICE_H
