//===- Table.cpp - Collectives as the program describes them --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"

#include "Combine.h"
#include "Tofu/Runtime/Runtime.h"
#include "Views.h"

#include <algorithm>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

const char *host::kindName(int64_t kind) {
  static const char *const names[] = {"all_reduce", "all_gather",
                                      "reduce_scatter", "all_to_all", "fetch"};
  static_assert(sizeof(names) / sizeof(*names) == TOFU_NUM_COLLECTIVE_KINDS,
                "one name per kind");
  return names[kind];
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

int64_t Table::numWords(const int64_t *words) {
  int64_t k = words[TOFU_COLLECTIVE_DEVICES];
  return TOFU_COLLECTIVE_HEADER + k + 4 * k * words[TOFU_COLLECTIVE_RANK];
}

static bool checkRange(const char *what, int64_t value, int64_t end,
                       std::string &error) {
  if (value >= 0 && value < end)
    return true;
  error =
      std::string("unknown ") + what + " in table: " + std::to_string(value);
  return false;
}

bool Table::readHeader(const int64_t *words, int64_t numDevices,
                       std::string &error) {
  if (words[TOFU_COLLECTIVE_VERSION] != TOFU_TABLE_VERSION) {
    error = "table has version " +
            std::to_string(words[TOFU_COLLECTIVE_VERSION]) +
            ", the runtime reads " + std::to_string(TOFU_TABLE_VERSION);
    return false;
  }
  kind = words[TOFU_COLLECTIVE_KIND];
  combiner = words[TOFU_COLLECTIVE_COMBINER];
  type = words[TOFU_COLLECTIVE_TYPE];
  rank = words[TOFU_COLLECTIVE_RANK];
  devices = words[TOFU_COLLECTIVE_DEVICES];
  groupSize = words[TOFU_COLLECTIVE_GROUP_SIZE];
  if (!checkRange("kind", kind, TOFU_NUM_COLLECTIVE_KINDS, error) ||
      !checkRange("combiner", combiner, TOFU_NUM_COMBINERS, error) ||
      !checkRange("element type", type, TOFU_NUM_ELEMENT_TYPES, error) ||
      !checkRange("rank", rank, kMaxRank + 1, error))
    return false;
  if (devices != numDevices) {
    error = std::string(kindName(kind)) + " is for " + std::to_string(devices) +
            " devices, there are " + std::to_string(numDevices);
    return false;
  }
  if (hasPartials() && !getCombineFunction(combiner, type)) {
    error = std::string("no combiner ") + combinerName(combiner) + " for " +
            elementTypeName(type);
    return false;
  }
  return true;
}

static bool checkGroups(const Table &table, std::string &error) {
  if (!table.hasPartials())
    return true;
  for (int64_t device = 0; device < table.devices; ++device) {
    int64_t group = table.groups[device], size = 0;
    for (int64_t other = 0; other < table.devices; ++other) {
      if (table.groups[other] != group)
        continue;
      ++size;
      if (table.from[other] == table.from[device])
        continue;
      error = "devices " + std::to_string(device) + " and " +
              std::to_string(other) + " hold partials of different boxes";
      return false;
    }
    if (size != table.groupSize) {
      error = "group " + std::to_string(group) + " has " +
              std::to_string(size) + " devices, the table says " +
              std::to_string(table.groupSize);
      return false;
    }
  }
  return true;
}

bool Table::readBoxes(const int64_t *words, std::string &error) {
  const int64_t *next = words + TOFU_COLLECTIVE_HEADER;
  groups.assign(next, next + devices);
  next += devices;
  for (std::vector<Box> *boxes : {&from, &to}) {
    boxes->assign(devices, Box(rank));
    for (Box &box : *boxes)
      for (Interval &interval : box) {
        interval = {next[0], next[1]};
        next += 2;
      }
  }
  return checkGroups(*this, error);
}

//===----------------------------------------------------------------------===//
// Who combines what
//===----------------------------------------------------------------------===//

static std::vector<int64_t> groupOf(const Table &table, int64_t device) {
  std::vector<int64_t> members;
  for (int64_t other = 0; other < table.devices; ++other)
    if (table.groups[other] == table.groups[device])
      members.push_back(other);
  return members;
}

/// The outermost dim that has an element for each of `parts`, else the longest:
/// outer cuts leave contiguous memory.
static size_t dimToCut(const Box &box, int64_t parts) {
  size_t longest = 0;
  for (size_t dim = 0; dim < box.size(); ++dim) {
    if (box[dim].size() >= parts)
      return dim;
    if (box[dim].size() > box[longest].size())
      longest = dim;
  }
  return longest;
}

/// The box that each device combines; nothing where it has no part in it.
using Shares = std::vector<std::optional<Box>>;

/// Part `index` of `parts` of a box. One without dims is one element, which is
/// for the first.
static std::optional<Box> share(const Box &box, size_t dim, int64_t parts,
                                int64_t index) {
  if (!box.empty())
    return balancedPart(box, dim, parts, index);
  return index == 0 ? std::optional<Box>(box) : std::nullopt;
}

template <typename T>
static int64_t indexOf(const std::vector<T> &list, const T &value) {
  return std::find(list.begin(), list.end(), value) - list.begin();
}

/// Members of a group that must end with the same box share the work on it.
/// False unless the different boxes of each group are disjoint and make up
/// what the group holds.
static bool shareByResult(const Table &table, Shares &shares) {
  for (int64_t device = 0; device < table.devices; ++device) {
    std::vector<int64_t> members = groupOf(table, device);
    std::vector<int64_t> sharers;
    int64_t covered = 0;
    for (int64_t member : members) {
      const Box &box = table.to[member];
      if (box == table.to[device])
        sharers.push_back(member);
      else if (volume(intersect(box, table.to[device])))
        return false;
      // Count each box once, at the first member that has it.
      bool isFirst =
          std::none_of(members.begin(), members.end(), [&](int64_t other) {
            return other < member && table.to[other] == box;
          });
      covered += isFirst ? volume(box) : 0;
      if (!contains(table.from[device], box))
        return false;
    }
    if (covered != volume(table.from[device]))
      return false;
    const Box &box = table.to[device];
    shares[device] = share(box, dimToCut(box, sharers.size()), sharers.size(),
                           indexOf(sharers, device));
  }
  return true;
}

/// Members of a group cut what they hold along `dim`.
static void shareByDim(const Table &table, size_t dim, Shares &shares) {
  for (int64_t device = 0; device < table.devices; ++device) {
    std::vector<int64_t> members = groupOf(table, device);
    shares[device] = share(table.from[device], dim, members.size(),
                           indexOf(members, device));
  }
}

/// Elements that `device` receives if it combines `via`: the others' partials
/// of it, then what it must end with beyond it.
static int64_t countReceived(const Table &table, const Shares &shares,
                             int64_t device) {
  const Box &to = table.to[device];
  if (!shares[device])
    return volume(to);
  const Box &via = *shares[device];
  return table.groupSize * volume(via) -
         volume(intersect(via, table.from[device])) + volume(to) -
         volume(intersect(via, to));
}

static int64_t countReceived(const Table &table, const Shares &shares) {
  int64_t sum = 0;
  for (int64_t device = 0; device < table.devices; ++device)
    sum += countReceived(table, shares, device);
  return sum;
}

static Shares findShares(const Table &table) {
  Shares best(table.devices);
  if (shareByResult(table, best))
    return best;
  shareByDim(table, 0, best);
  for (int64_t dim = 1; dim < table.rank; ++dim) {
    Shares shares = best;
    shareByDim(table, dim, shares);
    if (countReceived(table, shares) < countReceived(table, best))
      best = std::move(shares);
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Who gives what to whom
//===----------------------------------------------------------------------===//

/// All devices in the order in which `device` asks them: itself, its group,
/// then by distance of their numbers.
static std::vector<int64_t> sourceOrder(const Table &table, int64_t device) {
  std::vector<int64_t> order(table.devices);
  for (int64_t other = 0; other < table.devices; ++other)
    order[other] = other;
  bool hasGroups = table.hasPartials();
  sortFew(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    bool aForeign = hasGroups && table.groups[a] != table.groups[device];
    bool bForeign = hasGroups && table.groups[b] != table.groups[device];
    if (aForeign != bForeign)
      return bForeign;
    return std::abs(a - device) < std::abs(b - device);
  });
  return order;
}

/// From whom `device` gets which parts of its result, given what each holds.
static bool findSources(const Table &table, const Shares &held, int64_t device,
                        std::vector<Transfer> &sources, std::string &error) {
  std::vector<Box> missing;
  if (volume(table.to[device]))
    missing.push_back(table.to[device]);
  for (int64_t source : sourceOrder(table, device)) {
    if (missing.empty())
      return true;
    if (!held[source])
      continue;
    for (const Box &box : missing) {
      Box both = intersect(box, *held[source]);
      if (volume(both))
        sources.push_back({source, both});
    }
    subtract(missing, *held[source]);
  }
  if (missing.empty())
    return true;
  error = std::string(kindName(table.kind)) + " gives device " +
          std::to_string(device) + " elements that no device holds";
  return false;
}

static bool findReducingRoute(const Table &table, int64_t self, Route &route,
                              std::string &error) {
  Shares shares = findShares(table);
  route.members = groupOf(table, self);
  route.via = shares[self];
  route.received = countReceived(table, shares, self);
  route.exchanges = countReceived(table, shares) > 0;
  for (int64_t device = 0; device < table.devices; ++device) {
    std::vector<Transfer> sources;
    if (!findSources(table, shares, device, sources, error))
      return false;
    for (Transfer &source : sources)
      if (source.device == self)
        route.transfers.push_back({device, std::move(source.box)});
  }
  return true;
}

bool host::findRoute(const Table &table, int64_t self, Route &route,
                     std::string &error) {
  if (table.hasPartials())
    return findReducingRoute(table, self, route, error);
  Shares held(table.from.begin(), table.from.end());
  for (int64_t device = 0; device < table.devices; ++device) {
    std::vector<Transfer> sources;
    if (!findSources(table, held, device, sources, error))
      return false;
    int64_t received = volume(table.to[device]) -
                       volume(intersect(table.to[device], table.from[device]));
    route.exchanges |= received > 0;
    if (device != self)
      continue;
    route.received = received;
    route.transfers = std::move(sources);
  }
  return true;
}
