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
#include <iterator>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

const char *host::kindName(int64_t kind) {
  static const char *const names[] = {"all_reduce",     "all_gather",
                                      "reduce_scatter", "all_to_all",
                                      "fetch",          "broadcast"};
  static_assert(sizeof(names) / sizeof(*names) == TOFU_NUM_COLLECTIVE_KINDS,
                "one name per kind");
  return names[kind];
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

int64_t Table::numWords(const int64_t *words) {
  int64_t k = words[TOFU_COLLECTIVE_DEVICES];
  return TOFU_COLLECTIVE_HEADER + 3 * k + 4 * k * words[TOFU_COLLECTIVE_RANK];
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
  numAddends = words[TOFU_COLLECTIVE_ADDENDS];
  numSlots = words[TOFU_COLLECTIVE_SLOTS];
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
  if (!checkRange("number of addends", numAddends, devices + 1, error) ||
      !checkRange("number of slots", numSlots, devices + 1, error))
    return false;
  if (hasPartials() && !getCombiner(combiner, type).combine) {
    error = std::string("no combiner ") + combinerName(combiner) + " for " +
            elementTypeName(type);
    return false;
  }
  return true;
}

bool Table::readDevices(const int64_t *words, std::string &error) {
  const int64_t *next = words + TOFU_COLLECTIVE_HEADER;
  for (std::vector<int64_t> *numbers : {&families, &addends, &slots}) {
    numbers->assign(next, next + devices);
    next += devices;
  }
  for (std::vector<Box> *boxes : {&from, &to}) {
    boxes->assign(devices, Box(rank));
    for (Box &box : *boxes)
      for (Interval &interval : box) {
        interval = {next[0], next[1]};
        next += 2;
      }
  }
  for (int64_t device = 0; device < devices; ++device)
    if (!checkRange("family", families[device], devices, error) ||
        !checkRange("addend", addends[device], numAddends, error) ||
        !checkRange("slot", slots[device], numSlots, error))
      return false;
  return true;
}

static bool failMissing(const Table &table, int64_t device,
                        std::string &error) {
  error = std::string(kindName(table.kind)) + " gives device " +
          std::to_string(device) + " elements that no device holds" +
          (table.combines() ? " all addends of" : "");
  return false;
}

//===----------------------------------------------------------------------===//
// Without partial results: who gives what to whom
//===----------------------------------------------------------------------===//

/// The devices of the family of `device`, the nearest first: itself, then by
/// distance of their numbers.
static std::vector<int64_t> sourceOrder(const Table &table, int64_t device) {
  std::vector<int64_t> order;
  for (int64_t other = 0; other < table.devices; ++other)
    if (table.families[other] == table.families[device])
      order.push_back(other);
  sortFew(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::abs(a - device) < std::abs(b - device);
  });
  return order;
}

/// From whom `device` gets which parts of its result.
static bool findSources(const Table &table, int64_t device,
                        std::vector<Transfer> &sources, std::string &error) {
  std::vector<Box> missing;
  if (volume(table.to[device]))
    missing.push_back(table.to[device]);
  for (int64_t source : sourceOrder(table, device)) {
    if (missing.empty())
      return true;
    for (const Box &box : missing) {
      Box both = intersect(box, table.from[source]);
      if (volume(both))
        sources.push_back({source, both});
    }
    subtract(missing, table.from[source]);
  }
  return missing.empty() || failMissing(table, device, error);
}

static bool findMovingRoute(const Table &table, int64_t self, Route &route,
                            std::string &error) {
  for (int64_t device = 0; device < table.devices; ++device) {
    std::vector<Transfer> sources;
    if (!findSources(table, device, sources, error))
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

//===----------------------------------------------------------------------===//
// With partial results: who combines what
//===----------------------------------------------------------------------===//

namespace {

/// Devices, in order.
using Devices = std::vector<int64_t>;

/// Finds the route of one device through the cells of each family: boxes whose
/// elements are all held by the same devices and needed by the same ones.
class PartialRoute {
public:
  PartialRoute(const Table &table, int64_t self, Route &route)
      : table(table), self(self), route(route) {}

  bool find(std::string &error);

private:
  void visitCells(Box &cell, const Devices &holders, const Devices &needers,
                  int64_t dim);
  void visitCell(const Box &cell, const Devices &holders,
                 const Devices &needers);
  void moveCell(const Box &cell, const Devices &holders,
                const Devices &receivers);
  void combineCell(const Box &cell, const Devices &holders,
                   const Devices &receivers);
  void addShare(const Box &share, int64_t owner, const Devices &holders,
                const Devices &receivers);
  int64_t chooseSlot(const Devices &holders, const Devices &needers) const;
  bool hasAllAddends(const Devices &holders) const;
  void count(int64_t device, int64_t elements);

  const Table &table;
  int64_t self;
  Route &route;
  /// A device that needs what isn't there; -1 if there is none.
  int64_t missesSomething = -1;
};

} // namespace

static bool isIn(const Devices &devices, int64_t device) {
  return std::binary_search(devices.begin(), devices.end(), device);
}

/// Of `devices`, the one whose number is nearest to `device`.
static int64_t nearest(const Devices &devices, int64_t device) {
  return *std::min_element(devices.begin(), devices.end(),
                           [&](int64_t a, int64_t b) {
                             return std::abs(a - device) < std::abs(b - device);
                           });
}

static Devices both(const Devices &a, const Devices &b) {
  Devices result;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                        std::back_inserter(result));
  return result;
}

bool PartialRoute::find(std::string &error) {
  std::vector<Devices> families(table.devices);
  for (int64_t device = 0; device < table.devices; ++device)
    families[table.families[device]].push_back(device);
  Box cell(table.rank);
  for (const Devices &family : families)
    visitCells(cell, family, family, 0);
  return missesSomething < 0 || failMissing(table, missesSomething, error);
}

/// The devices whose box in `boxes` holds index `at` of dim `dim`.
static Devices selectAt(const Devices &devices, const std::vector<Box> &boxes,
                        int64_t dim, int64_t at) {
  Devices result;
  for (int64_t device : devices)
    if (boxes[device][dim].lo <= at && at < boxes[device][dim].hi)
      result.push_back(device);
  return result;
}

/// Visits the cells from dim `dim` on, of those whose dims before are `cell`'s.
void PartialRoute::visitCells(Box &cell, const Devices &holders,
                              const Devices &needers, int64_t dim) {
  if (needers.empty())
    return;
  if (dim == table.rank)
    return visitCell(cell, holders, needers);
  std::vector<int64_t> bounds;
  auto addBounds = [&](const Devices &devices, const std::vector<Box> &boxes) {
    for (int64_t device : devices)
      if (boxes[device][dim].size())
        bounds.insert(bounds.end(),
                      {boxes[device][dim].lo, boxes[device][dim].hi});
  };
  addBounds(holders, table.from);
  addBounds(needers, table.to);
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    cell[dim] = {bounds[i], bounds[i + 1]};
    visitCells(cell, selectAt(holders, table.from, dim, bounds[i]),
               selectAt(needers, table.to, dim, bounds[i]), dim + 1);
  }
}

void PartialRoute::visitCell(const Box &cell, const Devices &holders,
                             const Devices &needers) {
  if (!hasAllAddends(holders)) {
    missesSomething = needers.front();
    return;
  }
  int64_t slot = chooseSlot(holders, needers);
  Devices receivers;
  for (int64_t device : needers)
    if (table.slots[device] == slot)
      receivers.push_back(device);
    else if (device == self)
      route.neutral.push_back(cell);
  if (table.combines())
    combineCell(cell, holders, receivers);
  else
    moveCell(cell, holders, receivers);
}

bool PartialRoute::hasAllAddends(const Devices &holders) const {
  std::vector<bool> isThere(table.numAddends);
  for (int64_t device : holders)
    isThere[table.addends[device]] = true;
  return std::find(isThere.begin(), isThere.end(), false) == isThere.end();
}

/// The slot in which most devices that need the cell hold it, or an addend.
int64_t PartialRoute::chooseSlot(const Devices &holders,
                                 const Devices &needers) const {
  std::vector<int64_t> counts(table.numSlots);
  for (int64_t device : needers)
    counts[table.slots[device]] += isIn(holders, device);
  int64_t best = table.slots[needers.front()];
  for (int64_t device : needers)
    if (counts[table.slots[device]] > counts[best])
      best = table.slots[device];
  return best;
}

void PartialRoute::count(int64_t device, int64_t elements) {
  route.exchanges |= elements > 0;
  if (device == self)
    route.received += elements;
}

void PartialRoute::moveCell(const Box &cell, const Devices &holders,
                            const Devices &receivers) {
  for (int64_t device : receivers) {
    if (!isIn(holders, device))
      count(device, volume(cell));
    if (device == self)
      route.transfers.push_back({nearest(holders, device), cell});
  }
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

/// Devices that need the cell and hold an addend share the work of combining
/// it; if there are none, all that hold one.
void PartialRoute::combineCell(const Box &cell, const Devices &holders,
                               const Devices &receivers) {
  Devices owners = both(holders, receivers);
  if (owners.empty())
    owners = holders;
  // Without dims there is one element, which is for the first.
  if (cell.empty())
    return addShare(cell, owners.front(), holders, receivers);
  size_t dim = dimToCut(cell, owners.size());
  for (size_t i = 0; i < owners.size(); ++i) {
    Box share = balancedPart(cell, dim, owners.size(), i);
    if (volume(share))
      addShare(share, owners[i], holders, receivers);
  }
}

void PartialRoute::addShare(const Box &share, int64_t owner,
                            const Devices &holders, const Devices &receivers) {
  count(owner, (table.numAddends - 1) * volume(share));
  for (int64_t device : receivers)
    if (device != owner)
      count(device, volume(share));
  if (owner != self)
    return;
  std::vector<Devices> byAddend(table.numAddends);
  for (int64_t device : holders)
    byAddend[table.addends[device]].push_back(device);
  Devices sources;
  for (const Devices &devices : byAddend)
    sources.push_back(nearest(devices, self));
  route.shares.push_back({share, std::move(sources), receivers});
}

bool host::findRoute(const Table &table, int64_t self, Route &route,
                     std::string &error) {
  if (table.hasPartials())
    return PartialRoute(table, self, route).find(error);
  return findMovingRoute(table, self, route, error);
}
