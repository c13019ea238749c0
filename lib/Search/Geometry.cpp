//===- Geometry.cpp - Meshes, cuts and boxes ------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Geometry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace mlir::tofu::search;

int64_t mlir::tofu::search::volume(llvm::ArrayRef<Interval> box) {
  int64_t product = 1;
  for (Interval interval : box)
    product *= interval.size();
  return product;
}

Box mlir::tofu::search::intersect(llvm::ArrayRef<Interval> a,
                                  llvm::ArrayRef<Interval> b) {
  assert(a.size() == b.size() && "boxes of different rank");
  Box both;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    int64_t lo = std::max(x.lo, y.lo);
    both.push_back({lo, std::max(lo, std::min(x.hi, y.hi))});
  }
  return both;
}

int64_t mlir::tofu::search::overlap(llvm::ArrayRef<Interval> a,
                                    llvm::ArrayRef<Interval> b) {
  int64_t product = 1;
  for (size_t i = 0; i < a.size() && product; ++i) {
    int64_t lo = std::max(a[i].lo, b[i].lo), hi = std::min(a[i].hi, b[i].hi);
    product *= std::max<int64_t>(hi - lo, 0);
  }
  return product;
}

bool mlir::tofu::search::areWithin(llvm::ArrayRef<Box> inner,
                                   llvm::ArrayRef<Box> outer) {
  return llvm::all_of(llvm::zip_equal(inner, outer), [](auto pair) {
    auto &[in, out] = pair;
    return overlap(in, out) == volume(in);
  });
}

/// The value of `read` on the intervals of one dim, if all boxes agree.
template <typename Read>
static std::optional<int64_t> uniform(llvm::ArrayRef<Box> boxes, unsigned dim,
                                      Read read) {
  int64_t first = read(boxes.front()[dim]);
  for (const Box &box : boxes)
    if (read(box[dim]) != first)
      return std::nullopt;
  return first;
}

std::optional<int64_t>
mlir::tofu::search::uniformOffset(llvm::ArrayRef<Box> boxes, unsigned dim) {
  return uniform(boxes, dim, [](Interval interval) { return interval.lo; });
}

std::optional<int64_t>
mlir::tofu::search::uniformSize(llvm::ArrayRef<Box> boxes, unsigned dim) {
  return uniform(boxes, dim, [](Interval interval) { return interval.size(); });
}

int64_t Mesh::numDevices() const {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

llvm::SmallVector<int64_t> Mesh::coordinates(int64_t device) const {
  llvm::SmallVector<int64_t> coords(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    coords[axis] = device % sizes[axis];
    device /= sizes[axis];
  }
  return coords;
}

int64_t Mesh::numCoordinates(llvm::ArrayRef<unsigned> axes) const {
  int64_t product = 1;
  for (unsigned axis : axes)
    product *= sizes[axis];
  return product;
}

int64_t Mesh::number(int64_t device, llvm::ArrayRef<unsigned> axes) const {
  llvm::SmallVector<int64_t> all = coordinates(device);
  int64_t number = 0;
  for (unsigned axis : axes)
    number = number * sizes[axis] + all[axis];
  return number;
}

Mesh Mesh::factored(int64_t devices) {
  Mesh mesh;
  for (int64_t factor = 2; devices > 1;) {
    if (factor * factor > devices)
      factor = devices;
    if (devices % factor) {
      ++factor;
      continue;
    }
    mesh.sizes.insert(mesh.sizes.begin(), factor);
    devices /= factor;
  }
  for (unsigned axis = 0; axis < mesh.sizes.size(); ++axis)
    mesh.names.push_back("a" + std::to_string(axis));
  return mesh;
}

Interval mlir::tofu::search::balancedPart(Interval whole, int64_t parts,
                                          int64_t index) {
  int64_t quotient = whole.size() / parts, rest = whole.size() % parts;
  int64_t lo = whole.lo + index * quotient + std::min(index, rest);
  return {lo, lo + quotient + (index < rest ? 1 : 0)};
}

Interval mlir::tofu::search::cut(Interval whole, llvm::ArrayRef<unsigned> axes,
                                 const Mesh &mesh,
                                 llvm::ArrayRef<int64_t> coordinates) {
  for (unsigned axis : axes)
    whole = balancedPart(whole, mesh.sizes[axis], coordinates[axis]);
  return whole;
}

int64_t mlir::tofu::search::smallestPart(int64_t size,
                                         llvm::ArrayRef<unsigned> axes,
                                         const Mesh &mesh) {
  // Balanced parts shrink with their index, and a smaller whole never has a
  // larger smallest part, so the last part of the last part is the smallest.
  for (unsigned axis : axes)
    size /= mesh.sizes[axis];
  return size;
}

int64_t mlir::tofu::search::largestPart(int64_t size,
                                        llvm::ArrayRef<unsigned> axes,
                                        const Mesh &mesh) {
  for (unsigned axis : axes)
    size = llvm::divideCeil(size, mesh.sizes[axis]);
  return size;
}

Interval mlir::tofu::search::image(const LinearExpr &expr,
                                   llvm::ArrayRef<Interval> iteration,
                                   int64_t size) {
  if (expr.whole)
    return {0, size};
  int64_t lo = expr.constant, last = expr.constant;
  for (auto [dim, coefficient] : expr.terms) {
    Interval range = iteration[dim];
    if (range.size() == 0) {
      int64_t at =
          std::clamp<int64_t>(expr.constant + coefficient * range.lo, 0, size);
      return {at, at};
    }
    int64_t atLo = coefficient * range.lo;
    int64_t atLast = coefficient * (range.hi - 1);
    lo += std::min(atLo, atLast);
    last += std::max(atLo, atLast);
  }
  lo = std::clamp<int64_t>(lo, 0, size);
  return {lo, std::clamp<int64_t>(last + 1, lo, size)};
}

Placement Placement::ofLayout(llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<Axes> dimAxes) {
  assert(shape.size() == dimAxes.size() && "layout of another rank");
  Placement placement;
  placement.dimSizes.assign(shape.begin(), shape.end());
  placement.dimAxes.assign(dimAxes.begin(), dimAxes.end());
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    placement.index.push_back(LinearExpr::ofDim(dim));
  return placement;
}

std::optional<unsigned> Placement::findFilled(unsigned dim) const {
  for (unsigned i = 0; i < index.size(); ++i) {
    const LinearExpr::Term *filling = nullptr;
    bool othersKnown = true;
    for (const LinearExpr::Term &term : index[i].terms) {
      if (term.dim == dim)
        filling = &term;
      else
        othersKnown &= !isUnknown(dimSizes[term.dim]);
    }
    if (filling && filling->coefficient > 0 && othersKnown)
      return i;
  }
  return std::nullopt;
}

/// The size of dim `dim` of the iteration space over a tensor of `shape`.
static int64_t dimSize(const Placement &placement, unsigned dim,
                       llvm::ArrayRef<int64_t> shape) {
  int64_t size = placement.dimSizes[dim];
  if (!isUnknown(size))
    return size;
  std::optional<unsigned> filled = placement.findFilled(dim);
  if (!filled)
    return 0;
  const LinearExpr &expr = placement.index[*filled];
  int64_t last = shape[*filled] - 1 - expr.constant, coefficient = 1;
  for (const LinearExpr::Term &term : expr.terms) {
    if (term.dim == dim)
      coefficient = term.coefficient;
    else if (term.coefficient > 0 && size != kCoveringSize)
      last -= term.coefficient * (placement.dimSizes[term.dim] - 1);
  }
  return last < 0 ? 0 : last / coefficient + 1;
}

Interval Placement::along(unsigned dim, llvm::ArrayRef<int64_t> shape,
                          const Mesh &mesh,
                          llvm::ArrayRef<int64_t> coordinates) const {
  llvm::SmallVector<Interval> iteration(dimSizes.size());
  for (const LinearExpr::Term &term : index[dim].terms)
    iteration[term.dim] = cut({0, dimSize(*this, term.dim, shape)},
                              dimAxes[term.dim], mesh, coordinates);
  return image(index[dim], iteration, shape[dim]);
}

Box Placement::box(llvm::ArrayRef<int64_t> shape, const Mesh &mesh,
                   int64_t device) const {
  llvm::SmallVector<int64_t> coordinates = mesh.coordinates(device);
  Box result;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    result.push_back(along(dim, shape, mesh, coordinates));
  return result;
}

llvm::SmallVector<Box> Placement::boxes(llvm::ArrayRef<int64_t> shape,
                                        const Mesh &mesh) const {
  llvm::SmallVector<Box> result;
  for (int64_t device = 0, e = mesh.numDevices(); device < e; ++device)
    result.push_back(box(shape, mesh, device));
  return result;
}

int64_t mlir::tofu::search::movedElements(llvm::ArrayRef<Box> from,
                                          llvm::ArrayRef<Box> to) {
  int64_t moved = 0;
  for (auto [have, want] : llvm::zip_equal(from, to))
    moved += volume(want) - overlap(have, want);
  return moved;
}
