//===- AxisSpace.h - Plans as a pairwise model ------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans by their axes, with exact costs: what is minimal here is the best plan
// of those whose cuts were given.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_AXISSPACE_H
#define TOFU_LIB_SEARCH_AXISSPACE_H

#include "PairwiseSpace.h"

namespace mlir::tofu::search {

class AxisSpace : public PairwiseSpace {
public:
  /// The values of a variable; variables may have the same object.
  struct Domain {
    unsigned id;
    std::vector<Cuts> cuts;
  };

  AxisSpace(const PartitionGraph &graph, const PlanSpace &space,
            std::vector<const Domain *> domains, CostModel &costs,
            const SearchOptions &options);

  const Domain &getDomain(unsigned var) const { return *domains[var]; }
  const Cuts &getCuts(unsigned var, unsigned value) const {
    return domains[var]->cuts[value];
  }

private:
  void fillReads(Columns &group, unsigned row, const Value &value,
                 llvm::ArrayRef<Use> uses) override;
  void fillWrites(Columns &group, unsigned row, unsigned op,
                  unsigned result) override;
  void fillWork(Columns &group, unsigned op) override;
  bool cutsReduction(unsigned op, unsigned value) const override;
  std::optional<CostModel::Shards> needOf(const Use &use, unsigned number,
                                          const Value &value);

  std::vector<const Domain *> domains;
  CostModel &costs;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_AXISSPACE_H
