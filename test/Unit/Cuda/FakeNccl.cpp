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
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nccl.h>
#include <vector>

using mlir::tofu::test::numNcclCalls;

namespace {

/// Ranks that come to their collectives in the same order.
struct Ranks {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const void *> sources;
  std::vector<std::pair<int, int>> colors;
  int come = 0;
  int64_t round = 0;
  std::map<int, std::shared_ptr<Ranks>> parts;

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
      part->colors.emplace_back();
    }
  });
  *result = new ncclComm{ranks.parts[color], key};
  ranks.meet([] {});
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *result) {
  *result = ncclSuccess;
  return ncclSuccess;
}
const char *ncclGetErrorString(ncclResult_t) { return "an error"; }
const char *ncclGetLastError(ncclComm_t) { return ""; }
ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclGroupEnd() { return ncclSuccess; }

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
