//===- StepSearch.h - One axis after the other ------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_STEPSEARCH_H
#define TOFU_LIB_SEARCH_STEPSEARCH_H

#include "Tofu/Search/Elimination.h"
#include "Tofu/Search/PlanSpace.h"
#include "Tofu/Search/Search.h"

#include <memory>
#include <optional>
#include <vector>

namespace mlir::tofu::search {

/// A plan, and what it costs per use (Forbidden: not known yet).
struct Candidate {
  PlanSpace::States states;
  int64_t bytes = Forbidden;
};

/// A plan whose choices for some axes are being made again.
struct Extension {
  std::vector<const PlanSpace::Choices *> choices;
  std::unique_ptr<Elimination> solver;

  /// `states` with the choices of `assignment`.
  PlanSpace::States apply(PlanSpace::States states,
                          const Assignment &assignment) const;
};

/// The search in one plan space.
class StepSearch {
public:
  StepSearch(const PartitionGraph &graph, const SearchOptions &options)
      : options(options), space(graph, options) {}

  PlanSpace &getSpace() { return space; }
  /// Whether every step so far was solved exactly.
  bool isExact() const { return exact; }

  /// Plans from one step per axis of `mesh`, cheapest first.
  std::vector<Candidate> recurse(const Mesh &mesh);

  /// Any plan of the space, by `seed`; nothing if none was found.
  std::optional<PlanSpace::States> pickRandomly(const Mesh &mesh,
                                                uint64_t seed);

  /// Makes the choices of all axes together, if that is affordable: then the
  /// plan is the best of this space.
  bool solveJointly(Candidate &candidate, CostModel &model);

  /// Makes the choices of one axis after the other again, for as long as that
  /// helps.
  void polish(Candidate &candidate, CostModel &model);

  /// The same with two axes at a time, where that is affordable.
  void polishPairs(Candidate &candidate, CostModel &model);

private:
  std::vector<Candidate> step(const std::vector<Candidate> &plans,
                              const Mesh &mesh);
  Extension extend(const PlanSpace::States &states,
                   llvm::ArrayRef<unsigned> axes, CostModel &model);
  std::vector<Assignment> tied(const Extension &extension, size_t limit);
  bool improve(Candidate &candidate, llvm::ArrayRef<unsigned> axes,
               CostModel &model);
  bool isAffordable(const PlanSpace::States &states,
                    llvm::ArrayRef<unsigned> axes, const Mesh &mesh);

  const SearchOptions &options;
  PlanSpace space;
  bool exact = true;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_STEPSEARCH_H
