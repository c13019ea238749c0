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

#include "EliminationOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

using namespace mlir::tofu::search;

/// Entries of a table of a group with all its readers, at most.
static constexpr int64_t kMostTogether = int64_t(1) << 24;
/// How often a set of values that is too large is made smaller.
static constexpr unsigned kMostNarrowing = 12;

/// The terms of an elimination over the values that are left. Variables with
/// one value are in none.
class PairwiseModel::Remainder {
public:
  using Scope = llvm::SmallVector<unsigned, 4>;
  using Table = std::vector<int64_t>;

  /// `limit`: no table has more entries. `hasTables`: else terms have their
  /// scopes only.
  Remainder(llvm::ArrayRef<unsigned> domains, int64_t limit, bool hasTables)
      : domains(domains), limit(std::min(limit, kMostTogether)),
        hasTables(hasTables) {}

  /// For each value of a variable, the columns that it has.
  struct Reader {
    unsigned var;
    std::vector<llvm::SmallVector<unsigned, 1>> columns;

    void keep(llvm::function_ref<bool(unsigned)> isKept) {
      for (auto &mine : columns)
        llvm::erase_if(mine, [&](unsigned column) { return !isKept(column); });
    }
  };
  using Cost = llvm::function_ref<int64_t(unsigned, unsigned)>;
  /// Charges `cost(row value, column)` once for each column that `readers`,
  /// different variables, have. Equal keys have equal costs and readers but for
  /// their variables.
  using Key = std::vector<intptr_t>;
  void add(unsigned row, std::vector<Reader> readers, Cost cost, Key key);

  void add(Scope scope, Table table) {
    terms.push_back({std::move(scope), share(std::move(table))});
  }

  Elimination eliminate() const {
    Elimination solver(domains);
    for (auto &[scope, table] : terms)
      solver.add(scope, table);
    return solver;
  }

  /// Whether all tables of an elimination have at most so many entries.
  bool fits(int64_t limit) const;

private:
  /// The readers that can have a column, by column.
  using Columns = std::map<unsigned, llvm::SmallVector<const Reader *, 4>>;

  bool isBetterTogether(unsigned row, llvm::ArrayRef<Reader> readers,
                        const Columns &columns) const;
  llvm::ArrayRef<int64_t> share(Table table);
  static Columns columnsOf(llvm::ArrayRef<Reader> readers);
  void addCertain(unsigned row, std::vector<Reader> &readers, Cost cost);
  Table tableOf(unsigned row, llvm::ArrayRef<Reader> readers, Cost cost) const;
  void addShared(unsigned row, llvm::ArrayRef<const Reader *> readers,
                 unsigned column, Cost cost);

  llvm::SmallVector<unsigned> domains;
  int64_t limit;
  bool hasTables;
  /// Tables, by a hash of what is in them: elimination does the same with equal
  /// ones just once.
  std::unordered_multimap<uint64_t, Table> tables;
  std::map<Key, llvm::ArrayRef<int64_t>> known;
  std::vector<std::pair<Scope, llvm::ArrayRef<int64_t>>> terms;
};

bool PairwiseModel::Remainder::fits(int64_t limit) const {
  EliminationOrder order(domains);
  for (auto &[scope, table] : terms) {
    Scope choices;
    llvm::copy_if(scope, std::back_inserter(choices),
                  [&](unsigned var) { return domains[var] > 1; });
    order.connect(choices);
  }
  order.start();
  while (!order.empty() && order.nextSize() <= limit)
    order.eliminate(order.next());
  return order.empty();
}

llvm::ArrayRef<int64_t> PairwiseModel::Remainder::share(Table table) {
  if (!hasTables)
    return {};
  uint64_t hash = llvm::xxh3_64bits(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(table.data()), 8 * table.size()));
  auto [first, last] = tables.equal_range(hash);
  for (; first != last; ++first)
    if (first->second == table)
      return first->second;
  return tables.emplace(hash, std::move(table))->second;
}

/// Whether one table over the row and all readers is less than what variables
/// for shared columns would make of it.
bool PairwiseModel::Remainder::isBetterTogether(unsigned row,
                                                llvm::ArrayRef<Reader> readers,
                                                const Columns &columns) const {
  if (readers.size() < 2)
    return true;
  double together = domains[row], mostValues = 1;
  for (const Reader &reader : readers) {
    together *= domains[reader.var];
    mostValues = std::max<double>(mostValues, domains[reader.var]);
  }
  if (together > limit)
    return false;
  // Either these variables are eliminated first, or the readers are.
  double columnsFirst = 0, readersFirst = domains[row] * mostValues;
  for (const auto &[column, mine] : columns) {
    if (mine.size() < 2)
      continue;
    double size = 2 * domains[row];
    for (const Reader *reader : mine)
      size *= domains[reader->var];
    columnsFirst += size;
    readersFirst *= 2;
  }
  return together <= std::min(columnsFirst, readersFirst);
}

/// What the row and all readers cost, the row's values slowest.
PairwiseModel::Remainder::Table
PairwiseModel::Remainder::tableOf(unsigned row, llvm::ArrayRef<Reader> readers,
                                  Cost cost) const {
  // What each combination of the readers' values pays for.
  std::vector<llvm::SmallVector<unsigned, 4>> paid(1), more;
  for (const Reader &reader : readers) {
    more.clear();
    for (const auto &before : paid)
      for (const auto &mine : reader.columns) {
        more.push_back(before);
        for (unsigned column : mine)
          if (!llvm::is_contained(before, column))
            more.back().push_back(column);
      }
    std::swap(paid, more);
  }
  Columns columns = columnsOf(readers);
  Table costs(columns.empty() ? 0 : columns.rbegin()->first + 1), table;
  table.reserve(domains[row] * paid.size());
  for (unsigned l = 0; l < domains[row]; ++l) {
    for (const auto &[column, mine] : columns)
      costs[column] = cost(l, column);
    for (const auto &mine : paid) {
      int64_t sum = 0;
      for (unsigned column : mine)
        sum = addCosts(sum, costs[column]);
      table.push_back(sum);
    }
  }
  return table;
}

/// A column that several readers can have: a variable of its own says whether
/// it is there. Readers need it to be, and the row pays for it.
void PairwiseModel::Remainder::addShared(unsigned row,
                                         llvm::ArrayRef<const Reader *> readers,
                                         unsigned column, Cost cost) {
  unsigned copy = domains.size();
  domains.push_back(2);
  Table pays;
  for (unsigned l = 0; l < domains[row]; ++l)
    pays.insert(pays.end(), {0, cost(l, column)});
  add({row, copy}, std::move(pays));
  for (const Reader *reader : readers) {
    Table needs;
    for (const auto &mine : reader->columns)
      needs.push_back(llvm::is_contained(mine, column) ? Forbidden : 0);
    needs.resize(2 * needs.size(), 0);
    add({copy, reader->var}, std::move(needs));
  }
}

/// Who can have which column.
PairwiseModel::Remainder::Columns
PairwiseModel::Remainder::columnsOf(llvm::ArrayRef<Reader> readers) {
  Columns columns;
  for (const Reader &reader : readers)
    for (const auto &mine : reader.columns)
      for (unsigned column : mine)
        if (auto &having = columns[column];
            having.empty() || having.back() != &reader)
          having.push_back(&reader);
  return columns;
}

/// Charges the row for columns that a reader has in any case, and takes them
/// from all readers.
void PairwiseModel::Remainder::addCertain(unsigned row,
                                          std::vector<Reader> &readers,
                                          Cost cost) {
  std::set<unsigned> certain;
  for (const Reader &reader : readers)
    for (unsigned column : reader.columns.front())
      if (llvm::all_of(reader.columns, [&](const auto &mine) {
            return llvm::is_contained(mine, column);
          }))
        certain.insert(column);
  if (certain.empty())
    return;
  Table always(domains[row], 0);
  for (unsigned l = 0; l < domains[row]; ++l)
    for (unsigned column : certain)
      always[l] = addCosts(always[l], cost(l, column));
  add({row}, std::move(always));
  for (Reader &reader : readers)
    reader.keep([&](unsigned column) { return !certain.count(column); });
}

void PairwiseModel::Remainder::add(unsigned row, std::vector<Reader> readers,
                                   Cost cost, Key key) {
  addCertain(row, readers, cost);
  llvm::erase_if(readers, [](const Reader &reader) {
    return llvm::all_of(reader.columns,
                        [](const auto &mine) { return mine.empty(); });
  });
  if (readers.empty())
    return;
  Columns columns = columnsOf(readers);
  if (isBetterTogether(row, readers, columns)) {
    Scope scope{row};
    for (const Reader &reader : readers)
      scope.push_back(reader.var);
    auto [table, isNew] = known.try_emplace(std::move(key));
    if (isNew && hasTables)
      table->second = share(tableOf(row, readers, cost));
    terms.push_back({std::move(scope), table->second});
    return;
  }
  for (const auto &[column, having] : columns)
    if (having.size() > 1)
      addShared(row, having, column, cost);
  for (Reader &reader : readers) {
    reader.keep([&](unsigned column) { return columns[column].size() == 1; });
    add({row, reader.var}, hasTables ? tableOf(row, reader, cost) : Table());
  }
}

/// Adds what a group costs with its variables at `values`.
void PairwiseModel::addTo(Remainder &rest, const Group &group,
                          llvm::ArrayRef<Values> values) const {
  const Values &rows = values[group.row];
  std::vector<Remainder::Reader> readers;
  Remainder::Key key{intptr_t(group.table.data())};
  for (llvm::ArrayRef<unsigned> columns : group.own)
    key.push_back(intptr_t(columns.data()));
  key.insert(key.end(), rows.begin(), rows.end());
  for (unsigned i = 0; i < group.numEdges; ++i) {
    const Edge &edge = edges[group.firstEdge + i];
    const Values &mine = values[edge.col];
    auto reader = llvm::find_if(readers, [&](const Remainder::Reader &other) {
      return other.var == edge.col;
    });
    if (reader == readers.end()) {
      readers.push_back({edge.col, {}});
      reader = std::prev(readers.end());
      reader->columns.resize(mine.size());
    }
    for (auto [columns, value] : llvm::zip_equal(reader->columns, mine))
      if (!llvm::is_contained(columns, edge.columnOf[value]))
        columns.push_back(edge.columnOf[value]);
    key.push_back(reader - readers.begin());
    key.push_back(intptr_t(edge.columnOf.data()));
    key.insert(key.end(), mine.begin(), mine.end());
  }
  auto cost = [&](unsigned row, unsigned column) {
    // With a reader of its own, the row has paid for that column.
    for (llvm::ArrayRef<unsigned> columns : group.own)
      if (columns[rows[row]] == column)
        return int64_t(0);
    return group.table[size_t(rows[row]) * group.numColumns + column];
  };
  rest.add(group.row, std::move(readers), cost, std::move(key));
  if (group.own.empty())
    return;
  std::vector<int64_t> own;
  for (unsigned row : rows)
    own.push_back(ownCost(group, row));
  rest.add({group.row}, std::move(own));
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
  Assignment only;
  for (const Values &mine : values) {
    sizes.push_back(mine.size());
    only.push_back(mine.front());
  }
  int64_t settled = 0;
  llvm::SmallVector<const Group *, 0> open;
  for (const Group &group : groups) {
    bool isSettled =
        sizes[group.row] == 1 &&
        llvm::all_of(
            llvm::ArrayRef(edges).slice(group.firstEdge, group.numEdges),
            [&](const Edge &edge) { return sizes[edge.col] == 1; });
    if (isSettled)
      settled = addCosts(settled, costOf(group, only));
    else
      open.push_back(&group);
  }
  // First a look at what tables there would be.
  Remainder scopes(sizes, tableLimit, /*hasTables=*/false);
  for (const Group *group : open)
    addTo(scopes, *group, values);
  if (!scopes.fits(tableLimit))
    return std::nullopt;
  Remainder rest(sizes, tableLimit, /*hasTables=*/true);
  for (const Group *group : open)
    addTo(rest, *group, values);
  Elimination solver = rest.eliminate();
  if (solver.distinctWork(tableLimit) > tableLimit)
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

/// Looks for the minimum among all values. True if that is known then.
bool PairwiseModel::solveWhole(const Options &options, Result &result) {
  for (unsigned var = 0; var < domains.size(); ++var) {
    active[var].resize(domains[var]);
    std::iota(active[var].begin(), active[var].end(), 0);
  }
  Options limits = options;
  limits.tableLimit = options.wholeLimit;
  return finish(limits, result);
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
  double gap = std::max(upper - sumOfLeast, 1.0);
  size_t last = 0;
  for (unsigned narrowing = 0; narrowing <= kMostNarrowing; ++narrowing) {
    double most = std::ldexp(gap, -2 * int(narrowing));
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
      continue;
    if (better->first < result.minimum)
      offer(std::move(better->second), result);
    return;
  }
}
