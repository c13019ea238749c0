//===- Nccl.cpp - Even collectives by NCCL --------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;

bool Device::openCommunicator() {
  if (!shared->usesNccl || communicator)
    return true;
  return check(ncclCommInitRank(&communicator, context->world->numDevices(),
                                shared->id, context->device),
               nullptr, "a communicator");
}

/// Doesn't wait for the other devices, as destroying communicators may.
void Device::closeCommunicators() {
  for (auto &entry : communicators)
    if (entry.second)
      ncclCommAbort(entry.second);
  communicators.clear();
  if (communicator)
    ncclCommAbort(communicator);
  communicator = nullptr;
}

ncclResult_t Device::getAsyncError() {
  ncclResult_t result = ncclSuccess;
  if (communicator)
    ncclCommGetAsyncError(communicator, &result);
  for (auto &entry : communicators)
    if (entry.second && result == ncclSuccess)
      ncclCommGetAsyncError(entry.second, &result);
  return result;
}

ncclComm_t Device::findCommunicator(const std::vector<int64_t> &words,
                                    const char *location) {
  int64_t devices = words[TOFU_EVEN_DEVICES];
  std::vector<int64_t> groups(words.begin() + TOFU_EVEN_HEADER,
                              words.begin() + TOFU_EVEN_HEADER + 2 * devices);
  ncclComm_t &found = communicators[groups];
  if (!found && communicator)
    check(ncclCommSplit(communicator, groups[context->device],
                        groups[devices + context->device], &found, nullptr),
          location, "a communicator");
  return found;
}

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
  const char *location = collectives.front().location;
  if (!device.check(ncclGroupStart(), location, "a group"))
    return false;
  bool good = true;
  for (size_t i = 0; i < collectives.size(); ++i)
    good &= device.check(issue(collectives[i], groups[i], stream),
                         collectives[i].location, "a collective");
  return device.check(ncclGroupEnd(), location, "a group") && good;
}
