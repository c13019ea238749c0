//===- Nccl.cpp - Even collectives by NCCL --------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include <thread>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;

// The backend is loaded with a library that lacks these, too, and says that it
// is too old.
#pragma weak ncclCommFinalize
#pragma weak ncclCommInitRankConfig
#pragma weak ncclCommSplit

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

bool Device::openCommunicator() {
  if (!shared->usesNccl || communicator)
    return true;
  if (!shared->idError.empty())
    return fail(nullptr, shared->idError);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclResult_t begun =
      ncclCommInitRankConfig(&communicator, context->world->numDevices(),
                             shared->id, context->device, &config);
  return settle(begun, {communicator}, nullptr, "a communicator");
}

/// The new one doesn't block, as its parent doesn't. It isn't there before the
/// parent has settled.
ncclComm_t Device::findCommunicator(const std::vector<int64_t> &words,
                                    const char *location) {
  int64_t devices = words[TOFU_EVEN_DEVICES];
  std::vector<int64_t> groups(words.begin() + TOFU_EVEN_HEADER,
                              words.begin() + TOFU_EVEN_HEADER + 2 * devices);
  ncclComm_t &found = communicators[groups];
  if (found || !communicator)
    return found;
  if (!obstructCapture("there is a new communicator"))
    return nullptr;
  ncclResult_t begun =
      ncclCommSplit(communicator, groups[context->device],
                    groups[devices + context->device], &found, nullptr);
  bool isMade = settle(begun, {communicator}, location, "a communicator");
  return isMade ? found : nullptr;
}

bool Device::settle(ncclResult_t begun, const std::vector<ncclComm_t> &used,
                    const char *location, const char *what) {
  lastLocation = location;
  bool isGood = check(begun, location, what);
  double start = host::now(), timeout = context->world->timeout();
  for (auto it = used.begin(); isGood && it != used.end();) {
    ncclResult_t state = ncclSuccess;
    ncclResult_t asked = ncclCommGetAsyncError(*it, &state);
    isGood = check(asked == ncclSuccess ? state : asked, location, what);
    if (isGood && state != ncclInProgress) {
      ++it;
      continue;
    }
    if (isGood && host::now() - start > timeout)
      isGood = fail(location, std::string(what) + " timed out after " +
                                  host::formatSeconds(timeout) +
                                  " waiting for the other devices");
    isGood = isGood && !isAborted();
    std::this_thread::yield();
  }
  if (!isGood)
    abortCommunicators();
  return isGood;
}

ncclResult_t Device::getAsyncError() {
  ncclResult_t result = ncclSuccess;
  auto ask = [&](ncclComm_t each) {
    if (!each || result != ncclSuccess)
      return;
    ncclResult_t asked = ncclCommGetAsyncError(each, &result);
    result = asked == ncclSuccess ? result : asked;
  };
  ask(communicator);
  for (auto &entry : communicators)
    ask(entry.second);
  return result;
}

//===----------------------------------------------------------------------===//
// Their end
//===----------------------------------------------------------------------===//

/// Graphs first, as communicators wait for the end of graphs that use them.
/// Then the parent: it may be making a child, which it stores when it has.
/// NCCL forgets what it can't abort, and so do we: the run has failed anyway.
void Device::abortCommunicators() {
  dropGraphs();
  if (communicator)
    ncclCommAbort(communicator);
  communicator = nullptr;
  for (auto &entry : communicators)
    if (entry.second)
      ncclCommAbort(entry.second);
  communicators.clear();
}

/// Returns at once: all devices of a process must begin before one waits.
void Device::finalizeCommunicators() {
  auto finalize = [this](ncclComm_t each) {
    ncclResult_t begun = each ? ncclCommFinalize(each) : ncclSuccess;
    if (begun != ncclSuccess && begun != ncclInProgress)
      finalized = begun;
  };
  for (auto &entry : communicators)
    finalize(entry.second);
  finalize(communicator);
}

void Device::destroyCommunicators() {
  std::vector<ncclComm_t> all;
  for (auto &entry : communicators)
    if (entry.second)
      all.push_back(entry.second);
  if (communicator)
    all.push_back(communicator);
  if (!settle(finalized, all, nullptr, "the end of communicators"))
    return;
  // Nothing is left that depends on them.
  for (ncclComm_t each : all)
    ncclCommDestroy(each);
  communicators.clear();
  communicator = nullptr;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static ncclDataType_t getType(int64_t type, bool isUnsigned) {
  switch (type) {
  case TOFU_F32:
    return ncclFloat32;
  case TOFU_F64:
    return ncclFloat64;
  case TOFU_F16:
    return ncclFloat16;
  case TOFU_BF16:
    return ncclBfloat16;
  case TOFU_I32:
    return isUnsigned ? ncclUint32 : ncclInt32;
  case TOFU_I64:
  case TOFU_INDEX:
    return isUnsigned ? ncclUint64 : ncclInt64;
  default:
    return isUnsigned ? ncclUint8 : ncclInt8;
  }
}

static ncclRedOp_t getOperator(int64_t combiner) {
  switch (combiner) {
  case TOFU_COMBINE_PROD:
    return ncclProd;
  case TOFU_COMBINE_MIN:
  case TOFU_COMBINE_MINUI:
    return ncclMin;
  case TOFU_COMBINE_MAX:
  case TOFU_COMBINE_MAXUI:
    return ncclMax;
  default:
    return ncclSum;
  }
}

static ncclResult_t issue(const PendingEven &collective, ncclComm_t group,
                          cudaStream_t stream) {
  const std::vector<int64_t> &words = collective.words;
  int64_t count = words[TOFU_EVEN_COUNT], type = words[TOFU_EVEN_TYPE],
          combiner = words[TOFU_EVEN_COMBINER];
  bool isUnsigned =
      combiner == TOFU_COMBINE_MINUI || combiner == TOFU_COMBINE_MAXUI;
  // What only moves are bytes.
  size_t bytes = count * host::elementBytes(type);
  switch (words[TOFU_EVEN_KIND]) {
  case TOFU_ALL_REDUCE:
    return ncclAllReduce(collective.src, collective.dst, count,
                         getType(type, isUnsigned), getOperator(combiner),
                         group, stream);
  case TOFU_REDUCE_SCATTER:
    return ncclReduceScatter(collective.src, collective.dst, count,
                             getType(type, isUnsigned), getOperator(combiner),
                             group, stream);
  case TOFU_ALL_GATHER:
    return ncclAllGather(collective.src, collective.dst, bytes, ncclInt8, group,
                         stream);
  default:
    return ncclBroadcast(collective.src, collective.dst, bytes, ncclInt8,
                         static_cast<int>(words[TOFU_EVEN_ROOT]), group,
                         stream);
  }
}

bool cuda::runEven(Device &device, cudaStream_t stream,
                   const std::vector<PendingEven> &collectives) {
  // Communicators can't be made within a group.
  std::vector<ncclComm_t> groups;
  for (const PendingEven &each : collectives) {
    groups.push_back(device.findCommunicator(each.words, each.location));
    if (!groups.back())
      return false;
  }
  const PendingEven &first = collectives.front();
  const char *what = host::kindName(first.words[TOFU_EVEN_KIND]);
  if (!device.check(ncclGroupStart(), first.location, what))
    return false;
  bool good = true;
  for (size_t i = 0; i < collectives.size(); ++i) {
    const PendingEven &each = collectives[i];
    good &= device.check(issue(each, groups[i], stream), each.location,
                         host::kindName(each.words[TOFU_EVEN_KIND]));
  }
  return device.settle(ncclGroupEnd(), groups, first.location, what) && good;
}
