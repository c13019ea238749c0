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

  /// Elements received from the boxes of `from`, partial over `fromPartial`, to
  /// those of `to`, partial over `toPartial`.
  int64_t elements(Family from, llvm::ArrayRef<unsigned> fromPartial, Family to,
                   llvm::ArrayRef<unsigned> toPartial);

private:
  using Key = llvm::SmallVector<int64_t, 24>;
  struct KeyHash {
    size_t operator()(const Key &key) const;
  };

  Mesh mesh;
  std::vector<llvm::SmallVector<Box>> families;
  std::unordered_map<Key, Family, KeyHash> byPlacement, byBoxes;
  /// By the two families and the sets of partial axes.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, int64_t> differences;
};

/// Whether operand `i` of `op` is an initial value that the cut reduction needs
/// in the layout of its result (see Operand::initOf).
bool needsResultLayout(const Operator &op, unsigned i,
                       const Strategy &strategy);

/// The axes of `axes` that are not in `other`.
Axes without(llvm::ArrayRef<unsigned> axes, llvm::ArrayRef<unsigned> other);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_COSTMODEL_H
