//===- PairwiseBound.cpp - One bound for variables that look alike --------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Message passing on the whole model, with the same messages wherever the model
// looks the same. What is moved along an edge is then a number per class of
// edges, and a variable's costs depend only on the classes of its edges, so a
// pass takes as long as there are classes, not variables. Any messages give a
// bound; equal ones give the best one where the model has that symmetry, and
// nearly so where repeated layers end.
//
// Few classes find their messages fast, so the bound begins with a coarse view
// and goes on, from where it got, with finer ones.
//
//===----------------------------------------------------------------------===//

#include "Clock.h"
#include "PairwiseView.h"

#include "Tofu/Search/KeyMap.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace mlir::tofu::search;

/// How far variables must look alike to be treated so, in groups: first the
/// coarse view. What differs further away hardly matters.
static constexpr unsigned kRadii[] = {1, 3, 4, 6, 9};

/// The same where they get the same values.
static constexpr unsigned kRadiusAlike = 4;

/// What part of the gap a finer view closes where segments are to close the
/// rest, at least.
static constexpr double kWorthFiner = 0.01;

//===----------------------------------------------------------------------===//
// Making it
//===----------------------------------------------------------------------===//

PairwiseModel::View::View(const PairwiseModel &model,
                          std::vector<unsigned> given, View *coarser)
    : model(model), classOf(std::move(given)) {
  for (auto [var, number] : llvm::enumerate(classOf)) {
    if (number == classes.size())
      classes.emplace_back().domain = model.domains[var];
  }
  makeGroups();
  if (coarser)
    inheritEdges(*coarser);
  else
    for (const GroupClass &group : groups)
      share(group);
  makeTypes();
  if (coarser)
    inheritValues(*coarser);
}

unsigned PairwiseModel::View::numberOf(llvm::ArrayRef<unsigned> columns) {
  return columnNumbers.try_emplace(columns.data(), columnNumbers.size())
      .first->second;
}

void PairwiseModel::View::makeGroups() {
  using Reader = std::pair<unsigned, unsigned>; ///< class, columns
  KeyMap<std::vector<uint64_t>, unsigned> numbers;
  llvm::SmallVector<std::pair<Reader, unsigned>> readers;
  for (const Group &group : model.groups) {
    readers.clear();
    for (unsigned i = 0; i < group.numEdges; ++i) {
      const Edge &edge = model.edges[group.firstEdge + i];
      readers.push_back(
          {{classOf[edge.col], numberOf(edge.columnOf)}, group.firstEdge + i});
    }
    llvm::sort(readers);
    std::vector<uint64_t> key{
        classOf[group.row],
        uint64_t(reinterpret_cast<uintptr_t>(group.table.data()))};
    for (llvm::ArrayRef<unsigned> own : group.own)
      key.push_back(numberOf(own));
    key.push_back(~uint64_t(0));
    for (const auto &[reader, edge] : readers)
      key.push_back(uint64_t(reader.first) << 32 | reader.second);
    auto [known, isNew] =
        numbers.try_emplace(std::move(key), unsigned(groups.size()));
    groupOf.push_back(known->second);
    if (isNew)
      groups.push_back({&group, 0, unsigned(edges.size()), 0});
    GroupClass &mine = groups[known->second];
    ++mine.count;
    // Readers that are alike are one, as often as there are.
    edgeOf.resize(
        std::max<size_t>(edgeOf.size(), group.firstEdge + group.numEdges));
    unsigned position = 0;
    for (size_t i = 0; i < readers.size(); ++i) {
      if (i > 0 && readers[i].first != readers[i - 1].first)
        ++position;
      const Edge &edge = model.edges[readers[i].second];
      edgeOf[readers[i].second] = mine.firstEdge + position;
      if (!isNew)
        continue;
      if (position == mine.numEdges) {
        ++mine.numEdges;
        EdgeClass &fresh = edges.emplace_back();
        fresh.group = known->second;
        fresh.rowClass = classOf[edge.row];
        fresh.colClass = classOf[edge.col];
        fresh.columnOf = edge.columnOf;
      }
      ++edges.back().perGroup;
    }
  }
}

/// Divides what readers pay among those that can have a column; nothing is
/// moved yet.
void PairwiseModel::View::share(const GroupClass &group) {
  const Group &example = *group.example;
  unsigned numColumns = example.numColumns;
  std::vector<double> whole = model.costsOfOthers(example);
  auto mine =
      llvm::MutableArrayRef(edges).slice(group.firstEdge, group.numEdges);
  for (EdgeClass &edge : mine) {
    edge.toRow.assign(classes[edge.rowClass].domain, 0);
    edge.toCol.assign(classes[edge.colClass].domain, 0);
  }
  // A single reader's share is all, and stays so.
  if (example.numEdges == 1 && example.own.empty()) {
    std::vector<double> &table = wholeTables[example.table.data()];
    if (table.empty())
      table = std::move(whole);
    mine.front().share = table.data();
    return;
  }
  std::vector<double> readers(numColumns, 0);
  std::vector<bool> has(mine.size() * numColumns, false);
  for (auto [i, edge] : llvm::enumerate(mine)) {
    for (unsigned column : edge.columnOf)
      has[i * numColumns + column] = true;
    for (unsigned column = 0; column < numColumns; ++column)
      if (has[i * numColumns + column])
        readers[column] += edge.perGroup;
  }
  for (auto [i, edge] : llvm::enumerate(mine)) {
    edge.ownShare = whole;
    edge.share = edge.ownShare.data();
    for (size_t at = 0; at < whole.size(); ++at)
      edge.ownShare[at] *= has[i * numColumns + at % numColumns]
                               ? 1 / readers[at % numColumns]
                               : 0;
  }
}

/// In the order of classes. Between variables of one class, the row's comes
/// first: it is made before it is read.
bool PairwiseModel::View::isBefore(const End &end) const {
  const EdgeClass &edge = edges[end.edge];
  if (edge.rowClass == edge.colClass)
    return !end.isRow;
  return (edge.rowClass < edge.colClass) != end.isRow;
}

void PairwiseModel::View::makeTypes() {
  std::vector<llvm::SmallVector<End, 8>> ends(model.numVariables());
  std::vector<llvm::SmallVector<unsigned, 4>> owners(model.numVariables());
  for (auto [number, group] : llvm::enumerate(model.groups)) {
    if (!group.own.empty())
      owners[group.row].push_back(groupOf[number]);
    for (unsigned i = 0; i < group.numEdges; ++i) {
      const Edge &edge = model.edges[group.firstEdge + i];
      ends[edge.row].push_back({edgeOf[group.firstEdge + i], true});
      ends[edge.col].push_back({edgeOf[group.firstEdge + i], false});
    }
  }
  KeyMap<std::vector<unsigned>, unsigned> numbers;
  for (unsigned var = 0; var < model.numVariables(); ++var) {
    llvm::sort(ends[var]);
    llvm::sort(owners[var]);
    std::vector<unsigned> key{classOf[var], unsigned(owners[var].size())};
    key.insert(key.end(), owners[var].begin(), owners[var].end());
    for (const End &end : ends[var])
      key.push_back(2 * end.edge + end.isRow);
    auto [known, isNew] =
        numbers.try_emplace(std::move(key), unsigned(types.size()));
    typeOf.push_back(known->second);
    if (isNew) {
      Type &type = types.emplace_back();
      type.own.assign(model.domains[var], 0);
      type.active.resize(model.domains[var]);
      std::iota(type.active.begin(), type.active.end(), 0);
      for (unsigned owner : owners[var])
        for (unsigned l = 0; l < model.domains[var]; ++l)
          type.own[l] += model.ownCost(*groups[owner].example, l);
      for (const End &end : ends[var]) {
        if (type.ends.empty() || type.ends.back().first < end)
          type.ends.push_back({end, 0});
        ++type.ends.back().second;
        ++type.ahead[isBefore(end)];
      }
      classes[classOf[var]].types.push_back(known->second);
    }
    ++types[known->second].members;
  }
  for (Class &mine : classes) {
    mine.active.resize(mine.domain);
    std::iota(mine.active.begin(), mine.active.end(), 0);
    std::map<End, llvm::SmallVector<unsigned, 2>> all;
    for (auto [i, type] : llvm::enumerate(mine.types))
      for (const auto &[end, times] : types[type].ends)
        all[end].push_back(i);
    for (auto &[end, having] : all)
      (isBefore(end) ? mine.before : mine.after)
          .push_back({end, std::move(having)});
  }
}

/// Each edge has what the one had that it was a part of; the first part takes
/// it.
void PairwiseModel::View::inheritEdges(View &coarser) {
  wholeTables = std::move(coarser.wholeTables);
  std::vector<int> heirs(coarser.edges.size(), -1);
  std::vector<bool> isDone(edges.size(), false);
  for (auto [edge, number] : llvm::enumerate(edgeOf)) {
    if (isDone[number])
      continue;
    isDone[number] = true;
    EdgeClass &to = edges[number];
    EdgeClass &from = coarser.edges[coarser.edgeOf[edge]];
    int &heir = heirs[coarser.edgeOf[edge]];
    const EdgeClass &source = heir < 0 ? from : edges[heir];
    to.share = source.share;
    if (heir < 0) {
      to.toRow = std::move(from.toRow);
      to.toCol = std::move(from.toCol);
      to.ownShare = std::move(from.ownShare);
      heir = number;
    } else {
      to.toRow = source.toRow;
      to.toCol = source.toCol;
      to.ownShare = source.ownShare;
    }
    if (!to.ownShare.empty())
      to.share = to.ownShare.data();
  }
}

void PairwiseModel::View::inheritValues(const View &coarser) {
  for (auto [var, number] : llvm::enumerate(typeOf))
    types[number].active = coarser.types[coarser.typeOf[var]].active;
  sumOfLeast = 0;
  for (Class &mine : classes) {
    mine.active.clear();
    for (unsigned number : mine.types) {
      Type &type = types[number];
      mine.active.append(type.active.begin(), type.active.end());
      addUp(type, scratch);
      type.least = leastOf(type, scratch);
      sumOfLeast += type.members * type.least;
    }
    llvm::sort(mine.active);
    mine.active.erase(llvm::unique(mine.active), mine.active.end());
  }
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// See PairwiseModel::rebalance.
void PairwiseModel::View::rebalance(const GroupClass &group) {
  if (group.example->numEdges < 2)
    return;
  unsigned numColumns = group.example->numColumns;
  auto mine =
      llvm::MutableArrayRef(edges).slice(group.firstEdge, group.numEdges);
  shared.start(mine.size(), numColumns);
  for (auto [i, edge] : llvm::enumerate(mine))
    for (unsigned s : classes[edge.colClass].active)
      shared.note(i, edge.columnOf[s], edge.toCol[s]);
  for (auto [i, edge] : llvm::enumerate(mine))
    shared.count(i, edge.perGroup);
  for (unsigned l : classes[mine.front().rowClass].active) {
    shared.beginRow();
    for (auto [i, edge] : llvm::enumerate(mine))
      shared.take(i, &edge.ownShare[size_t(l) * numColumns], edge.toRow[l],
                  edge.perGroup);
    shared.divide();
    for (auto [i, edge] : llvm::enumerate(mine))
      shared.give(i, &edge.ownShare[size_t(l) * numColumns]);
  }
}

/// See PairwiseModel::collect.
void PairwiseModel::View::collect(const End &end) {
  EdgeClass &edge = edges[end.edge];
  unsigned numColumns = groups[edge.group].example->numColumns;
  const Values &rows = classes[edge.rowClass].active;
  const Values &others = classes[edge.colClass].active;
  if (end.isRow) {
    columns.assign(numColumns, -kInfinity);
    for (unsigned s : others) {
      double &most = columns[edge.columnOf[s]];
      most = std::max(most, edge.toCol[s]);
    }
    for (unsigned l : rows)
      edge.toRow[l] =
          leastDifference(&edge.share[size_t(l) * numColumns], columns);
    return;
  }
  columns.assign(numColumns, kInfinity);
  for (unsigned l : rows) {
    const double *share = &edge.share[size_t(l) * numColumns];
    double moved = edge.toRow[l];
    for (unsigned column = 0; column < numColumns; ++column)
      columns[column] = std::min(columns[column], share[column] - moved);
  }
  for (unsigned s : others)
    edge.toCol[s] = columns[edge.columnOf[s]];
}

void PairwiseModel::View::addUp(const Type &type, std::vector<double> &costs) {
  costs = type.own;
  for (const auto &[end, times] : type.ends) {
    const std::vector<double> &moved = messages(end);
    for (unsigned value : type.active)
      costs[value] += times * moved[value];
  }
}

double PairwiseModel::View::leastOf(const Type &type,
                                    llvm::ArrayRef<double> costs) const {
  double least = kInfinity;
  for (unsigned value : type.active)
    least = std::min(least, costs[value]);
  return least;
}

/// Drops values that no variable of a type can have in anything as cheap as
/// `upper`.
void PairwiseModel::View::prune(Class &mine, double upper) {
  double spare = upper + upper * 1e-9 + 1 - sumOfLeast;
  bool isSmaller = false;
  for (auto [i, number] : llvm::enumerate(mine.types)) {
    Type &type = types[number];
    size_t before = type.active.size();
    llvm::erase_if(type.active, [&, &costs = costs[i]](unsigned value) {
      return costs[value] - type.least > spare;
    });
    isSmaller |= type.active.size() < before;
  }
  if (!isSmaller)
    return;
  Values all;
  for (unsigned number : mine.types)
    all.append(types[number].active.begin(), types[number].active.end());
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  mine.active = std::move(all);
}

/// Moves costs of a class's variables on to edges, as much as all of them can
/// spare.
void PairwiseModel::View::moveOn(const Class &mine,
                                 llvm::ArrayRef<SharedEnd> ends) {
  for (const SharedEnd &end : ends) {
    scratch.assign(mine.domain, kInfinity);
    for (unsigned i : end.types) {
      const Type &type = types[mine.types[i]];
      // The least stays: the bound has it already.
      double part = 1 / std::max(type.ahead[0], type.ahead[1]);
      for (unsigned value : type.active)
        scratch[value] =
            std::min(scratch[value], part * (costs[i][value] - type.least));
    }
    std::vector<double> &moved = messages(end);
    for (unsigned value : mine.active)
      if (scratch[value] < kInfinity)
        moved[value] -= scratch[value];
  }
}

bool PairwiseModel::View::visit(unsigned number, bool forwards, double upper) {
  Class &mine = classes[number];
  for (const End &end : forwards ? mine.before : mine.after)
    collect(end);
  if (costs.size() < mine.types.size())
    costs.resize(mine.types.size());
  for (auto [i, each] : llvm::enumerate(mine.types)) {
    Type &type = types[each];
    addUp(type, costs[i]);
    double least = leastOf(type, costs[i]);
    sumOfLeast += type.members * (least - type.least);
    type.least = least;
  }
  prune(mine, upper);
  for (unsigned each : mine.types)
    empty |= types[each].active.empty();
  if (empty)
    return false;
  moveOn(mine, forwards ? mine.after : mine.before);
  return true;
}

/// Starts the folded model of the view's classes with its messages.
void PairwiseModel::View::passOn(Folding &folding) const {
  PairwiseModel &folded = *folding.model;
  folded.start();
  for (Edge &edge : folded.edges)
    llvm::fill(edge.ownShare, 0.0);
  auto add = [](std::vector<double> &sums, const std::vector<double> &more) {
    for (size_t i = 0; i < more.size(); ++i)
      sums[i] += more[i];
  };
  for (auto [number, target] : llvm::enumerate(folding.edges)) {
    if (target < 0)
      continue;
    const EdgeClass &from = edges[edgeOf[number]];
    Edge &to = folded.edges[target];
    add(to.toRow, from.toRow);
    add(to.toCol, from.toCol);
    add(folded.unary[to.row], from.toRow);
    add(folded.unary[to.col], from.toCol);
    for (size_t at = 0; at < to.ownShare.size(); ++at)
      to.ownShare[at] += from.share[at];
  }
  folded.sumOfLeast = 0;
  for (unsigned var = 0; var < folded.numVariables(); ++var) {
    folded.least[var] = *llvm::min_element(folded.unary[var]);
    folded.sumOfLeast += folded.least[var];
  }
  folded.isWarm = true;
}

void PairwiseModel::View::tell(unsigned var, Values &active,
                               std::vector<double> &excess) {
  const Type &type = types[typeOf[var]];
  active = type.active;
  addUp(type, excess);
  double least = leastOf(type, excess);
  for (unsigned value : active)
    excess[value] -= least;
}

/// By how much the shares of a group are more than its costs, at most, as
/// thousands of roundings may make them. Of what is forbidden they may be.
int64_t PairwiseModel::View::overcharge(const GroupClass &group,
                                        Units units) const {
  auto mine = llvm::ArrayRef(edges).slice(group.firstEdge, group.numEdges);
  if (mine.empty() || mine.front().ownShare.empty())
    return 0;
  std::vector<double> whole = model.costsOfOthers(*group.example);
  int64_t most = 0;
  for (size_t row = 0; row < whole.size(); row += group.example->numColumns) {
    int64_t above = 0;
    for (size_t at = row; at < row + group.example->numColumns; ++at) {
      int64_t cost = units.roundDown(whole[at]), charged = 0;
      if (cost == Forbidden)
        continue;
      for (const EdgeClass &edge : mine)
        charged += int64_t(edge.perGroup) * units.roundDown(edge.ownShare[at]);
      above += std::max<int64_t>(charged - cost, 0);
    }
    most = std::max(most, above);
  }
  return most;
}

/// See PairwiseModel::integerBound.
PairwiseModel::View::WholeCosts
PairwiseModel::View::wholeCosts(Units units) const {
  WholeCosts costs;
  costs.units = units;
  std::vector<int64_t> most;
  for (const GroupClass &group : groups)
    costs.bound -= int64_t(group.count) * overcharge(group, units);
  for (const EdgeClass &edge : edges) {
    unsigned numColumns = groups[edge.group].example->numColumns;
    most.assign(numColumns, -2 * Forbidden);
    for (unsigned s : classes[edge.colClass].active)
      most[edge.columnOf[s]] =
          std::max(most[edge.columnOf[s]], units.roundDown(edge.toCol[s]));
    int64_t cheapest = Forbidden;
    for (unsigned l : classes[edge.rowClass].active)
      for (unsigned column = 0; column < numColumns; ++column)
        cheapest = std::min(
            cheapest,
            units.roundDown(edge.share[size_t(l) * numColumns + column]) -
                units.roundDown(edge.toRow[l]) - most[column]);
    costs.leastOfEdge.push_back(cheapest);
    costs.bound += int64_t(groups[edge.group].count * edge.perGroup) * cheapest;
  }
  for (const Type &type : types) {
    std::vector<int64_t> &sums = costs.ofType.emplace_back(type.own.size(), 0);
    for (unsigned value : type.active)
      sums[value] = units.roundDown(type.own[value]);
    for (const auto &[end, times] : type.ends) {
      const EdgeClass &edge = edges[end.edge];
      const std::vector<double> &moved = end.isRow ? edge.toRow : edge.toCol;
      for (unsigned value : type.active)
        sums[value] += int64_t(times) * units.roundDown(moved[value]);
    }
    int64_t cheapest = Forbidden;
    for (unsigned value : type.active)
      cheapest = std::min(cheapest, sums[value]);
    for (unsigned value : type.active)
      sums[value] -= cheapest;
    costs.bound += int64_t(type.members) * cheapest;
  }
  return costs;
}

//===----------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------===//

/// Looks for something better in which all variables of a class are alike.
void PairwiseModel::improveAlike(View &view, const Options &options,
                                 Result &result) {
  Folding folding = fold(view.getClasses());
  Assignment hint = folding.fold(result.assignment);
  view.passOn(folding);
  Options mine = options;
  mine.prunes = false;
  Result better = folding.model->minimize(mine, &hint);
  if (!better.assignment.empty())
    offer(folding.unfold(better.assignment), result);
}

PairwiseModel::Result
PairwiseModel::minimizeAlike(llvm::ArrayRef<unsigned> kinds,
                             const Options &options, const Assignment *hint,
                             int64_t known) {
  Clock clock;
  Result result;
  result.minimum = known;
  if (hint) {
    result.minimum = costOf(*hint);
    result.assignment = *hint;
  }
  // Views have dropped what is in nothing as cheap as what was known then.
  leastKnown = std::min(leastKnown, result.minimum);
  upper = leastKnown;
  if (!view && options.wholeLimit > 0 && solveWhole(options, result)) {
    result.lowerBound = std::min(result.lowerBound, leastKnown);
    return result;
  }
  bool isTried = !hint;
  // Whether there is a gap left that is worth the effort.
  auto raise = [&] {
    view->raise(options, options.seconds - clock.seconds(), upper,
                result.passes);
    return !view->isEmpty() && !options.isClose(view->bound(), upper);
  };
  auto tryAlike = [&] {
    isTried = true;
    improveAlike(*view, options, result);
    return raise();
  };
  auto isFar = [&] {
    return view && upper - view->bound() > options.farGap * upper;
  };
  if (isFar()) {
    result.lowerBound = std::min(leastKnown, provenBound);
    return result;
  }
  // From where the last call got.
  bool goesOn = !view || raise();
  while (goesOn && !isFar() && numRadii < std::size(kRadii)) {
    unsigned radius = kRadii[numRadii++];
    std::vector<unsigned> classes = classify(kinds, radius);
    unsigned numClasses = classes.empty() ? 0 : *llvm::max_element(classes) + 1;
    if (view && numClasses == view->numClasses()) {
      numRadii = std::size(kRadii);
      break;
    }
    double before = view ? view->bound() : 0;
    view = std::make_shared<View>(*this, std::move(classes), view.get());
    goesOn = raise() && (isTried || radius < kRadiusAlike || tryAlike());
    // Segments that are the same have to be solved once.
    if (options.segmentLimit > 0 && options.closeEnough > 0 &&
        radius >= kRadiusAlike &&
        view->bound() - before < kWorthFiner * (upper - view->bound()))
      break;
  }
  goesOn = goesOn && !isFar() && (isTried || tryAlike());
  while (goesOn) {
    int64_t before = result.minimum;
    sumOfLeast = view->bound();
    for (unsigned var = 0; var < numVariables(); ++var)
      view->tell(var, active[var], excess[var]);
    if (finish(options, result)) {
      result.lowerBound = std::min(result.lowerBound, leastKnown);
      return result;
    }
    improve(options, result);
    goesOn = result.minimum < before && raise();
  }
  // Nothing is better than what is known.
  leastKnown = std::min(leastKnown, result.minimum);
  if (view->isEmpty()) {
    result.lowerBound = leastKnown;
    return result;
  }
  // Of the last passes, for who goes on from here.
  for (unsigned var = 0; var < numVariables(); ++var)
    view->tell(var, active[var], excess[var]);
  provenBound = std::min(
      leastKnown, view->integerBound(options, result.assignment, leastKnown,
                                     options.seconds - clock.seconds()));
  result.lowerBound = provenBound;
  return result;
}
