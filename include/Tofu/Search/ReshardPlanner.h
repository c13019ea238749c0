//===- ReshardPlanner.h - The cheapest way from layout to layout *- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What it takes to bring a value from where it lies to where it is needed: the
// elements that devices receive, for the cost model, and the steps that do it,
// for the program. Both come from here, and the runtime counts the same.
//
// Each element of the value goes its own way, independently of the others, so
// the least can be told without a search over layouts in between. Of an element
// let D be the devices that need it, H those that hold it or an addend of it,
// and p the number of addends. Without partials, whoever is in D but not in H
// receives it once. With p addends, one device adds them up and sends the sum
// to the rest of D: p - 1 addends and |D| - 1 sums if that device is in D and
// in H, one element more if there is none. No way is shorter: the first device
// that knows the sum has heard, directly or not, of p - 1 others if it holds an
// addend and of p if not, each of which has sent something; none of these
// messages but the last told anyone the sum; and each other device of D
// receives one more message, the one after which it knows the sum.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_RESHARDPLANNER_H
#define TOFU_SEARCH_RESHARDPLANNER_H

#include "Tofu/Search/Geometry.h"

namespace mlir::tofu::search {

/// How a value lies: a box per device, and the axes over which these hold
/// partial results. The boxes of devices that differ in partial axes only are
/// the same.
struct Holding {
  llvm::ArrayRef<Box> boxes;
  llvm::ArrayRef<unsigned> partial;
};

/// What happens to the axes over which a value is partial before or after; each
/// list in the order of the mesh.
struct PartialAxes {
  Axes kept;     ///< before and after: addends stay apart
  Axes combined; ///< before only: their addends are combined
  Axes added;    ///< after only: one device holds the value, the others the
                 ///< combiner's neutral element

  /// Axes of size one are nowhere: they make no addends.
  PartialAxes(llvm::ArrayRef<unsigned> from, llvm::ArrayRef<unsigned> to,
              const Mesh &mesh);
};

/// The least elements that devices receive, summed over all of them, to get
/// from `from` to `to`. Addends over kept axes are never added to each other.
/// Of added axes, each element goes to the coordinates where most devices have
/// it already.
int64_t receivedElements(const Holding &from, const Holding &to,
                         const Mesh &mesh);

/// Number of elements that are in any of the boxes.
int64_t unionVolume(llvm::ArrayRef<Box> boxes);

/// Lexicographic order, by the intervals' beginnings, then their ends.
bool isBefore(Interval a, Interval b);
bool isBefore(const Box &a, const Box &b);

/// Elements of the boxes `there` that need not move if each goes to the
/// coordinates of the added axes, `slots` by box, where most devices have it.
int64_t countStaying(llvm::ArrayRef<Box> there, llvm::ArrayRef<int64_t> slots,
                     int64_t numSlots);

/// A step of a reshard, by what can do it; in the order of preference among
/// steps that move the same.
enum class StepKind {
  Slice,         ///< a device holds what it needs
  AllGather,     ///< it holds a part of what it needs
  AllToAll,      ///< the same axes cut the value before and after
  AllReduce,     ///< combines; the boxes stay
  ReduceScatter, ///< combines; a device gets a part of its box
  Fetch          ///< from any boxes to any, partial or not before and after
};

struct ReshardStep {
  StepKind kind;
  /// The boxes after each step are those that are needed; the axes over which
  /// they are partial after this one.
  Axes partial;
  /// Received, summed over the devices.
  int64_t elements;
};

/// The steps from `from` to `to` that move the least: of those, the fewest
/// collectives of the most special kind. None if every device holds exactly
/// what it needs.
llvm::SmallVector<ReshardStep, 2>
planReshard(const Holding &from, const Holding &to, const Mesh &mesh);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_RESHARDPLANNER_H
