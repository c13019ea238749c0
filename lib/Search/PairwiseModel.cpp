//===- PairwiseModel.cpp - Minima and their bounds ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// At any time the costs are, exactly, those of variables (`unary`) plus those
// of edges: share[l][columnOf[s]] - toRow[l] - toCol[s]. No edge's cost is
// negative, so the sum of the variables' least costs is a bound.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/PairwiseModel.h"

#include "Clock.h"
#include "PairwiseNumerics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir::tofu::search;

PairwiseModel::PairwiseModel(llvm::ArrayRef<unsigned> domains)
    : domains(domains), before(domains.size()), after(domains.size()),
      groupsOf(domains.size()), active(domains.size()), unary(domains.size()),
      excess(domains.size()) {}

void PairwiseModel::addGroup(unsigned row, llvm::ArrayRef<int64_t> table,
                             unsigned numColumns,
                             llvm::ArrayRef<Reader> readers) {
  Group group{row, numColumns, table, unsigned(edges.size()), 0, {}};
  // Once for each variable, however often it is there.
  auto note = [&](unsigned var) {
    if (groupsOf[var].empty() || groupsOf[var].back() != groups.size())
      groupsOf[var].push_back(groups.size());
  };
  for (const Reader &reader : readers) {
    if (reader.var == row) {
      group.own.push_back(reader.columnOf);
      continue;
    }
    Edge edge;
    edge.group = groups.size();
    edge.row = row;
    edge.col = reader.var;
    edge.columnOf = reader.columnOf;
    auto [first, second] = std::minmax(row, reader.var);
    after[first].push_back(edges.size());
    before[second].push_back(edges.size());
    note(reader.var);
    edges.push_back(std::move(edge));
    ++group.numEdges;
  }
  note(row);
  groups.push_back(std::move(group));
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

int64_t PairwiseModel::numEntries(llvm::ArrayRef<unsigned> sizes) const {
  int64_t entries = 0;
  for (const Edge &edge : edges)
    if (std::max(edge.row, edge.col) < sizes.size())
      entries += int64_t(sizes[edge.row]) * sizes[edge.col];
  return entries;
}

int64_t PairwiseModel::costOf(const Group &group,
                              const Assignment &assignment) const {
  const int64_t *row =
      group.table.data() + size_t(assignment[group.row]) * group.numColumns;
  llvm::SmallVector<unsigned, 8> paid;
  int64_t cost = 0;
  auto pay = [&](unsigned column) {
    if (llvm::is_contained(paid, column))
      return;
    paid.push_back(column);
    cost = addCosts(cost, row[column]);
  };
  for (llvm::ArrayRef<unsigned> columns : group.own)
    pay(columns[assignment[group.row]]);
  for (unsigned i = 0; i < group.numEdges; ++i) {
    const Edge &edge = edges[group.firstEdge + i];
    pay(edge.columnOf[assignment[edge.col]]);
  }
  return cost;
}

int64_t PairwiseModel::costOf(const Assignment &assignment) const {
  int64_t cost = 0;
  for (const Group &group : groups)
    cost = addCosts(cost, costOf(group, assignment));
  return cost;
}

int64_t PairwiseModel::costAround(unsigned var,
                                  const Assignment &assignment) const {
  int64_t cost = 0;
  for (unsigned group : groupsOf[var])
    cost = addCosts(cost, costOf(groups[group], assignment));
  return cost;
}

//===----------------------------------------------------------------------===//
// Message passing
//===----------------------------------------------------------------------===//

/// What the row variable itself pays in a row, as a reader.
int64_t PairwiseModel::ownCost(const Group &group, unsigned row) const {
  int64_t cost = 0;
  llvm::SmallVector<unsigned, 2> paid;
  for (llvm::ArrayRef<unsigned> columns : group.own) {
    if (llvm::is_contained(paid, columns[row]))
      continue;
    paid.push_back(columns[row]);
    cost = addCosts(cost,
                    group.table[size_t(row) * group.numColumns + columns[row]]);
  }
  return cost;
}

/// What the other readers pay, as a table: the row has paid for its columns.
std::vector<double> PairwiseModel::costsOfOthers(const Group &group) const {
  std::vector<double> costs(group.table.begin(), group.table.end());
  for (size_t l = 0; l < domains[group.row]; ++l)
    for (llvm::ArrayRef<unsigned> columns : group.own)
      costs[l * group.numColumns + columns[l]] = 0;
  return costs;
}

/// Gives each edge its share of its group's costs: that of a column is divided
/// among the readers that can have it.
void PairwiseModel::start() {
  for (unsigned var = 0; var < domains.size(); ++var) {
    unary[var].assign(domains[var], 0);
    excess[var].assign(domains[var], 0);
    active[var].resize(domains[var]);
    std::iota(active[var].begin(), active[var].end(), 0);
  }
  least.assign(domains.size(), 0);
  current.assign(domains.size(), 0);
  sumOfLeast = 0;
  isDone = false;
  for (Edge &edge : edges) {
    edge.toRow.assign(domains[edge.row], 0);
    edge.toCol.assign(domains[edge.col], 0);
  }
  for (const Group &group : groups) {
    size_t rows = domains[group.row];
    std::vector<double> costs = costsOfOthers(group);
    for (size_t l = 0; l < rows; ++l)
      unary[group.row][l] += ownCost(group, l);
    std::vector<unsigned> readers(group.numColumns, 0);
    auto edgesOf =
        llvm::MutableArrayRef(edges).slice(group.firstEdge, group.numEdges);
    for (Edge &edge : edgesOf) {
      edge.present.assign(group.numColumns, false);
      for (unsigned column : edge.columnOf)
        edge.present[column] = true;
      for (unsigned column = 0; column < group.numColumns; ++column)
        readers[column] += edge.present[column];
    }
    // A single reader's share is all, and stays so.
    if (group.numEdges == 1 && group.own.empty()) {
      std::vector<double> &table = wholeTables[group.table.data()];
      if (table.empty())
        table = std::move(costs);
      edgesOf.front().share = table.data();
      continue;
    }
    for (Edge &edge : edgesOf) {
      edge.ownShare = costs;
      edge.share = edge.ownShare.data();
      for (size_t l = 0; l < rows; ++l)
        for (unsigned column = 0; column < group.numColumns; ++column)
          edge.ownShare[l * group.numColumns + column] *=
              edge.present[column] ? 1.0 / readers[column] : 0.0;
    }
  }
}

/// Brings the costs of `edge` that can be moved to its end `at` there.
void PairwiseModel::collect(Edge &edge, unsigned at) {
  unsigned numColumns = groups[edge.group].numColumns;
  columns.assign(numColumns, at == edge.row ? -kInfinity : kInfinity);
  if (at == edge.row) {
    for (unsigned s : active[edge.col]) {
      double &most = columns[edge.columnOf[s]];
      most = std::max(most, edge.toCol[s]);
    }
    for (unsigned l : active[at]) {
      double cheapest =
          leastDifference(&edge.share[size_t(l) * numColumns], columns);
      unary[at][l] += cheapest - edge.toRow[l];
      edge.toRow[l] = cheapest;
    }
    return;
  }
  for (unsigned l : active[edge.row]) {
    const double *share = &edge.share[size_t(l) * numColumns];
    double moved = edge.toRow[l];
    for (unsigned column = 0; column < numColumns; ++column)
      columns[column] = std::min(columns[column], share[column] - moved);
  }
  for (unsigned s : active[at]) {
    double cheapest = columns[edge.columnOf[s]];
    unary[at][s] += cheapest - edge.toCol[s];
    edge.toCol[s] = cheapest;
  }
}

/// Evens out what the readers of a group have to spare.
void PairwiseModel::rebalance(const Group &group, SharedColumns &shared) {
  if (group.numEdges < 2)
    return;
  auto edgesOf =
      llvm::MutableArrayRef(edges).slice(group.firstEdge, group.numEdges);
  shared.start(group.numEdges, group.numColumns);
  for (auto [i, edge] : llvm::enumerate(edgesOf)) {
    for (unsigned s : active[edge.col])
      shared.note(i, edge.columnOf[s], edge.toCol[s]);
    shared.count(i, 1);
  }
  for (unsigned l : active[group.row]) {
    size_t at = size_t(l) * group.numColumns;
    shared.beginRow();
    for (auto [i, edge] : llvm::enumerate(edgesOf))
      shared.take(i, &edge.ownShare[at], edge.toRow[l], 1);
    shared.divide();
    for (auto [i, edge] : llvm::enumerate(edgesOf))
      shared.give(i, &edge.ownShare[at]);
  }
}

/// Drops values that are in no assignment as good as the best known one.
void PairwiseModel::prune(unsigned var) {
  if (!prunes)
    return;
  double others = sumOfLeast - least[var];
  double limit = upper + std::abs(upper) * 1e-9 + 1;
  llvm::erase_if(active[var], [&](unsigned value) {
    return others + unary[var][value] > limit;
  });
}

void PairwiseModel::visit(unsigned var, bool forwards) {
  if (isDone)
    return;
  auto &behind = forwards ? before[var] : after[var];
  auto &ahead = forwards ? after[var] : before[var];
  for (unsigned edge : behind)
    collect(edges[edge], var);
  double smallest = kInfinity;
  for (unsigned value : active[var])
    smallest = std::min(smallest, unary[var][value]);
  sumOfLeast += smallest - least[var];
  least[var] = smallest;
  for (unsigned value : active[var])
    excess[var][value] = unary[var][value] - smallest;
  prune(var);
  // Nothing is better than what is known.
  isDone |= active[var].empty();
  if (isDone)
    return;
  if (forwards)
    choose(var);
  if (ahead.empty())
    return;
  // The least stays: the bound has it already.
  double part = 1.0 / std::max(behind.size(), ahead.size());
  for (unsigned index : ahead) {
    Edge &edge = edges[index];
    std::vector<double> &moved = edge.row == var ? edge.toRow : edge.toCol;
    for (unsigned value : active[var])
      moved[value] -= part * excess[var][value];
  }
  double moved = part * ahead.size();
  for (unsigned value : active[var])
    unary[var][value] -= moved * excess[var][value];
}

/// Sets the variable of the assignment in the making, given those before it.
void PairwiseModel::choose(unsigned var) {
  // What edges ahead have to say was moved to the variable by the pass before.
  scores.assign(domains[var], 0);
  for (unsigned index : after[var]) {
    const Edge &edge = edges[index];
    const std::vector<double> &moved =
        edge.row == var ? edge.toRow : edge.toCol;
    for (unsigned value : active[var])
      scores[value] += moved[value];
  }
  for (unsigned index : before[var]) {
    const Edge &edge = edges[index];
    unsigned numColumns = groups[edge.group].numColumns;
    for (unsigned value : active[var])
      scores[value] += edge.row == var
                           ? edge.share[size_t(value) * numColumns +
                                        edge.columnOf[current[edge.col]]]
                           : edge.share[size_t(current[edge.row]) * numColumns +
                                        edge.columnOf[value]];
  }
  unsigned best = active[var].front();
  for (unsigned value : active[var])
    if (scores[value] < scores[best])
      best = value;
  current[var] = best;
}

/// Changes one variable at a time for as long as that helps.
void PairwiseModel::descend(Assignment &assignment) const {
  std::vector<bool> waits(domains.size(), true);
  llvm::SmallVector<unsigned, 0> work;
  for (unsigned var = domains.size(); var-- > 0;)
    work.push_back(var);
  while (!work.empty()) {
    unsigned var = work.pop_back_val();
    waits[var] = false;
    if (active[var].size() < 2)
      continue;
    unsigned old = assignment[var], best = old;
    int64_t cheapest = costAround(var, assignment);
    for (unsigned value : active[var]) {
      assignment[var] = value;
      if (int64_t cost = costAround(var, assignment); cost < cheapest) {
        cheapest = cost;
        best = value;
      }
    }
    assignment[var] = best;
    if (best == old)
      continue;
    for (unsigned index : groupsOf[var]) {
      const Group &group = groups[index];
      auto wake = [&](unsigned other) {
        if (other != var && !waits[other]) {
          waits[other] = true;
          work.push_back(other);
        }
      };
      wake(group.row);
      for (unsigned i = 0; i < group.numEdges; ++i)
        wake(edges[group.firstEdge + i].col);
    }
  }
}

/// The bound of the costs as they are distributed now, in whole numbers of
/// units.
int64_t PairwiseModel::integerBound(Units units) const {
  std::vector<std::vector<int64_t>> sums(domains.size());
  for (unsigned var = 0; var < domains.size(); ++var)
    sums[var].assign(domains[var], 0);
  for (const Group &group : groups)
    for (unsigned l : active[group.row])
      sums[group.row][l] = addCosts(sums[group.row][l],
                                    units.roundDown(double(ownCost(group, l))));
  int64_t bound = 0;
  std::vector<int64_t> most;
  for (const Edge &edge : edges) {
    unsigned numColumns = groups[edge.group].numColumns;
    most.assign(numColumns, -2 * Forbidden);
    for (unsigned s : active[edge.col]) {
      int64_t moved = units.roundDown(edge.toCol[s]);
      sums[edge.col][s] += moved;
      most[edge.columnOf[s]] = std::max(most[edge.columnOf[s]], moved);
    }
    int64_t cheapest = Forbidden;
    for (unsigned l : active[edge.row]) {
      int64_t moved = units.roundDown(edge.toRow[l]);
      sums[edge.row][l] += moved;
      for (unsigned column = 0; column < numColumns; ++column)
        cheapest = std::min(
            cheapest,
            units.roundDown(edge.share[size_t(l) * numColumns + column]) -
                moved - most[column]);
    }
    bound += cheapest;
  }
  for (unsigned var = 0; var < domains.size(); ++var) {
    int64_t cheapest = Forbidden;
    for (unsigned value : active[var])
      cheapest = std::min(cheapest, sums[var][value]);
    bound += cheapest;
  }
  return units.toBound(bound);
}

//===----------------------------------------------------------------------===//
// Minimising
//===----------------------------------------------------------------------===//

bool PairwiseModel::Options::isClose(double bound, double minimum) const {
  return closeEnough > 0 && minimum - bound < closeEnough * minimum;
}

void PairwiseModel::offer(Assignment assignment, Result &result) {
  int64_t cost = costOf(assignment);
  if (cost >= result.minimum)
    return;
  result.minimum = cost;
  result.assignment = std::move(assignment);
  upper = cost;
}

PairwiseModel::Result PairwiseModel::minimize(const Options &options,
                                              const Assignment *hint) {
  Clock clock;
  Result result;
  prunes = options.prunes;
  upper = Forbidden;
  if (hint)
    offer(*hint, result);
  if (!isWarm)
    start();
  isWarm = false;
  SharedColumns shared;
  double bound = 0;
  size_t left = ~size_t(0);
  int64_t settled = Forbidden; ///< the minimum of eight passes ago
  for (; result.passes < options.passes && clock.seconds() < options.seconds;
       ++result.passes) {
    for (const Group &group : groups)
      rebalance(group, shared);
    for (unsigned var = 0; var < domains.size(); ++var)
      visit(var, /*forwards=*/true);
    if (isDone)
      break;
    if (result.passes % 2 && llvm::isPowerOf2_32(result.passes + 1)) {
      // The assignment follows the pass; better ones are near.
      Assignment chosen = current;
      descend(chosen);
      offer(std::move(chosen), result);
    }
    for (const Group &group : groups)
      rebalance(group, shared);
    for (unsigned var = domains.size(); var-- > 0;)
      visit(var, /*forwards=*/false);
    if (isDone)
      break;
    double progress = sumOfLeast - bound;
    bound = sumOfLeast;
    // Costs are whole numbers.
    if (upper - bound < 0.5 || options.isClose(bound, upper))
      break;
    if (result.passes % 8 != 7)
      continue;
    // Often enough at first, where that changes most.
    if (llvm::isPowerOf2_32(result.passes + 1))
      improve(options, result);
    if (options.settles && result.minimum < Forbidden &&
        result.minimum == settled)
      break;
    settled = result.minimum;
    size_t now = 0;
    for (const Values &values : active)
      now += values.size();
    if (now < left / 4 * 3) {
      left = now;
      if (finish(options, result))
        return result;
    }
    if (progress < options.leastProgress * (upper - bound))
      break;
  }
  if (isDone)
    result.lowerBound = result.minimum;
  if (isDone || finish(options, result))
    return result;
  improve(options, result);
  result.lowerBound = integerBound(Units());
  // All that rounding may have lost.
  int64_t lost = domains.size() + 3 * edges.size();
  if (result.minimum - result.lowerBound <= lost)
    result.lowerBound =
        std::max(result.lowerBound,
                 integerBound(Units::fineFor(double(result.minimum))));
  result.lowerBound = std::min(result.minimum, result.lowerBound);
  return result;
}
