//===- Geometry.h - Meshes, cuts and boxes ----------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where things lie on a mesh, as plain integers: which interval of a dim a
// device has after a balanced, possibly nested cut, and which box of a tensor
// follows from the intervals of an iteration space. Every stage, from the cost
// model to the runtime's tables, gets its boxes from here, so that what the
// plan counts is what the program moves.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_GEOMETRY_H
#define TOFU_SEARCH_GEOMETRY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace mlir::tofu::search {

/// The half-open interval [lo, hi) of indices along one dim.
struct Interval {
  int64_t lo = 0, hi = 0;

  int64_t size() const { return hi > lo ? hi - lo : 0; }
  bool operator==(const Interval &o) const { return lo == o.lo && hi == o.hi; }
};

/// One interval per dim of a tensor. A tensor of rank 0 has one element.
using Box = llvm::SmallVector<Interval, 4>;

/// Number of elements of a box.
int64_t volume(llvm::ArrayRef<Interval> box);

/// Number of elements that two boxes of the same rank share.
int64_t overlap(llvm::ArrayRef<Interval> a, llvm::ArrayRef<Interval> b);

/// The box that two boxes of the same rank share (empty intervals where they
/// don't meet).
Box intersect(llvm::ArrayRef<Interval> a, llvm::ArrayRef<Interval> b);

/// True if each box of `inner` lies in its box of `outer`.
bool areWithin(llvm::ArrayRef<Box> inner, llvm::ArrayRef<Box> outer);

/// The first index, or the size, of the boxes of all devices in one dim;
/// nothing if they differ.
std::optional<int64_t> uniformOffset(llvm::ArrayRef<Box> boxes, unsigned dim);
std::optional<int64_t> uniformSize(llvm::ArrayRef<Box> boxes, unsigned dim);

/// Ordered axes, by their index in the mesh, that split one dim: outermost
/// first.
using Axes = llvm::SmallVector<unsigned, 2>;

/// Named axes whose sizes multiply to the number of devices. Devices are
/// numbered row-major in the coordinates, last axis fastest.
struct Mesh {
  llvm::SmallVector<std::string> names;
  llvm::SmallVector<int64_t> sizes;

  unsigned numAxes() const { return sizes.size(); }
  int64_t numDevices() const;
  llvm::SmallVector<int64_t> coordinates(int64_t device) const;

  /// The number of coordinates of some of the axes, and the number of those of
  /// a device, row-major.
  int64_t numCoordinates(llvm::ArrayRef<unsigned> axes) const;
  int64_t number(int64_t device, llvm::ArrayRef<unsigned> axes) const;

  /// The mesh with one axis per prime factor of `devices`, largest first:
  /// Tofu's recursion steps (Tofu paper, section 5.2). One device: no axes.
  static Mesh factored(int64_t devices);
};

/// Part `index` of `parts` of a balanced cut: the first size mod parts parts
/// have one element more.
Interval balancedPart(Interval whole, int64_t parts, int64_t index);

/// What is left of `whole` at the given mesh coordinates after cutting it by
/// each of `axes` in turn.
Interval cut(Interval whole, llvm::ArrayRef<unsigned> axes, const Mesh &mesh,
             llvm::ArrayRef<int64_t> coordinates);

/// The smallest part of a dim of `size` elements cut by `axes`, and the
/// largest.
int64_t smallestPart(int64_t size, llvm::ArrayRef<unsigned> axes,
                     const Mesh &mesh);
int64_t largestPart(int64_t size, llvm::ArrayRef<unsigned> axes,
                    const Mesh &mesh);

/// An index of a tensor as a linear expression of iteration dims:
/// constant + sum of coefficient * dim. `whole` stands for all indices (`:` in
/// TDL); the terms are then empty.
struct LinearExpr {
  struct Term {
    unsigned dim;
    int64_t coefficient;
    bool operator==(const Term &o) const {
      return dim == o.dim && coefficient == o.coefficient;
    }
  };
  llvm::SmallVector<Term, 2> terms;
  int64_t constant = 0;
  bool whole = false;

  static LinearExpr all() { return {{}, 0, true}; }
  static LinearExpr ofDim(unsigned dim) { return {{{dim, 1}}, 0, false}; }
  static LinearExpr ofConstant(int64_t c) { return {{}, c, false}; }

  /// True if the expression is just `dim`.
  bool isDim(unsigned dim) const {
    return !whole && constant == 0 && terms.size() == 1 &&
           terms[0].dim == dim && terms[0].coefficient == 1;
  }
};

/// The interval of tensor indices that `expr` takes over a box of the
/// iteration space, clamped to [0, size). Empty if one of its dims is.
Interval image(const LinearExpr &expr, llvm::ArrayRef<Interval> iteration,
               int64_t size);

/// A size that is known only when the program runs; MLIR's
/// ShapedType::kDynamic.
constexpr int64_t kUnknownSize = std::numeric_limits<int64_t>::min();

/// The size of a dim of a placement that is unknown too, but covers the tensor
/// where one of `kUnknownSize` fills it.
constexpr int64_t kCoveringSize = kUnknownSize + 1;

constexpr bool isUnknown(int64_t size) {
  return size == kUnknownSize || size == kCoveringSize;
}

/// A box per device, as the image of a cut iteration space: dims with their
/// sizes, the axes that cut each, and one index expression per tensor dim. A
/// layout is the case of one iteration dim per tensor dim.
///
/// A dim of unknown size fills the tensor: it is as large as the first index
/// that it is in allows, with all other dims of that index at their largest.
/// One that covers the tensor goes on until these are outside at their
/// smallest: the last of tiles may be cut off by the tensor's end.
struct Placement {
  llvm::SmallVector<int64_t, 4> dimSizes;
  llvm::SmallVector<Axes, 4> dimAxes;
  llvm::SmallVector<LinearExpr, 4> index;

  /// The tensor dim that dim `dim` takes its size from if that is unknown;
  /// nothing if there is none with an index that allows it.
  std::optional<unsigned> findFilled(unsigned dim) const;

  /// A value of `shape` cut along its own dims.
  static Placement ofLayout(llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<Axes> dimAxes);

  /// The interval along tensor dim `dim` of the device at `coordinates`. All
  /// sizes in `shape` are known.
  Interval along(unsigned dim, llvm::ArrayRef<int64_t> shape, const Mesh &mesh,
                 llvm::ArrayRef<int64_t> coordinates) const;

  /// The box of a tensor of `shape`, all of whose sizes are known, that device
  /// `device` has.
  Box box(llvm::ArrayRef<int64_t> shape, const Mesh &mesh,
          int64_t device) const;

  /// `box` for every device, in order.
  llvm::SmallVector<Box> boxes(llvm::ArrayRef<int64_t> shape,
                               const Mesh &mesh) const;
};

/// Elements that devices receive, summed over all of them, to get from the
/// boxes `from` to the boxes `to` of one value: each fetches what it needs and
/// does not hold.
int64_t movedElements(llvm::ArrayRef<Box> from, llvm::ArrayRef<Box> to);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_GEOMETRY_H
