//===- FakeNccl.cpp - NCCL between threads --------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Communicators that don't block: a call goes on on a thread of its own, and is
// in progress until that has ended and for some polls after.
//
//===----------------------------------------------------------------------===//

#include "Fake.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nccl.h>
#include <thread>
#include <vector>

using namespace mlir::tofu::test;

static std::mutex faultsMutex;
static std::vector<std::string> faults;
static thread_local std::string lastError;

static ncclResult_t failWith(std::string reason) {
  std::lock_guard<std::mutex> lock(faultsMutex);
  lastError = reason;
  faults.push_back(std::move(reason));
  return ncclInvalidUsage;
}

std::vector<std::string> mlir::tofu::test::takeNcclFaults() {
  std::lock_guard<std::mutex> lock(faultsMutex);
  return std::exchange(faults, {});
}

namespace {

/// What a rank sends another one in a group, message by message.
using Batch = std::vector<std::vector<char>>;

/// What a rank calls.
struct Call {
  std::string name;
  bool isCaptured = false;
};

/// Ranks that come to their collectives in the same order.
struct Ranks {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const void *> sources;
  std::vector<Call> calls;
  std::vector<std::pair<int, int>> colors;
  int come = 0;
  int64_t round = 0;
  std::map<int, std::shared_ptr<Ranks>> parts;
  /// By sender and receiver.
  std::map<std::pair<int, int>, std::deque<Batch>> batches;
  std::vector<bool> isGone;

  void resize(int size) {
    sources.resize(size);
    calls.resize(size);
    colors.resize(size);
    isGone.resize(size);
  }

  /// Waits for all; the last one calls `last`. False if it must not wait any
  /// more.
  bool meet(const std::atomic<bool> &isAborted,
            const std::function<void()> &last) {
    std::unique_lock<std::mutex> lock(mutex);
    int64_t mine = round;
    if (++come == static_cast<int>(sources.size())) {
      come = 0;
      last();
      ++round;
      changed.notify_all();
      return true;
    }
    changed.wait(lock, [&] { return round != mine || isAborted; });
    if (round != mine)
      return true;
    --come;
    return false;
  }

  bool isEmpty() const {
    return std::find(isGone.begin(), isGone.end(), false) == isGone.end();
  }
};

/// What a call does after it has returned.
struct Job {
  std::thread thread;
  std::atomic<bool> isDone{false};
  ncclResult_t result = ncclInProgress;

  ~Job() { thread.join(); }
};

/// Of the jobs of a rank from here on, the one with that number.
struct Planned {
  std::atomic<int> rank{-1}, number{0};

  bool isNow(int of) { return rank == of && number-- == 0; }
};

} // namespace

static Planned plannedFailure, plannedHang;

void mlir::tofu::test::failNccl(int rank, int job) {
  plannedFailure.number = job;
  plannedFailure.rank = rank;
}
void mlir::tofu::test::hangNccl(int rank, int job) {
  plannedHang.number = job;
  plannedHang.rank = rank;
}

namespace {

/// A rank of a communicator, which graphs refer to as well.
struct Rank {
  std::shared_ptr<Ranks> ranks;
  int rank, worldRank;
  std::atomic<bool> isAborted{false};
  std::atomic<int> graphs{0};

  bool meet(const std::function<void()> &last = [] {}) {
    return ranks->meet(isAborted, last);
  }
};

using Member = std::shared_ptr<Rank>;

} // namespace

struct ncclComm {
  ncclComm(std::shared_ptr<Ranks> ranks, int rank, int worldRank)
      : self(new Rank{std::move(ranks), rank, worldRank}) {
    ++numNcclCommunicators;
  }
  ~ncclComm() { --numNcclCommunicators; }

  Member self;
  bool isFinalized = false;
  /// The call under way, and for how many polls it stays so at least.
  std::shared_ptr<Job> job;
  int polls = 0;
  ncclResult_t state = ncclSuccess;
};

/// Nothing may be asked of a communicator that is at work, or of one that was.
static ncclResult_t checkIdle(ncclComm_t communicator) {
  if (communicator->job)
    return failWith("a communicator is used while a call is in progress");
  return communicator->isFinalized
             ? failWith("a communicator is used after its end")
             : communicator->state;
}

/// Waits for the end of the communicator.
static ncclResult_t hang(const Member &self) {
  std::unique_lock<std::mutex> lock(self->ranks->mutex);
  self->ranks->changed.wait(lock, [&] { return self->isAborted.load(); });
  return ncclInternalError;
}

/// Does it on a thread, as NCCL does.
static ncclResult_t start(const std::vector<ncclComm_t> &communicators,
                          std::function<ncclResult_t()> work) {
  if (communicators.empty())
    return ncclSuccess;
  Member first = communicators.front()->self;
  bool hangs = plannedHang.isNow(first->worldRank),
       fails = plannedFailure.isNow(first->worldRank);
  auto job = std::make_shared<Job>();
  job->thread = std::thread([=, pointer = job.get(), work = std::move(work)] {
    pointer->result = hangs ? hang(first) : fails ? ncclRemoteError : work();
    pointer->isDone = true;
  });
  for (ncclComm_t each : communicators) {
    each->job = job;
    each->polls = numNcclPolls;
  }
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator,
                                   ncclResult_t *result) {
  std::shared_ptr<Job> &job = communicator->job;
  if (job && (communicator->polls-- > 0 || !job->isDone)) {
    *result = ncclInProgress;
    return ncclSuccess;
  }
  if (job && communicator->state == ncclSuccess)
    communicator->state = job->result;
  job.reset();
  *result = communicator->state;
  return ncclSuccess;
}

static std::mutex worldsMutex;
static std::map<int, std::shared_ptr<Ranks>> worlds;
static int numIds = 0;

ncclResult_t ncclGetVersion(int *version) {
  *version = ncclVersion;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  if (ncclResult_t result = onUniqueId.exchange(ncclSuccess))
    return result;
  std::lock_guard<std::mutex> lock(worldsMutex);
  std::memset(id, 0, sizeof(*id));
  std::memcpy(id, &++numIds, sizeof(numIds));
  return ncclSuccess;
}

static std::shared_ptr<Ranks> findWorld(const ncclUniqueId &id, int size) {
  std::lock_guard<std::mutex> lock(worldsMutex);
  int number;
  std::memcpy(&number, &id, sizeof(number));
  std::shared_ptr<Ranks> &ranks = worlds[number];
  if (!ranks) {
    ranks = std::make_shared<Ranks>();
    ranks->resize(size);
  }
  return ranks;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *result, int size,
                                    ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  if (config->blocking != 0)
    return failWith("a communicator blocks");
  auto *made = new ncclComm(findWorld(id, size), rank, rank);
  *result = made;
  return start({made}, [self = made->self] {
    return self->meet() ? ncclSuccess : ncclInternalError;
  });
}

/// Makes the groups' ranks, once all have said where they belong.
static void makeParts(Ranks &ranks) {
  std::map<int, int> sizes;
  for (auto [color, key] : ranks.colors)
    ++sizes[color];
  ranks.parts.clear();
  for (auto [color, size] : sizes) {
    ranks.parts[color] = std::make_shared<Ranks>();
    ranks.parts[color]->resize(size);
  }
}

/// As NCCL, stores the new communicator when it is made and not before.
ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key,
                           ncclComm_t *result, ncclConfig_t *) {
  if (ncclResult_t fault = checkIdle(parent))
    return fault;
  *result = nullptr;
  return start({parent}, [=, self = parent->self]() -> ncclResult_t {
    Ranks &ranks = *self->ranks;
    ranks.colors[self->rank] = {color, key};
    if (!self->meet([&] { makeParts(ranks); }))
      return ncclInternalError;
    std::shared_ptr<Ranks> part = ranks.parts[color];
    if (!self->meet())
      return ncclInternalError;
    *result = new ncclComm(part, key, self->worldRank);
    return ncclSuccess;
  });
}

//===----------------------------------------------------------------------===//
// The end of communicators
//===----------------------------------------------------------------------===//

/// Once all are gone, so must be the messages.
static void checkMessages(Ranks &ranks) {
  for (auto &[pair, queue] : ranks.batches)
    if (!queue.empty())
      failWith("rank " + std::to_string(pair.first) + " has sent to rank " +
               std::to_string(pair.second) + ", which did not receive it");
}

/// Whether it was the last one. With the mutex.
static bool leave(Ranks &ranks, int rank) {
  ranks.isGone[rank] = true;
  ranks.changed.notify_all();
  return ranks.isEmpty();
}

/// NCCL waits for graphs that use the communicator, for ever if they aren't
/// destroyed.
static void waitForGraphs(const Rank &self) {
  for (int i = 0; i < 5000 && self.graphs; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (self.graphs)
    failWith("a communicator ends that a graph uses");
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  Member self = communicator->self;
  {
    std::lock_guard<std::mutex> lock(self->ranks->mutex);
    self->isAborted = true;
    leave(*self->ranks, self->rank);
  }
  communicator->job.reset();
  waitForGraphs(*self);
  delete communicator;
  return ncclSuccess;
}

/// Waits for all, as NCCL may.
ncclResult_t ncclCommFinalize(ncclComm_t communicator) {
  if (ncclResult_t result = onFinalize.exchange(ncclSuccess))
    return result;
  if (ncclResult_t fault = checkIdle(communicator))
    return fault;
  communicator->isFinalized = true;
  return start({communicator}, [self = communicator->self] {
    waitForGraphs(*self);
    Ranks &ranks = *self->ranks;
    std::unique_lock<std::mutex> lock(ranks.mutex);
    if (leave(ranks, self->rank))
      checkMessages(ranks);
    ranks.changed.wait(lock,
                       [&] { return ranks.isEmpty() || self->isAborted; });
    return ranks.isEmpty() ? ncclSuccess : ncclInternalError;
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  if (!communicator->isFinalized || communicator->job)
    return failWith("a communicator is destroyed that isn't finalized");
  delete communicator;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t) { return errorText; }
const char *ncclGetLastError(ncclComm_t) {
  return errorText ? lastError.c_str() : nullptr;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {

/// What a rank does with another one in a group.
struct Talk {
  std::vector<std::pair<const char *, size_t>> sends;
  std::vector<std::pair<void *, size_t>> receives;
};

struct Group {
  std::map<std::pair<Member, int>, Talk> talks;
  std::vector<std::function<ncclResult_t()>> collectives;
  std::vector<ncclComm_t> communicators;
  cudaStream_t stream = nullptr;
};

} // namespace

static thread_local int depth = 0;
static thread_local Group group;

/// The next batch from a rank; none if it has gone.
static bool takeBatch(const Member &self, int from, Batch &batch) {
  Ranks &ranks = *self->ranks;
  std::unique_lock<std::mutex> lock(ranks.mutex);
  std::deque<Batch> &queue = ranks.batches[{from, self->rank}];
  ranks.changed.wait(lock, [&] {
    return !queue.empty() || ranks.isGone[from] || self->isAborted;
  });
  if (queue.empty())
    return false;
  batch = std::move(queue.front());
  queue.pop_front();
  return true;
}

static ncclResult_t receive(const Member &self, int peer, const Talk &talk) {
  Batch batch;
  std::string pair = "rank " + std::to_string(self->rank) +
                     " receives from rank " + std::to_string(peer);
  if (!takeBatch(self, peer, batch))
    return self->isAborted ? ncclInternalError
                           : failWith(pair + ", which has gone");
  if (batch.size() != talk.receives.size())
    return failWith(pair + " " + std::to_string(talk.receives.size()) +
                    " messages of a group, it sends " +
                    std::to_string(batch.size()));
  for (size_t i = 0; i < batch.size(); ++i) {
    auto [memory, size] = talk.receives[i];
    if (batch[i].size() != size)
      return failWith(pair + " " + std::to_string(size) + " bytes, it sends " +
                      std::to_string(batch[i].size()));
    std::memcpy(memory, batch[i].data(), size);
    ++numNcclMessages;
  }
  return ncclSuccess;
}

static void send(const Member &self, int peer, const Talk &talk) {
  Batch batch;
  for (auto [memory, size] : talk.sends)
    batch.emplace_back(memory, memory + size);
  Ranks &ranks = *self->ranks;
  std::lock_guard<std::mutex> lock(ranks.mutex);
  if (!batch.empty())
    ranks.batches[{self->rank, peer}].push_back(std::move(batch));
  ranks.changed.notify_all();
}

/// All sends, collectives in their order, and all receives.
static ncclResult_t runGroup(const Group &group) {
  for (auto &[with, talk] : group.talks)
    send(with.first, with.second, talk);
  ncclResult_t result = ncclSuccess;
  for (auto &collective : group.collectives)
    if (result == ncclSuccess)
      result = collective();
  for (auto &[with, talk] : group.talks)
    if (result == ncclSuccess && !talk.receives.empty())
      result = receive(with.first, with.second, talk);
  return result;
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

/// Counts a graph for as long as the result lives.
static std::shared_ptr<void> holdFor(const std::vector<Member> &members) {
  for (const Member &member : members)
    ++member->graphs;
  return std::shared_ptr<void>(nullptr, [members](void *) {
    for (const Member &member : members)
      --member->graphs;
  });
}

ncclResult_t ncclGroupEnd() {
  if (--depth)
    return ncclSuccess;
  Group ended = std::exchange(group, {});
  std::vector<ncclComm_t> communicators =
      std::exchange(ended.communicators, {});
  std::vector<Member> members;
  for (ncclComm_t each : communicators)
    members.push_back(each->self);
  std::shared_ptr<void> held;
  if (isCapturing(ended.stream))
    held = holdFor(members);
  return start(communicators, [=] {
    auto result = std::make_shared<ncclResult_t>(ncclSuccess);
    enqueue(ended.stream, [=, held = held] { *result = runGroup(ended); });
    return *result;
  });
}

/// Makes the communicator part of the group that there must be, all of it on
/// one stream.
static ncclResult_t join(ncclComm_t communicator, cudaStream_t stream) {
  if (!depth)
    return failWith("a call outside of a group");
  std::vector<ncclComm_t> &known = group.communicators;
  if (!known.empty() && group.stream != stream)
    return failWith("a group on two streams");
  group.stream = stream;
  if (std::find(known.begin(), known.end(), communicator) != known.end())
    return ncclSuccess;
  if (ncclResult_t fault = checkIdle(communicator))
    return fault;
  known.push_back(communicator);
  return ncclSuccess;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Ranks don't send to themselves here, and all that they send is bytes.
static ncclResult_t checkMessage(ncclDataType_t type, int peer,
                                 ncclComm_t communicator, cudaStream_t stream) {
  if (ncclResult_t fault = join(communicator, stream))
    return fault;
  const Rank &self = *communicator->self;
  int size = static_cast<int>(self.ranks->sources.size());
  if (type != ncclInt8 || peer < 0 || peer >= size || peer == self.rank)
    return failWith("a message of another type, or for another rank");
  return ncclSuccess;
}

ncclResult_t ncclSend(const void *memory, size_t size, ncclDataType_t type,
                      int peer, ncclComm_t communicator, cudaStream_t stream) {
  ncclResult_t result = checkMessage(type, peer, communicator, stream);
  if (result == ncclSuccess)
    group.talks[{communicator->self, peer}].sends.emplace_back(
        static_cast<const char *>(memory), size);
  return result;
}
ncclResult_t ncclRecv(void *memory, size_t size, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
  ncclResult_t result = checkMessage(type, peer, communicator, stream);
  if (result == ncclSuccess)
    group.talks[{communicator->self, peer}].receives.emplace_back(memory, size);
  return result;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// All ranks must come to the same collective, and all of them capture it or
/// none does.
static ncclResult_t checkCalls(const Rank &self) {
  const Call &mine = self.ranks->calls[self.rank];
  for (const Call &call : self.ranks->calls) {
    if (call.name != mine.name)
      return failWith("a rank is at " + call.name + ", another one at " +
                      mine.name);
    if (call.isCaptured != mine.isCaptured)
      return failWith("only some ranks capture " + mine.name);
  }
  return ncclSuccess;
}

/// Shows the sources to all, who then `take` from them.
template <typename Take>
static ncclResult_t exchange(std::string name, ncclComm_t communicator,
                             cudaStream_t stream, const void *source,
                             Take take) {
  if (ncclResult_t fault = join(communicator, stream))
    return fault;
  Call call = {std::move(name), isCapturing(stream)};
  ++numNcclCalls;
  numCapturedNcclCalls += call.isCaptured;
  group.collectives.push_back([=, self = communicator->self]() -> ncclResult_t {
    self->ranks->sources[self->rank] = source;
    self->ranks->calls[self->rank] = call;
    if (!self->meet())
      return ncclInternalError;
    if (ncclResult_t fault = checkCalls(*self)) {
      self->meet();
      return fault;
    }
    take(self->ranks->sources);
    return self->meet() ? ncclSuccess : ncclInternalError;
  });
  return ncclSuccess;
}

static std::string describe(const char *name, size_t count, int number) {
  return std::string(name) + " of " + std::to_string(count) + ", " +
         std::to_string(number);
}

/// Of i32, which tests use.
static ncclResult_t reduce(const char *name, const void *source, void *result,
                           size_t first, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t communicator,
                           cudaStream_t stream) {
  if (type != ncclInt32)
    return ncclInvalidArgument;
  return exchange(describe(name, count, op), communicator, stream, source,
                  [=](auto &sources) {
                    for (size_t i = 0; i < count; ++i) {
                      auto at = [&](size_t rank) {
                        return static_cast<const int32_t *>(
                            sources[rank])[first + i];
                      };
                      int32_t value = at(0);
                      for (size_t rank = 1; rank < sources.size(); ++rank)
                        value = op == ncclMax   ? std::max(value, at(rank))
                                : op == ncclSum ? value + at(rank)
                                                : -1;
                      static_cast<int32_t *>(result)[i] = value;
                    }
                  });
}

ncclResult_t ncclAllReduce(const void *source, void *result, size_t count,
                           ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t communicator, cudaStream_t stream) {
  return reduce("all_reduce", source, result, 0, count, type, op, communicator,
                stream);
}
ncclResult_t ncclReduceScatter(const void *source, void *result, size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t communicator, cudaStream_t stream) {
  return reduce("reduce_scatter", source, result,
                count * communicator->self->rank, count, type, op, communicator,
                stream);
}
ncclResult_t ncclAllGather(const void *source, void *result, size_t count,
                           ncclDataType_t type, ncclComm_t communicator,
                           cudaStream_t stream) {
  if (type != ncclInt8)
    return ncclInvalidArgument;
  return exchange(describe("all_gather", count, 0), communicator, stream,
                  source, [=](auto &sources) {
                    for (size_t rank = 0; rank < sources.size(); ++rank)
                      std::memcpy(static_cast<char *>(result) + rank * count,
                                  sources[rank], count);
                  });
}
ncclResult_t ncclBroadcast(const void *source, void *result, size_t count,
                           ncclDataType_t type, int root,
                           ncclComm_t communicator, cudaStream_t stream) {
  if (type != ncclInt8)
    return ncclInvalidArgument;
  return exchange(
      describe("broadcast", count, root), communicator, stream, source,
      [=](auto &sources) { std::memcpy(result, sources[root], count); });
}
