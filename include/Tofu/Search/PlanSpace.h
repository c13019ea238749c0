//===- PlanSpace.h - The choices of one step of the search ------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a graph into variables and terms. A variable stands for an operator, a
// value, or a class of element-wise operators and their values that are always
// cut alike. A step of the search gives every variable one of a few options for
// one more axis; terms say what pairs (for initial values, triples) of options
// cost, exactly, on the mesh of the axes so far.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_SEARCH_PLANSPACE_H
#define TOFU_SEARCH_PLANSPACE_H

#include "Tofu/Search/CostModel.h"
#include "Tofu/Search/KeyMap.h"
#include "Tofu/Search/Search.h"

#include <deque>
#include <vector>

namespace mlir::tofu::search {

/// How a variable is cut by the axes so far: the strategy of an operator, the
/// layout of a value, or both for a class.
struct Cuts {
  llvm::SmallVector<Axes, 4> dims;
  Axes partial;
  uint64_t partialOperands = 0;

  Strategy strategy() const { return {dims, partial, partialOperands}; }
  Layout layout() const { return {dims, partial}; }

  bool operator==(const Cuts &o) const {
    return dims == o.dims && partial == o.partial &&
           partialOperands == o.partialOperands;
  }
};

/// What `cuts` say of the axes of `mesh`, the first ones of theirs.
Cuts restrictTo(const Mesh &mesh, Cuts cuts);

/// The axes over which `cuts` is whole, by bits.
uint64_t axesNotIn(const Cuts &cuts);

/// The plan space of one graph, built once for all steps and plans.
class PlanSpace {
public:
  /// Cuts of a variable, by number; equal cuts have equal numbers.
  using State = unsigned;
  /// A state per variable: a plan for the axes so far.
  using States = std::vector<State>;

  /// What a variable may become by some axes. Interned: variables that are of
  /// one kind and cut alike by the other axes have the same object.
  struct Choices {
    unsigned id = 0;
    std::vector<State> states;
    uint64_t mayBeWhole = 0; ///< axes over which some choice is whole
  };

  /// A sum of costs over the same few variables; those of one group are equal
  /// functions.
  struct Term {
    llvm::SmallVector<unsigned, 3> scope;
    unsigned group;
  };

  /// What variables have in common that are cut in the same ways.
  struct Kind {
    llvm::SmallVector<IterationDim, 4> dims;
    /// Operators: the sets of operands whose partials may pass through.
    llvm::SmallVector<uint64_t, 2> linear;
    /// May be whole although it could be cut, whatever others are.
    bool mayBeWhole = false;
    bool mayBePartial = false; ///< values
    /// The only choice, on the whole mesh.
    std::optional<Cuts> pinned;
  };

  PlanSpace(const PartitionGraph &graph, const SearchOptions &options);

  unsigned numVariables() const { return variables.size(); }
  /// Variables of one kind have the same choices when they are cut alike.
  unsigned kindOf(unsigned var) const { return variables[var].kind; }
  const Kind &getKind(unsigned var) const { return kinds[variables[var].kind]; }
  /// Made when they are asked for first.
  llvm::ArrayRef<Term> getTerms() {
    if (!hasTerms)
      makeTerms();
    return terms;
  }

  /// The variable of an operator, and of a value (-1: a constant).
  unsigned variableOfOperator(unsigned op) const { return opVariables[op]; }
  int variableOfValue(unsigned value) const { return valueVariables[value]; }
  /// The variable of the operator that produces the value of a variable of its
  /// own; else -1.
  int producerOf(unsigned var) const { return variables[var].producer; }

  /// Whether an operand, or a result, always lies as it is needed or made: it
  /// has the variable of the operator, element by element.
  bool isFreeRead(unsigned op, unsigned operand) const;
  bool isFreeWrite(unsigned op, unsigned result) const;

  /// What a state stands for.
  const Cuts &getCuts(State state) const { return states[state]; }

  /// The number of `cuts`.
  State internState(const Cuts &cuts);

  /// Whether a variable may be cut so, as far as that doesn't depend on others.
  bool isAllowed(unsigned var, const Cuts &cuts, const Mesh &mesh) const;

  /// Whether the plan space rules out that a result lies as `valueCuts` where
  /// its operator is cut as `opCuts`.
  bool forbidsResult(unsigned op, unsigned result, const Cuts &opCuts,
                     const Cuts &valueCuts, const Mesh &mesh) const;

  /// Nothing is cut yet.
  States start() const { return startStates; }

  /// The choices of all variables for `axes` of `mesh`, whether `states` use
  /// them already or not; what the other axes do stays.
  std::vector<const Choices *> choices(const States &states,
                                       llvm::ArrayRef<unsigned> axes,
                                       const Mesh &mesh);

  /// Costs of `term` for every combination of choices, on the mesh of `model`;
  /// the last variable of the scope runs fastest. The table lives as long as
  /// this object.
  llvm::ArrayRef<int64_t> costs(const Term &term,
                                llvm::ArrayRef<const Choices *> choices,
                                CostModel &model);

  /// The strategies and layouts that `states` stand for; no bytes.
  Plan planOf(const States &states, const Mesh &mesh) const;

  /// The states of a plan in this space.
  States statesOf(const Plan &plan);

private:
  enum class Role { Read, ReadInitial, Write, Carry, Work };

  struct Variable {
    unsigned kind;
    /// The variable of the operator that produces a value, or -1.
    int producer = -1;
  };

  /// A cost, by the first example of it, and how its states (operator, value,
  /// result) lie in the scope of its term.
  struct Cost {
    Role role;
    unsigned op, index; ///< or the carried pair
    llvm::SmallVector<unsigned char, 3> positions;
  };
  /// Costs, by number, with how often they occur.
  using Group = std::vector<std::pair<unsigned, int64_t>>;
  using Key = llvm::SmallVector<int64_t, 16>;

  void findPartials();
  llvm::SmallVector<uint64_t, 2> passableSets(const Operator &op) const;
  void joinChains();
  void joinElementwise();
  void makeVariables();
  unsigned variableOf(unsigned node, const Kind &kind);
  void makeTerms();
  void addCost(Role role, unsigned op, unsigned index, Key signature,
               llvm::ArrayRef<unsigned> vars);
  void addOperandCosts(unsigned op);
  void addResultCosts(unsigned op);
  void addWorkCost(unsigned op);

  /// A set of axes, by bits.
  using AxisSet = uint64_t;

  Choices makeChoices(const Kind &kind, State state,
                      llvm::ArrayRef<unsigned> axes, const Mesh &mesh,
                      AxisSet mayBeWhole);
  void addChoices(const Kind &kind, const Cuts &base, unsigned axis,
                  const Mesh &mesh, std::vector<Cuts> &choices) const;
  bool isForbidden(const Cost &cost, const Cuts &op, const Cuts &value,
                   const Mesh &mesh) const;
  const std::vector<int64_t> &costTable(unsigned cost,
                                        llvm::ArrayRef<const Choices *> scope,
                                        CostModel &model);
  int64_t costOf(const Cost &cost, llvm::ArrayRef<State> scope,
                 CostModel &model) const;

  const PartitionGraph &graph;
  SearchOptions options;

  /// Per value: the operator that produces it (or -1) and whether it may stay
  /// partial.
  std::vector<int> producers;
  std::vector<bool> partial;
  /// Per value: other values have its layout.
  std::vector<bool> isTied;
  /// Union-find over operators, then values: nodes of one class point to one.
  std::vector<unsigned> parents;

  std::vector<Variable> variables;
  /// By node of the union-find, by operator and by value; -1 for constants.
  std::vector<int> variableOfNode;
  std::vector<unsigned> opVariables;
  std::vector<int> valueVariables;
  States startStates;
  std::vector<Kind> kinds;
  KeyMap<Key, unsigned> kindNumbers;
  bool hasTerms = false;
  std::vector<Term> terms;
  std::vector<Cost> costExamples;
  KeyMap<Key, unsigned> costNumbers;
  std::vector<Group> groups;
  /// While terms are made: scopes with the costs that occur in them.
  std::vector<std::pair<llvm::SmallVector<unsigned, 3>, unsigned>>
      costsOfScopes;

  std::vector<Cuts> states;
  KeyMap<Key, State> stateNumbers;
  std::deque<Choices> allChoices;
  KeyMap<Key, const Choices *> choicesByKey;
  KeyMap<llvm::SmallVector<unsigned, 4>, std::vector<int64_t>> costTables,
      groupTables;
};

} // namespace mlir::tofu::search

#endif // TOFU_SEARCH_PLANSPACE_H
