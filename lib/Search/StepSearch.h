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

/// The mesh of the axes up to `axis`.
Mesh prefixOf(const Mesh &mesh, unsigned axis);

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

private:
  std::vector<Candidate> step(const std::vector<Candidate> &plans,
                              const Mesh &mesh);
  Extension extend(const PlanSpace::States &states,
                   llvm::ArrayRef<unsigned> axes, CostModel &model);
  std::vector<Assignment> tied(const Extension &extension, size_t limit);

  const SearchOptions &options;
  PlanSpace space;
  bool exact = true;
  unsigned numSteps = 1;
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_STEPSEARCH_H
