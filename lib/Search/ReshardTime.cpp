//===- ReshardTime.cpp - What crosses which links -------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/ReshardTime.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace mlir::tofu::search;

//===----------------------------------------------------------------------===//
// Sets of axes
//===----------------------------------------------------------------------===//

uint64_t mlir::tofu::search::asBits(llvm::ArrayRef<unsigned> axes) {
  uint64_t bits = 0;
  for (unsigned axis : axes)
    bits |= uint64_t(1) << axis;
  return bits;
}

/// The first of the devices that differ from `device` in `axes` only.
static int64_t firstOf(int64_t device, uint64_t axes, const Mesh &mesh) {
  int64_t first = device, stride = 1;
  for (unsigned axis = mesh.numAxes(); axis-- > 0;) {
    if (axes >> axis & 1)
      first -= device / stride % mesh.sizes[axis] * stride;
    stride *= mesh.sizes[axis];
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

Region::Region(llvm::ArrayRef<Box> given) {
  std::vector<Box> distinct;
  for (const Box &box : given)
    if (search::volume(box) > 0)
      distinct.push_back(box);
  if (distinct.empty())
    return;
  llvm::sort(distinct,
             [](const Box &a, const Box &b) { return isBefore(a, b); });
  distinct.erase(llvm::unique(distinct), distinct.end());
  makeProduct(distinct);
  if (isProduct)
    return;
  elements = unionVolume(distinct);
  boxes = std::move(distinct);
}

/// Fills in `dims` if the boxes are all combinations of their intervals.
void Region::makeProduct(llvm::ArrayRef<Box> distinct) {
  size_t combinations = 1;
  elements = 1;
  for (unsigned dim = 0; dim < distinct.front().size(); ++dim) {
    llvm::SmallVector<Interval, 8> intervals;
    for (const Box &box : distinct)
      intervals.push_back(box[dim]);
    llvm::sort(intervals,
               [](Interval a, Interval b) { return isBefore(a, b); });
    intervals.erase(llvm::unique(intervals), intervals.end());
    combinations *= intervals.size();
    Intervals &merged = dims.emplace_back();
    int64_t length = 0;
    for (Interval interval : intervals)
      if (!merged.empty() && interval.lo <= merged.back().hi)
        merged.back().hi = std::max(merged.back().hi, interval.hi);
      else
        merged.push_back(interval);
    for (Interval interval : merged)
      length += interval.size();
    elements *= length;
  }
  isProduct = combinations == distinct.size();
}

/// Boxes without an element in common, if it is a product.
std::vector<Box> Region::listBoxes() const {
  if (!isProduct)
    return boxes;
  std::vector<Box> all(1);
  for (const Intervals &intervals : dims) {
    std::vector<Box> more;
    for (const Box &box : all)
      for (Interval interval : intervals) {
        more.push_back(box);
        more.back().push_back(interval);
      }
    all = std::move(more);
  }
  return all;
}

int64_t Region::overlap(const Region &other) const {
  if (elements == 0 || other.elements == 0)
    return 0;
  if (!isProduct || !other.isProduct) {
    std::vector<Box> both = listBoxes(), others = other.listBoxes();
    both.insert(both.end(), others.begin(), others.end());
    return elements + other.elements - unionVolume(both);
  }
  int64_t product = 1;
  for (auto [mine, its] : llvm::zip_equal(dims, other.dims)) {
    int64_t shared = 0;
    for (Interval a : mine)
      for (Interval b : its)
        shared += Interval{std::max(a.lo, b.lo), std::min(a.hi, b.hi)}.size();
    product *= shared;
  }
  return product;
}

Regions::Regions(llvm::ArrayRef<Box> boxes, uint64_t axes, const Mesh &mesh) {
  std::map<int64_t, unsigned> numbers; // by the first device of a group
  std::vector<llvm::SmallVector<Box, 4>> members;
  for (int64_t device = 0, e = boxes.size(); device < e; ++device) {
    auto [number, isNew] =
        numbers.try_emplace(firstOf(device, axes, mesh), members.size());
    if (isNew)
      members.emplace_back();
    members[number->second].push_back(boxes[device]);
    groupOf.push_back(number->second);
  }
  for (const auto &each : members)
    groups.emplace_back(each);
}

//===----------------------------------------------------------------------===//
// What crosses an axis
//===----------------------------------------------------------------------===//

namespace {
/// Adds up what each group of devices that combine receives. A group is known
/// by its first device, whose coordinates of the combined and the added axes
/// are zero.
class Crossings {
public:
  Crossings(GetRegions from, GetRegions to, const PartialAxes &partial,
            const Mesh &mesh)
      : from(from), to(to), partial(partial), mesh(mesh),
        combined(asBits(partial.combined)), added(asBits(partial.added)),
        kept(asBits(partial.kept)),
        groupSize(mesh.numCoordinates(partial.combined) *
                  mesh.numCoordinates(partial.added)) {
    for (int64_t device = 0; device < mesh.numDevices(); ++device)
      if (firstOf(device) == device)
        groups.push_back(device);
  }

  llvm::SmallVector<double, 4> count() {
    llvm::SmallVector<double, 4> most(mesh.numAxes(), 0);
    for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
      if (mesh.sizes[axis] == 1)
        continue;
      std::vector<double> received =
          (combined >> axis & 1) ? combine(axis) : fetch(axis);
      most[axis] = *llvm::max_element(received);
    }
    return most;
  }

private:
  /// The first device of the group of a device.
  int64_t firstOf(int64_t device) const {
    return ::firstOf(device, combined | added, mesh);
  }

  /// Per group: what comes over an axis from where it is nearest.
  std::vector<double> fetch(unsigned axis) {
    std::vector<double> received(groups.size(), 0);
    if (kept >> axis & 1 || added >> axis & 1)
      return received;
    uint64_t within = combined | added, inside = ~uint64_t(0) << axis << 1,
             here = uint64_t(1) << axis;
    const Regions &needed = to(combined),
                  &near = from(inMesh((inside & ~kept) | within)),
                  &far = from(inMesh(((inside | here) & ~kept) | within));
    for (auto [i, device] : llvm::enumerate(groups)) {
      const Region &mine = needed.of(device);
      received[i] =
          double(mine.overlap(far.of(device)) - mine.overlap(near.of(device))) /
          groupSize;
    }
    return received;
  }

  uint64_t inMesh(uint64_t axes) const {
    return axes & ((uint64_t(1) << mesh.numAxes()) - 1);
  }

  /// Per group: addends and sums over a combined axis.
  std::vector<double> combine(unsigned axis) {
    uint64_t outer = combined & ((uint64_t(1) << axis) - 1), here = uint64_t(1)
                                                                    << axis;
    int64_t messages = mesh.sizes[axis] - 1;
    for (unsigned other : partial.combined)
      messages *= other < axis ? mesh.sizes[other] : 1;
    std::vector<double> before = needs(combined & ~outer),
                        after = needs(combined & ~outer & ~here),
                        received(groups.size());
    const Regions &all = to(combined);
    for (auto [i, device] : llvm::enumerate(groups))
      received[i] =
          (double(messages) * all.of(device).volume() + after[i] - before[i]) /
          groupSize;
    return received;
  }

  /// Per group: elements that parts of it need whose devices differ in `axes`
  /// only, summed over the parts.
  std::vector<double> needs(uint64_t axes) {
    const Regions &regions = to(axes);
    std::map<int64_t, double> sums;
    int64_t partSize = 1;
    for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
      partSize *= axes >> axis & 1 ? mesh.sizes[axis] : 1;
    for (int64_t device = 0; device < mesh.numDevices(); ++device)
      sums[firstOf(device)] += double(regions.of(device).volume());
    std::vector<double> all;
    for (int64_t device : groups)
      all.push_back(sums[device] / partSize /
                    mesh.numCoordinates(partial.added));
    return all;
  }

  GetRegions from, to;
  const PartialAxes &partial;
  const Mesh &mesh;
  uint64_t combined, added, kept;
  int64_t groupSize;
  std::vector<int64_t> groups;
};
} // namespace

llvm::SmallVector<double, 4>
mlir::tofu::search::elementsPerAxis(GetRegions from, GetRegions to,
                                    const PartialAxes &partial,
                                    const Mesh &mesh) {
  return Crossings(from, to, partial, mesh).count();
}

llvm::SmallVector<double, 4>
mlir::tofu::search::elementsPerAxis(const Holding &from, const Holding &to,
                                    const Mesh &mesh) {
  std::map<uint64_t, Regions> held, needed;
  auto getter = [&](std::map<uint64_t, Regions> &known,
                    llvm::ArrayRef<Box> boxes) {
    return [&known, boxes, &mesh](uint64_t axes) -> const Regions & {
      return known.try_emplace(axes, boxes, axes, mesh).first->second;
    };
  };
  auto getHeld = getter(held, from.boxes), getNeeded = getter(needed, to.boxes);
  return elementsPerAxis(getHeld, getNeeded,
                         PartialAxes(from.partial, to.partial, mesh), mesh);
}
