//===- Algorithms.cpp - Search algorithms ---------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Beside.h"
#include "Clock.h"
#include "JointSearch.h"
#include "StepSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::tofu::search;

/// The part of the cost by which the bound may be missed without looking any
/// further.
static constexpr double kCloseGap = 1e-4;

/// How many times as many passes may close a small gap.
static constexpr unsigned kPatience = 10;

/// How many operators and values may differ where large tables are worth their
/// time.
static constexpr unsigned kFewClasses = 200;

/// What is joined where no plan must be lost. Times are not like bytes: going
/// by way of another layout may take less, and so may parts that are cut
/// otherwise.
static Joining joiningWithoutLoss(const SearchOptions &options) {
  return options.objective == Objective::Time ? Joining::None : Joining::Chains;
}

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

/// The plans that steps come to in one space, and whether all of these were
/// exact.
static std::pair<std::vector<Plan>, bool>
takeSteps(const PartitionGraph &graph, const Mesh &mesh,
          const SearchOptions &space) {
  StepSearch search(graph, space);
  std::vector<Plan> plans;
  for (const Candidate &plan : search.recurse(mesh))
    plans.push_back(search.getSpace().planOf(plan.states, mesh));
  return {std::move(plans), search.isExact()};
}

static void offerAll(std::vector<Plan> plans, BestPlan &best) {
  for (Plan &plan : plans)
    best.offer(std::move(plan));
}

/// Offers the plans of the recursive search; says whether all steps in the
/// whole space were exact.
static bool recurse(const PartitionGraph &graph, const Mesh &mesh,
                    const SearchOptions &options, BestPlan &best) {
  bool exact = true;
  for (const SearchOptions &space : nestedSpaces(options)) {
    auto [plans, isExact] = takeSteps(graph, mesh, space);
    offerAll(std::move(plans), best);
    exact = isExact;
  }
  return exact;
}

/// Where plans that would be best need too much memory: offers plans that move
/// more and need less, from searches that weigh memory. `search` offers those
/// of one weight. The time budget runs by `clock`; a plan that fits is worth
/// more.
static void
lookForLessMemory(const SearchOptions &options, const Clock &clock,
                  BestPlan &best,
                  llvm::function_ref<void(const SearchOptions &)> search) {
  if (!best.isLimited())
    return;
  // First the least memory that can be had, then what costs less.
  constexpr unsigned kRounds = 6;
  double low = 0, high = 1;
  for (unsigned round = 0; round < kRounds; ++round) {
    SearchOptions weighed = options;
    weighed.memoryWeight = round == 0 ? 1 : (low + high) / 2;
    if (options.timeBudget > 0) {
      double left = options.timeBudget - clock.seconds();
      if (left < 0 && (round > 0 || best.numFitting() > 0))
        return;
      weighed.timeBudget = std::max(left, 1e-3);
    }
    unsigned before = best.numFitting();
    search(weighed);
    if (best.numFitting() > before)
      high = weighed.memoryWeight;
    else if (round > 0)
      low = weighed.memoryWeight;
  }
}

SearchResult mlir::tofu::search::searchRecursive(const PartitionGraph &graph,
                                                 const Mesh &mesh,
                                                 const SearchOptions &options) {
  Clock clock;
  SearchResult result;
  BestPlan best(graph, mesh, options);
  result.exact = recurse(graph, mesh, options, best);
  lookForLessMemory(options, clock, best, [&](const SearchOptions &weighed) {
    recurse(graph, mesh, weighed, best);
  });
  result.plan = *best.get();
  if (!result.exact)
    result.remarks.push_back(
        "the program is too densely connected for an exact search: parts of "
        "the plan come from a beam and local search");
  result.seconds = clock.seconds();
  return result;
}

/// Offers plans of one space, without a bound.
static void runAlone(const PartitionGraph &graph, const Mesh &mesh,
                     const SearchOptions &space, BestPlan &best) {
  JointSearch search(graph, mesh, space, best);
  search.run(nullptr);
  search.runOverAll();
}

/// To meet the bound, however long that takes.
static SearchOptions patient(SearchOptions options) {
  options.passes = 2000;
  options.leastProgress = 1e-4;
  options.closeEnough = 0;
  options.tableLimit = int64_t(1) << 27;
  return options;
}

SearchResult mlir::tofu::search::searchKBest(const PartitionGraph &graph,
                                             const Mesh &mesh,
                                             const SearchOptions &options) {
  Clock clock;
  SearchResult result;
  BestPlan best(graph, mesh, options);
  SearchOptions mine = options;
  auto join = [&](Joining joining) {
    mine.joining = joining;
    if (options.timeBudget > 0)
      mine.timeBudget = std::max(options.timeBudget - clock.seconds(), 1e-3);
  };
  // A plan to begin with: without one, bounds can't rule anything out.
  SearchOptions first = options;
  first.tiedPlans = 1;
  std::vector<Plan> plans;
  join(joiningWithoutLoss(options));
  std::optional<JointSearch> unjoined;
  runBeside(
      options.threads, [&] { plans = takeSteps(graph, mesh, first).first; },
      [&] { unjoined.emplace(graph, mesh, mine, best); });
  offerAll(std::move(plans), best);
  JointSearch &search = *unjoined;
  result.variables = search.numVariables();
  result.classes = search.numClasses();
  bool isSmall = search.isSmall();
  if (isSmall)
    best.setCloseEnough(0);
  auto raiseBound = [&] { search.refine(JointSearch::Effort::Little); };
  if (!best.get()) {
    search.run(&search);
    search.runOverAll();
  }
  raiseBound();
  join(Joining::Elementwise);
  std::optional<JointSearch> joined;
  if (!search.isOver())
    joined.emplace(graph, mesh, mine, best).run(&search);
  // Close at once, with plenty of time left.
  if (!joined && best.gap() > 0 && !search.isOutOfTime())
    search.improveDegrees();
  if (!search.isOver()) {
    joined->runOverAll();
    search.refine(JointSearch::Effort::Degrees);
  }
  if (!search.isOver())
    search.refine(JointSearch::Effort::Axes);
  if (!search.isOver() && search.isNear()) {
    joined->setPatience(kPatience);
    joined->runOverAll();
    search.setPatience(kPatience);
    search.refine(JointSearch::Effort::Axes);
  }
  if (!search.isOver())
    joined->improve();
  if (!search.isOver())
    recurse(graph, mesh, options, best);
  if (!search.isOver())
    search.refine(JointSearch::Effort::All);
  // If need be with large tables.
  if (isSmall && search.numClasses() <= kFewClasses && !best.isLimited() &&
      !search.isOver() &&
      double(best.cost()) > (1 + kCloseGap) * double(best.getBound())) {
    mine = patient(mine);
    join(joiningWithoutLoss(options));
    JointSearch(graph, mesh, mine, best).refine(JointSearch::Effort::All);
  }
  lookForLessMemory(options, clock, best, [&](const SearchOptions &weighed) {
    for (const SearchOptions &space : nestedSpaces(weighed))
      runAlone(graph, mesh, space, best);
    recurse(graph, mesh, weighed, best);
  });
  result.plan = *best.get();
  result.lowerBound = best.getBound();
  result.exact = *result.lowerBound >= costOf(result.plan, options.objective);
  result.seconds = clock.seconds();
  return result;
}

SearchResult mlir::tofu::search::searchExact(const PartitionGraph &graph,
                                             const Mesh &mesh,
                                             const SearchOptions &options) {
  SearchResult result = searchKBest(graph, mesh, patient(options));
  int64_t cost = costOf(result.plan, options.objective);
  if (!result.exact)
    result.remarks.push_back(
        llvm::formatv("the plan may be {0:P} above the least: the search came "
                      "to an end before it could tell",
                      double(cost - *result.lowerBound) / double(cost)));
  return result;
}

bool mlir::tofu::search::writeIlp(const PartitionGraph &graph, const Mesh &mesh,
                                  const SearchOptions &options,
                                  llvm::raw_ostream &os) {
  SearchOptions mine = options;
  mine.joining = joiningWithoutLoss(options);
  BestPlan best(graph, mesh, options);
  return JointSearch(graph, mesh, mine, best).writeIlp(os);
}

SearchResult mlir::tofu::search::searchRandom(const PartitionGraph &graph,
                                              const Mesh &mesh,
                                              const SearchOptions &options) {
  Clock clock;
  // All that a plan may be, not what the search looks at.
  SearchOptions unjoined = options;
  unjoined.joining = Joining::None;
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
  result.seconds = clock.seconds();
  return result;
}

llvm::ArrayRef<Algorithm> mlir::tofu::search::getAlgorithms() {
  static const Algorithm algorithms[] = {
      {"kbest", searchKBest},
      {"exact", searchExact},
      {"recursive", searchRecursive},
      {"propagate", searchPropagation},
      {"data-parallel", searchDataParallel},
      {"megatron", searchMegatron},
      {"icml18", searchWithoutReductions},
      {"equal-chop", searchEqualChop},
      {"all-row-greedy", searchAllRowGreedy},
      {"spartan", searchSpartan},
      {"random", searchRandom},
      {"any", searchAny},
  };
  return algorithms;
}
