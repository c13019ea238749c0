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

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

using namespace mlir::tofu::search;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
    // A row that reads itself pays for its column.
    std::vector<double> costs(group.table.begin(), group.table.end());
    for (size_t l = 0; l < rows; ++l) {
      unary[group.row][l] += ownCost(group, l);
      for (llvm::ArrayRef<unsigned> columns : group.own)
        costs[l * group.numColumns + columns[l]] = 0;
    }
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
      const double *share = &edge.share[size_t(l) * numColumns];
      double cheapest = kInfinity;
      for (unsigned column = 0; column < numColumns; ++column)
        cheapest = std::min(cheapest, share[column] - columns[column]);
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

/// Evens out what the readers of a group have to spare in each entry of its
/// table, so that no reader is short of what another doesn't need.
void PairwiseModel::rebalance(const Group &group) {
  if (group.numEdges < 2)
    return;
  auto edgesOf =
      llvm::MutableArrayRef(edges).slice(group.firstEdge, group.numEdges);
  std::vector<double> most(group.numEdges * group.numColumns, -kInfinity);
  for (auto [i, edge] : llvm::enumerate(edgesOf))
    for (unsigned s : active[edge.col]) {
      double &top = most[i * group.numColumns + edge.columnOf[s]];
      top = std::max(top, edge.toCol[s]);
    }
  std::vector<double> spare(group.numColumns), readers(group.numColumns, 0);
  for (unsigned i = 0; i < group.numEdges; ++i)
    for (unsigned column = 0; column < group.numColumns; ++column)
      readers[column] += most[i * group.numColumns + column] != -kInfinity;
  for (unsigned l : active[group.row]) {
    llvm::fill(spare, 0.0);
    for (auto [i, edge] : llvm::enumerate(edgesOf)) {
      double *share = &edge.ownShare[size_t(l) * group.numColumns];
      const double *top = &most[i * group.numColumns];
      double moved = edge.toRow[l];
      // No share may be negative: another reader alone would pay too much.
      // What can't be read any more needs nothing.
      for (unsigned column = 0; column < group.numColumns; ++column) {
        double kept = top[column] == -kInfinity
                          ? 0.0
                          : std::max(0.0, moved + top[column]);
        spare[column] += share[column] - kept;
        share[column] = kept;
      }
    }
    for (unsigned column = 0; column < group.numColumns; ++column)
      spare[column] /= std::max(readers[column], 1.0);
    for (auto [i, edge] : llvm::enumerate(edgesOf)) {
      double *share = &edge.ownShare[size_t(l) * group.numColumns];
      const double *top = &most[i * group.numColumns];
      for (unsigned column = 0; column < group.numColumns; ++column)
        share[column] += top[column] == -kInfinity ? 0.0 : spare[column];
    }
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
  // What is negative stays, so that no edge's cost becomes so.
  double part = 1.0 / std::max(behind.size(), ahead.size());
  for (unsigned index : ahead) {
    Edge &edge = edges[index];
    std::vector<double> &moved = edge.row == var ? edge.toRow : edge.toCol;
    for (unsigned value : active[var])
      moved[value] -= part * std::max(unary[var][value], 0.0);
  }
  double kept = 1 - part * ahead.size(), now = kInfinity;
  for (unsigned value : active[var]) {
    if (unary[var][value] > 0)
      unary[var][value] *= kept;
    now = std::min(now, unary[var][value]);
  }
  sumOfLeast += now - least[var];
  least[var] = now;
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

/// The bound of the costs as they are distributed now, in whole numbers, so
/// that it is one without rounding errors.
int64_t PairwiseModel::integerBound() const {
  std::vector<std::vector<int64_t>> sums(domains.size());
  for (unsigned var = 0; var < domains.size(); ++var)
    sums[var].assign(domains[var], 0);
  for (const Group &group : groups)
    for (unsigned l : active[group.row])
      sums[group.row][l] = addCosts(sums[group.row][l], ownCost(group, l));
  auto rounded = [](double cost) {
    return int64_t(std::clamp<double>(std::floor(cost), -Forbidden, Forbidden));
  };
  int64_t bound = 0;
  std::vector<int64_t> most;
  for (const Edge &edge : edges) {
    unsigned numColumns = groups[edge.group].numColumns;
    most.assign(numColumns, -2 * Forbidden);
    for (unsigned s : active[edge.col]) {
      int64_t moved = rounded(edge.toCol[s]);
      sums[edge.col][s] += moved;
      most[edge.columnOf[s]] = std::max(most[edge.columnOf[s]], moved);
    }
    int64_t cheapest = Forbidden;
    for (unsigned l : active[edge.row]) {
      int64_t moved = rounded(edge.toRow[l]);
      sums[edge.row][l] += moved;
      for (unsigned column = 0; column < numColumns; ++column)
        cheapest = std::min(
            cheapest, rounded(edge.share[size_t(l) * numColumns + column]) -
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
  return std::max<int64_t>(bound, 0);
}

//===----------------------------------------------------------------------===//
// What is left
//===----------------------------------------------------------------------===//

namespace {
/// The terms of an elimination over the values that are left. Variables with
/// one value are in none.
class Remainder {
public:
  explicit Remainder(llvm::ArrayRef<unsigned> domains) : domains(domains) {}

  /// Charges `cost(row value, column)` once for each column that `readers`
  /// have, given the column of each of their values.
  struct Reader {
    unsigned var;
    llvm::SmallVector<unsigned> columns;
  };
  void add(unsigned row, llvm::ArrayRef<Reader> readers,
           llvm::function_ref<int64_t(unsigned, unsigned)> cost);

  void add(llvm::SmallVector<unsigned, 2> scope, std::vector<int64_t> table) {
    terms.push_back({std::move(scope), std::move(table)});
  }

  Elimination eliminate() const {
    Elimination solver(domains);
    for (auto &[scope, table] : terms)
      solver.add(scope, table);
    return solver;
  }

private:
  void addShared(unsigned row, llvm::ArrayRef<const Reader *> readers,
                 unsigned column, std::vector<int64_t> costs);

  llvm::SmallVector<unsigned> domains;
  std::vector<std::pair<llvm::SmallVector<unsigned, 2>, std::vector<int64_t>>>
      terms;
};
} // namespace

/// A column that several readers can have: a variable of its own says whether
/// it is there. Readers need it to be, and the row pays for it.
void Remainder::addShared(unsigned row, llvm::ArrayRef<const Reader *> readers,
                          unsigned column, std::vector<int64_t> costs) {
  unsigned copy = domains.size();
  domains.push_back(2);
  std::vector<int64_t> pays;
  for (int64_t cost : costs)
    pays.insert(pays.end(), {0, cost});
  add({row, copy}, std::move(pays));
  for (const Reader *reader : readers) {
    std::vector<int64_t> needs;
    for (unsigned other : reader->columns)
      needs.push_back(other == column ? Forbidden : 0);
    needs.resize(2 * needs.size(), 0);
    add({copy, reader->var}, std::move(needs));
  }
}

void Remainder::add(unsigned row, llvm::ArrayRef<Reader> readers,
                    llvm::function_ref<int64_t(unsigned, unsigned)> cost) {
  // The columns, and who has them if not all readers' values are alike.
  std::map<unsigned, llvm::SmallVector<const Reader *, 4>> columns;
  std::set<unsigned> certain;
  for (const Reader &reader : readers) {
    if (llvm::all_equal(reader.columns))
      certain.insert(reader.columns.front());
    for (unsigned column : reader.columns)
      if (auto &mine = columns[column]; mine.empty() || mine.back() != &reader)
        mine.push_back(&reader);
  }
  std::vector<int64_t> always(domains[row], 0);
  for (auto &[column, mine] : columns) {
    std::vector<int64_t> costs;
    for (unsigned l = 0; l < domains[row]; ++l)
      costs.push_back(cost(l, column));
    if (certain.count(column)) {
      for (auto [sum, more] : llvm::zip_equal(always, costs))
        sum = addCosts(sum, more);
      continue;
    }
    if (llvm::all_of(costs, [](int64_t one) { return one == 0; }))
      continue;
    if (mine.size() > 1) {
      addShared(row, mine, column, std::move(costs));
      continue;
    }
    std::vector<int64_t> table;
    for (int64_t one : costs)
      for (unsigned other : mine.front()->columns)
        table.push_back(other == column ? one : 0);
    add({row, mine.front()->var}, std::move(table));
  }
  add({row}, std::move(always));
}

/// Finds the least assignment of `values` by elimination, if tables are small
/// enough; false if not. Forbidden if there is none.
std::optional<std::pair<int64_t, Assignment>>
PairwiseModel::eliminate(llvm::ArrayRef<Values> values,
                         int64_t tableLimit) const {
  int64_t entries = 0;
  for (const Edge &edge : edges)
    if (values[edge.row].size() > 1 && values[edge.col].size() > 1)
      entries += values[edge.row].size() * values[edge.col].size();
  if (entries > tableLimit / 4)
    return std::nullopt;
  llvm::SmallVector<unsigned> sizes;
  for (const Values &mine : values)
    sizes.push_back(mine.size());
  Remainder rest(sizes);
  int64_t settled = 0;
  Assignment only(domains.size());
  for (unsigned var = 0; var < domains.size(); ++var)
    only[var] = values[var].front();
  for (const Group &group : groups) {
    if (sizes[group.row] == 1 &&
        llvm::all_of(
            llvm::ArrayRef(edges).slice(group.firstEdge, group.numEdges),
            [&](const Edge &edge) { return sizes[edge.col] == 1; })) {
      settled = addCosts(settled, costOf(group, only));
      continue;
    }
    llvm::SmallVector<Remainder::Reader> readers;
    for (unsigned i = 0; i < group.numEdges; ++i) {
      const Edge &edge = edges[group.firstEdge + i];
      readers.push_back({edge.col, {}});
      for (unsigned s : values[edge.col])
        readers.back().columns.push_back(edge.columnOf[s]);
    }
    auto rowOf = [&](unsigned l) { return values[group.row][l]; };
    rest.add(group.row, readers, [&](unsigned l, unsigned column) {
      // With a reader of its own, the row has paid for that column.
      for (llvm::ArrayRef<unsigned> columns : group.own)
        if (columns[rowOf(l)] == column)
          return int64_t(0);
      return group.table[size_t(rowOf(l)) * group.numColumns + column];
    });
    if (group.own.empty())
      continue;
    std::vector<int64_t> own;
    for (unsigned l = 0; l < sizes[group.row]; ++l)
      own.push_back(ownCost(group, rowOf(l)));
    rest.add({group.row}, std::move(own));
  }
  Elimination solver = rest.eliminate();
  if (solver.plan(tableLimit).total > tableLimit)
    return std::nullopt;
  Elimination::Options limits;
  limits.tableLimit = tableLimit;
  if (!solver.solve(limits))
    return std::pair(Forbidden, Assignment());
  Assignment found = solver.optimum([](unsigned, unsigned v) { return v; });
  Assignment assignment(domains.size());
  for (unsigned var = 0; var < domains.size(); ++var)
    assignment[var] = values[var][found[var]];
  return std::pair(addCosts(solver.minimum(), settled), std::move(assignment));
}

/// Looks for the minimum among all values that are left. True if that is known
/// then.
bool PairwiseModel::finish(const Options &options, Result &result) {
  auto least = eliminate(active, options.tableLimit);
  if (!least)
    return false;
  if (least->first < result.minimum) {
    result.minimum = least->first;
    result.assignment = std::move(least->second);
  }
  result.lowerBound = result.minimum;
  return true;
}

/// Looks for something better among the values that the bound speaks for: as
/// many as can be eliminated together.
void PairwiseModel::improve(const Options &options, Result &result) {
  if (result.assignment.empty())
    return;
  size_t last = 0;
  for (int narrowing = 12; narrowing >= 0; --narrowing) {
    double most = std::ldexp(std::max(upper - sumOfLeast, 1.0), -2 * narrowing);
    std::vector<Values> values(domains.size());
    size_t number = 0;
    for (unsigned var = 0; var < domains.size(); ++var) {
      for (unsigned value : active[var])
        if (excess[var][value] <= most || value == result.assignment[var])
          values[var].push_back(value);
      number += values[var].size();
    }
    if (number == last)
      continue;
    last = number;
    auto better = eliminate(values, options.improvementLimit);
    if (!better)
      return;
    if (better->first < result.minimum)
      offer(std::move(better->second), result);
  }
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
  auto begin = std::chrono::steady_clock::now();
  auto seconds = [&] {
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - begin;
    return elapsed.count();
  };
  Result result;
  prunes = options.prunes;
  upper = Forbidden;
  if (hint)
    offer(*hint, result);
  if (!isWarm)
    start();
  isWarm = false;
  double bound = 0;
  size_t left = ~size_t(0);
  for (; result.passes < options.passes && seconds() < options.seconds;
       ++result.passes) {
    for (const Group &group : groups)
      rebalance(group);
    for (unsigned var = 0; var < domains.size(); ++var)
      visit(var, /*forwards=*/true);
    if (isDone)
      break;
    if (!hint && result.passes % 2 && llvm::isPowerOf2_32(result.passes + 1)) {
      // The assignment follows the pass; better ones are near.
      Assignment chosen = current;
      descend(chosen);
      offer(std::move(chosen), result);
    }
    for (const Group &group : groups)
      rebalance(group);
    for (unsigned var = domains.size(); var-- > 0;)
      visit(var, /*forwards=*/false);
    if (isDone)
      break;
    double progress = sumOfLeast - bound;
    bound = sumOfLeast;
    if (upper - bound < std::max(0.5, options.closeEnough * upper))
      break;
    if (result.passes % 8 != 7)
      continue;
    // Often enough at first, where that changes most.
    if (llvm::isPowerOf2_32(result.passes + 1))
      improve(options, result);
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
  result.lowerBound = std::min(result.minimum, integerBound());
  return result;
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// Numbers for variables such that those of one number look alike as far as
/// `radius` groups away: repeated layers, seen from inside.
std::vector<unsigned> PairwiseModel::classify(llvm::ArrayRef<unsigned> kinds,
                                              unsigned radius) const {
  std::vector<uint64_t> colours(kinds.begin(), kinds.end()), next;
  auto address = [](const void *pointer) {
    return uint64_t(reinterpret_cast<uintptr_t>(pointer));
  };
  for (unsigned round = 0; round < radius; ++round) {
    std::vector<llvm::SmallVector<uint64_t, 8>> seen(domains.size());
    llvm::SmallVector<uint64_t, 8> readers;
    for (const Group &group : groups) {
      readers.clear();
      auto edgesOf =
          llvm::ArrayRef(edges).slice(group.firstEdge, group.numEdges);
      for (const Edge &edge : edgesOf)
        readers.push_back(llvm::hash_combine(address(edge.columnOf.data()),
                                             colours[edge.col]));
      llvm::sort(readers);
      uint64_t hash = llvm::hash_combine(
          address(group.table.data()), colours[group.row], group.own.size(),
          llvm::hash_combine_range(readers.begin(), readers.end()));
      seen[group.row].push_back(hash);
      for (const Edge &edge : edgesOf)
        seen[edge.col].push_back(
            llvm::hash_combine(hash, address(edge.columnOf.data())));
    }
    next.clear();
    for (unsigned var = 0; var < domains.size(); ++var) {
      llvm::sort(seen[var]);
      next.push_back(llvm::hash_combine(
          colours[var],
          llvm::hash_combine_range(seen[var].begin(), seen[var].end())));
    }
    colours = std::move(next);
  }
  llvm::DenseMap<uint64_t, unsigned> numbers;
  std::vector<unsigned> classes;
  for (uint64_t colour : colours)
    classes.push_back(
        numbers.try_emplace(colour >> 1, numbers.size()).first->second);
  return classes;
}

PairwiseModel::Folding PairwiseModel::fold(llvm::ArrayRef<unsigned> kinds,
                                           unsigned radius) const {
  Folding folding;
  folding.classOf = classify(kinds, radius);
  llvm::SmallVector<unsigned> sizes;
  for (unsigned var = 0; var < domains.size(); ++var)
    if (folding.classOf[var] == sizes.size())
      sizes.push_back(domains[var]);
  // Groups of the same classes are one, as often as there are.
  // Columns have numbers in the order of the groups: addresses would give
  // another order each time.
  using Columns = std::pair<unsigned, unsigned>;
  llvm::DenseMap<const unsigned *, unsigned> columnNumbers;
  std::vector<const unsigned *> columnsByNumber;
  auto numberOf = [&](llvm::ArrayRef<unsigned> columns) {
    auto [number, isNew] =
        columnNumbers.try_emplace(columns.data(), columnsByNumber.size());
    if (isNew)
      columnsByNumber.push_back(columns.data());
    return number->second;
  };
  struct Shape {
    unsigned row;
    const int64_t *table;
    std::vector<Columns> readers;
    bool operator<(const Shape &o) const {
      return std::tie(row, table, readers) <
             std::tie(o.row, o.table, o.readers);
    }
  };
  auto shapeOf = [&](const Group &group) {
    unsigned row = folding.classOf[group.row];
    Shape shape{row, group.table.data(), {}};
    for (unsigned i = 0; i < group.numEdges; ++i) {
      const Edge &edge = edges[group.firstEdge + i];
      shape.readers.push_back(
          {folding.classOf[edge.col], numberOf(edge.columnOf)});
    }
    for (llvm::ArrayRef<unsigned> columns : group.own)
      shape.readers.push_back({row, numberOf(columns)});
    llvm::sort(shape.readers);
    shape.readers.erase(llvm::unique(shape.readers), shape.readers.end());
    return shape;
  };
  struct Known {
    const Group *example;
    int64_t count = 0;
    unsigned firstEdge = 0;
  };
  std::map<Shape, Known> shapes;
  std::vector<const std::pair<const Shape, Known> *> shapeOfGroup, inOrder;
  for (const Group &group : groups) {
    auto [known, isNew] = shapes.try_emplace(shapeOf(group), Known{&group});
    ++known->second.count;
    shapeOfGroup.push_back(&*known);
    if (isNew)
      inOrder.push_back(&*known);
  }
  folding.model = std::make_unique<PairwiseModel>(sizes);
  std::map<std::pair<const int64_t *, int64_t>, std::vector<int64_t> *> scaled;
  for (const auto *entry : inOrder) {
    auto &[shape, known] = *entry;
    std::vector<int64_t> *&table = scaled[{shape.table, known.count}];
    if (!table) {
      table = &folding.tables.emplace_back(known.example->table);
      for (int64_t &cost : *table)
        cost = cost < Forbidden / known.count ? cost * known.count : Forbidden;
    }
    llvm::SmallVector<Reader> readers;
    for (auto [var, columns] : shape.readers)
      readers.push_back(
          {var, llvm::ArrayRef(columnsByNumber[columns], sizes[var])});
    shapes.find(shape)->second.firstEdge = folding.model->edges.size();
    folding.model->addGroup(shape.row, *table, known.example->numColumns,
                            readers);
  }
  // Where each edge is in the folded model, if it is.
  for (auto [group, entry] : llvm::zip_equal(groups, shapeOfGroup)) {
    auto &[shape, known] = *entry;
    llvm::SmallVector<Columns> foldedEdges;
    for (auto &reader : shape.readers)
      if (reader.first != shape.row)
        foldedEdges.push_back(reader);
    std::vector<int> positions;
    std::vector<unsigned> counts(foldedEdges.size(), 0);
    for (unsigned i = 0; i < group.numEdges; ++i) {
      const Edge &edge = edges[group.firstEdge + i];
      Columns mine{folding.classOf[edge.col], numberOf(edge.columnOf)};
      auto at = llvm::find(foldedEdges, mine);
      positions.push_back(
          at == foldedEdges.end() ? -1 : int(at - foldedEdges.begin()));
      if (positions.back() >= 0)
        ++counts[positions.back()];
    }
    for (int position : positions)
      folding.edges.push_back(
          position < 0 ? std::pair(-1, 0.0)
                       : std::pair(int(known.firstEdge) + position,
                                   1.0 / (known.count * counts[position])));
  }
  return folding;
}

/// Takes over what the folded model moved along the edge, as far as that speaks
/// for this one. False if the folded model has no such edge.
bool PairwiseModel::warmStart(Edge &edge, const Folding &folding) {
  auto [number, scale] = folding.edges[&edge - edges.data()];
  if (number < 0)
    return false;
  const Edge &folded = folding.model->edges[number];
  for (size_t at = 0; at < edge.ownShare.size(); ++at)
    edge.ownShare[at] = folded.share[at] * scale;
  for (auto [value, moved] : llvm::enumerate(folded.toRow)) {
    edge.toRow[value] = moved * scale;
    unary[edge.row][value] += edge.toRow[value];
  }
  for (auto [value, moved] : llvm::enumerate(folded.toCol)) {
    edge.toCol[value] = moved * scale;
    unary[edge.col][value] += edge.toCol[value];
  }
  return true;
}

void PairwiseModel::warmStart(const Folding &folding) {
  start();
  for (const Group &group : groups) {
    if (group.numEdges == 1 && group.own.empty()) {
      warmStart(edges[group.firstEdge], folding);
      continue;
    }
    llvm::SmallVector<Edge *> rest;
    std::vector<double> costs(group.table.begin(), group.table.end());
    for (size_t l = 0; l < domains[group.row]; ++l)
      for (llvm::ArrayRef<unsigned> columns : group.own)
        costs[l * group.numColumns + columns[l]] = 0;
    for (unsigned i = 0; i < group.numEdges; ++i) {
      Edge &edge = edges[group.firstEdge + i];
      if (warmStart(edge, folding))
        for (size_t at = 0; at < costs.size(); ++at)
          costs[at] = std::max(costs[at] - edge.share[at], 0.0);
      else
        rest.push_back(&edge);
    }
    // The others share what is left.
    std::vector<unsigned> readers(group.numColumns, 0);
    for (Edge *edge : rest)
      for (unsigned column = 0; column < group.numColumns; ++column)
        readers[column] += edge->present[column];
    for (Edge *edge : rest)
      for (size_t at = 0; at < costs.size(); ++at)
        if (unsigned column = at % group.numColumns; edge->present[column])
          edge->ownShare[at] = costs[at] / readers[column];
  }
  sumOfLeast = 0;
  for (unsigned var = 0; var < domains.size(); ++var) {
    least[var] = *llvm::min_element(unary[var]);
    sumOfLeast += least[var];
  }
  isWarm = true;
}

Assignment PairwiseModel::Folding::unfold(const Assignment &folded) const {
  Assignment assignment;
  for (unsigned number : classOf)
    assignment.push_back(folded[number]);
  return assignment;
}
