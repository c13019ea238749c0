//===- PairwiseElimination.cpp - Exact minima of what is left ------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pairwise model of few values as the terms of an elimination.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/PairwiseModel.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace mlir::tofu::search;

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
      unsigned mine = result.assignment[var];
      values[var].push_back(mine);
      for (unsigned value : active[var])
        if (excess[var][value] <= most && value != mine)
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
