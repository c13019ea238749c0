//===- EvenCollective.cpp - What NCCL does in one call --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes by what each device has and must have, not by the collective's kind:
// devices form groups, and in each group the parts follow each other in memory.
//
//===----------------------------------------------------------------------===//

#include "CollectiveTables.h"

#include "Tofu/Runtime/Runtime.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::tofu;

using search::Box;

namespace {

/// The devices of a group in the order of ranks.
using Group = SmallVector<int64_t>;

/// A collective's table without partial results after it, of a value with
/// known sizes.
class EvenMatcher {
public:
  explicit EvenMatcher(ArrayRef<int64_t> table);

  std::optional<SmallVector<int64_t>> match();

private:
  using Sets = std::vector<std::vector<int64_t>>;

  bool matchReduction();
  bool matchGather();
  bool matchBroadcast();
  Sets collectSets(bool byDestination) const;
  std::optional<std::vector<Group>> splitByAddend(ArrayRef<int64_t> set) const;
  bool addReducing(Group group);
  bool addScattering(Group group);
  bool addGathering(Group group);
  bool add(int64_t partKind, int64_t partCount, Group group);
  bool sortByPart(Group &group, ArrayRef<Box> parts, const Box &whole,
                  int64_t count) const;
  bool hasReducer() const;
  SmallVector<int64_t> makeTable() const;

  int64_t k, rank, combiner, type, numAddends, numSlots;
  ArrayRef<int64_t> families, addends;
  std::vector<Box> from, to;

  int64_t kind = -1, count = 0;
  std::vector<Group> groups;
};

} // namespace

EvenMatcher::EvenMatcher(ArrayRef<int64_t> table)
    : k(table[TOFU_COLLECTIVE_DEVICES]), rank(table[TOFU_COLLECTIVE_RANK]),
      combiner(table[TOFU_COLLECTIVE_COMBINER]),
      type(table[TOFU_COLLECTIVE_TYPE]),
      numAddends(table[TOFU_COLLECTIVE_ADDENDS]),
      numSlots(table[TOFU_COLLECTIVE_SLOTS]) {
  table = table.drop_front(TOFU_COLLECTIVE_HEADER);
  families = table.take_front(k);
  addends = table.slice(k, k);
  const int64_t *next = table.drop_front(3 * k).data();
  for (std::vector<Box> *boxes : {&from, &to})
    for (int64_t device = 0; device < k; ++device) {
      Box &box = boxes->emplace_back();
      for (int64_t dim = 0; dim < rank; ++dim, next += 2)
        box.push_back({next[0], next[1]});
    }
}

/// The place of `box` among parts of `count` elements that make up `whole`, in
/// the order of memory; nothing if it is no such part.
static std::optional<int64_t> findPart(const Box &box, const Box &whole,
                                       int64_t count) {
  int64_t offset = 0;
  bool isFull = true;
  for (size_t dim = box.size(); dim-- > 0;) {
    // Outside of a dim that the part doesn't fill it has one index each.
    if (!isFull && box[dim].size() != 1)
      return std::nullopt;
    isFull &= box[dim].lo == whole[dim].lo && box[dim].hi == whole[dim].hi;
    if (box[dim].lo < whole[dim].lo || box[dim].hi > whole[dim].hi)
      return std::nullopt;
  }
  int64_t stride = 1;
  for (size_t dim = box.size(); dim-- > 0;) {
    offset += (box[dim].lo - whole[dim].lo) * stride;
    stride *= whole[dim].size();
  }
  if (search::volume(box) != count || offset % count)
    return std::nullopt;
  return offset / count;
}

/// Lexicographic order.
static bool isBefore(const Box &a, const Box &b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [](search::Interval x, search::Interval y) {
        return std::pair(x.lo, x.hi) < std::pair(y.lo, y.hi);
      });
}

/// Devices of a family with the same box, before or after.
EvenMatcher::Sets EvenMatcher::collectSets(bool byDestination) const {
  using Key = std::pair<int64_t, Box>;
  auto isFirst = [](const Key &a, const Key &b) {
    return a.first != b.first ? a.first < b.first
                              : isBefore(a.second, b.second);
  };
  std::map<Key, std::vector<int64_t>, decltype(isFirst)> sets(isFirst);
  for (int64_t device = 0; device < k; ++device)
    sets[{families[device], byDestination ? to[device] : from[device]}]
        .push_back(device);
  Sets result;
  for (auto &entry : sets)
    result.push_back(std::move(entry.second));
  return result;
}

/// Groups with one device for each addend; nothing if they don't come out even.
std::optional<std::vector<Group>>
EvenMatcher::splitByAddend(ArrayRef<int64_t> set) const {
  std::vector<Group> result(set.size() / numAddends);
  std::vector<size_t> next(numAddends);
  for (int64_t device : set) {
    size_t &at = next[addends[device]];
    if (at == result.size())
      return std::nullopt;
    result[at++].push_back(device);
  }
  if (!llvm::all_of(next, [&](size_t at) { return at == result.size(); }))
    return std::nullopt;
  return result;
}

/// Sorts a group by the place of each device's part; false if the parts don't
/// make up the whole.
bool EvenMatcher::sortByPart(Group &group, ArrayRef<Box> parts,
                             const Box &whole, int64_t partCount) const {
  Group sorted(group.size(), -1);
  for (int64_t device : group) {
    std::optional<int64_t> place = findPart(parts[device], whole, partCount);
    if (!place || *place >= int64_t(group.size()) || sorted[*place] >= 0)
      return false;
    sorted[*place] = device;
  }
  group = std::move(sorted);
  return search::volume(whole) == partCount * int64_t(group.size());
}

/// Adds a group unless it differs in kind or size from those before.
bool EvenMatcher::add(int64_t groupKind, int64_t partCount, Group group) {
  if (group.size() < 2 || partCount < 1)
    return false;
  if (!groups.empty() && (kind != groupKind || count != partCount ||
                          groups.front().size() != group.size()))
    return false;
  kind = groupKind;
  count = partCount;
  groups.push_back(std::move(group));
  return true;
}

bool EvenMatcher::addReducing(Group group) {
  for (int64_t device : group)
    if (to[device] != from[group.front()])
      return false;
  int64_t size = search::volume(from[group.front()]);
  return add(TOFU_ALL_REDUCE, size, std::move(group));
}

bool EvenMatcher::addScattering(Group group) {
  int64_t size = search::volume(to[group.front()]);
  return size && sortByPart(group, to, from[group.front()], size) &&
         add(TOFU_REDUCE_SCATTER, size, std::move(group));
}

bool EvenMatcher::addGathering(Group group) {
  int64_t size = search::volume(from[group.front()]);
  return size && sortByPart(group, from, to[group.front()], size) &&
         add(TOFU_ALL_GATHER, size, std::move(group));
}

/// True if NCCL has the reduction, with the meaning that it has here. It says
/// nothing of NaN and of the sign of zero in minima and maxima.
bool EvenMatcher::hasReducer() const {
  bool isFloat = type == TOFU_F32 || type == TOFU_F64 || type == TOFU_F16 ||
                 type == TOFU_BF16;
  bool isInteger = type == TOFU_I8 || type == TOFU_I32 || type == TOFU_I64 ||
                   type == TOFU_INDEX;
  switch (combiner) {
  case TOFU_COMBINE_SUM:
  case TOFU_COMBINE_PROD:
    return isFloat || isInteger;
  case TOFU_COMBINE_MIN:
  case TOFU_COMBINE_MAX:
  case TOFU_COMBINE_MINUI:
  case TOFU_COMBINE_MAXUI:
    return isInteger;
  default:
    return false;
  }
}

bool EvenMatcher::matchReduction() {
  if (!hasReducer())
    return false;
  bool orderMatters = type <= TOFU_BF16 && numAddends > 2;
  for (const std::vector<int64_t> &set : collectSets(/*byDestination=*/false)) {
    std::optional<std::vector<Group>> split = splitByAddend(set);
    // Each group combines in an order of its own, but replicas are the same.
    if (!split || split->empty() || (orderMatters && split->size() > 1))
      return false;
    for (Group &group : *split)
      if (!addReducing(group) && !addScattering(group))
        return false;
  }
  return true;
}

bool EvenMatcher::matchGather() {
  for (const std::vector<int64_t> &set : collectSets(/*byDestination=*/true)) {
    // The first device with each part, the second with each, and so on.
    std::vector<Group> split;
    for (int64_t device : set) {
      auto it = llvm::find_if(split, [&](const Group &group) {
        return llvm::none_of(
            group, [&](int64_t other) { return from[other] == from[device]; });
      });
      if (it == split.end())
        it = split.insert(split.end(), Group());
      it->push_back(device);
    }
    for (Group &group : split)
      if (!addGathering(group))
        return false;
  }
  return true;
}

/// Where some devices have all that the others, which have nothing, need.
bool EvenMatcher::matchBroadcast() {
  for (const std::vector<int64_t> &set : collectSets(/*byDestination=*/true)) {
    SmallVector<int64_t> roots, others;
    for (int64_t device : set)
      (from[device] == to[device] ? roots : others).push_back(device);
    if (roots.empty() || others.size() % roots.size() ||
        llvm::any_of(others, [&](int64_t device) {
          return search::volume(from[device]);
        }))
      return false;
    size_t perRoot = others.size() / roots.size();
    for (auto [i, root] : llvm::enumerate(roots)) {
      Group group = {root};
      llvm::append_range(group, ArrayRef(others).slice(i * perRoot, perRoot));
      if (!add(TOFU_BROADCAST, search::volume(to[root]), std::move(group)))
        return false;
    }
  }
  return true;
}

SmallVector<int64_t> EvenMatcher::makeTable() const {
  bool combines = kind == TOFU_ALL_REDUCE || kind == TOFU_REDUCE_SCATTER;
  SmallVector<int64_t> table = {TOFU_TABLE_VERSION,
                                kind,
                                combines ? combiner : TOFU_COMBINE_NONE,
                                type,
                                count,
                                /*root=*/0,
                                k};
  SmallVector<int64_t> groupOf(k), rankOf(k);
  for (auto [number, group] : llvm::enumerate(groups))
    for (auto [place, device] : llvm::enumerate(group)) {
      groupOf[device] = number;
      rankOf[device] = place;
    }
  llvm::append_range(table, groupOf);
  llvm::append_range(table, rankOf);
  return table;
}

std::optional<SmallVector<int64_t>> EvenMatcher::match() {
  if (numSlots != 1)
    return std::nullopt;
  auto tryOne = [&](bool (EvenMatcher::*matches)()) {
    groups.clear();
    return (this->*matches)();
  };
  bool matches = numAddends > 1 ? tryOne(&EvenMatcher::matchReduction)
                                : tryOne(&EvenMatcher::matchGather) ||
                                      tryOne(&EvenMatcher::matchBroadcast);
  if (!matches)
    return std::nullopt;
  return makeTable();
}

/// True if the elements lie in order without gaps.
static bool isContiguous(MemRefType type) {
  if (type.getLayout().isIdentity())
    return true;
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t expected = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    if (type.isDynamicDim(dim))
      return false;
    if (type.getDimSize(dim) != 1 && strides[dim] != expected)
      return false;
    expected *= type.getDimSize(dim);
  }
  return true;
}

std::optional<SmallVector<int64_t>>
tofu::makeEvenTable(CollectiveBufferOp op, ArrayRef<int64_t> table) {
  if (!op.getShape().isStatic() || !isContiguous(op.getSource().getType()) ||
      !isContiguous(op.getDest().getType()))
    return std::nullopt;
  return EvenMatcher(table).match();
}
