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

#include "Tofu/Search/KeyMap.h"
#include "Tofu/Search/PairwiseModel.h"
#include "Tofu/Search/PlanSpace.h"

#include "llvm/ADT/IntEqClasses.h"

#include <map>
#include <memory>
#include <unordered_map>

namespace mlir::tofu::search {

class PairwiseSpace {
public:
  virtual ~PairwiseSpace();

  PairwiseModel &getModel() { return *model; }
  const PairwiseModel &getModel() const { return *model; }

  /// Per variable: those with equal numbers have the same values.
  llvm::ArrayRef<unsigned> getDomainIds() const { return domainIds; }

  /// Adds the variables that follow from those of the plan space.
  Assignment complete(Assignment assignment) const;

protected:
  using Key = llvm::SmallVector<int64_t, 16>;

  /// An initial value of a reduction. Where the reduction is cut it is needed
  /// as the result lies, else as the operator says: which of both, and how, is
  /// the value of a variable of its own, tied to those of operator and result.
  struct Initial {
    unsigned op, operand;
    unsigned result; ///< the variable of the result's value
    /// The values of the operator's variable that don't cut the reduction: the
    /// first values of this variable. Those of the result's variable follow.
    std::vector<unsigned> uncut;
  };

  /// A use of a value, by an operator or because it must end up in the layout
  /// of another one.
  struct Use {
    unsigned var;
    const Operator *op; ///< null: needed in the layout of the variable
    unsigned operand;
    const Initial *initial; ///< `var` is that of an initial value
  };

  /// What a value of the variable of a use stands for: a value of the
  /// operator's variable, or a layout, which is a value of variable `var`.
  struct Needed {
    bool asLayout;
    /// The layout of a result to which an initial value may be added in
    /// partial; over which axes is not known.
    bool mayBePartial;
    unsigned var, value;
  };
  Needed neededBy(const Use &use, unsigned value) const;

  /// Costs of a group of a pairwise model.
  struct Columns {
    std::vector<int64_t> table;
    unsigned numColumns = 0;
    std::vector<std::vector<unsigned>> columnsOf; ///< per kind of reader

    bool operator==(const Columns &o) const {
      return table == o.table && numColumns == o.numColumns &&
             columnsOf == o.columnsOf;
    }
    llvm::IntEqClasses sharing() const;
  };

  PairwiseSpace(const PartitionGraph &graph, const PlanSpace &space,
                const SearchOptions &options)
      : graph(graph), space(space), options(options) {}

  /// Makes the model. `domainIds`: variables with equal numbers have the same
  /// values.
  void makeModel(llvm::ArrayRef<unsigned> domainSizes,
                 llvm::ArrayRef<unsigned> domainIds);

  /// Whether a value of the variable of operator `op` cuts a reduction.
  virtual bool cutsReduction(unsigned op, unsigned value) const = 0;

  unsigned domainSize(unsigned var) const { return domainSizes[var]; }

  /// Fills in the costs between the layouts of `value`, the values of variable
  /// `row`, and what `uses` need of it.
  virtual void fillReads(Columns &group, unsigned row, const Value &value,
                         llvm::ArrayRef<Use> uses) = 0;

  /// Fills in the costs between the layouts of a value and what operator `op`
  /// makes of it as its result `result`.
  virtual void fillWrites(Columns &group, unsigned row, unsigned op,
                          unsigned result) = 0;

  /// Fills in what the work of operator `op` costs by the value of its
  /// variable. Asked only where times are costs.
  virtual void fillWork(Columns &group, unsigned op) = 0;

  const PartitionGraph &graph;
  const PlanSpace &space;
  const SearchOptions &options;

private:
  void addInitials();
  void tieInitials();
  Key signatureOf(const Use &use) const;
  void addReads();
  const Columns *share(Columns group);
  void addGroup(unsigned row, const Value &value, llvm::ArrayRef<Use> uses);
  void addWrites();
  void addWork();

  llvm::SmallVector<unsigned, 0> domainIds, domainSizes;
  /// Their variables follow those of the plan space.
  std::vector<Initial> initials;
  /// Per domain of such a variable: its ties to the operator and the result.
  std::map<unsigned, std::pair<Columns, Columns>> ties;
  /// Readers of a value, by kind: those that share columns, and which they are
  /// of these.
  struct Reads {
    std::vector<const Columns *> parts;
    std::vector<std::pair<unsigned, unsigned>> placeOf; ///< part, kind in it
  };
  Reads split(const Columns &group);

  /// By what they depend on, and all that differ, by a hash: the slices of a
  /// loop that was unrolled cost the same wherever they are.
  KeyMap<Key, Reads> reads;
  KeyMap<Key, const Columns *> columns;
  std::unordered_multimap<uint64_t, Columns> distinct;
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
  KeyMap<Key, unsigned> numbers;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_PAIRWISESPACE_H
