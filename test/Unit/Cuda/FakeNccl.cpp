//===- FakeNccl.cpp - NCCL between threads --------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fake.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nccl.h>
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

/// Ranks that come to their collectives in the same order.
struct Ranks {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const void *> sources;
  std::vector<std::pair<int, int>> colors;
  int come = 0;
  int64_t round = 0;
  std::map<int, std::shared_ptr<Ranks>> parts;
  /// By sender and receiver.
  std::map<std::pair<int, int>, std::deque<Batch>> batches;
  std::vector<bool> isGone;

  /// Waits for all; the last one calls `last`.
  void meet(const std::function<void()> &last) {
    std::unique_lock<std::mutex> lock(mutex);
    int64_t mine = round;
    if (++come < static_cast<int>(sources.size())) {
      changed.wait(lock, [&] { return round != mine; });
      return;
    }
    come = 0;
    last();
    ++round;
    changed.notify_all();
  }
};

} // namespace

struct ncclComm {
  std::shared_ptr<Ranks> ranks;
  int rank;
};

static std::mutex worldsMutex;
static std::map<int, std::shared_ptr<Ranks>> worlds;
static int numIds = 0;

ncclResult_t ncclGetVersion(int *version) {
  *version = 22809;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::lock_guard<std::mutex> lock(worldsMutex);
  std::memset(id, 0, sizeof(*id));
  std::memcpy(id, &++numIds, sizeof(numIds));
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *result, int size, ncclUniqueId id,
                              int rank) {
  std::lock_guard<std::mutex> lock(worldsMutex);
  int number;
  std::memcpy(&number, &id, sizeof(number));
  std::shared_ptr<Ranks> &ranks = worlds[number];
  if (!ranks)
    ranks = std::make_shared<Ranks>();
  ranks->sources.resize(size);
  ranks->colors.resize(size);
  ranks->isGone.resize(size);
  *result = new ncclComm{ranks, rank};
  return ncclSuccess;
}

ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key,
                           ncclComm_t *result, ncclConfig_t *) {
  Ranks &ranks = *parent->ranks;
  ranks.colors[parent->rank] = {color, key};
  ranks.meet([&] {
    ranks.parts.clear();
    for (auto [each, rank] : ranks.colors) {
      std::shared_ptr<Ranks> &part = ranks.parts[each];
      if (!part)
        part = std::make_shared<Ranks>();
      part->sources.emplace_back();
      part->isGone.push_back(false);
      part->colors.emplace_back();
    }
  });
  *result = new ncclComm{ranks.parts[color], key};
  ranks.meet([] {});
  return ncclSuccess;
}

/// Once all are gone, so must be the messages.
static void leave(Ranks &ranks, int rank) {
  std::lock_guard<std::mutex> lock(ranks.mutex);
  ranks.isGone[rank] = true;
  ranks.changed.notify_all();
  for (bool isGone : ranks.isGone)
    if (!isGone)
      return;
  for (auto &[pair, queue] : ranks.batches)
    if (!queue.empty())
      failWith("rank " + std::to_string(pair.first) + " has sent to rank " +
               std::to_string(pair.second) + ", which did not receive it");
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  leave(*communicator->ranks, communicator->rank);
  delete communicator;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *result) {
  *result = ncclSuccess;
  return ncclSuccess;
}
const char *ncclGetErrorString(ncclResult_t) { return "an error"; }
const char *ncclGetLastError(ncclComm_t) { return lastError.c_str(); }

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

namespace {

/// What a rank does with another one in a group.
struct Talk {
  Batch sends;
  std::vector<std::pair<void *, size_t>> receives;
};

struct Group {
  int depth = 0;
  std::map<std::pair<ncclComm_t, int>, Talk> talks;
};

} // namespace

static thread_local Group group;

/// The next batch from a rank; none if it has gone.
static bool takeBatch(Ranks &ranks, int from, int to, Batch &batch) {
  std::unique_lock<std::mutex> lock(ranks.mutex);
  std::deque<Batch> &queue = ranks.batches[{from, to}];
  ranks.changed.wait(lock,
                     [&] { return !queue.empty() || ranks.isGone[from]; });
  if (queue.empty())
    return false;
  batch = std::move(queue.front());
  queue.pop_front();
  return true;
}

static ncclResult_t receive(ncclComm_t communicator, int peer,
                            const Talk &talk) {
  Batch batch;
  std::string pair = "rank " + std::to_string(communicator->rank) +
                     " receives from rank " + std::to_string(peer);
  if (!takeBatch(*communicator->ranks, peer, communicator->rank, batch))
    return failWith(pair + ", which has gone");
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

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (--group.depth)
    return ncclSuccess;
  auto talks = std::exchange(group.talks, {});
  for (auto &[with, talk] : talks) {
    auto [communicator, peer] = with;
    Ranks &ranks = *communicator->ranks;
    std::lock_guard<std::mutex> lock(ranks.mutex);
    if (!talk.sends.empty())
      ranks.batches[{communicator->rank, peer}].push_back(
          std::move(talk.sends));
    ranks.changed.notify_all();
  }
  ncclResult_t result = ncclSuccess;
  for (auto &[with, talk] : talks)
    if (result == ncclSuccess && !talk.receives.empty())
      result = receive(with.first, with.second, talk);
  return result;
}

/// Ranks don't send to themselves here, and all that they send is bytes in a
/// group.
static ncclResult_t checkMessage(ncclDataType_t type, int peer,
                                 ncclComm_t communicator) {
  if (!group.depth)
    return failWith("a message outside of a group");
  int size = static_cast<int>(communicator->ranks->sources.size());
  if (type != ncclInt8 || peer < 0 || peer >= size ||
      peer == communicator->rank)
    return failWith("a message of another type, or for another rank");
  return ncclSuccess;
}

ncclResult_t ncclSend(const void *memory, size_t size, ncclDataType_t type,
                      int peer, ncclComm_t communicator, cudaStream_t) {
  ncclResult_t result = checkMessage(type, peer, communicator);
  auto *bytes = static_cast<const char *>(memory);
  if (result == ncclSuccess)
    group.talks[{communicator, peer}].sends.emplace_back(bytes, bytes + size);
  return result;
}
ncclResult_t ncclRecv(void *memory, size_t size, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t) {
  ncclResult_t result = checkMessage(type, peer, communicator);
  if (result == ncclSuccess)
    group.talks[{communicator, peer}].receives.emplace_back(memory, size);
  return result;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Shows the sources to all, who then `take` from them.
template <typename Take>
static ncclResult_t exchange(ncclComm_t communicator, const void *source,
                             Take take) {
  ++numNcclCalls;
  Ranks &ranks = *communicator->ranks;
  ranks.sources[communicator->rank] = source;
  ranks.meet([] {});
  take(ranks.sources);
  ranks.meet([] {});
  return ncclSuccess;
}

/// Of i32, which tests use.
static ncclResult_t reduce(const void *source, void *result, size_t first,
                           size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t communicator) {
  if (type != ncclInt32)
    return ncclInvalidArgument;
  return exchange(communicator, source, [&](auto &sources) {
    for (size_t i = 0; i < count; ++i) {
      auto at = [&](size_t rank) {
        return static_cast<const int32_t *>(sources[rank])[first + i];
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
                           ncclComm_t communicator, cudaStream_t) {
  return reduce(source, result, 0, count, type, op, communicator);
}
ncclResult_t ncclReduceScatter(const void *source, void *result, size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t communicator, cudaStream_t) {
  return reduce(source, result, count * communicator->rank, count, type, op,
                communicator);
}
ncclResult_t ncclAllGather(const void *source, void *result, size_t count,
                           ncclDataType_t type, ncclComm_t communicator,
                           cudaStream_t) {
  if (type != ncclInt8)
    return ncclInvalidArgument;
  return exchange(communicator, source, [&](auto &sources) {
    for (size_t rank = 0; rank < sources.size(); ++rank)
      std::memcpy(static_cast<char *>(result) + rank * count, sources[rank],
                  count);
  });
}
ncclResult_t ncclBroadcast(const void *source, void *result, size_t count,
                           ncclDataType_t type, int root,
                           ncclComm_t communicator, cudaStream_t) {
  if (type != ncclInt8)
    return ncclInvalidArgument;
  return exchange(communicator, source, [&](auto &sources) {
    std::memcpy(result, sources[root], count);
  });
}
