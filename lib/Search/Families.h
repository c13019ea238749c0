//===- Families.h - The boxes of all devices --------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all devices have, or need, of a tensor, kept dim by dim: the interval of
// a dim depends only on the coordinates of the axes that cut it. What is
// counted over all devices is then a product over groups of dims that no axis
// connects, of sums over the coordinates of the group's axes, so counting does
// not take longer on more devices unless one group has more axes.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_FAMILIES_H
#define TOFU_LIB_SEARCH_FAMILIES_H

#include "IndexKey.h"
#include "Tofu/Search/KeyMap.h"
#include "Tofu/Search/ReshardPlanner.h"

#include <vector>

namespace mlir::tofu::search {

/// Interned families of boxes, a box per device of one mesh.
class Families {
public:
  /// Families are equal, for all devices and boxes, if their numbers are.
  using Family = unsigned;

  explicit Families(Mesh mesh) : mesh(std::move(mesh)) {}

  const Mesh &getMesh() const { return mesh; }

  /// The boxes of `placement` over a tensor of `shape`.
  Family add(const Placement &placement, llvm::ArrayRef<int64_t> shape);

  /// The boxes, one after the other. Made when they are asked for first.
  llvm::ArrayRef<Box> boxes(Family family);

  /// Elements of a device's box, if along each dim all intervals are equally
  /// long.
  std::optional<int64_t> uniformVolume(Family family) const;

  /// Elements of the largest box.
  int64_t largestVolume(Family family);

  /// Whether each box of `inner` lies in that of `outer`.
  bool areWithin(Family inner, Family outer);

  /// Whether there are so few devices that counting through them takes no
  /// longer than finding what was counted before.
  bool hasFewDevices() const;

  /// As receivedElements, between whole values on few devices.
  int64_t movedElements(Family from, Family to) const;

  /// As receivedElements, between values that are partial over `fromPartial`
  /// and `toPartial`.
  int64_t receivedElements(Family from, llvm::ArrayRef<unsigned> fromPartial,
                           Family to, llvm::ArrayRef<unsigned> toPartial);

private:
  using Key = llvm::SmallVector<int64_t, 24>;
  using ShortKey = llvm::SmallVector<int64_t, 8>;

  /// The intervals along a dim: one per combination of the coordinates of
  /// `axes`, the last of them fastest. Each of the axes makes a difference.
  struct Parts {
    uint64_t axes = 0; ///< as bits
    std::vector<Interval> intervals;
    std::optional<int64_t> uniformSize;
    std::vector<Interval> ofDevices; ///< if these are few: of each
  };

  /// Dims of two families that axes connect, and those axes.
  struct Group {
    uint64_t axes = 0;
    llvm::SmallVector<unsigned, 4> dims;
  };

  /// Over the coordinates of a group's axes: elements that are needed, and of
  /// them those that are held. Unless it is a move, of whole values, also of
  /// how many different elements either is made up, and how many of those held
  /// stay (see countStaying).
  struct Sums {
    int64_t needed = 0, kept = 0;
    int64_t neededUnion = 0, keptUnion = 0, staying = 0;
  };

  unsigned addParts(const Placement &placement, unsigned dim,
                    llvm::ArrayRef<int64_t> shape);
  Parts makeParts(const Placement &placement, unsigned dim,
                  llvm::ArrayRef<int64_t> shape) const;
  llvm::SmallVector<Group, 4> groupsOf(Family a, Family b) const;
  const Sums &sumsOf(const Group &group, Family from, Family to, bool isMove,
                     uint64_t fixed, uint64_t slots);
  Sums sum(const Group &group, Family from, Family to, bool isMove,
           uint64_t fixed, uint64_t slots) const;
  int64_t numCoordinates(uint64_t axes) const;

  Mesh mesh;
  std::vector<Parts> parts;
  std::vector<llvm::SmallVector<unsigned, 4>> families; ///< parts of each dim
  KeyMap<Key, unsigned> byPlacement, byDim, byIntervals;
  KeyMap<ShortKey, unsigned> byParts;
  KeyMap<ShortKey, Sums> sums;
  std::unordered_map<Family, std::vector<Box>> listed;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_FAMILIES_H
