//===- CostModel.h - Bytes that a plan moves --------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that says what a use, a result or a carried value costs. The
// search asks it on the mesh of the axes so far, countBytes on the whole mesh.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_COSTMODEL_H
#define TOFU_SEARCH_COSTMODEL_H

#include "Tofu/Search/PartitionGraph.h"

#include "llvm/ADT/DenseMap.h"

#include <unordered_map>
#include <vector>

namespace mlir::tofu::search {

/// Exact costs on one mesh. Programs repeat few shapes many times, so boxes and
/// differences are computed once and then looked up.
class CostModel {
public:
  /// The boxes of all devices, interned: equal boxes have equal numbers.
  using Family = unsigned;

  /// What a reader gets: the boxes, and the axes over which they may stay
  /// partial.
  struct Need {
    Family family;
    Axes partial;
  };

  explicit CostModel(Mesh mesh) : mesh(std::move(mesh)) {}

  const Mesh &getMesh() const { return mesh; }
  llvm::ArrayRef<Box> boxes(Family family) const { return families[family]; }

  Family family(const Placement &placement, llvm::ArrayRef<int64_t> shape);

  /// What operand `i` of `op` needs under `strategy`. `resultLayout` is that of
  /// the result which an initial value belongs to; null for other operands.
  Need operandNeed(const Operator &op, unsigned i, const Strategy &strategy,
                   const Value &value, const Layout *resultLayout);

  /// Bytes received, over all devices, to read a value that lies as `layout`.
  int64_t readBytes(const Value &value, const Layout &layout, const Need &need);

  /// Bytes received to bring result `i` of `op` into `layout`.
  int64_t writeBytes(const Operator &op, unsigned i, const Strategy &strategy,
                     const Value &value, const Layout &layout);

  /// Bytes received to bring a carried value into the layout of another one.
  int64_t carryBytes(const Value &value, const Layout &from, const Layout &to);

  /// From here on, costs are a mean of the bytes that are moved and, weighted
  /// so (from 0, not at all, to 1, nothing else), those that are held, if all
  /// devices hold as much as the one that has most: of each read its copy, of
  /// each result what is produced and its shard.
  void weighMemory(double weight) { memoryWeight = weight; }

  /// What a read, a result or a carried value costs the search: the bytes
  /// received as above, unless memory is weighed.
  int64_t readCost(const Value &value, const Layout &layout, const Need &need);
  int64_t writeCost(const Operator &op, unsigned i, const Strategy &strategy,
                    const Value &value, const Layout &layout);
  int64_t carryCost(const Value &value, const Layout &from, const Layout &to);

  /// Whether what is needed of a value that lies as `layout` is a part of what
  /// each device holds anyway.
  bool isView(const Value &value, const Layout &layout, const Need &need);

  /// Elements received from the boxes of `from`, partial over `fromPartial`, to
  /// those of `to`, partial over `toPartial`.
  int64_t elements(Family from, llvm::ArrayRef<unsigned> fromPartial, Family to,
                   llvm::ArrayRef<unsigned> toPartial);

private:
  using Key = llvm::SmallVector<int64_t, 24>;
  struct KeyHash {
    size_t operator()(const Key &key) const;
  };

  int64_t largest(Family family) const;
  int64_t mix(int64_t moved, int64_t heldElements, const Value &value) const;

  Mesh mesh;
  double memoryWeight = 0;
  std::vector<llvm::SmallVector<Box>> families;
  std::unordered_map<Key, Family, KeyHash> byPlacement, byBoxes;
  /// By the two families and the sets of partial axes.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, int64_t> differences;
  /// By the two families: whether each box of one lies in that of the other.
  llvm::DenseMap<std::pair<Family, Family>, bool> within;
};

/// Whether operand `i` of `op` is an initial value that the cut reduction needs
/// in the layout of its result (see Operand::initOf).
bool needsResultLayout(const Operator &op, unsigned i,
                       const Strategy &strategy);

/// The axes of `axes` that are not in `other`.
Axes without(llvm::ArrayRef<unsigned> axes, llvm::ArrayRef<unsigned> other);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_COSTMODEL_H
