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

/// Devices up to which simpler algorithms take no time to speak of.
static constexpr int64_t kFewDevices = 16;

static bool mayCutReductions(const PartitionGraph &graph) {
  return llvm::any_of(graph.operators, [](const Operator &op) {
    return !op.pinned && llvm::any_of(op.dims, [](const IterationDim &dim) {
      return dim.kind == DimKind::Reduction;
    });
  });
}

/// Offers the plans of simpler algorithms, which need less memory at their peak
/// than any other plan now and then.
static void offerSimplePlans(const PartitionGraph &graph, const Mesh &mesh,
                             const SearchOptions &options, BestPlan &best) {
  if (mesh.numDevices() > kFewDevices)
    return;
  llvm::SmallVector<decltype(&searchSpartan)> searches{searchAllRowGreedy,
                                                       searchSpartan};
  if (mayCutReductions(graph))
    searches.push_back(searchWithoutReductions);
  for (auto *search : searches) {
    Plan plan = search(graph, mesh, options).plan;
    if (!checkPlan(graph, plan))
      best.offer(std::move(plan));
  }
}

/// Where plans that would be best need too much memory: offers plans that move
/// more and need less, from searches that weigh memory. `search` offers those
/// of one weight. The time budget runs by `clock`; a plan that fits is worth
/// more.
static void
lookForLessMemory(const PartitionGraph &graph, const Mesh &mesh,
                  const SearchOptions &options, const Clock &clock,
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
  if (best.numFitting() == 0)
    offerSimplePlans(graph, mesh, options, best);
}

SearchResult mlir::tofu::search::searchRecursive(const PartitionGraph &graph,
                                                 const Mesh &mesh,
                                                 const SearchOptions &options) {
  Clock clock;
  SearchResult result;
  BestPlan best(graph, mesh, options);
  result.exact = recurse(graph, mesh, options, best);
  lookForLessMemory(graph, mesh, options, clock, best,
                    [&](const SearchOptions &weighed) {
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

/// `options` with what is left of the time budget, which runs by `clock`.
static SearchOptions inTimeLeft(SearchOptions options, const Clock &clock) {
  if (options.timeBudget > 0)
    options.timeBudget = std::max(options.timeBudget - clock.seconds(), 1e-3);
  return options;
}

/// Looks among all plans until the best meets its bound; false if that can't be
/// afforded, or says nothing about plans that keep to a memory limit.
static bool meetBound(const PartitionGraph &graph, const Mesh &mesh,
                      SearchOptions options, BestPlan &best) {
  if (best.isLimited())
    return false;
  options.joining = joiningWithoutLoss(options);
  JointSearch search(graph, mesh, options, best);
  if (!search.isAffordable())
    return false;
  best.setCloseEnough(0);
  search.refine(JointSearch::Effort::All);
  return true;
}

/// Offers plans to `best` until it is close to its bound, and notes in `result`
/// what folding made of the space.
static void searchJointly(const PartitionGraph &graph, const Mesh &mesh,
                          const SearchOptions &options, const Clock &clock,
                          BestPlan &best, SearchResult &result) {
  auto joined = [&](Joining joining) {
    SearchOptions mine = inTimeLeft(options, clock);
    mine.joining = joining;
    return mine;
  };
  // A plan to begin with: without one, bounds can't rule anything out.
  SearchOptions first = options;
  first.tiedPlans = 1;
  std::vector<Plan> plans;
  std::optional<JointSearch> unjoined;
  runBeside(
      options.threads, [&] { plans = takeSteps(graph, mesh, first).first; },
      [&] {
        unjoined.emplace(graph, mesh, joined(joiningWithoutLoss(options)),
                         best);
      });
  offerAll(std::move(plans), best);
  JointSearch &search = *unjoined;
  result.variables = search.numVariables();
  result.classes = search.numClasses();
  if (search.isSmall())
    best.setCloseEnough(0);
  if (!best.get()) {
    search.run(&search);
    search.runOverAll();
  }
  search.refine(JointSearch::Effort::Little);
  std::optional<JointSearch> coarse;
  auto runCoarse = [&] {
    coarse.emplace(graph, mesh, joined(Joining::Elementwise), best)
        .run(&search);
  };
  if (!search.isOver())
    runCoarse();
  // Close at once, with plenty of time left.
  if (!coarse && best.gap() > 0 && !search.isOutOfTime())
    search.improveDegrees();
  // What that found may need too much memory.
  if (!search.isOver() && !coarse)
    runCoarse();
  if (!search.isOver()) {
    coarse->runOverAll();
    search.refine(JointSearch::Effort::Degrees);
  }
  if (!search.isOver())
    search.refine(JointSearch::Effort::Axes);
  if (!search.isOver() && search.isNear()) {
    coarse->setPatience(kPatience);
    coarse->runOverAll();
    search.setPatience(kPatience);
    search.refine(JointSearch::Effort::Axes);
  }
  if (!search.isOver())
    coarse->improve();
  if (!search.isOver())
    recurse(graph, mesh, options, best);
  if (!search.isOver())
    search.refine(JointSearch::Effort::All);
  // If need be with large tables.
  if (search.isSimple() && !search.isOutOfTime() &&
      double(best.cost()) > (1 + kCloseGap) * double(best.getBound()))
    meetBound(graph, mesh, inTimeLeft(patient(options), clock), best);
  lookForLessMemory(graph, mesh, options, clock, best,
                    [&](const SearchOptions &weighed) {
                      for (const SearchOptions &space : nestedSpaces(weighed))
                        runAlone(graph, mesh, space, best);
                      recurse(graph, mesh, weighed, best);
                    });
}

static void finish(SearchResult &result, const SearchOptions &options,
                   const Clock &clock, const BestPlan &best) {
  result.plan = *best.get();
  result.lowerBound = best.getBound();
  result.exact = *result.lowerBound >= costOf(result.plan, options.objective);
  result.seconds = clock.seconds();
}

SearchResult mlir::tofu::search::searchKBest(const PartitionGraph &graph,
                                             const Mesh &mesh,
                                             const SearchOptions &options) {
  Clock clock;
  SearchResult result;
  BestPlan best(graph, mesh, options);
  searchJointly(graph, mesh, options, clock, best, result);
  finish(result, options, clock, best);
  return result;
}

SearchResult mlir::tofu::search::searchExact(const PartitionGraph &graph,
                                             const Mesh &mesh,
                                             const SearchOptions &options) {
  Clock clock;
  SearchResult result;
  BestPlan best(graph, mesh, options);
  // What is close is found fast.
  searchJointly(graph, mesh, options, clock, best, result);
  bool isOutOfTime =
      options.timeBudget > 0 && clock.seconds() > options.timeBudget;
  if (best.gap() > 0 && !isOutOfTime) {
    SearchOptions mine = inTimeLeft(patient(options), clock);
    if (!meetBound(graph, mesh, mine, best)) {
      best.setCloseEnough(0);
      searchJointly(graph, mesh, mine, Clock(), best, result);
    }
  }
  finish(result, options, clock, best);
  int64_t cost = best.cost();
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
