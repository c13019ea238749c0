//===- Families.cpp - The boxes of all devices ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"

#include "Tofu/Search/ReshardTime.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir::tofu::search;

static constexpr int64_t kFewDevices = 16;

bool Families::hasFewDevices() const {
  return mesh.numDevices() <= kFewDevices;
}

int64_t Families::numCoordinates(uint64_t axes) const {
  int64_t product = 1;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    if (axes >> axis & 1)
      product *= mesh.sizes[axis];
  return product;
}

namespace {
/// Counts through the coordinates of some axes, the last of them fastest.
class Coordinates {
public:
  Coordinates(uint64_t axes, const Mesh &mesh)
      : mesh(mesh), coords(mesh.numAxes(), 0) {
    for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
      if (axes >> axis & 1)
        counted.push_back(axis);
  }

  /// One per axis of the mesh.
  llvm::ArrayRef<int64_t> get() const { return coords; }

  /// Goes to the next coordinates; false after the last.
  bool next() {
    for (unsigned axis : llvm::reverse(counted)) {
      if (++coords[axis] < mesh.sizes[axis])
        return true;
      coords[axis] = 0;
    }
    return false;
  }

  /// The number of the coordinates of `axes`.
  int64_t number(uint64_t axes) const {
    int64_t number = 0;
    for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
      if (axes >> axis & 1)
        number = number * mesh.sizes[axis] + coords[axis];
    return number;
  }

private:
  const Mesh &mesh;
  llvm::SmallVector<int64_t, 16> coords;
  llvm::SmallVector<unsigned, 16> counted;
};
} // namespace

//===----------------------------------------------------------------------===//
// Interning
//===----------------------------------------------------------------------===//

/// The axes that cut what `expr` reads along a tensor dim.
static uint64_t axesOf(const Placement &placement, const LinearExpr &expr,
                       const Mesh &mesh) {
  uint64_t axes = 0;
  for (const LinearExpr::Term &term : expr.terms)
    for (unsigned axis : placement.dimAxes[term.dim])
      if (mesh.sizes[axis] > 1)
        axes |= uint64_t(1) << axis;
  return axes;
}

static uint64_t allAxes(const Mesh &mesh) {
  return (uint64_t(1) << mesh.numAxes()) - 1;
}

/// Drops an axis that makes no difference; false if there is none.
static bool dropAxis(uint64_t &axes, std::vector<Interval> &intervals,
                     const Mesh &mesh) {
  size_t stride = 1;
  for (unsigned axis = mesh.numAxes(); axis-- > 0;) {
    if (!(axes >> axis & 1))
      continue;
    size_t size = mesh.sizes[axis], block = stride * size;
    bool isSame = true;
    for (size_t at = 0; at < intervals.size() && isSame; ++at)
      isSame = at % block < stride || intervals[at] == intervals[at - stride];
    if (isSame) {
      std::vector<Interval> rest;
      for (size_t at = 0; at < intervals.size(); ++at)
        if (at % block < stride)
          rest.push_back(intervals[at]);
      intervals = std::move(rest);
      axes &= ~(uint64_t(1) << axis);
      return true;
    }
    stride = block;
  }
  return false;
}

Families::Parts Families::makeParts(const Placement &placement, unsigned dim,
                                    llvm::ArrayRef<int64_t> shape) const {
  Parts made;
  made.axes = axesOf(placement, placement.index[dim], mesh);
  Coordinates coordinates(made.axes, mesh);
  do
    made.intervals.push_back(
        placement.along(dim, shape, mesh, coordinates.get()));
  while (coordinates.next());
  while (dropAxis(made.axes, made.intervals, mesh))
    ;
  int64_t size = made.intervals.front().size();
  if (llvm::all_of(made.intervals,
                   [&](Interval each) { return each.size() == size; }))
    made.uniformSize = size;
  if (!hasFewDevices())
    return made;
  Coordinates devices(allAxes(mesh), mesh);
  do
    made.ofDevices.push_back(made.intervals[devices.number(made.axes)]);
  while (devices.next());
  return made;
}

unsigned Families::addParts(const Placement &placement, unsigned dim,
                            llvm::ArrayRef<int64_t> shape) {
  const LinearExpr &expr = placement.index[dim];
  Key key{shape[dim], expr.whole, expr.constant};
  bool isKnown = true;
  for (auto [from, coefficient] : expr.terms) {
    const Axes &axes = placement.dimAxes[from];
    key.append({coefficient, placement.dimSizes[from], int64_t(axes.size())});
    key.append(axes.begin(), axes.end());
    isKnown &= !isUnknown(placement.dimSizes[from]);
  }
  // What is of unknown size may follow from other dims.
  if (isKnown)
    if (auto known = byDim.find(key); known != byDim.end())
      return known->second;
  Parts made = makeParts(placement, dim, shape);
  Key intervals{int64_t(made.axes)};
  for (Interval interval : made.intervals)
    intervals.append({interval.lo, interval.hi});
  auto [entry, isNew] =
      byIntervals.try_emplace(std::move(intervals), parts.size());
  if (isNew)
    parts.push_back(std::move(made));
  if (isKnown)
    byDim.try_emplace(std::move(key), entry->second);
  return entry->second;
}

Families::Family Families::add(const Placement &placement,
                               llvm::ArrayRef<int64_t> shape) {
  Key key(shape.begin(), shape.end());
  for (const LinearExpr &expr : placement.index) {
    key.append({expr.whole, expr.constant, int64_t(expr.terms.size())});
    for (auto [dim, coefficient] : expr.terms) {
      const Axes &axes = placement.dimAxes[dim];
      key.append(
          {dim, coefficient, placement.dimSizes[dim], int64_t(axes.size())});
      key.append(axes.begin(), axes.end());
    }
  }
  auto [known, isNew] = byPlacement.try_emplace(std::move(key), 0);
  if (!isNew)
    return known->second;
  llvm::SmallVector<unsigned, 4> dims;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    dims.push_back(addParts(placement, dim, shape));
  auto [same, isNewFamily] =
      byParts.try_emplace(ShortKey(dims.begin(), dims.end()), families.size());
  if (isNewFamily)
    families.push_back(std::move(dims));
  return known->second = same->second;
}

llvm::ArrayRef<Box> Families::boxes(Family family) {
  auto [entry, isNew] = listed.try_emplace(family);
  if (!isNew)
    return entry->second;
  Coordinates coordinates(allAxes(mesh), mesh);
  do {
    Box &box = entry->second.emplace_back();
    for (unsigned dim : families[family])
      box.push_back(parts[dim].intervals[coordinates.number(parts[dim].axes)]);
  } while (coordinates.next());
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

llvm::SmallVector<Families::Group, 4> Families::groupsOf(Family a,
                                                         Family b) const {
  llvm::SmallVector<Group, 4> groups;
  for (unsigned dim = 0; dim < families[a].size(); ++dim) {
    Group mine{parts[families[a][dim]].axes | parts[families[b][dim]].axes,
               {dim}};
    llvm::erase_if(groups, [&](const Group &other) {
      if (!(other.axes & mine.axes))
        return false;
      mine.axes |= other.axes;
      mine.dims.append(other.dims);
      return true;
    });
    llvm::sort(mine.dims);
    groups.push_back(std::move(mine));
  }
  return groups;
}

/// `fixed` axes stay at their first coordinate; `slots` are added axes.
Families::Sums Families::sum(const Group &group, Family from, Family to,
                             bool isMove, uint64_t fixed,
                             uint64_t slots) const {
  Sums sums;
  std::vector<Box> needed, there;
  llvm::SmallVector<int64_t> slotOf;
  Box need(group.dims.size()), have(group.dims.size());
  Coordinates coordinates(group.axes & ~fixed, mesh);
  do {
    for (auto [i, dim] : llvm::enumerate(group.dims)) {
      const Parts &mine = parts[families[to][dim]],
                  &its = parts[families[from][dim]];
      need[i] = mine.intervals[coordinates.number(mine.axes)];
      have[i] = its.intervals[coordinates.number(its.axes)];
    }
    sums.needed += volume(need);
    sums.kept += overlap(need, have);
    if (isMove)
      continue;
    there.push_back(intersect(need, have));
    needed.push_back(need);
    slotOf.push_back(coordinates.number(slots));
  } while (coordinates.next());
  if (isMove)
    return sums;
  sums.staying = group.axes & slots
                     ? countStaying(there, slotOf, numCoordinates(slots))
                     : sums.kept;
  sums.neededUnion = unionVolume(needed);
  sums.keptUnion = unionVolume(there);
  return sums;
}

const Families::Sums &Families::sumsOf(const Group &group, Family from,
                                       Family to, bool isMove, uint64_t fixed,
                                       uint64_t slots) {
  ShortKey key{isMove, int64_t(fixed & group.axes),
               int64_t(slots & group.axes)};
  for (unsigned dim : group.dims)
    key.append({families[from][dim], families[to][dim]});
  auto [known, isNew] = sums.try_emplace(std::move(key));
  if (isNew)
    known->second =
        sum(group, from, to, isMove, fixed & group.axes, slots & group.axes);
  return known->second;
}

std::optional<int64_t> Families::uniformVolume(Family family) const {
  int64_t product = 1;
  for (unsigned dim : families[family]) {
    if (!parts[dim].uniformSize)
      return std::nullopt;
    product *= *parts[dim].uniformSize;
  }
  return product;
}

int64_t Families::largestVolume(Family family) {
  if (std::optional<int64_t> all = uniformVolume(family))
    return *all;
  int64_t product = 1;
  for (const Group &group : groupsOf(family, family)) {
    int64_t most = 0;
    Coordinates coordinates(group.axes, mesh);
    do {
      int64_t mine = 1;
      for (unsigned dim : group.dims) {
        const Parts &cut = parts[families[family][dim]];
        mine *= cut.intervals[coordinates.number(cut.axes)].size();
      }
      most = std::max(most, mine);
    } while (coordinates.next());
    product *= most;
  }
  return product;
}

bool Families::areWithin(Family inner, Family outer) {
  int64_t needed = 1, kept = 1;
  for (const Group &group : groupsOf(outer, inner)) {
    const Sums &mine = sumsOf(group, outer, inner, true, 0, 0);
    needed *= mine.needed;
    kept *= mine.kept;
  }
  return needed == kept;
}

int64_t Families::movedElements(Family from, Family to) const {
  if (from == to)
    return 0;
  size_t numDevices = mesh.numDevices();
  int64_t needed[kFewDevices], kept[kFewDevices], moved = 0;
  std::fill_n(needed, numDevices, 1);
  std::fill_n(kept, numDevices, 1);
  for (auto [held, need] : llvm::zip_equal(families[from], families[to])) {
    const Interval *have = parts[held].ofDevices.data(),
                   *want = parts[need].ofDevices.data();
    for (size_t device = 0; device < numDevices; ++device) {
      Interval both{std::max(want[device].lo, have[device].lo),
                    std::min(want[device].hi, have[device].hi)};
      needed[device] *= want[device].size();
      kept[device] *= both.size();
    }
  }
  for (size_t device = 0; device < numDevices; ++device)
    moved += needed[device] - kept[device];
  return moved;
}

int64_t Families::receivedElements(Family from,
                                   llvm::ArrayRef<unsigned> fromPartial,
                                   Family to,
                                   llvm::ArrayRef<unsigned> toPartial) {
  PartialAxes axes(fromPartial, toPartial, mesh);
  bool isMove = axes.combined.empty() && axes.added.empty();
  uint64_t fixed = isMove ? 0 : asBits(axes.kept), slots = asBits(axes.added);
  // Devices that differ in no group's axes do the same.
  uint64_t idle = ~fixed;
  Sums all{1, 1, 1, 1, 1};
  for (const Group &group : groupsOf(from, to)) {
    const Sums &mine = sumsOf(group, from, to, isMove, fixed, slots);
    idle &= ~group.axes;
    all.needed *= mine.needed;
    all.kept *= mine.kept;
    if (isMove)
      continue;
    all.neededUnion *= mine.neededUnion;
    all.keptUnion *= mine.keptUnion;
    all.staying *= mine.staying;
  }
  if (isMove)
    return numCoordinates(idle) * (all.needed - all.kept);
  int64_t addends = mesh.numCoordinates(axes.combined),
          numSlots = mesh.numCoordinates(axes.added),
          copies = mesh.numCoordinates(axes.kept);
  int64_t gotten = numCoordinates(idle) * all.needed / numSlots;
  if (addends == 1)
    return copies * (gotten - numCoordinates(idle & ~slots) * all.staying);
  return copies * ((addends - 1) * all.neededUnion + gotten - all.keptUnion);
}
