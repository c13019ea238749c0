//===- Boxes.h - Boxes of a tensor in runtimes and runners ----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime library is free of LLVM, so it has a few lines of its own where
// the compiler has Tofu/Search/Geometry.h.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_BOXES_H
#define TOFU_RUNTIME_BOXES_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlir::tofu::host {

/// The indices [lo, hi) along one dim.
struct Interval {
  int64_t lo = 0, hi = 0;

  int64_t size() const { return hi > lo ? hi - lo : 0; }
  bool operator==(const Interval &o) const { return lo == o.lo && hi == o.hi; }
};

/// One interval per dim. With no dims: one element.
using Box = std::vector<Interval>;

/// Number of elements.
int64_t volume(const Box &box);

/// What two boxes of one rank share.
Box intersect(const Box &a, const Box &b);

/// True if all elements of `inner` are in `outer`.
bool contains(const Box &outer, const Box &inner);

/// Takes `cut` away from each of the disjoint `boxes`.
void subtract(std::vector<Box> &boxes, const Box &cut);

/// Part `index` of `parts` balanced parts of `box` along `dim`.
Box balancedPart(const Box &box, std::size_t dim, int64_t parts, int64_t index);

/// Sorts a few elements, stably and without further memory.
template <typename Iterator, typename Less>
void sortFew(Iterator begin, Iterator end, Less less) {
  for (Iterator next = begin; next != end; ++next)
    std::rotate(std::upper_bound(begin, next, *next, less), next, next + 1);
}

} // namespace mlir::tofu::host

#endif // TOFU_RUNTIME_BOXES_H
