//===- ReshardPlanner.cpp - The cheapest way from layout to layout --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/ReshardPlanner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>

using namespace mlir::tofu::search;

//===----------------------------------------------------------------------===//
// Cells: maximal boxes whose elements lie in the same boxes
//===----------------------------------------------------------------------===//

namespace {
using VisitCell =
    llvm::function_ref<void(llvm::ArrayRef<unsigned> boxes, int64_t volume)>;
} // namespace

/// Calls `visit` for the cells from dim `dim` on of the boxes numbered
/// `active`, whose dims before make up `volume` elements.
static void visitCells(llvm::ArrayRef<Box> boxes,
                       llvm::ArrayRef<unsigned> active, unsigned dim,
                       int64_t volume, VisitCell visit) {
  if (active.empty())
    return;
  if (dim == boxes.front().size())
    return visit(active, volume);
  llvm::SmallVector<int64_t, 16> bounds;
  for (unsigned i : active)
    if (boxes[i][dim].size())
      bounds.append({boxes[i][dim].lo, boxes[i][dim].hi});
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  llvm::SmallVector<unsigned, 16> inside;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    inside.clear();
    for (unsigned box : active)
      if (boxes[box][dim].lo <= bounds[i] && bounds[i] < boxes[box][dim].hi)
        inside.push_back(box);
    visitCells(boxes, inside, dim + 1, volume * (bounds[i + 1] - bounds[i]),
               visit);
  }
}

static void visitCells(llvm::ArrayRef<Box> boxes, VisitCell visit) {
  llvm::SmallVector<unsigned, 16> all;
  for (unsigned i = 0; i < boxes.size(); ++i)
    all.push_back(i);
  visitCells(boxes, all, 0, 1, visit);
}

bool mlir::tofu::search::isBefore(Interval a, Interval b) {
  return std::pair(a.lo, a.hi) < std::pair(b.lo, b.hi);
}

bool mlir::tofu::search::isBefore(const Box &a, const Box &b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [](Interval x, Interval y) { return isBefore(x, y); });
}

/// The union of boxes in order, none of them empty, from dim `dim` on. Those
/// that lie beside each other along it are counted one after the other.
static int64_t unionOf(llvm::ArrayRef<Box> boxes, unsigned dim) {
  if (dim == boxes.front().size())
    return 1;
  int64_t sum = 0;
  if (dim + 1 == boxes.front().size()) {
    int64_t end = boxes.front()[dim].lo;
    for (const Box &box : boxes) {
      Interval mine = box[dim];
      sum += std::max<int64_t>(mine.hi - std::max(end, mine.lo), 0);
      end = std::max(end, mine.hi);
    }
    return sum;
  }
  for (size_t from = 0, to = 0; from < boxes.size(); from = to) {
    Interval mine = boxes[from][dim];
    while (to < boxes.size() && boxes[to][dim] == mine)
      ++to;
    if (to < boxes.size() && boxes[to][dim].lo < mine.hi) {
      auto all = llvm::to_vector(llvm::seq<unsigned>(0, boxes.size()));
      sum = 0;
      visitCells(
          boxes, all, dim, 1,
          [&](llvm::ArrayRef<unsigned>, int64_t volume) { sum += volume; });
      return sum;
    }
    sum += mine.size() * unionOf(boxes.slice(from, to - from), dim + 1);
  }
  return sum;
}

int64_t mlir::tofu::search::unionVolume(llvm::ArrayRef<Box> boxes) {
  std::vector<Box> distinct;
  for (const Box &box : boxes)
    if (volume(box) > 0)
      distinct.push_back(box);
  llvm::sort(distinct,
             [](const Box &a, const Box &b) { return isBefore(a, b); });
  distinct.erase(llvm::unique(distinct), distinct.end());
  return distinct.empty() ? 0 : unionOf(distinct, 0);
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

static Axes select(llvm::ArrayRef<unsigned> axes, const Mesh &mesh,
                   llvm::function_ref<bool(unsigned)> test) {
  Axes result;
  for (unsigned axis : axes)
    if (mesh.sizes[axis] > 1 && test(axis))
      result.push_back(axis);
  llvm::sort(result);
  return result;
}

PartialAxes::PartialAxes(llvm::ArrayRef<unsigned> from,
                         llvm::ArrayRef<unsigned> to, const Mesh &mesh)
    : kept(select(from, mesh,
                  [&](unsigned a) { return llvm::is_contained(to, a); })),
      combined(select(from, mesh,
                      [&](unsigned a) { return !llvm::is_contained(to, a); })),
      added(select(to, mesh,
                   [&](unsigned a) { return !llvm::is_contained(from, a); })) {}

namespace {
/// The devices whose coordinates of the kept axes are zero. Those of other
/// coordinates do the same with other addends.
struct Family {
  llvm::SmallVector<Box> needed; ///< a box per device
  llvm::SmallVector<Box> there;  ///< what it holds of it already
  llvm::SmallVector<int64_t> slots;

  Family(const Holding &from, const Holding &to, const PartialAxes &axes,
         const Mesh &mesh) {
    for (int64_t device = 0; device < mesh.numDevices(); ++device) {
      if (mesh.number(device, axes.kept) != 0)
        continue;
      needed.push_back(to.boxes[device]);
      there.push_back(intersect(to.boxes[device], from.boxes[device]));
      slots.push_back(mesh.number(device, axes.added));
    }
  }
};
} // namespace

static int64_t sumOfVolumes(llvm::ArrayRef<Box> boxes) {
  int64_t sum = 0;
  for (const Box &box : boxes)
    sum += volume(box);
  return sum;
}

int64_t mlir::tofu::search::countStaying(llvm::ArrayRef<Box> there,
                                         llvm::ArrayRef<int64_t> slots,
                                         int64_t numSlots) {
  int64_t staying = 0;
  llvm::SmallVector<int64_t> counts(numSlots);
  visitCells(there, [&](llvm::ArrayRef<unsigned> boxes, int64_t volume) {
    std::fill(counts.begin(), counts.end(), 0);
    for (unsigned i : boxes)
      ++counts[slots[i]];
    staying += volume * *llvm::max_element(counts);
  });
  return staying;
}

int64_t mlir::tofu::search::receivedElements(const Holding &from,
                                             const Holding &to,
                                             const Mesh &mesh) {
  PartialAxes axes(from.partial, to.partial, mesh);
  if (axes.combined.empty() && axes.added.empty())
    return movedElements(from.boxes, to.boxes);
  Family family(from, to, axes, mesh);
  int64_t addends = mesh.numCoordinates(axes.combined),
          slots = mesh.numCoordinates(axes.added),
          families = mesh.numCoordinates(axes.kept);
  // One slot gets the value; the boxes of all are the same.
  int64_t gotten = sumOfVolumes(family.needed) / slots;
  if (addends == 1)
    return families *
           (gotten - countStaying(family.there, family.slots, slots));
  // Summed over the elements: p - 1 addends and |D| sums, but one where a
  // device of D holds an addend, and adds up.
  return families * ((addends - 1) * unionVolume(family.needed) + gotten -
                     unionVolume(family.there));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// True if devices that differ in the coordinates of `axes` only have the same
/// box.
static bool isSameOver(llvm::ArrayRef<unsigned> axes, llvm::ArrayRef<Box> boxes,
                       const Mesh &mesh) {
  for (unsigned axis : axes) {
    int64_t stride = 1;
    for (unsigned inner = axis + 1; inner < mesh.numAxes(); ++inner)
      stride *= mesh.sizes[inner];
    for (int64_t device = 0, e = boxes.size(); device < e; ++device)
      if ((device / stride) % mesh.sizes[axis] &&
          boxes[device] != boxes[device - stride])
        return false;
  }
  return true;
}

/// True if the same axes cut `a` and `b` into parts, disjoint and of the same
/// elements.
static bool isExchange(llvm::ArrayRef<Box> a, llvm::ArrayRef<Box> b,
                       const Mesh &mesh) {
  int64_t copies = 1;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
    bool isWhole = isSameOver(axis, a, mesh);
    if (isWhole != isSameOver(axis, b, mesh))
      return false;
    copies *= isWhole ? mesh.sizes[axis] : 1;
  }
  int64_t elements = sumOfVolumes(a);
  llvm::SmallVector<Box> both(a.begin(), a.end());
  both.append(b.begin(), b.end());
  return elements == sumOfVolumes(b) && elements == copies * unionVolume(both);
}

/// The kind of a collective that combines nothing.
static StepKind getMoveKind(const Holding &from, const Holding &to,
                            const Mesh &mesh) {
  if (areWithin(from.boxes, to.boxes))
    return StepKind::AllGather;
  return isExchange(from.boxes, to.boxes, mesh) ? StepKind::AllToAll
                                                : StepKind::Fetch;
}

/// True if all of `axes` are in `among`.
static bool areIn(llvm::ArrayRef<unsigned> axes,
                  llvm::ArrayRef<unsigned> among) {
  return llvm::all_of(
      axes, [&](unsigned axis) { return llvm::is_contained(among, axis); });
}

llvm::SmallVector<ReshardStep, 2>
mlir::tofu::search::planReshard(const Holding &from, const Holding &to,
                                const Mesh &mesh) {
  PartialAxes axes(from.partial, to.partial, mesh);
  Axes fromPartial(from.partial.begin(), from.partial.end()),
      toPartial(to.partial.begin(), to.partial.end());
  int64_t elements = receivedElements(from, to, mesh);
  ReshardStep fetch{StepKind::Fetch, toPartial, elements};
  bool isWithin = areWithin(to.boxes, from.boxes);
  // Axes of size one count where it comes to what a collective is called.
  bool addsNone = areIn(toPartial, fromPartial);
  if (axes.combined.empty() && axes.added.empty()) {
    if (from.boxes == to.boxes)
      return {};
    if (isWithin)
      return {{StepKind::Slice, toPartial, 0}};
    if (addsNone && areIn(fromPartial, toPartial))
      fetch.kind = getMoveKind(from, to, mesh);
    return {fetch};
  }
  if (!addsNone || !isWithin)
    return {fetch};
  // A part that all members of a group need is combined as a part.
  if (!isSameOver(axes.combined, to.boxes, mesh))
    return {{StepKind::ReduceScatter, toPartial, elements}};
  llvm::SmallVector<ReshardStep, 2> steps;
  if (from.boxes != to.boxes)
    steps.push_back({StepKind::Slice, fromPartial, 0});
  steps.push_back({StepKind::AllReduce, toPartial, elements});
  return steps;
}
