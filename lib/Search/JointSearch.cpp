//===- JointSearch.cpp - All axes together, with a bound ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointSearch.h"

#include "Beside.h"
#include "StepSearch.h"
#include "Tofu/Search/Alternatives.h"
#include "Tofu/Search/Memory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <numeric>
#include <tuple>

using namespace mlir::tofu::search;

/// How far variables must look alike to be folded, in groups. Layers that
/// differ further away are cut alike.
static constexpr unsigned kRadius = 3;
/// Devices up to which the search looks around the best plan, at so many cuts
/// of each variable.
static constexpr int64_t kMostDevices = 16;
static constexpr size_t kFewCuts = 16;
/// Cuts of a variable up to which all plans are looked at, and from where on
/// only those of small programs are.
static constexpr size_t kMostCuts = 1100, kManyCuts = 400;
/// Operators and values of small programs.
static constexpr unsigned kFewVariables = 2000;
/// Those that differ, of simple ones.
static constexpr unsigned kFewClasses = 400;
/// Entries between all pairs of variables that differ up to which all plans are
/// looked at, and up to which small programs are searched to the end.
static constexpr int64_t kMostEntries = int64_t(1) << 23,
                         kFewEntries = int64_t(1) << 22;
/// Entries of the tables of an exact elimination that a search to the end may
/// begin with.
static constexpr int64_t kWholeTables = int64_t(1) << 28;
/// Partial assignments that are looked at where a segment of the bound is
/// solved, and where programs are searched to the end.
static constexpr int64_t kSegmentRows = int64_t(1) << 22,
                         kMostSegmentRows = int64_t(1) << 24;
static constexpr int64_t kMostDevicesByAxis = 256;
/// Values that are tried one by one where programs are searched to the end.
static constexpr unsigned kMostProbes = 500;
/// Of the gap that is close enough: what a part of the search may add to it,
/// and from where on finer views and patience may close it.
static constexpr double kPartOfGap = 0.1, kFarGap = 2.5;

/// Passes that show whether other degrees are better: so few that assignments
/// are improved once, after them.
static constexpr unsigned kFewPasses = 7;

bool BestPlan::offer(Plan plan) {
  countBytes(graph, plan, charge, model);
  if (objective == Objective::Time)
    countTimes(graph, plan, charge, model);
  int64_t mine = costOf(plan, objective), over = 0;
  if (memoryLimit)
    over = std::max<int64_t>(
        estimatePeak(graph, plan, charge, model).bytes - *memoryLimit, 0);
  fitting += over == 0;
  leastCost = std::min(leastCost, mine);
  if (best && std::pair(over, mine) >= std::pair(excess, cost()))
    return false;
  best = std::move(plan);
  excess = over;
  return true;
}

JointSearch::JointSearch(const PartitionGraph &graph, const Mesh &mesh,
                         const SearchOptions &given, BestPlan &best)
    : graph(graph), mesh(mesh), options(given), lastPasses(given.passes),
      lastProgress(given.leastProgress), best(best), space(graph, options),
      degrees(graph, space, mesh, options),
      folding(degrees.getModel().fold(degrees.getDomainIds(), kRadius)) {
  best.getModel().weighMemory(options.memoryWeight);
  if (!isAffordable())
    return;
  // Something else may close the gap before so many passes do.
  const SearchOptions usual;
  options.passes = std::min(options.passes, usual.passes);
  options.leastProgress = std::max(options.leastProgress, usual.leastProgress);
}

double JointSearch::farGap() const { return kFarGap * best.getCloseEnough(); }

PairwiseModel::Options JointSearch::limits() const {
  PairwiseModel::Options limits;
  limits.passes = patience * options.passes;
  limits.leastProgress = options.leastProgress / patience;
  limits.closeEnough = best.getCloseEnough() * kPartOfGap;
  limits.tableLimit = options.tableLimit;
  if (best.getCloseEnough() == 0)
    limits.wholeLimit = kWholeTables;
  if (options.timeBudget > 0)
    limits.seconds = std::max(options.timeBudget - clock.seconds(), 0.0);
  return limits;
}

//===----------------------------------------------------------------------===//
// Degrees
//===----------------------------------------------------------------------===//

/// The best degrees, with repeated layers alike; nothing if there are none.
std::optional<Assignment> JointSearch::solveDegrees() {
  PairwiseModel::Options mine = limits();
  // Around the best plan, what speaks against degrees counts.
  mine.prunes = isLarge();
  mine.settles = isLarge() && options.closeEnough > 0;
  PairwiseModel::Result result = folding.model->minimize(mine);
  if (result.assignment.empty())
    return std::nullopt;
  return folding.unfold(result.assignment);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Per variable, all cuts of the degrees that `valuesOf` gives.
JointSearch::Domains JointSearch::arrangements(
    llvm::function_ref<llvm::SmallVector<unsigned>(unsigned)> valuesOf) {
  std::map<llvm::SmallVector<unsigned>, const AxisSpace::Domain *> known;
  Domains result;
  for (unsigned var = 0; var < space.numVariables(); ++var) {
    llvm::SmallVector<unsigned> values = valuesOf(var), key = values;
    key.push_back(degrees.getDomainIds()[var]);
    const AxisSpace::Domain *&domain = known[key];
    if (!domain) {
      AxisSpace::Domain &fresh =
          domains.emplace_back(AxisSpace::Domain{unsigned(domains.size()), {}});
      for (unsigned value : values)
        for (Cuts &cuts : degrees.arrangements(var, value, mesh))
          if (space.isAllowed(var, cuts, mesh))
            fresh.cuts.push_back(std::move(cuts));
      domain = &fresh;
    }
    result.push_back(domain);
  }
  return result;
}

/// Where the best plan is in `axes`; nothing if it isn't.
std::optional<Assignment> JointSearch::bestIn(const AxisSpace &axes) {
  if (!best.get())
    return std::nullopt;
  PlanSpace::States states = space.statesOf(*best.get());
  Assignment assignment;
  for (unsigned var = 0; var < states.size(); ++var) {
    llvm::ArrayRef<Cuts> cuts = axes.getDomain(var).cuts;
    const Cuts &mine = space.getCuts(states[var]);
    auto at = llvm::find(cuts, mine);
    if (at == cuts.end())
      return std::nullopt;
    assignment.push_back(at - cuts.begin());
  }
  return axes.complete(std::move(assignment));
}

bool JointSearch::offer(const std::vector<Cuts> &cuts) {
  if (cuts.empty())
    return false;
  PlanSpace::States states;
  for (const Cuts &each : cuts)
    states.push_back(space.internState(each));
  return best.offer(space.planOf(states, mesh));
}

static bool isEmpty(llvm::ArrayRef<const AxisSpace::Domain *> domains) {
  return llvm::any_of(domains, [](const AxisSpace::Domain *domain) {
    return domain->cuts.empty();
  });
}

std::vector<Cuts> JointSearch::cutsOf(const AxisSpace &axes,
                                      const Assignment &assignment) const {
  std::vector<Cuts> cuts;
  for (unsigned var = 0; var < space.numVariables(); ++var)
    cuts.push_back(axes.getCuts(var, assignment[var]));
  return cuts;
}

/// The best cuts in `axes`, with repeated layers alike; none if all are
/// forbidden.
std::vector<Cuts> JointSearch::solve(AxisSpace &axes) {
  PairwiseModel::Folding folded =
      axes.getModel().fold(axes.getDomainIds(), kRadius);
  PairwiseModel::Options mine = limits();
  mine.settles = options.closeEnough > 0;
  PairwiseModel::Result result = folded.model->minimize(mine);
  if (result.assignment.empty())
    return {};
  return cutsOf(axes, folded.unfold(result.assignment));
}

/// Offers the best plan of the given degrees.
void JointSearch::arrange(const Assignment &values) {
  Domains given = arrangements(
      [&](unsigned var) { return llvm::SmallVector<unsigned>{values[var]}; });
  if (isEmpty(given))
    return;
  AxisSpace axes(graph, space, std::move(given), best.getModel(), options);
  offer(solve(axes));
}

/// The same with one axis after the other.
void JointSearch::arrangeByAxis(const Assignment &values) {
  std::vector<Cuts> cuts;
  std::vector<DegreeSpace::State> left;
  for (unsigned var = 0; var < space.numVariables(); ++var) {
    left.push_back(degrees.getState(var, values[var]));
    cuts.emplace_back();
    cuts.back().dims.resize(left.back().dims.size());
    cuts.back().partialOperands = left.back().partialOperands;
  }
  for (unsigned axis : axesThatSplit(mesh)) {
    CostModel costs(prefixOf(mesh, axis), options);
    costs.weighMemory(options.memoryWeight);
    Numbering<DegreeSpace::RestKey> numbers;
    Domains given;
    std::deque<AxisSpace::Domain> mine;
    for (unsigned var = 0; var < cuts.size(); ++var) {
      const std::optional<Cuts> &pinned = space.getKind(var).pinned;
      DegreeSpace::RestKey key =
          pinned ? DegreeSpace::RestKey{-1, space.internState(*pinned)}
                 : degrees.keyOfRest(left[var], cuts[var]);
      auto [number, isNew] = numbers(std::move(key));
      if (isNew && pinned)
        mine.push_back({number, {restrictTo(costs.getMesh(), *pinned)}});
      else if (isNew)
        mine.push_back(
            {number, degrees.placements(left[var], cuts[var], axis)});
      given.push_back(&mine[number]);
    }
    AxisSpace axes(graph, space, given, costs, options);
    std::vector<Cuts> next = solve(axes);
    if (next.empty())
      return;
    for (unsigned var = 0; var < cuts.size(); ++var)
      if (!space.getKind(var).pinned)
        degrees.take(left[var], cuts[var], next[var], axis);
    cuts = std::move(next);
  }
  offer(cuts);
}

void JointSearch::improve() {
  if (mesh.numDevices() > kMostDevicesByAxis)
    return;
  // On few devices it was looked around the best plan before.
  do
    improveByAxis();
  while (isLarge() && best.get() && !isOver() && searchAround(nullptr));
}

/// Makes the choices for one axis of the best plan after the other again, for
/// as long as that helps.
void JointSearch::improveByAxis() {
  Axes axes = axesThatSplit(mesh);
  for (size_t i = 0, tried = 0; best.get() && tried < axes.size() && !isOver();
       i = (i + 1) % axes.size()) {
    PlanSpace::States states = space.statesOf(*best.get());
    std::map<const PlanSpace::Choices *, const AxisSpace::Domain *> known;
    std::deque<AxisSpace::Domain> mine;
    Domains given;
    for (const PlanSpace::Choices *choices :
         space.choices(states, axes[i], mesh)) {
      const AxisSpace::Domain *&domain = known[choices];
      if (!domain) {
        mine.push_back({unsigned(mine.size()), {}});
        for (PlanSpace::State state : choices->states)
          mine.back().cuts.push_back(space.getCuts(state));
        domain = &mine.back();
      }
      given.push_back(domain);
    }
    if (isEmpty(given))
      return;
    AxisSpace neighbours(graph, space, given, best.getModel(), options);
    tried = offer(solve(neighbours)) ? 0 : tried + 1;
  }
}

/// The degrees of a variable that the bound speaks for: `chosen`, and as many
/// as make a few cuts. Those of its class have the same.
llvm::SmallVector<unsigned> JointSearch::likelyDegrees(unsigned var,
                                                       unsigned chosen) const {
  llvm::ArrayRef<double> excess =
      folding.model->getExcess(folding.classOf[var]);
  llvm::SmallVector<unsigned> order(degrees.getDomainSize(var));
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::tuple(a != chosen, excess[a], a) <
           std::tuple(b != chosen, excess[b], b);
  });
  size_t cuts = 0, kept = 0;
  while (kept < order.size() && cuts <= kFewCuts)
    cuts += degrees.numArrangements(var, order[kept++]);
  order.resize(kept);
  llvm::sort(order);
  return order;
}

/// Looks around the best plan: among cuts that differ from its own in one axis,
/// and those of degrees that are likely besides `chosen`, if these are given.
/// Says whether that helped.
bool JointSearch::searchAround(const Assignment *chosen) {
  PlanSpace::States states = space.statesOf(*best.get());
  std::vector<std::vector<const PlanSpace::Choices *>> byAxis;
  for (unsigned axis : axesThatSplit(mesh))
    byAxis.push_back(space.choices(states, axis, mesh));
  std::map<llvm::SmallVector<unsigned>, const AxisSpace::Domain *> known;
  std::vector<llvm::SmallVector<unsigned>> likely(numClasses());
  std::deque<AxisSpace::Domain> mine;
  Domains given;
  for (unsigned var = 0; var < space.numVariables(); ++var) {
    llvm::SmallVector<unsigned> &values = likely[folding.classOf[var]];
    if (values.empty() && chosen)
      values = likelyDegrees(var, (*chosen)[var]);
    llvm::SmallVector<unsigned> key = values;
    key.push_back(degrees.getDomainIds()[var]);
    for (const auto &choices : byAxis)
      key.push_back(choices[var]->id);
    const AxisSpace::Domain *&domain = known[key];
    if (!domain) {
      mine.push_back({unsigned(mine.size()), {}});
      llvm::SetVector<PlanSpace::State> all;
      for (const auto &choices : byAxis)
        all.insert_range(choices[var]->states);
      for (unsigned value : values)
        for (const Cuts &cuts : degrees.arrangements(var, value, mesh))
          if (space.isAllowed(var, cuts, mesh))
            all.insert(space.internState(cuts));
      for (PlanSpace::State state : all)
        mine.back().cuts.push_back(space.getCuts(state));
      domain = &mine.back();
    }
    given.push_back(domain);
  }
  if (isEmpty(given))
    return false;
  AxisSpace axes(graph, space, std::move(given), best.getModel(), options);
  return offer(solve(axes));
}

/// The degrees of the best plan; nothing if the space hasn't them.
std::optional<Assignment> JointSearch::degreesOfBest() {
  PlanSpace::States states = space.statesOf(*best.get());
  Assignment values;
  for (unsigned var = 0; var < states.size(); ++var) {
    std::optional<unsigned> value =
        degrees.find(var, space.getCuts(states[var]));
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return degrees.complete(std::move(values));
}

void JointSearch::improveDegrees() {
  // On many devices it would take as long as all before it.
  std::optional<Assignment> mine;
  if (best.get() && !isLarge())
    mine = degreesOfBest();
  if (!mine)
    return;
  PairwiseModel::Options few = limits();
  few.passes = std::min(few.passes, kFewPasses);
  few.tableLimit = 0;
  few.prunes = false;
  Assignment hint = folding.fold(*mine);
  PairwiseModel::Result result = folding.model->minimize(few, &hint);
  if (result.assignment.empty())
    return;
  Assignment other = folding.unfold(result.assignment);
  const PairwiseModel &model = degrees.getModel();
  if (model.costOf(other) < model.costOf(*mine))
    arrange(other);
}

bool JointSearch::isLarge() const { return mesh.numDevices() > kMostDevices; }

bool JointSearch::hasAtMost(int64_t entries) const {
  // Variables that look alike are as much work as one.
  std::vector<unsigned> sizes(folding.model->numVariables());
  size_t most = 0;
  for (unsigned var = 0; var < space.numVariables(); ++var) {
    unsigned &size = sizes[folding.classOf[var]];
    if (size > 0)
      continue;
    size_t cuts = 0;
    for (unsigned value = 0; value < degrees.getDomainSize(var); ++value)
      cuts += degrees.numArrangements(var, value);
    if (cuts > kMostCuts)
      return false;
    size = cuts;
    most = std::max(most, cuts);
  }
  if (most > kManyCuts)
    entries = std::min(entries, kFewEntries);
  return folding.model->numEntries(sizes) <= entries;
}

bool JointSearch::isAffordable() const { return hasAtMost(kMostEntries); }

bool JointSearch::isSmall() const {
  return numVariables() <= kFewVariables && hasAtMost(kFewEntries);
}

bool JointSearch::isSimple() const {
  return numClasses() <= kFewClasses && hasAtMost(kFewEntries);
}

JointSearch::Domains JointSearch::allArrangements() {
  return arrangements([&](unsigned var) {
    llvm::SmallVector<unsigned> values(degrees.getDomainSize(var));
    std::iota(values.begin(), values.end(), 0);
    return values;
  });
}

/// Looks among all plans, and gives a bound of theirs.
int64_t JointSearch::searchAll(const PairwiseModel::Options &limits) {
  if (!all) {
    Domains given = allArrangements();
    if (isEmpty(given))
      return best.cost();
    all = std::make_unique<AxisSpace>(graph, space, std::move(given),
                                      best.getModel(), options);
  }
  std::optional<Assignment> hint = bestIn(*all);
  if (!hint && offer(solve(*all)))
    hint = bestIn(*all);
  PairwiseModel::Result result = all->getModel().minimizeAlike(
      all->getDomainIds(), limits, hint ? &*hint : nullptr, best.cost());
  if (!result.assignment.empty())
    offer(cutsOf(*all, result.assignment));
  return result.lowerBound;
}

/// Spares no effort to close the gap where all plans can be looked at.
void JointSearch::searchToTheEnd() {
  PairwiseModel::Options mine = limits();
  best.raiseBound(searchAll(mine));
  if (isOver() || !all)
    return;
  mine.passes = lastPasses;
  mine.leastProgress = lastProgress;
  mine.segmentLimit = kMostSegmentRows;
  PairwiseModel::Result result = all->getModel().closeGap(
      all->getDomainIds(), mine, kMostProbes, best.getBound(), best.cost());
  if (!result.assignment.empty())
    offer(cutsOf(*all, result.assignment));
  best.raiseBound(result.lowerBound);
}

void JointSearch::tell(llvm::StringRef what) const {
  if (options.progress)
    options.progress(
        llvm::formatv("{0}: {1} operators and values, {2} different; {3} s",
                      what, space.numVariables(), folding.model->numVariables(),
                      llvm::format("%.1f", clock.seconds()))
            .str());
}

bool JointSearch::isOutOfTime() const {
  return options.timeBudget > 0 && clock.seconds() > options.timeBudget;
}

bool JointSearch::isOver() const {
  if (!best.get())
    return false;
  return best.isClose() || isOutOfTime();
}

void JointSearch::run(JointSearch *bounding) {
  tell("degrees");
  std::optional<Assignment> values = solveDegrees();
  if (values && isLarge())
    arrangeByAxis(*values);
  else if (values)
    arrange(*values);
  if (isOver())
    return;
  tell("axes");
  if (!values || isLarge() || !best.get())
    return;
  bool helps = true;
  auto look = [&] { helps = searchAround(&*values); };
  while (helps && !isOver()) {
    if (!bounding) {
      look();
      continue;
    }
    bounding->refineBeside(look);
    if (!isOver())
      bounding->refine(Effort::Little);
  }
}

void JointSearch::setPatience(unsigned times) {
  patience = times;
  if (all)
    all->getModel().forgetBound();
}

void JointSearch::runOverAll() {
  if (!isOver() && isAffordable())
    searchAll(limits());
}

void JointSearch::refine(Effort effort) {
  tell("all");
  PairwiseModel::Options mine = limits();
  mine.closeEnough = best.getCloseEnough();
  bool isToTheEnd = best.getCloseEnough() == 0;
  if ((effort == Effort::Little || isLarge()) && !isToTheEnd)
    mine.farGap = farGap();
  if (effort == Effort::All && isToTheEnd && isAffordable())
    return searchToTheEnd();
  if ((effort >= Effort::Axes || isToTheEnd) && isAffordable()) {
    if (!isToTheEnd)
      mine.segmentLimit = kSegmentRows;
    best.raiseBound(searchAll(mine));
    return;
  }
  // It has nothing to add for the same plan.
  if (isLarge() && exhaustedFor == best.cost())
    return;
  int64_t before = best.getBound();
  PairwiseModel::Result result = degrees.getModel().minimizeAlike(
      degrees.getDomainIds(), mine, nullptr, best.cost());
  best.raiseBound(result.lowerBound);
  if (best.getBound() == before)
    exhaustedFor = best.cost();
}

void JointSearch::refineBeside(llvm::function_ref<void()> other) {
  if (best.getCloseEnough() == 0)
    return other();
  PairwiseModel::Options mine = limits();
  mine.closeEnough = best.getCloseEnough();
  int64_t known = best.cost(), lowerBound = 0;
  runBeside(options.threads, other, [&] {
    lowerBound =
        degrees.getModel()
            .minimizeAlike(degrees.getDomainIds(), mine, nullptr, known)
            .lowerBound;
  });
  best.raiseBound(lowerBound);
}

bool JointSearch::writeIlp(llvm::raw_ostream &os) {
  if (!isAffordable())
    return false;
  AxisSpace axes(graph, space, allArrangements(), best.getModel(), options);
  axes.getModel().writeIlp(os);
  return true;
}
