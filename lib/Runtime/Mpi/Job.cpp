//===- Job.cpp - The processes of a job of MPI ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

using namespace mlir::tofu;
using namespace mlir::tofu::mpi;

/// MPI counts in int: longer messages go in pieces.
static constexpr int64_t kMostBytes = 1 << 30;

/// The exit code of a run that failed (docs/Runtime.md).
static constexpr int kRuntimeError = 3;

/// How long a run that has failed waits for processes that compute.
static constexpr double kGraceSeconds = 5;

/// Tags: of notices of failures, of answers by those who have ended a run that
/// failed, of what is brought, and from there on of collectives. All libraries
/// have tags up to 32767.
enum { kNotice, kAnswer, kBring, kFirstCollective, kLastTag = 32767 };

/// Devices at different collectives don't take each other's messages.
static int getTag(const host::Collective &collective) {
  uint64_t hash = 0x9e3779b97f4a7c15;
  auto add = [&](uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  };
  for (int64_t word : collective.words)
    add(static_cast<uint64_t>(word));
  for (char c : collective.location)
    add(static_cast<unsigned char>(c));
  return static_cast<int>(kFirstCollective +
                          hash % (kLastTag - kFirstCollective));
}

static std::string describeError(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
    return "error " + std::to_string(code);
  return std::string(text, length);
}

/// Without that nothing can be agreed on, not even who says it: ends all
/// processes, with the exit code of runs that failed.
static void require(int code) {
  if (code == MPI_SUCCESS)
    return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "error: device %d: MPI fails between runs: %s\n", rank,
               describeError(code).c_str());
  MPI_Abort(MPI_COMM_WORLD, kRuntimeError);
}

//===----------------------------------------------------------------------===//
// Beginning and end
//===----------------------------------------------------------------------===//

std::string Job::start() {
  int isStarted = 0, has = MPI_THREAD_SINGLE;
  int code = MPI_Initialized(&isStarted);
  if (code == MPI_SUCCESS && isStarted)
    return {};
  if (code == MPI_SUCCESS)
    code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &has);
  if (code != MPI_SUCCESS)
    return "MPI can't be started: " + describeError(code);
  // An error there ends the process, too.
  std::atexit([] { MPI_Finalize(); });
  if (has < MPI_THREAD_SERIALIZED)
    return "this MPI takes no calls from several threads";
  return {};
}

Job::Job() {
  require(MPI_Comm_dup(MPI_COMM_WORLD, &communicator));
  require(MPI_Comm_rank(communicator, &self));
  require(MPI_Comm_size(communicator, &count));
  MPI_Comm local;
  require(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, self,
                              MPI_INFO_NULL, &local));
  require(MPI_Comm_rank(local, &localSelf));
  require(MPI_Comm_size(local, &localCount));
  require(MPI_Comm_free(&local));
  // What fails in a run has a place in the program.
  require(MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN));
}

Job::~Job() { require(MPI_Comm_free(&communicator)); }

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// A transfer that can't begin isn't under way; `test` says why.
void Job::begin(Transfer &transfer, int code) {
  if (code == MPI_SUCCESS)
    return;
  transfer.request = MPI_REQUEST_NULL;
  if (fault.empty())
    fault = "a message can't be sent or received: " + describeError(code);
}

void Job::send(int64_t peer, const char *data, int64_t bytes, int tag) {
  for (int64_t at = 0; at < bytes; at += kMostBytes) {
    int64_t piece = std::min(bytes - at, kMostBytes);
    Transfer &transfer =
        transfers.emplace_back(Transfer{MPI_REQUEST_NULL, peer, piece, false});
    begin(transfer, MPI_Isend(data + at, static_cast<int>(piece), MPI_BYTE,
                              static_cast<int>(peer), tag, communicator,
                              &transfer.request));
  }
}

void Job::receive(int64_t peer, char *data, int64_t bytes, int tag) {
  for (int64_t at = 0; at < bytes; at += kMostBytes) {
    int64_t piece = std::min(bytes - at, kMostBytes);
    Transfer &transfer =
        transfers.emplace_back(Transfer{MPI_REQUEST_NULL, peer, piece, true});
    begin(transfer, MPI_Irecv(data + at, static_cast<int>(piece), MPI_BYTE,
                              static_cast<int>(peer), tag, communicator,
                              &transfer.request));
  }
}

bool Job::test(std::string &error) {
  bool isDone = true;
  error = std::exchange(fault, {});
  for (Transfer &transfer : transfers) {
    if (transfer.request == MPI_REQUEST_NULL)
      continue;
    int flag = 0, bytes = 0;
    MPI_Status status;
    int code = MPI_Test(&transfer.request, &flag, &status);
    bool isReceived = code == MPI_SUCCESS && flag && transfer.isReceive;
    if (isReceived)
      code = MPI_Get_count(&status, MPI_BYTE, &bytes);
    isDone &= flag || code != MPI_SUCCESS;
    if (code != MPI_SUCCESS)
      error = "a message can't be sent or received: " + describeError(code);
    else if (isReceived && bytes != transfer.bytes)
      error = "device " + std::to_string(transfer.peer) + " has sent " +
              std::to_string(bytes) + " bytes in the place of " +
              std::to_string(transfer.bytes);
  }
  if (isDone)
    transfers.clear();
  return isDone;
}

/// "2, 3", in order and each once.
static std::string listDevices(std::vector<int64_t> devices) {
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  std::string list;
  for (int64_t device : devices)
    list += (list.empty() ? "" : ", ") + std::to_string(device);
  return list;
}

/// Those whose messages are missing.
std::string Job::describeWait() const {
  std::vector<int64_t> peers;
  for (const Transfer &transfer : transfers)
    if (transfer.request != MPI_REQUEST_NULL)
      peers.push_back(transfer.peer);
  return listDevices(std::move(peers));
}

bool Job::wait(TofuContext &context, const host::Collective &collective) {
  TofuWorld &world = *context.world;
  double start = host::now();
  const char *location = collective.location.c_str();
  for (;;) {
    std::string error;
    bool isDone = test(error);
    if (!error.empty()) {
      world.fail(context.device, location, error);
      return false;
    }
    if (isDone)
      return true;
    if (isNotified())
      world.abort();
    if (world.isAborted())
      return false;
    if (host::now() - start > world.timeout()) {
      world.fail(context.device, location,
                 std::string(host::kindName(collective.table.kind)) +
                     " timed out after " +
                     host::formatSeconds(world.timeout()) +
                     " waiting for devices " + describeWait());
      return false;
    }
    std::this_thread::yield();
  }
}

bool Job::exchange(TofuContext &context, const host::Collective &collective,
                   const host::MessageStep &step, const char *outgoing,
                   char *incoming) {
  int64_t bytes = host::elementBytes(collective.table.type);
  int tag = getTag(collective);
  for (const host::Message &message : step.receives) {
    receive(message.peer, incoming, message.elements * bytes, tag);
    incoming += message.elements * bytes;
  }
  for (const host::Message &message : step.sends) {
    send(message.peer, outgoing, message.elements * bytes, tag);
    outgoing += message.elements * bytes;
  }
  return wait(context, collective);
}

std::string Job::bring(int64_t device, void *memory, int64_t bytes,
                       double timeoutSeconds) {
  if (device == 0 || (self != 0 && self != device))
    return {};
  if (self == 0)
    receive(device, static_cast<char *>(memory), bytes, kBring);
  else
    send(0, static_cast<const char *>(memory), bytes, kBring);
  double start = host::now();
  std::string error;
  while (!test(error)) {
    if (error.empty() && host::now() - start > timeoutSeconds)
      error = "timed out after " + host::formatSeconds(timeoutSeconds) +
              " waiting for device " + describeWait();
    if (!error.empty())
      break;
    std::this_thread::yield();
  }
  return error;
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

bool Job::isNotified() {
  int flag = 0;
  require(MPI_Iprobe(MPI_ANY_SOURCE, kNotice, communicator, &flag,
                     MPI_STATUS_IGNORE));
  return flag;
}

void Job::sendToOthers(int tag) {
  for (int peer = 0; peer < count; ++peer) {
    if (peer == self)
      continue;
    Transfer &notice =
        transfers.emplace_back(Transfer{MPI_REQUEST_NULL, peer, 0, false});
    require(MPI_Isend(nullptr, 0, MPI_BYTE, peer, tag, communicator,
                      &notice.request));
  }
}

/// Those who haven't ended a run that failed.
std::string Job::listSilent() const {
  std::vector<int64_t> peers;
  for (int peer = 0; peer < count; ++peer) {
    int flag = peer == self;
    if (!flag)
      require(
          MPI_Iprobe(peer, kAnswer, communicator, &flag, MPI_STATUS_IGNORE));
    if (!flag)
      peers.push_back(peer);
  }
  return listDevices(std::move(peers));
}

/// False if there is a failure and some process doesn't come.
bool Job::waitForAgreement(bool isFailing) {
  require(MPI_Iallreduce(&vote, &winner, 1, MPI_INT, MPI_MIN, communicator,
                         &agreement));
  double failedAt = host::now();
  if (isFailing)
    sendToOthers(kAnswer);
  for (;;) {
    int isDone = 0;
    require(MPI_Test(&agreement, &isDone, MPI_STATUS_IGNORE));
    if (isDone)
      return true;
    if (!isFailing && isNotified()) {
      isFailing = true;
      failedAt = host::now();
      sendToOthers(kAnswer);
    }
    if (isFailing && host::now() - failedAt > kGraceSeconds)
      return false;
    std::this_thread::yield();
  }
}

/// Gives all the winner's text.
std::string Job::share(int winner, const std::string &mine) {
  std::string text = mine;
  int64_t bytes = text.size();
  require(MPI_Bcast(&bytes, 1, MPI_INT64_T, winner, communicator));
  text.resize(bytes);
  require(MPI_Bcast(text.data(), static_cast<int>(bytes), MPI_BYTE, winner,
                    communicator));
  return text;
}

std::string Job::findFirst(const std::string &text) {
  int mine = text.empty() ? count : self, first = count;
  require(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, communicator));
  return first == count ? "" : share(first, text);
}

void Job::broadcast(void *memory, int64_t bytes) {
  require(
      MPI_Bcast(memory, static_cast<int>(bytes), MPI_BYTE, 0, communicator));
}

void Job::cancelReceives() {
  for (Transfer &transfer : transfers) {
    if (!transfer.isReceive || transfer.request == MPI_REQUEST_NULL)
      continue;
    require(MPI_Cancel(&transfer.request));
    require(MPI_Wait(&transfer.request, MPI_STATUS_IGNORE));
  }
}

/// Takes what others have sent until all have sent all. What still is under way
/// then needs no one's memory, and nobody gets it: there is a new communicator.
void Job::drain() {
  cancelReceives();
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool hasSent = false;
  for (int isOver = 0; !isOver;) {
    int isThere = 0, bytes = 0;
    MPI_Message message;
    MPI_Status status;
    require(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &isThere,
                        &message, &status));
    if (isThere) {
      require(MPI_Get_count(&status, MPI_BYTE, &bytes));
      std::vector<char> unused(bytes);
      require(MPI_Mrecv(unused.data(), bytes, MPI_BYTE, &message,
                        MPI_STATUS_IGNORE));
    }
    // What can't be sent any more is of the run that has failed.
    std::string error;
    if (!hasSent && test(error)) {
      hasSent = true;
      require(MPI_Ibarrier(communicator, &barrier));
    }
    if (hasSent)
      require(MPI_Test(&barrier, &isOver, MPI_STATUS_IGNORE));
  }
  MPI_Comm next;
  require(MPI_Comm_dup(communicator, &next));
  require(MPI_Comm_free(&communicator));
  communicator = next;
}

TofuStatus Job::agree(std::string &error, TofuStatus status) {
  bool hasFailed = !error.empty();
  if (hasFailed)
    sendToOthers(kNotice);
  vote = hasFailed ? self : count;
  // Whoever is left says what it knows.
  std::string me = "device " + std::to_string(self);
  if (status == TOFU_STUCK) {
    if (!hasFailed)
      error = me + " doesn't end after another one has failed";
    return TOFU_STUCK;
  }
  if (!waitForAgreement(status != TOFU_OK)) {
    std::string silent = listSilent();
    error = hasFailed ? error + "; no answer from devices " + silent
                      : me + " waits for devices " + silent +
                            ", which don't end after a failure";
    return TOFU_STUCK;
  }
  if (winner == count)
    return TOFU_OK;
  std::string first = share(winner, error);
  error = self == 0 ? first : "";
  drain();
  return TOFU_FAILED;
}
