//===- CappedElimination.cpp - Exact minima below a cap -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CappedElimination.h"

#include "Clock.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <list>
#include <numeric>

using namespace mlir::tofu::search;

/// Bits of a row: maps have no place for the two largest keys.
static constexpr unsigned kRowBits = 126;
/// Rows between looks at the clock.
static constexpr size_t kRowsPerLook = size_t(1) << 14;

CappedElimination::CappedElimination(llvm::ArrayRef<unsigned> domains)
    : pairsOf(domains.size()), termsOf(domains.size()) {
  for (unsigned size : domains)
    unary.emplace_back(size, 0);
}

void CappedElimination::add(unsigned var, llvm::ArrayRef<int64_t> costs) {
  for (auto [sum, cost] : llvm::zip_equal(unary[var], costs))
    sum = addCosts(sum, cost);
}

void CappedElimination::add(unsigned row, unsigned col,
                            llvm::ArrayRef<int64_t> costs) {
  auto [known, isNew] =
      numbers.try_emplace(std::minmax(row, col), unsigned(pairs.size()));
  if (isNew) {
    pairs.push_back({row, col, costs.vec()});
    pairsOf[row].push_back(known->second);
    pairsOf[col].push_back(known->second);
    return;
  }
  Pair &pair = pairs[known->second];
  size_t rows = unary[row].size(), cols = unary[col].size();
  for (size_t l = 0; l < rows; ++l)
    for (size_t s = 0; s < cols; ++s) {
      int64_t &sum = pair.costs[row == pair.row ? l * cols + s : s * rows + l];
      sum = addCosts(sum, costs[l * cols + s]);
    }
}

void CappedElimination::add(std::optional<unsigned> row, unsigned numColumns,
                            std::vector<Reader> readers) {
  Term term{{}, row, numColumns, std::move(readers)};
  if (row)
    term.scope.push_back(*row);
  for (const Reader &reader : term.readers)
    if (!llvm::is_contained(term.scope, reader.var))
      term.scope.push_back(reader.var);
  for (unsigned var : term.scope)
    termsOf[var].push_back(terms.size());
  terms.push_back(std::move(term));
}

int64_t
CappedElimination::Term::costOf(size_t row,
                                llvm::ArrayRef<unsigned> columns) const {
  return missingShares(columns, [&](unsigned reader, unsigned column) {
    return readers[reader].shares[row + column];
  });
}

namespace {

using Scope = llvm::SmallVector<unsigned, 8>;
/// The place of each variable's value among those that are left.
using Places = llvm::SmallVector<unsigned, 16>;
/// Places of a scope's variables, as the bits of one number.
using Row = std::pair<uint64_t, uint64_t>;

/// The bits of a variable in a row.
struct Field {
  unsigned first, size;

  unsigned get(Row row) const {
    uint64_t half = first < 64 ? row.first : row.second;
    return half >> (first % 64) & ((uint64_t(1) << size) - 1);
  }
  void set(Row &row, unsigned place) const {
    uint64_t &half = first < 64 ? row.first : row.second;
    half |= uint64_t(place) << (first % 64);
  }
};

/// Partial assignments that may be part of something below the cap.
struct Table {
  Scope scope;
  llvm::SmallVector<Field, 8> fields; ///< of the scope's variables
  std::vector<Row> rows;
  std::vector<int64_t> costs;
  /// The least of the rows with each place of each variable.
  std::vector<std::vector<int64_t>> leastOf;

  bool has(unsigned var) const { return llvm::is_contained(scope, var); }
  unsigned positionOf(unsigned var) const {
    return llvm::find(scope, var) - scope.begin();
  }

  void get(size_t row, Places &places) const {
    for (auto [i, field] : llvm::enumerate(fields))
      places[i] = field.get(rows[row]);
  }
  void append(llvm::ArrayRef<unsigned> places, int64_t cost) {
    Row row{0, 0};
    for (auto [field, place] : llvm::zip_equal(fields, places))
      field.set(row, place);
    rows.push_back(row);
    costs.push_back(cost);
  }
};

} // namespace

/// One elimination.
class CappedElimination::Run {
public:
  Run(const CappedElimination &all, int64_t cap, size_t limit, double seconds)
      : all(all), cap(cap), limit(limit), seconds(seconds), unary(all.unary),
        pairs(all.pairs.size()), isTermLive(all.terms.size(), true) {
    for (const std::vector<int64_t> &costs : unary) {
      active.emplace_back(costs.size());
      std::iota(active.back().begin(), active.back().end(), 0);
    }
  }

  std::optional<int64_t> minimum();

private:
  /// What is known of a pair.
  struct Known {
    /// By value of one end: the least, over values of the other that are left.
    std::vector<int64_t> leastOfRow, leastOfCol;
    bool isLive = true, isStale = true;
    double density = 1; ///< part of the value pairs that may be below the cap
  };
  class Check;

  unsigned otherOf(unsigned number, unsigned var) const {
    const Pair &pair = all.pairs[number];
    return var == pair.row ? pair.col : pair.row;
  }
  const std::vector<int64_t> &leastOf(unsigned number, unsigned var) const {
    return var == all.pairs[number].row ? pairs[number].leastOfRow
                                        : pairs[number].leastOfCol;
  }
  int64_t costOf(unsigned number, unsigned var, unsigned value,
                 unsigned otherValue) const {
    const Pair &pair = all.pairs[number];
    size_t cols = unary[pair.col].size();
    return var == pair.row ? pair.costs[value * cols + otherValue]
                           : pair.costs[otherValue * cols + value];
  }
  int64_t costOf(const Term &term,
                 llvm::function_ref<unsigned(unsigned)> valueOf) const {
    llvm::SmallVector<unsigned, 8> columns;
    for (const Reader &reader : term.readers)
      columns.push_back(reader.columnOf[valueOf(reader.var)]);
    size_t row = term.row ? valueOf(*term.row) : 0;
    return term.costOf(row * term.numColumns, columns);
  }
  /// Live pairs and terms of a variable.
  Scope livePairs(unsigned var) const {
    Scope live;
    llvm::copy_if(all.pairsOf[var], std::back_inserter(live),
                  [&](unsigned number) { return pairs[number].isLive; });
    return live;
  }
  Scope liveTerms(unsigned var) const {
    Scope live;
    llvm::copy_if(all.termsOf[var], std::back_inserter(live),
                  [&](unsigned number) { return isTermLive[number]; });
    return live;
  }

  void findLeast(unsigned number);
  int64_t leastAround(unsigned var, unsigned value) const;
  bool dropValues();
  void settle();
  void findDensities();
  double estimateRows(unsigned var) const;
  unsigned next(const std::vector<bool> &isDone) const;

  /// Whether there is room and time for one more row.
  bool mayAppend() {
    return ++numRows <= limit &&
           (numRows % kRowsPerLook > 0 || clock.seconds() < seconds);
  }
  std::optional<Table> emptyTable(Scope scope) const;
  std::optional<Table> valuesOf(unsigned var) const;
  std::optional<Table> join(const Table &left, const Table &right);
  std::optional<Table> extend(const Table &table, unsigned var);
  std::optional<Table> gather(unsigned var);
  Table choose(const Table &table, unsigned var) const;
  bool eliminate(unsigned var);

  const CappedElimination &all;
  int64_t cap, base = 0;     ///< `base` is spent in any case
  size_t limit, numRows = 0; ///< of all tables
  double seconds;
  Clock clock;
  std::vector<std::vector<int64_t>> unary;
  std::vector<std::vector<unsigned>> active; ///< values that are left
  std::vector<unsigned> bits;                ///< of a place among these
  std::vector<Known> pairs;
  std::vector<bool> isTermLive;
  std::list<Table> tables, pending; ///< `pending`: to be joined
};

//===----------------------------------------------------------------------===//
// Single values
//===----------------------------------------------------------------------===//

void CappedElimination::Run::findLeast(unsigned number) {
  const Pair &pair = all.pairs[number];
  Known &known = pairs[number];
  known.isStale = false;
  known.leastOfRow.assign(unary[pair.row].size(), Forbidden);
  known.leastOfCol.assign(unary[pair.col].size(), Forbidden);
  for (unsigned l : active[pair.row])
    for (unsigned s : active[pair.col]) {
      int64_t cost = costOf(number, pair.row, l, s);
      known.leastOfRow[l] = std::min(known.leastOfRow[l], cost);
      known.leastOfCol[s] = std::min(known.leastOfCol[s], cost);
    }
}

/// What a value costs with the best values of its neighbours.
int64_t CappedElimination::Run::leastAround(unsigned var,
                                            unsigned value) const {
  int64_t cost = unary[var][value];
  for (unsigned number : livePairs(var))
    cost = addCosts(cost, leastOf(number, var)[value]);
  return cost;
}

/// Drops values that are above the cap. False if a variable has none left.
bool CappedElimination::Run::dropValues() {
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (unsigned number = 0; number < pairs.size(); ++number)
      if (pairs[number].isStale)
        findLeast(number);
    for (unsigned var = 0; var < active.size(); ++var) {
      size_t before = active[var].size();
      llvm::erase_if(active[var], [&](unsigned value) {
        return leastAround(var, value) > cap;
      });
      if (active[var].empty())
        return false;
      if (active[var].size() == before)
        continue;
      isChanged = true;
      for (unsigned number : all.pairsOf[var])
        pairs[number].isStale = true;
    }
  }
  return true;
}

/// Charges for variables that have no choice, others for pairs with them.
void CappedElimination::Run::settle() {
  for (unsigned var = 0; var < active.size(); ++var) {
    if (active[var].size() > 1)
      continue;
    unsigned value = active[var].front();
    base = addCosts(base, std::exchange(unary[var][value], 0));
    for (unsigned number : livePairs(var)) {
      pairs[number].isLive = false;
      unsigned other = otherOf(number, var);
      for (unsigned each : active[other])
        unary[other][each] =
            addCosts(unary[other][each], costOf(number, var, value, each));
    }
  }
  for (auto [number, term] : llvm::enumerate(all.terms)) {
    if (llvm::any_of(term.scope,
                     [&](unsigned var) { return active[var].size() > 1; }))
      continue;
    base = addCosts(
        base, costOf(term, [&](unsigned var) { return active[var].front(); }));
    isTermLive[number] = false;
  }
}

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

void CappedElimination::Run::findDensities() {
  for (unsigned number = 0; number < pairs.size(); ++number) {
    if (!pairs[number].isLive)
      continue;
    const Pair &pair = all.pairs[number];
    auto without = [&](unsigned var, unsigned value) {
      return leastAround(var, value) - leastOf(number, var)[value];
    };
    std::vector<int64_t> ofCol;
    for (unsigned value : active[pair.col])
      ofCol.push_back(without(pair.col, value));
    size_t kept = 0;
    for (unsigned value : active[pair.row]) {
      int64_t spare = cap - base - without(pair.row, value);
      for (auto [other, cost] : llvm::zip_equal(active[pair.col], ofCol))
        kept += costOf(number, pair.row, value, other) + cost <= spare;
    }
    pairs[number].density = double(kept) / (double(active[pair.row].size()) *
                                            double(active[pair.col].size()));
  }
}

/// How many rows there may be when `var` is chosen, if all that is known ruled
/// rows out independently.
double CappedElimination::Run::estimateRows(unsigned var) const {
  Scope scope{var};
  double rows = active[var].size();
  auto take = [&](unsigned other) {
    if (llvm::is_contained(scope, other))
      return;
    scope.push_back(other);
    rows *= double(active[other].size());
  };
  for (const Table &table : tables) {
    if (!table.has(var))
      continue;
    llvm::for_each(table.scope, take);
    double most = 1;
    for (unsigned each : table.scope)
      most *= double(active[each].size());
    rows *= double(table.rows.size()) / most;
  }
  for (unsigned number : livePairs(var)) {
    take(otherOf(number, var));
    rows *= pairs[number].density;
  }
  for (unsigned number : liveTerms(var))
    llvm::for_each(all.terms[number].scope, take);
  return rows;
}

unsigned CappedElimination::Run::next(const std::vector<bool> &isDone) const {
  unsigned best = isDone.size();
  double fewest = 0;
  for (unsigned var = 0; var < isDone.size(); ++var) {
    if (isDone[var])
      continue;
    double rows = estimateRows(var);
    if (best < isDone.size() && rows >= fewest)
      continue;
    best = var;
    fewest = rows;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// What isn't in a table yet
//===----------------------------------------------------------------------===//

/// What partial assignments of a scope cost at least beyond what is in their
/// table: by themselves and with the best of others.
class CappedElimination::Run::Check {
public:
  Check(const Run &run, llvm::ArrayRef<unsigned> scope)
      : run(run), scope(scope), last(scope.size() - 1) {
    for (auto [i, var] : llvm::enumerate(scope)) {
      std::vector<int64_t> &mine = least.emplace_back();
      for (unsigned value : run.active[var])
        mine.push_back(run.unary[var][value]);
      for (unsigned number : run.livePairs(var))
        addPair(i, number);
      for (unsigned number : run.liveTerms(var))
        addTerm(i, run.all.terms[number]);
    }
    for (const std::list<Table> *others : {&run.tables, &run.pending})
      for (const Table &table : *others)
        addTable(table);
  }

  /// With the last variable of the scope left out.
  int64_t withoutLast(const Places &places) const {
    int64_t sum = 0;
    for (unsigned i = 0; i < last; ++i)
      sum += least[i][places[i]];
    for (const Within &pair : within)
      if (pair.later < last)
        sum += pair.costs[places[pair.later]][places[pair.earlier]];
    for (const Together &term : together)
      if (term.latest < last)
        sum += costOf(term, places);
    return sum;
  }

  /// What the last variable adds.
  int64_t ofLast(const Places &places) const {
    int64_t sum = least[last][places[last]];
    for (const Within &pair : within)
      if (pair.later == last)
        sum += pair.costs[places[last]][places[pair.earlier]];
    for (const Together &term : together)
      if (term.latest == last)
        sum += costOf(term, places);
    return sum;
  }

private:
  using Costs = std::vector<std::vector<int64_t>>;
  /// A pair of variables of the scope, and a term of some: by positions.
  struct Within {
    unsigned later, earlier;
    Costs costs; ///< by places
  };
  struct Together {
    const Term *term;
    unsigned latest;
    std::optional<unsigned> row; ///< position, if there is a variable
    std::vector<size_t> rows;    ///< where rows begin, by place
    Scope readers;               ///< positions
    std::vector<std::vector<unsigned>> columns; ///< by reader, then place
  };

  unsigned positionOf(unsigned var) const {
    return llvm::find(scope, var) - scope.begin();
  }

  void addPair(unsigned position, unsigned number) {
    unsigned var = scope[position], other = run.otherOf(number, var);
    unsigned earlier = positionOf(other);
    if (earlier == scope.size()) {
      for (auto [cost, value] :
           llvm::zip_equal(least[position], run.active[var]))
        cost = addCosts(cost, run.leastOf(number, var)[value]);
      return;
    }
    if (earlier > position)
      return;
    Within pair{position, earlier, {}};
    for (unsigned value : run.active[var]) {
      pair.costs.emplace_back();
      for (unsigned each : run.active[other])
        pair.costs.back().push_back(run.costOf(number, var, value, each));
    }
    within.push_back(std::move(pair));
  }

  /// Adds a term whose latest variable is at `position`, if all are there.
  void addTerm(unsigned position, const Term &term) {
    if (llvm::any_of(term.scope,
                     [&](unsigned var) { return positionOf(var) > position; }))
      return;
    Together mine{&term, position, {}, {}, {}, {}};
    if (term.row) {
      mine.row = positionOf(*term.row);
      for (unsigned value : run.active[*term.row])
        mine.rows.push_back(size_t(value) * term.numColumns);
    }
    for (const Reader &reader : term.readers) {
      mine.readers.push_back(positionOf(reader.var));
      std::vector<unsigned> &columns = mine.columns.emplace_back();
      for (unsigned value : run.active[reader.var])
        columns.push_back(reader.columnOf[value]);
    }
    together.push_back(std::move(mine));
  }

  /// Adds the least of a table that isn't joined, by one shared variable.
  void addTable(const Table &table) {
    for (auto [i, var] : llvm::enumerate(scope)) {
      if (!table.has(var))
        continue;
      for (auto [sum, cost] :
           llvm::zip_equal(least[i], table.leastOf[table.positionOf(var)]))
        sum = addCosts(sum, cost);
      return;
    }
  }

  static int64_t costOf(const Together &mine, const Places &places) {
    llvm::SmallVector<unsigned, 8> columns;
    for (auto [position, columnOf] :
         llvm::zip_equal(mine.readers, mine.columns))
      columns.push_back(columnOf[places[position]]);
    return mine.term->costOf(mine.row ? mine.rows[places[*mine.row]] : 0,
                             columns);
  }

  const Run &run;
  llvm::ArrayRef<unsigned> scope;
  unsigned last;
  Costs least; ///< by position, then place
  std::vector<Within> within;
  std::vector<Together> together;
};

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// A table of no rows; nothing if a row has too few bits for it.
std::optional<Table> CappedElimination::Run::emptyTable(Scope scope) const {
  Table table;
  unsigned end = 0;
  for (unsigned var : scope) {
    // No variable lies across the middle.
    if (end < 64 && end + bits[var] > 64)
      end = 64;
    table.fields.push_back({end, bits[var]});
    end += bits[var];
  }
  if (end > kRowBits)
    return std::nullopt;
  table.scope = std::move(scope);
  return table;
}

std::optional<Table> CappedElimination::Run::valuesOf(unsigned var) const {
  std::optional<Table> table = emptyTable({var});
  for (unsigned place = 0; table && place < active[var].size(); ++place)
    table->append(place, 0);
  return table;
}

/// Rows of both that agree; nothing if there are too many.
std::optional<Table> CappedElimination::Run::join(const Table &left,
                                                  const Table &right) {
  Scope scope = left.scope, shared, fresh; ///< these by position in `right`
  for (auto [i, var] : llvm::enumerate(right.scope)) {
    bool isShared = left.has(var);
    (isShared ? shared : fresh).push_back(i);
    if (!isShared)
      scope.push_back(var);
  }
  std::optional<Table> both = emptyTable(scope);
  if (!both)
    return std::nullopt;
  // What they share, with the bits that it has in `left`.
  auto keyOf = [&](const Table &table, size_t row) {
    Row key{0, 0};
    for (unsigned position : shared) {
      unsigned var = right.scope[position];
      left.fields[left.positionOf(var)].set(
          key, table.fields[table.positionOf(var)].get(table.rows[row]));
    }
    return key;
  };
  llvm::DenseMap<Row, llvm::SmallVector<unsigned, 2>> matches;
  for (size_t row = 0; row < right.rows.size(); ++row)
    matches[keyOf(right, row)].push_back(row);
  Check check(*this, scope);
  Places places(scope.size());
  for (size_t row = 0; row < left.rows.size(); ++row) {
    auto found = matches.find(keyOf(left, row));
    if (found == matches.end())
      continue;
    left.get(row, places);
    for (unsigned other : found->second) {
      for (auto [i, position] : llvm::enumerate(fresh))
        places[left.scope.size() + i] =
            right.fields[position].get(right.rows[other]);
      int64_t cost = left.costs[row] + right.costs[other];
      if (cost + check.withoutLast(places) + check.ofLast(places) > cap - base)
        continue;
      if (!mayAppend())
        return std::nullopt;
      both->append(places, cost);
    }
  }
  return both;
}

/// The rows with each value of `var`; nothing if there are too many.
std::optional<Table> CappedElimination::Run::extend(const Table &table,
                                                    unsigned var) {
  Scope scope = table.scope;
  scope.push_back(var);
  std::optional<Table> more = emptyTable(scope);
  if (!more)
    return std::nullopt;
  Check check(*this, scope);
  Places places(scope.size());
  for (size_t row = 0; row < table.rows.size(); ++row) {
    table.get(row, places);
    int64_t spare = cap - base - table.costs[row] - check.withoutLast(places);
    for (places.back() = 0; places.back() < active[var].size();
         ++places.back()) {
      if (check.ofLast(places) > spare)
        continue;
      if (!mayAppend())
        return std::nullopt;
      more->append(places, table.costs[row]);
    }
  }
  return more;
}

/// All that `var` is in, as one table.
std::optional<Table> CappedElimination::Run::gather(unsigned var) {
  for (auto at = tables.begin(); at != tables.end();) {
    auto next = std::next(at);
    if (at->has(var))
      pending.splice(pending.end(), tables, at);
    at = next;
  }
  // The largest first: the others make it smaller.
  pending.sort([](const Table &a, const Table &b) {
    return a.scope.size() > b.scope.size();
  });
  std::optional<Table> gathered;
  if (pending.empty())
    gathered = valuesOf(var);
  while (!pending.empty()) {
    Table other = std::move(pending.front());
    pending.pop_front();
    gathered = gathered ? join(*gathered, other) : std::move(other);
    if (!gathered)
      return std::nullopt;
  }
  Scope others;
  for (unsigned number : livePairs(var))
    others.push_back(otherOf(number, var));
  for (unsigned number : liveTerms(var))
    llvm::append_range(others, all.terms[number].scope);
  for (unsigned other : others)
    if (gathered && !gathered->has(other))
      gathered = extend(*gathered, other);
  return gathered;
}

/// The best value of `var` for each row of the others, charged for.
Table CappedElimination::Run::choose(const Table &table, unsigned var) const {
  unsigned position = table.positionOf(var);
  Scope scope = table.scope;
  scope.erase(scope.begin() + position);
  Table rest = *emptyTable(scope);
  auto valueAt = [&](unsigned each, const Places &places) {
    return active[each][places[table.positionOf(each)]];
  };
  Scope myPairs = livePairs(var), myTerms = liveTerms(var);
  llvm::DenseMap<Row, unsigned> numbers;
  Places places(table.scope.size());
  for (size_t row = 0; row < table.rows.size(); ++row) {
    table.get(row, places);
    unsigned value = valueAt(var, places);
    int64_t cost = table.costs[row] + unary[var][value];
    for (unsigned number : myPairs)
      cost += costOf(number, var, value, valueAt(otherOf(number, var), places));
    for (unsigned number : myTerms) {
      cost += costOf(all.terms[number],
                     [&](unsigned each) { return valueAt(each, places); });
    }
    Row key{0, 0};
    for (auto [i, field] : llvm::enumerate(rest.fields))
      field.set(key, places[i < position ? i : i + 1]);
    auto [known, isNew] = numbers.try_emplace(key, rest.rows.size());
    if (isNew) {
      rest.rows.push_back(key);
      rest.costs.push_back(cost);
    } else {
      int64_t &least = rest.costs[known->second];
      least = std::min(least, cost);
    }
  }
  return rest;
}

/// False if more would have to be kept than may be.
bool CappedElimination::Run::eliminate(unsigned var) {
  std::optional<Table> table = gather(var);
  if (!table)
    return false;
  Table rest = choose(*table, var);
  for (unsigned number : all.pairsOf[var])
    pairs[number].isLive = false;
  for (unsigned number : all.termsOf[var])
    isTermLive[number] = false;
  if (rest.rows.empty()) {
    base = cap + 1;
    return true;
  }
  // What all have in common is spent.
  int64_t least = *llvm::min_element(rest.costs);
  base = addCosts(base, least);
  if (rest.scope.empty())
    return true;
  for (unsigned each : rest.scope)
    rest.leastOf.emplace_back(active[each].size(), Forbidden);
  for (size_t row = 0; row < rest.rows.size(); ++row) {
    rest.costs[row] -= least;
    for (auto [field, costs] : llvm::zip_equal(rest.fields, rest.leastOf)) {
      int64_t &mine = costs[field.get(rest.rows[row])];
      mine = std::min(mine, rest.costs[row]);
    }
  }
  tables.push_back(std::move(rest));
  return true;
}

std::optional<int64_t> CappedElimination::Run::minimum() {
  if (!dropValues())
    return cap + 1;
  settle();
  findDensities();
  std::vector<bool> isDone;
  for (const std::vector<unsigned> &values : active) {
    bits.push_back(llvm::Log2_32_Ceil(values.size()));
    isDone.push_back(values.size() < 2);
  }
  for (size_t left = llvm::count(isDone, false); left > 0 && base <= cap;
       --left) {
    unsigned var = next(isDone);
    isDone[var] = true;
    if (!eliminate(var))
      return std::nullopt;
  }
  return std::min(base, cap + 1);
}

std::optional<int64_t> CappedElimination::minimum(int64_t cap, size_t limit,
                                                  double seconds) const {
  return Run(*this, cap, limit, seconds).minimum();
}
