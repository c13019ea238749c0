//===- ReshardTime.h - What crosses which links -----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that says how long a reshard takes:
//
//   sum over the axes a that data crosses of  alpha_a + bytes_a / beta_a
//
// with the latency and the bandwidth of the axis' link and bytes_a what the
// device, or group of devices, that receives the most receives over it.
//
// What no device has to combine comes from where it is nearest: it crosses the
// outermost axis in which all of its holders differ from the receiver. With
// V_a the elements that a device needs and that any of the devices has that
// agree with it on all axes before a, it receives V_a - V_(a+1) over axis a.
//
// Where addends over the axes c1, ..., cn (outermost first, of p1, ..., pn
// devices) are combined, the p = p1 ... pn devices that differ in these axes
// are one group, and share its work evenly. The innermost axis comes first: an
// element that the group needs makes (pn - 1) p1 ... p(n-1) messages over cn,
// then (p(n-1) - 1) p1 ... p(n-2) over c(n-1), and so on, in all p - 1. The
// sums then spread from the outside in: over ci one message to each of the
// groups that agree on c1, ..., ci and need the element, but the one that has
// it. That is the closed formula of ReshardPlanner.h, for each group. What the
// group needs and has no addends of, comes from the nearest one that has.
//
// Over added axes (see PartialAxes) an element goes where it is, and their
// devices are of the group.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_RESHARDTIME_H
#define TOFU_SEARCH_RESHARDTIME_H

#include "Tofu/Search/Machine.h"
#include "Tofu/Search/ReshardPlanner.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace mlir::tofu::search {

/// A set of axes: bit i is axis i.
uint64_t asBits(llvm::ArrayRef<unsigned> axes);

/// Elements that some devices have together: all combinations of indices, one
/// per dim, from a list of intervals each, or those in any of some boxes.
class Region {
public:
  explicit Region(llvm::ArrayRef<Box> boxes);

  int64_t volume() const { return elements; }
  /// Number of elements that are in both.
  int64_t overlap(const Region &other) const;

private:
  using Intervals = llvm::SmallVector<Interval, 1>;

  void makeProduct(llvm::ArrayRef<Box> distinct);
  std::vector<Box> listBoxes() const;

  bool isProduct = true;
  llvm::SmallVector<Intervals, 4> dims; ///< disjoint, in order
  std::vector<Box> boxes;               ///< if it is no product
  int64_t elements = 0;
};

/// The regions of groups of devices that differ in some axes only.
struct Regions {
  std::vector<Region> groups;
  std::vector<unsigned> groupOf; ///< per device

  /// `axes`, by bits: those in which the devices of a group differ.
  Regions(llvm::ArrayRef<Box> boxes, uint64_t axes, const Mesh &mesh);

  const Region &of(int64_t device) const { return groups[groupOf[device]]; }
};

/// Gives the regions of a holding for a set of axes.
using GetRegions = llvm::function_ref<const Regions &(uint64_t axes)>;

/// Elements that the busiest device receives over each axis, per axis of the
/// mesh.
llvm::SmallVector<double, 4> elementsPerAxis(GetRegions from, GetRegions to,
                                             const PartialAxes &partial,
                                             const Mesh &mesh);

/// The same of two holdings.
llvm::SmallVector<double, 4>
elementsPerAxis(const Holding &from, const Holding &to, const Mesh &mesh);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_RESHARDTIME_H
