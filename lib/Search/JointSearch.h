//===- JointSearch.h - All axes together, with a bound ----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses all axes together: first the degrees of all dims (DegreeSpace.h),
// then the axes of these, then, where that is affordable, among all axes.
// Repeated layers are one on the way, and what they are together bounds what
// each is alone.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_JOINTSEARCH_H
#define TOFU_LIB_SEARCH_JOINTSEARCH_H

#include "AxisSpace.h"
#include "Clock.h"
#include "DegreeSpace.h"

namespace mlir::tofu::search {

/// The best plan of some searches, as it is charged: of those that keep to the
/// memory limit the one that costs the least; if there is none, the one that
/// needs the least memory.
class BestPlan {
public:
  BestPlan(const PartitionGraph &graph, const Mesh &mesh,
           const SearchOptions &options)
      : graph(graph), model(mesh, options), charge(options.charge),
        objective(options.objective), memoryLimit(options.memoryLimit),
        closeEnough(options.closeEnough) {}

  /// Takes `plan`, not counted yet, if it is the best so far, and says whether
  /// it is.
  bool offer(Plan plan);

  /// Whether a plan that is cheaper than the best was turned down for the
  /// memory that it needs, or the best one needs too much.
  bool isLimited() const { return excess > 0 || leastCost < cost(); }

  /// No plan costs less than `bound`.
  void raiseBound(int64_t bound) { lowerBound = std::max(lowerBound, bound); }
  int64_t getBound() const { return std::min(lowerBound, cost()); }

  /// Whether what is left of the gap is too little to go on. `setCloseEnough`
  /// says how little.
  bool isClose() const { return best && !isLimited() && gap() <= closeEnough; }

  /// What the bound leaves open, as a part of the cost.
  double gap() const {
    int64_t open = cost() - getBound();
    return open == 0 ? 0 : double(open) / double(cost());
  }
  void setCloseEnough(double gap) { closeEnough = gap; }
  double getCloseEnough() const { return closeEnough; }

  /// Plans so far that keep to the memory limit.
  unsigned numFitting() const { return fitting; }

  CostModel &getModel() { return model; }
  const std::optional<Plan> &get() const { return best; }
  /// Of the best: bytes or picoseconds.
  int64_t cost() const { return best ? costOf(*best, objective) : Forbidden; }

private:
  const PartitionGraph &graph;
  CostModel model;
  Charge charge;
  Objective objective;
  std::optional<int64_t> memoryLimit;
  std::optional<Plan> best;
  int64_t excess = 0; ///< of the best: bytes over the limit
  int64_t leastCost = Forbidden, lowerBound = 0;
  double closeEnough;
  unsigned fitting = 0;
};

/// The search in the plan space of `options`, with element-wise operators
/// joined or not.
class JointSearch {
public:
  JointSearch(const PartitionGraph &graph, const Mesh &mesh,
              const SearchOptions &options, BestPlan &best);

  /// Offers plans to `best`, until it is close to its bound, which `bounding`
  /// raises, if given.
  void run(JointSearch *bounding);

  /// Offers plans from a search among all, where that is affordable. Another
  /// call goes on from where this one got.
  void runOverAll();

  /// Makes so many times as many passes, for as long as they raise the bound at
  /// all. The search among all plans begins anew: few classes find their
  /// messages faster.
  void setPatience(unsigned times);

  /// Offers plans whose cuts differ from those of the best in a single axis:
  /// the same for all, or, on many devices, any.
  void improve();

  /// Offers a plan of degrees that cost less than those of the best, if a few
  /// passes from these find any, and there are few devices.
  void improveDegrees();

  /// Raises the bound of `best`, and offers better plans that this finds. For
  /// the space that `best` is to be the best of. Little effort is for a plan
  /// that is to become better: it ends where the gap is large. The degrees
  /// alone give a bound fast, all axes a better one, where that is affordable.
  /// What is searched to the end begins with these, and ends with all that may
  /// close the gap.
  enum class Effort { Little, Degrees, Axes, All };
  void refine(Effort effort);

  /// Raises the bound as the degrees alone give it, beside `other`, which may
  /// offer plans.
  void refineBeside(llvm::function_ref<void()> other);

  /// Writes the search among all plans as an integer linear program; false if
  /// that isn't affordable.
  bool writeIlp(llvm::raw_ostream &os);

  /// Whether the best plan is close to its bound, or time is up and there is
  /// one.
  bool isOver() const;

  /// Whether the time budget is spent.
  bool isOutOfTime() const;

  /// Whether the gap is so small that patience may close it.
  bool isNear() const { return best.gap() <= farGap(); }

  /// Whether all plans can be looked at.
  bool isAffordable() const;

  /// Whether a program has so few operators and values, and these so few cuts,
  /// that it is searched to the end.
  bool isSmall() const;

  /// Whether so few operators and values differ, with so few cuts, that large
  /// tables are worth their time.
  bool isSimple() const;

  /// What folding made of the space.
  unsigned numVariables() const { return space.numVariables(); }
  unsigned numClasses() const { return folding.model->numVariables(); }

private:
  using Domains = std::vector<const AxisSpace::Domain *>;

  /// Whether there are more devices than all axes are chosen together for.
  bool isLarge() const;
  bool hasAtMost(int64_t entries) const;
  double farGap() const;
  PairwiseModel::Options limits() const;
  std::optional<Assignment> solveDegrees();
  void arrange(const Assignment &degrees);
  void arrangeByAxis(const Assignment &degrees);
  llvm::SmallVector<unsigned> likelyDegrees(unsigned var,
                                            unsigned chosen) const;
  std::optional<Assignment> degreesOfBest();
  bool searchAround(const Assignment *degrees);
  void improveByAxis();
  void tell(llvm::StringRef what) const;
  Domains allArrangements();
  int64_t searchAll(const PairwiseModel::Options &limits);
  void searchToTheEnd();
  Domains arrangements(
      llvm::function_ref<llvm::SmallVector<unsigned>(unsigned)> valuesOf);
  std::vector<Cuts> solve(AxisSpace &axes);
  std::vector<Cuts> cutsOf(const AxisSpace &axes,
                           const Assignment &assignment) const;
  std::optional<Assignment> bestIn(const AxisSpace &axes);
  bool offer(const std::vector<Cuts> &cuts);

  Clock clock;
  const PartitionGraph &graph;
  const Mesh &mesh;
  SearchOptions options;
  unsigned lastPasses; ///< of a search to the end, when all else is done
  double lastProgress;
  unsigned patience = 1;
  /// The cost of a plan for which the bound of degrees rises no further.
  int64_t exhaustedFor = -1;
  BestPlan &best;
  PlanSpace space;
  DegreeSpace degrees;
  PairwiseModel::Folding folding;
  std::deque<AxisSpace::Domain> domains;
  std::unique_ptr<AxisSpace> all; ///< plans, once they are looked at
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_JOINTSEARCH_H
