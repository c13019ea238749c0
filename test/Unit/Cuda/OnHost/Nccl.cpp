//===- Nccl.cpp - NCCL between threads and processes of a machine ---------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message is a file, which its receiver removes. In a collective all send
// what they have to all. Calls go on on threads of their own, as those of
// communicators that don't block do.
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "Fake.h"
#include "Table.h"
#include "Tofu/Runtime/Runtime.h"
#include "Views.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nccl.h>
#include <random>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mlir::tofu;
using Bytes = std::vector<char>;

namespace {

/// A rank of a communicator, which graphs refer to as well.
struct Rank {
  std::string folder;
  int rank = 0, size = 0;
  std::atomic<bool> isAborted{false};
  /// Messages so far, by peer; communicators made of this one.
  std::vector<int64_t> sent, received;
  int splits = 0;

  Rank(std::string folder, int rank, int size)
      : folder(std::move(folder)), rank(rank), size(size), sent(size),
        received(size) {
    ::mkdir(this->folder.c_str(), 0700);
  }

  std::string getPath(int from, int to, int64_t number) const {
    return folder + "/" + std::to_string(from) + "." + std::to_string(to) +
           "." + std::to_string(number);
  }
  void send(int to, const void *data, size_t bytes);
  bool receive(int from, Bytes &bytes);
  /// Brings all ranks what all have.
  void sendToAll(const void *data, size_t bytes) {
    for (int to = 0; to < size; ++to)
      send(to, data, bytes);
  }
  bool receiveFromAll(std::vector<Bytes> &all) {
    all.resize(size);
    for (int from = 0; from < size; ++from)
      if (!receive(from, all[from]))
        return false;
    return true;
  }
};

using Member = std::shared_ptr<Rank>;

/// What a call does after it has returned.
struct Job {
  std::thread thread;
  std::atomic<bool> isDone{false};
  bool isGood = false;
  ~Job() { thread.join(); }
};

/// A call in a group: first all of them send.
struct Operation {
  cudaStream_t stream;
  std::function<void()> send;
  std::function<bool()> receive;
};

} // namespace

struct ncclComm {
  explicit ncclComm(Member self) : self(std::move(self)) {}

  Member self;
  std::shared_ptr<Job> job;
  bool hasFailed = false;
};

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Renamed once it is whole.
void Rank::send(int to, const void *data, size_t bytes) {
  std::string path = getPath(rank, to, sent[to]++), part = path + ".part";
  std::ofstream(part, std::ios::binary)
      .write(static_cast<const char *>(data), bytes);
  std::rename(part.c_str(), path.c_str());
}

/// False if it must not wait any more.
bool Rank::receive(int from, Bytes &bytes) {
  std::string path = getPath(from, rank, received[from]++);
  while (::access(path.c_str(), F_OK)) {
    if (isAborted)
      return false;
    std::this_thread::yield();
  }
  std::ifstream file(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  std::remove(path.c_str());
  return true;
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

static ncclResult_t start(const std::vector<ncclComm_t> &communicators,
                          std::function<bool()> work) {
  if (communicators.empty())
    return ncclSuccess;
  auto job = std::make_shared<Job>();
  job->thread = std::thread([pointer = job.get(), work = std::move(work)] {
    pointer->isGood = work();
    pointer->isDone = true;
  });
  for (ncclComm_t each : communicators)
    each->job = job;
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator,
                                   ncclResult_t *result) {
  std::shared_ptr<Job> &job = communicator->job;
  *result = ncclInProgress;
  if (job && !job->isDone)
    return ncclSuccess;
  communicator->hasFailed |= job && !job->isGood;
  job.reset();
  *result = communicator->hasFailed ? ncclInternalError : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclGetVersion(int *version) {
  *version = test::ncclVersion;
  return ncclSuccess;
}

/// The name of a folder, in memory where there is one.
ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::random_device random;
  std::snprintf(id->internal, sizeof(id->internal), "%s/tofu-nccl-%08x%08x",
                ::access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", random(),
                random());
  return ncclSuccess;
}

/// All say that they have come.
static bool meet(Rank &self) {
  std::vector<Bytes> all;
  self.sendToAll(nullptr, 0);
  return self.receiveFromAll(all);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *result, int size,
                                    ncclUniqueId id, int rank, ncclConfig_t *) {
  auto self = std::make_shared<Rank>(id.internal, rank, size);
  *result = new ncclComm(self);
  return start({*result}, [=] { return meet(*self); });
}

/// All say which group they are in.
ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key,
                           ncclComm_t *result, ncclConfig_t *) {
  *result = nullptr;
  return start({parent}, [=, self = parent->self] {
    std::vector<Bytes> all;
    self->sendToAll(&color, sizeof(color));
    if (!self->receiveFromAll(all))
      return false;
    int size = 0;
    for (const Bytes &each : all)
      size += !std::memcmp(each.data(), &color, sizeof(color));
    std::string folder = self->folder + "/" + std::to_string(self->splits++) +
                         "-" + std::to_string(color);
    *result = new ncclComm(std::make_shared<Rank>(folder, key, size));
    return true;
  });
}

/// The first rank takes the messages along that nobody takes any more.
static void close(ncclComm_t communicator) {
  std::error_code ignored;
  if (communicator->self->rank == 0)
    std::filesystem::remove_all(communicator->self->folder, ignored);
  delete communicator;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  communicator->self->isAborted = true;
  communicator->job.reset();
  close(communicator);
  return ncclSuccess;
}

/// The first rank ends when the others need nothing of it.
ncclResult_t ncclCommFinalize(ncclComm_t communicator) {
  return start({communicator}, [self = communicator->self] {
    bool isGood = meet(*self);
    if (self->rank)
      self->send(0, nullptr, 0);
    Bytes nothing;
    for (int from = 1; self->rank == 0 && isGood && from < self->size; ++from)
      isGood = self->receive(from, nothing);
    return isGood;
  });
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  close(communicator);
  return ncclSuccess;
}
const char *ncclGetErrorString(ncclResult_t) { return test::errorText; }
const char *ncclGetLastError(ncclComm_t) { return ""; }

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static thread_local int depth = 0;
static thread_local std::vector<Operation> operations;
static thread_local std::vector<ncclComm_t> used;

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (--depth)
    return ncclSuccess;
  std::vector<Operation> group = std::exchange(operations, {});
  return start(std::exchange(used, {}), [=] {
    auto isGood = std::make_shared<bool>(true);
    test::enqueue(group.front().stream, [=] {
      for (const Operation &each : group)
        each.send();
      for (const Operation &each : group)
        *isGood = *isGood && each.receive();
    });
    return *isGood;
  });
}

static ncclResult_t add(ncclComm_t communicator, Operation operation) {
  if (!depth)
    return ncclInvalidUsage;
  operations.push_back(std::move(operation));
  used.push_back(communicator);
  return ncclSuccess;
}

ncclResult_t ncclSend(const void *memory, size_t size, ncclDataType_t, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
  Member self = communicator->self;
  return add(communicator, {stream, [=] { self->send(peer, memory, size); },
                            [] { return true; }});
}
ncclResult_t ncclRecv(void *memory, size_t size, ncclDataType_t, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
  Member self = communicator->self;
  return add(communicator, {stream, [] {},
                            [=] {
                              Bytes bytes;
                              bool isGood = self->receive(peer, bytes) &&
                                            bytes.size() == size;
                              if (isGood)
                                std::memcpy(memory, bytes.data(), size);
                              return isGood;
                            }});
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// All send `bytes` of their own to all, and then `take` what has come.
template <typename Take>
static ncclResult_t exchange(ncclComm_t communicator, cudaStream_t stream,
                             const void *source, size_t bytes, Take take) {
  Member self = communicator->self;
  return add(communicator, {stream, [=] { self->sendToAll(source, bytes); },
                            [=] {
                              std::vector<Bytes> all;
                              if (!self->receiveFromAll(all))
                                return false;
                              take(all);
                              return true;
                            }});
}

static int64_t getElementType(ncclDataType_t type) {
  static const std::map<ncclDataType_t, int64_t> types = {
      {ncclFloat32, TOFU_F32}, {ncclFloat64, TOFU_F64},
      {ncclFloat16, TOFU_F16}, {ncclBfloat16, TOFU_BF16},
      {ncclInt32, TOFU_I32},   {ncclUint32, TOFU_I32},
      {ncclInt64, TOFU_I64},   {ncclUint64, TOFU_I64},
      {ncclInt8, TOFU_I8},     {ncclUint8, TOFU_I8}};
  return types.at(type);
}

static int64_t getCombiner(ncclRedOp_t op, ncclDataType_t type) {
  bool isUnsigned =
      type == ncclUint8 || type == ncclUint32 || type == ncclUint64;
  switch (op) {
  case ncclProd:
    return TOFU_COMBINE_PROD;
  case ncclMin:
    return isUnsigned ? TOFU_COMBINE_MINUI : TOFU_COMBINE_MIN;
  case ncclMax:
    return isUnsigned ? TOFU_COMBINE_MAXUI : TOFU_COMBINE_MAX;
  default:
    return TOFU_COMBINE_SUM;
  }
}

/// Of `total` elements that all have, the `count` from `first` on.
static ncclResult_t reduce(const void *source, void *result, size_t total,
                           size_t first, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t communicator,
                           cudaStream_t stream) {
  int64_t element = getElementType(type);
  size_t bytes = host::elementBytes(element);
  return exchange(communicator, stream, source, total * bytes, [=](auto &all) {
    host::Combiner combiner = host::getCombiner(getCombiner(op, type), element);
    auto *into = static_cast<char *>(result);
    std::memcpy(into, all[0].data() + first * bytes, count * bytes);
    for (size_t rank = 1; rank < all.size(); ++rank)
      combiner.combine(into, all[rank].data() + first * bytes, count);
  });
}

ncclResult_t ncclAllReduce(const void *source, void *result, size_t count,
                           ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t communicator, cudaStream_t stream) {
  return reduce(source, result, count, 0, count, type, op, communicator,
                stream);
}
ncclResult_t ncclReduceScatter(const void *source, void *result, size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t communicator, cudaStream_t stream) {
  const Rank &self = *communicator->self;
  return reduce(source, result, self.size * count, self.rank * count, count,
                type, op, communicator, stream);
}
ncclResult_t ncclAllGather(const void *source, void *result, size_t count,
                           ncclDataType_t, ncclComm_t communicator,
                           cudaStream_t stream) {
  return exchange(communicator, stream, source, count, [=](auto &all) {
    for (size_t rank = 0; rank < all.size(); ++rank)
      std::memcpy(static_cast<char *>(result) + rank * count, all[rank].data(),
                  count);
  });
}
ncclResult_t ncclBroadcast(const void *source, void *result, size_t count,
                           ncclDataType_t, int root, ncclComm_t communicator,
                           cudaStream_t stream) {
  bool isRoot = communicator->self->rank == root;
  return exchange(
      communicator, stream, source, isRoot ? count : 0,
      [=](auto &all) { std::memcpy(result, all[root].data(), count); });
}
