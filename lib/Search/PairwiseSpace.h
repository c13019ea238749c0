//===- PairwiseSpace.h - A plan space as a pairwise model -------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The variables of a plan space, each with a list of values, and what pairs of
// them cost. What the values are and what they cost is up to the subclasses;
// here is which pairs there are, and which are alike and share their tables.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_PAIRWISESPACE_H
#define TOFU_LIB_SEARCH_PAIRWISESPACE_H

#include "Tofu/Search/PairwiseModel.h"
#include "Tofu/Search/PlanSpace.h"

#include <map>
#include <memory>

namespace mlir::tofu::search {

class PairwiseSpace {
public:
  virtual ~PairwiseSpace();

  PairwiseModel &getModel() { return *model; }

  /// Per variable: those with equal numbers have the same values.
  llvm::ArrayRef<unsigned> getDomainIds() const { return domainIds; }

protected:
  using Key = llvm::SmallVector<int64_t, 16>;

  /// A use of a value, by an operator or because it must end up in the layout
  /// of another one.
  struct Use {
    unsigned var;
    const Operator *op; ///< null: needed in the layout of the variable
    unsigned operand;
  };

  /// Costs of a group of a pairwise model.
  struct Columns {
    std::vector<int64_t> table;
    unsigned numColumns = 0;
    std::vector<std::vector<unsigned>> columnsOf; ///< per kind of reader
  };

  PairwiseSpace(const PartitionGraph &graph, const PlanSpace &space,
                const SearchOptions &options)
      : graph(graph), space(space), options(options) {}

  /// Makes the model. `domainIds`: variables with equal numbers have the same
  /// values.
  void makeModel(llvm::ArrayRef<unsigned> domainSizes,
                 llvm::ArrayRef<unsigned> domainIds);

  /// Fills in the costs between the layouts of `value`, the values of variable
  /// `row`, and what `uses` need of it.
  virtual void fillReads(Columns &group, unsigned row, const Value &value,
                         llvm::ArrayRef<Use> uses) = 0;

  /// Fills in the costs between the layouts of a value and what operator `op`
  /// makes of it as its result `result`.
  virtual void fillWrites(Columns &group, unsigned row, unsigned op,
                          unsigned result) = 0;

  const PartitionGraph &graph;
  const PlanSpace &space;
  const SearchOptions &options;

private:
  Key signatureOf(const Use &use) const;
  void addReads();
  void addGroup(unsigned row, const Value &value, llvm::ArrayRef<Use> uses);
  void addWrites();

  llvm::SmallVector<unsigned, 0> domainIds;
  std::map<Key, Columns> columns;
  std::unique_ptr<PairwiseModel> model;
};

/// Numbers things that are equal if their keys are.
template <typename Key>
class Numbering {
public:
  /// The number of `key`, and whether it is new.
  std::pair<unsigned, bool> operator()(Key key) {
    auto [number, isNew] = numbers.try_emplace(std::move(key), numbers.size());
    return {number->second, isNew};
  }
  unsigned size() const { return numbers.size(); }

private:
  std::map<Key, unsigned> numbers;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_PAIRWISESPACE_H
