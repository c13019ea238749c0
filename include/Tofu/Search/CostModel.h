//===- CostModel.h - What a plan costs --------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that says what a use, a result, a carried value or an
// operator's work costs, in bytes or in picoseconds. The search asks it on the
// mesh of the axes so far, countBytes and countTimes on the whole mesh. There,
// each device stands for those of the axes to come: it is as fast as they are
// together, and so are its links.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_COSTMODEL_H
#define TOFU_SEARCH_COSTMODEL_H

#include "Tofu/Search/ReshardTime.h"
#include "Tofu/Search/Search.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <memory>

namespace mlir::tofu::search {

class Families;

/// Exact costs on one mesh. Programs repeat few shapes many times, so boxes and
/// differences are computed once and then looked up.
class CostModel {
public:
  /// The boxes of all devices, interned: equal boxes have equal numbers.
  using Family = unsigned;

  /// What the devices have or need of a value: the boxes, and the axes over
  /// which they are, or may be, partial.
  struct Shards {
    Family family;
    Axes partial;

    bool operator==(const Shards &o) const {
      return family == o.family && partial == o.partial;
    }
  };

  /// Costs are bytes.
  explicit CostModel(Mesh mesh);
  CostModel(CostModel &&);
  CostModel &operator=(CostModel &&);
  ~CostModel();

  /// Costs are what `options` say. `mesh` has the first axes of the mesh that
  /// the rates are of.
  CostModel(Mesh mesh, const SearchOptions &options);

  /// Costs are bytes, but times can be asked for.
  CostModel(Mesh mesh, const Rates &rates);

  const Mesh &getMesh() const;

  /// Elements of the boxes of a family: of each device in order, or one number
  /// for all.
  llvm::SmallVector<int64_t> volumes(Family family);

  Family family(const Placement &placement, llvm::ArrayRef<int64_t> shape);

  /// A value that lies as `layout`.
  Shards layoutShards(const Value &value, const Layout &layout);

  /// What is needed of a value that is carried to one of `layout`: nothing
  /// partial.
  Shards carriedShards(const Value &value, const Layout &layout);

  /// What operand `i` of `op` needs under `strategy`. `resultLayout` is that of
  /// the result which an initial value belongs to; null for other operands.
  Shards operandShards(const Operator &op, unsigned i, const Strategy &strategy,
                       const Value &value, const Layout *resultLayout);

  /// What `op` makes of its result `i` under `strategy`.
  Shards resultShards(const Operator &op, unsigned i, const Strategy &strategy,
                      const Value &value);

  /// Bytes received, over all devices, to bring `from` to `to`.
  int64_t movedBytes(const Value &value, const Shards &from, const Shards &to);

  /// Elements received, likewise.
  int64_t elements(const Shards &from, const Shards &to);

  /// Picoseconds that this takes; see ReshardTime.h. None if each device holds
  /// what is needed.
  int64_t movedTime(const Value &value, const Shards &from, const Shards &to);

  /// Picoseconds that the largest part of an operator's work takes: its
  /// arithmetic, or reading its operands' and writing its results' parts,
  /// whichever takes longer. (Memory is read and written while the devices
  /// compute.)
  int64_t workTime(const PartitionGraph &graph, const Operator &op,
                   const Strategy &strategy);

  /// What it costs the search.
  int64_t workCost(const PartitionGraph &graph, const Operator &op,
                   const Strategy &strategy);

  /// From here on, costs are a mean of what is moved and, weighted so (from 0,
  /// not at all, to 1, nothing else), the bytes that are held, if all devices
  /// hold as much as the one that has most: of each read its copy, of each
  /// result what is produced and its shard. Where costs are times, the bytes
  /// held are weighed as if they came over the slowest link.
  void weighMemory(double weight) { memoryWeight = weight; }

  /// What it costs the search to read, or carry over, a value that is held, or
  /// to bring what was made of one where it is held: bytes or picoseconds,
  /// unless memory is weighed.
  int64_t readCost(const Value &value, const Shards &held, const Shards &need);
  int64_t writeCost(const Value &value, const Shards &made, const Shards &held);

  /// Whether what is needed is a part of what each device holds anyway.
  bool isView(const Shards &held, const Shards &need);

private:
  /// A difference: the two families and the sets of partial axes.
  using Difference = std::pair<uint64_t, uint64_t>;
  static Difference keyOf(const Shards &from, const Shards &to);

  int64_t movedCost(const Value &value, const Shards &from, const Shards &to);
  const Regions &regionsOf(Family family, uint64_t axes);
  int64_t largest(Family family);
  int64_t mix(int64_t moved, int64_t heldElements, const Value &value) const;

  std::unique_ptr<Families> families;
  std::optional<Rates> rates;
  double scale = 1; ///< devices that one of the mesh stands for
  bool minimisesTime = false;
  double memoryWeight = 0;
  llvm::DenseMap<Difference, int64_t> differences;
  /// What crosses axes: seconds of latency, and per byte of an element.
  llvm::DenseMap<Difference, std::pair<double, double>> crossings;
  std::map<std::pair<Family, uint64_t>, Regions> regions;
  /// By the two families: whether each box of one lies in that of the other.
  llvm::DenseMap<std::pair<Family, Family>, bool> within;
};

/// Whether operand `i` of `op` is an initial value that the cut reduction needs
/// in the layout of its result (see Operand::initOf).
bool needsResultLayout(const Operator &op, unsigned i,
                       const Strategy &strategy);

/// Whether operand `i` of `op` is the same part of the same value as one before
/// it, so that memory is read once for both.
bool isReadBefore(const Operator &op, unsigned i);

/// The axes of `axes` that are not in `other`.
Axes without(llvm::ArrayRef<unsigned> axes, llvm::ArrayRef<unsigned> other);

/// Seconds that a part of an operator's work takes, as often as it runs: its
/// arithmetic on `points` points of the iteration space, or its `bytes` of
/// memory.
double workSeconds(const Operator &op, double points, double bytes,
                   const Rates &rates);

/// Seconds as picoseconds, rounded, and down from there, for a bound.
int64_t asPicoseconds(double seconds);
int64_t asFewerPicoseconds(double seconds);

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_COSTMODEL_H
