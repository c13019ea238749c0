//===- Alternatives.h - What else could be cut how --------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_ALTERNATIVES_H
#define TOFU_SEARCH_ALTERNATIVES_H

#include "Tofu/Search/CostModel.h"
#include "Tofu/Search/Search.h"

#include <vector>

namespace mlir::tofu::search {

/// The axes that cut each of a few dims.
using DimCuts = llvm::SmallVector<Axes, 4>;

/// All ways in which `axes` of `mesh`, in this order, cut `dims`: each cuts one
/// of the dims that it may cut after the axes before it, or none if there are
/// no such dims. Where that would be more than `limit` ways, the last axes go
/// together: they cut one dim as far as it goes.
std::vector<DimCuts> listCuts(llvm::ArrayRef<IterationDim> dims,
                              llvm::ArrayRef<unsigned> axes, const Mesh &mesh,
                              size_t limit = 4096);

/// The same for the dims of a value, by all axes, or how it is pinned.
std::vector<DimCuts> listCuts(const Value &value, const Mesh &mesh,
                              size_t limit = 4096);

/// The axes of a mesh that have more than one part.
Axes axesThatSplit(const Mesh &mesh);

/// Another strategy of an operator, and what the plan costs with it.
struct Alternative {
  Strategy strategy;
  int64_t totalCost = 0;
};

/// What a plan would cost if one operator were cut otherwise and nothing else
/// changed.
class Alternatives {
public:
  /// `plan`, which has been counted as `options` charge it, must outlive this.
  /// Costs are what they minimise.
  Alternatives(const PartitionGraph &graph, const Plan &plan,
               const SearchOptions &options);

  /// The strategies of operator `index` under which the plan is valid, its own
  /// among them, the cheapest first. One if it is pinned.
  std::vector<Alternative> of(unsigned index);

  /// The cheapest but its own; nothing if there is no other.
  std::optional<Alternative> runnerUp(unsigned index);

private:
  /// What a reader needs of a value: an operator, or -1 for a carried value.
  struct Use {
    int reader;
    CostModel::Shards need;
  };

  std::vector<Strategy> strategiesOf(unsigned index) const;
  bool fitsResults(const Operator &op, const Strategy &strategy) const;
  llvm::SmallVector<Use, 4> usesOf(unsigned index, const Strategy &strategy,
                                   unsigned value);
  int64_t costAround(unsigned index, const Strategy &strategy);

  const PartitionGraph &graph;
  const Plan &plan;
  Charge charge;
  Objective objective;
  int64_t totalCost;
  CostModel model;
  std::vector<llvm::SmallVector<Use, 4>> uses; ///< per value
};

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_ALTERNATIVES_H
