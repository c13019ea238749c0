//===- Even.cpp - Even collectives in the host backend --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An even collective is one on a value of one dim, which in each group is the
// parts one after the other. It becomes the table of that.
//
//===----------------------------------------------------------------------===//

#include "World.h"

using namespace mlir::tofu;
using namespace mlir::tofu::host;

static bool isEvenKind(int64_t kind) {
  return kind == TOFU_ALL_REDUCE || kind == TOFU_ALL_GATHER ||
         kind == TOFU_REDUCE_SCATTER || kind == TOFU_BROADCAST;
}

/// The size of the groups. 0 if they aren't all of that size, with one device
/// for each rank.
static int64_t findGroupSize(const int64_t *groups, const int64_t *ranks,
                             int64_t devices) {
  std::vector<int64_t> sizes(devices);
  for (int64_t device = 0; device < devices; ++device) {
    if (groups[device] < 0 || groups[device] >= devices)
      return 0;
    ++sizes[groups[device]];
  }
  int64_t size = sizes[groups[0]];
  std::vector<bool> isTaken(devices * size);
  for (int64_t device = 0; device < devices; ++device) {
    int64_t rank = ranks[device];
    if (sizes[groups[device]] != size || rank < 0 || rank >= size ||
        isTaken[groups[device] * size + rank])
      return 0;
    isTaken[groups[device] * size + rank] = true;
  }
  return size;
}

/// What is wrong with an even table; nothing if it is sound.
static std::string checkEven(const int64_t *words, int64_t devices) {
  if (words[TOFU_EVEN_VERSION] != TOFU_TABLE_VERSION)
    return "table has version " + std::to_string(words[TOFU_EVEN_VERSION]) +
           ", the runtime reads " + std::to_string(TOFU_TABLE_VERSION);
  if (!isEvenKind(words[TOFU_EVEN_KIND]))
    return "unknown kind of even collective in table: " +
           std::to_string(words[TOFU_EVEN_KIND]);
  if (words[TOFU_EVEN_DEVICES] != devices)
    return std::string(kindName(words[TOFU_EVEN_KIND])) + " is for " +
           std::to_string(words[TOFU_EVEN_DEVICES]) + " devices, there are " +
           std::to_string(devices);
  const int64_t *groups = words + TOFU_EVEN_HEADER;
  int64_t size = findGroupSize(groups, groups + devices, devices), elements;
  if (!size)
    return "groups of an even collective differ in size, or two devices have "
           "one rank";
  if (words[TOFU_EVEN_COUNT] < 1 ||
      __builtin_mul_overflow(words[TOFU_EVEN_COUNT], size, &elements))
    return "an even collective can't have parts of " +
           std::to_string(words[TOFU_EVEN_COUNT]) + " elements";
  if (words[TOFU_EVEN_ROOT] < 0 || words[TOFU_EVEN_ROOT] >= size)
    return "unknown root in table: " + std::to_string(words[TOFU_EVEN_ROOT]);
  return {};
}

std::vector<int64_t> host::expandEven(TofuContext &context,
                                      const int64_t *words,
                                      const char *location) {
  int64_t devices = context.world->numDevices();
  std::string error = checkEven(words, devices);
  if (!error.empty()) {
    context.world->fail(context.device, location, error);
    return {};
  }
  int64_t kind = words[TOFU_EVEN_KIND], count = words[TOFU_EVEN_COUNT];
  const int64_t *groups = words + TOFU_EVEN_HEADER, *ranks = groups + devices;
  int64_t size = findGroupSize(groups, ranks, devices);
  bool combines = kind == TOFU_ALL_REDUCE || kind == TOFU_REDUCE_SCATTER;

  std::vector<int64_t> table = {TOFU_TABLE_VERSION,
                                kind,
                                combines ? words[TOFU_EVEN_COMBINER]
                                         : TOFU_COMBINE_NONE,
                                words[TOFU_EVEN_TYPE],
                                /*rank=*/1,
                                devices,
                                /*addends=*/combines ? size : 1,
                                /*slots=*/1};
  table.insert(table.end(), groups, groups + devices);
  for (int64_t device = 0; device < devices; ++device)
    table.push_back(combines ? ranks[device] : 0);
  table.insert(table.end(), devices, 0);

  auto addBox = [&](int64_t first, int64_t parts) {
    table.insert(table.end(), {first * count, (first + parts) * count});
  };
  for (int64_t device = 0; device < devices; ++device)
    if (kind == TOFU_ALL_GATHER)
      addBox(ranks[device], 1);
    else if (kind == TOFU_REDUCE_SCATTER)
      addBox(0, size);
    else
      addBox(0,
             kind == TOFU_ALL_REDUCE || ranks[device] == words[TOFU_EVEN_ROOT]);
  for (int64_t device = 0; device < devices; ++device)
    if (kind == TOFU_REDUCE_SCATTER)
      addBox(ranks[device], 1);
    else
      addBox(0, kind == TOFU_ALL_GATHER ? size : 1);
  return table;
}

Interval host::boxOfExpanded(const std::vector<int64_t> &table, int64_t device,
                             bool isDestination) {
  int64_t devices = table[TOFU_COLLECTIVE_DEVICES];
  const int64_t *box = table.data() + TOFU_COLLECTIVE_HEADER + 3 * devices +
                       2 * (device + (isDestination ? devices : 0));
  return {box[0], box[1]};
}
