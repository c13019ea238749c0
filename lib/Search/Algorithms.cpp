//===- Algorithms.cpp - Search algorithms ---------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>

using namespace mlir::tofu::search;

namespace {

/// Keeps the plan that moves the least under the charge that was asked for.
class BestPlan {
public:
  BestPlan(const PartitionGraph &graph, const Mesh &mesh, Charge charge)
      : graph(graph), model(mesh), charge(charge) {}

  void offer(const PlanSpace &space, const Candidate &candidate) {
    Plan plan = space.planOf(candidate.states, model.getMesh());
    countBytes(graph, plan, charge, model);
    if (!best || plan.totalBytes < best->totalBytes)
      best = std::move(plan);
  }

  CostModel &getModel() { return model; }
  const std::optional<Plan> &get() const { return best; }

private:
  const PartitionGraph &graph;
  CostModel model;
  Charge charge;
  std::optional<Plan> best;
};

} // namespace

/// The plan spaces within the one that `options` ask for, from the smallest to
/// it: a search by steps may do better in a smaller space.
static std::vector<SearchOptions> nestedSpaces(const SearchOptions &options) {
  std::vector<SearchOptions> spaces;
  for (bool replication : {false, true})
    for (bool partials : {false, true}) {
      if (replication > options.replication || partials > options.partials)
        continue;
      spaces.push_back(options);
      spaces.back().replication = replication;
      spaces.back().partials = partials;
    }
  return spaces;
}

/// Polishes the best of `plans`, and what smaller spaces gave. True if that
/// found an optimum.
static bool polish(StepSearch &search, std::vector<Candidate> plans,
                   const SearchOptions &options, BestPlan &best) {
  CostModel &model = best.getModel();
  if (search.solveJointly(plans.front(), model)) {
    best.offer(search.getSpace(), plans.front());
    return true;
  }
  if (plans.size() > options.polishedPlans)
    plans.resize(options.polishedPlans);
  plans.push_back({search.getSpace().statesOf(*best.get())});
  for (Candidate &plan : plans) {
    search.polish(plan, model);
    best.offer(search.getSpace(), plan);
  }
  Candidate &cheapest = *llvm::min_element(
      plans, [](auto &a, auto &b) { return a.bytes < b.bytes; });
  search.polishPairs(cheapest, model);
  best.offer(search.getSpace(), cheapest);
  return false;
}

static SearchResult searchSpaces(const PartitionGraph &graph, const Mesh &mesh,
                                 const SearchOptions &options, bool polishes) {
  auto start = std::chrono::steady_clock::now();
  SearchResult result;
  BestPlan best(graph, mesh, options.charge);
  for (const SearchOptions &space : nestedSpaces(options)) {
    StepSearch search(graph, space);
    std::vector<Candidate> plans = search.recurse(mesh);
    for (const Candidate &plan : plans)
      best.offer(search.getSpace(), plan);
    result.exact = search.isExact();
    if (polishes)
      result.optimal = polish(search, std::move(plans), space, best);
  }
  result.plan = *best.get();
  if (!result.exact)
    result.remarks.push_back(
        "the program is too densely connected for an exact search: parts of "
        "the plan come from a beam and local search");
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  result.seconds = elapsed.count();
  return result;
}

SearchResult mlir::tofu::search::searchRecursive(const PartitionGraph &graph,
                                                 const Mesh &mesh,
                                                 const SearchOptions &options) {
  return searchSpaces(graph, mesh, options, /*polishes=*/false);
}

SearchResult mlir::tofu::search::searchKBest(const PartitionGraph &graph,
                                             const Mesh &mesh,
                                             const SearchOptions &options) {
  return searchSpaces(graph, mesh, options, /*polishes=*/true);
}

SearchResult mlir::tofu::search::searchRandom(const PartitionGraph &graph,
                                              const Mesh &mesh,
                                              const SearchOptions &options) {
  auto start = std::chrono::steady_clock::now();
  // All that a plan may be, not what the search looks at.
  SearchOptions unjoined = options;
  unjoined.joinElementwise = false;
  StepSearch search(graph, unjoined);
  SearchResult result;
  std::optional<PlanSpace::States> states =
      search.pickRandomly(mesh, options.seed);
  result.exact = states.has_value();
  if (!states) {
    result.remarks.push_back("no random plan was found: nothing is cut");
    states = search.getSpace().start();
  }
  result.plan = search.getSpace().planOf(*states, mesh);
  countBytes(graph, result.plan, options.charge);
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  result.seconds = elapsed.count();
  return result;
}

llvm::ArrayRef<Algorithm> mlir::tofu::search::getAlgorithms() {
  static const Algorithm algorithms[] = {
      {"recursive", searchRecursive},
      {"kbest", searchKBest},
      {"data-parallel", searchDataParallel},
      {"random", searchRandom},
      {"any", searchAny},
  };
  return algorithms;
}
