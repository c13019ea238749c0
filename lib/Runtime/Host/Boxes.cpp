//===- Boxes.cpp - Boxes of a tensor in the host backend ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Boxes.h"

#include <algorithm>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

int64_t host::volume(const Box &box) {
  int64_t product = 1;
  for (Interval interval : box)
    product *= interval.size();
  return product;
}

Box host::intersect(const Box &a, const Box &b) {
  Box both(a.size());
  for (size_t dim = 0; dim < a.size(); ++dim) {
    int64_t lo = std::max(a[dim].lo, b[dim].lo);
    both[dim] = {lo, std::max(lo, std::min(a[dim].hi, b[dim].hi))};
  }
  return both;
}

bool host::contains(const Box &outer, const Box &inner) {
  return volume(intersect(outer, inner)) == volume(inner);
}

/// Appends what is left of `box` without `cut`, which lies within it: two slabs
/// per dim, each narrower than the one before.
static void appendRest(std::vector<Box> &rest, Box box, const Box &cut) {
  for (size_t dim = 0; dim < box.size(); ++dim) {
    Interval whole = box[dim];
    for (Interval side :
         {Interval{whole.lo, cut[dim].lo}, Interval{cut[dim].hi, whole.hi}}) {
      box[dim] = side;
      if (side.size())
        rest.push_back(box);
    }
    box[dim] = cut[dim];
  }
}

void host::subtract(std::vector<Box> &boxes, const Box &cut) {
  std::vector<Box> rest;
  for (Box &box : boxes) {
    Box both = intersect(box, cut);
    if (volume(both) == 0)
      rest.push_back(std::move(box));
    else
      appendRest(rest, box, both);
  }
  boxes = std::move(rest);
}

Box host::balancedPart(const Box &box, size_t dim, int64_t parts,
                       int64_t index) {
  int64_t quotient = box[dim].size() / parts, extra = box[dim].size() % parts;
  int64_t lo = box[dim].lo + index * quotient + std::min(index, extra);
  Box part = box;
  part[dim] = {lo, lo + quotient + (index < extra ? 1 : 0)};
  return part;
}
