//===- Elimination.cpp - Exact minima of sums of small tables -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Elimination.h"

#include "EliminationOrder.h"
#include "Tables.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir::tofu::search;

/// Entries of a sum that are worked on together, so that they stay in the
/// cache.
static constexpr int64_t kBlockEntries = int64_t(1) << 14;

Elimination::Elimination(llvm::ArrayRef<unsigned> domains)
    : domains(domains), leaves(domains.size(), -1), factorsOf(domains.size()) {}

void Elimination::add(llvm::ArrayRef<unsigned> scope,
                      llvm::ArrayRef<int64_t> table) {
  Factor factor;
  for (unsigned var : scope)
    if (domains[var] > 1)
      factor.scope.push_back(var);
  if (factor.scope.empty()) {
    constant = addCosts(constant, table.front());
    return;
  }
  auto [number, isNew] =
      given.try_emplace({table.data(), table.size()}, tables.size());
  if (isNew)
    tables.push_back(table);
  factor.table = number->second;
  attach(std::move(factor));
}

void Elimination::attach(Factor factor) {
  for (unsigned var : factor.scope)
    factorsOf[var].push_back(factors.size());
  factors.push_back(std::move(factor));
}

llvm::SmallVector<unsigned, 8> Elimination::liveFactors(unsigned var) const {
  llvm::SmallVector<unsigned, 8> live;
  for (unsigned index : factorsOf[var])
    if (factors[index].live)
      live.push_back(index);
  return live;
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

EliminationOrder Elimination::startOrder() const {
  EliminationOrder order(domains);
  for (const Factor &factor : factors)
    order.connect(factor.scope);
  order.start();
  return order;
}

Elimination::Work Elimination::plan(int64_t limit) const {
  Work work;
  for (EliminationOrder order = startOrder(); !order.empty();
       order.eliminate(order.next())) {
    work.largest = std::max(work.largest, order.nextSize());
    work.total = addCosts(work.total, order.nextSize());
    if (work.largest > limit)
      break;
  }
  return work;
}

int64_t Elimination::distinctWork(int64_t limit) const {
  Elimination dry = *this;
  int64_t total = 0;
  for (EliminationOrder order = startOrder();
       !order.empty() && total <= limit;) {
    unsigned var = order.next();
    if (dry.eliminate(var, order.neighboursOf(var), /*isDry=*/true))
      total = addCosts(total, order.nextSize());
    order.eliminate(var);
  }
  return total;
}

bool Elimination::solve(const Options &options, const Assignment *hint) {
  // Tables come after all is planned: where a core is left anyway, large ones
  // are not worth their time.
  std::vector<std::pair<unsigned, EliminationOrder::Neighbours>> planned;
  auto planUpTo = [&](int64_t limit) {
    planned.clear();
    EliminationOrder order = startOrder();
    while (!order.empty() && order.nextSize() <= limit) {
      unsigned var = order.next();
      planned.push_back({var, order.neighboursOf(var)});
      order.eliminate(var);
    }
    return order.rest();
  };
  llvm::SmallVector<unsigned> rest = planUpTo(options.tableLimit);
  if (!rest.empty())
    rest = planUpTo(std::min(options.tableLimit, options.coreLimit));
  for (const auto &[var, neighbours] : planned)
    eliminate(var, neighbours, /*isDry=*/false);
  best = constant;
  if (!rest.empty())
    return searchCore(rest, options, hint);
  return best < Forbidden;
}

namespace {
/// Sums of tables over `dims`, for some values of the first dim at a time.
/// Grows the sum by one dim after the other and adds each table as soon as its
/// dims are there, so that little is added up in the large sum of the end.
class BlockSum {
public:
  using Scope = llvm::ArrayRef<unsigned>;

  BlockSum(Scope dims, llvm::ArrayRef<unsigned> domains)
      : dims(dims), domains(domains), terms(dims.size()) {}

  /// Adds a table, which must stay alive.
  void add(Scope scope, llvm::ArrayRef<int64_t> table) {
    size_t last = 0;
    for (unsigned var : scope)
      last = std::max<size_t>(last, llvm::find(dims, var) - dims.begin());
    terms[last].push_back({scope, table.data(), {}});
  }

  /// The sum for the values of the first dim from `first` on, `count` of them.
  std::vector<int64_t> &compute(unsigned first, unsigned count);

private:
  struct Term {
    Scope scope;
    const int64_t *table;
    llvm::SmallVector<Loop, 8> loops; ///< for `loopsFor` values
  };

  void makeLoops(unsigned count);
  void grow(unsigned times);

  Scope dims;
  llvm::ArrayRef<unsigned> domains;
  std::vector<llvm::SmallVector<Term, 4>> terms; ///< by the last of their dims
  unsigned loopsFor = 0;
  std::vector<int64_t> sum, grown;
};
} // namespace

static void saturate(std::vector<int64_t> &costs) {
  for (int64_t &cost : costs)
    cost = std::min(cost, Forbidden);
}

void BlockSum::makeLoops(unsigned count) {
  if (count == loopsFor)
    return;
  loopsFor = count;
  for (auto [i, mine] : llvm::enumerate(terms))
    for (Term &term : mine)
      term.loops =
          loopsOver(dims.take_front(i + 1), term.scope, domains, count);
}

/// Adds a dim that makes no difference.
void BlockSum::grow(unsigned times) {
  grown.resize(sum.size() * times);
  int64_t *to = grown.data();
  for (int64_t cost : sum)
    to = std::fill_n(to, times, cost);
  std::swap(sum, grown);
}

std::vector<int64_t> &BlockSum::compute(unsigned first, unsigned count) {
  makeLoops(count);
  sum.assign(count, 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0)
      grow(domains[dims[i]]);
    unsigned added = 0;
    for (const Term &term : terms[i]) {
      addEntries(sum.data(),
                 term.table +
                     first * strideOf(dims.front(), term.scope, domains),
                 term.loops);
      if (++added % 1024 == 0)
        saturate(sum);
    }
  }
  return sum;
}

/// The least of the sum of tables over `dims`, for each value of all but the
/// first.
static std::vector<int64_t> leastOf(BlockSum &sum,
                                    llvm::ArrayRef<unsigned> dims,
                                    llvm::ArrayRef<unsigned> domains) {
  int64_t size = 1;
  for (unsigned other : dims.drop_front())
    size *= domains[other];
  unsigned all = domains[dims.front()];
  unsigned block = std::max<int64_t>(kBlockEntries / size, 1);
  std::vector<int64_t> least;
  for (unsigned first = 0; first < all; first += block) {
    unsigned count = std::min(block, all - first);
    const int64_t *mine = sum.compute(first, count).data();
    if (first == 0)
      least.assign(mine, mine + size);
    for (unsigned value = first == 0; value < count; ++value)
      for (int64_t i = 0; i < size; ++i)
        least[i] = std::min(least[i], mine[value * size + i]);
  }
  saturate(least);
  return least;
}

/// All that the least of the sum of `of` over `dims` depends on.
Elimination::Key Elimination::keyOf(llvm::ArrayRef<unsigned> dims,
                                    llvm::ArrayRef<unsigned> of) const {
  llvm::SmallVector<Key, 8> parts;
  for (unsigned index : of) {
    parts.push_back({factors[index].table});
    for (unsigned var : factors[index].scope)
      parts.back().push_back(llvm::find(dims, var) - dims.begin());
  }
  llvm::sort(parts);
  Key key{unsigned(dims.size())};
  for (unsigned var : dims)
    key.push_back(domains[var]);
  for (const Key &part : parts) {
    key.push_back(part.size());
    key.append(part.begin(), part.end());
  }
  return key;
}

/// Whether that took a table that wasn't there yet. `isDry`: no table is built.
bool Elimination::eliminate(unsigned var, llvm::ArrayRef<unsigned> neighbours,
                            bool isDry) {
  Step step{var, liveFactors(var)};
  for (unsigned index : step.factors)
    factors[index].live = false;

  // The choices for `var` are the slowest dim, so that the minimum over them
  // runs along the whole table; the fastest are those of the fewest factors.
  llvm::SmallVector<unsigned, 8> scope(neighbours.begin(), neighbours.end());
  auto uses = [&](unsigned other) {
    return llvm::count_if(step.factors, [&](unsigned index) {
      return llvm::is_contained(factors[index].scope, other);
    });
  };
  llvm::sort(scope, [&](unsigned a, unsigned b) {
    return std::pair(-uses(a), a) < std::pair(-uses(b), b);
  });
  llvm::SmallVector<unsigned, 8> dims{var};
  dims.append(scope.begin(), scope.end());
  auto [number, isNew] =
      numbers.try_emplace(keyOf(dims, step.factors), tables.size());
  if (isNew && isDry) {
    tables.emplace_back();
  } else if (isNew) {
    BlockSum sum(dims, domains);
    for (unsigned index : step.factors)
      sum.add(factors[index].scope, tables[factors[index].table]);
    keep(leastOf(sum, dims, domains));
  }
  largestWidth = std::max<unsigned>(largestWidth, scope.size());
  steps.push_back(std::move(step));
  leaveTable(scope, number->second, isDry);
  return isNew;
}

/// Makes a table the last of all.
void Elimination::keep(std::vector<int64_t> table) {
  ownTables.push_back(std::move(table));
  tables.push_back(ownTables.back());
}

void Elimination::leaveTable(llvm::ArrayRef<unsigned> scope, unsigned table,
                             bool isDry) {
  if (scope.empty()) {
    if (!isDry)
      constant = addCosts(constant, tables[table].front());
    return;
  }
  // Many leaves of one hub would leave as many tables: add them up.
  int *sum = scope.size() == 1 ? &leaves[scope.front()] : nullptr;
  if (sum && *sum >= 0) {
    unsigned &mine = factors[*sum].table;
    auto [number, isNew] =
        numbers.try_emplace(Key{0, mine, table}, tables.size());
    if (isNew && isDry) {
      tables.emplace_back();
    } else if (isNew) {
      std::vector<int64_t> both = tables[mine].vec();
      for (auto [cost, more] : llvm::zip_equal(both, tables[table]))
        cost = addCosts(cost, more);
      keep(std::move(both));
    }
    mine = number->second;
    return;
  }
  if (sum)
    *sum = factors.size();
  Factor factor;
  factor.scope.assign(scope.begin(), scope.end());
  factor.table = table;
  attach(std::move(factor));
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

int64_t Elimination::valueOf(const Factor &factor,
                             const Assignment &assignment) const {
  int64_t at = 0;
  for (unsigned var : factor.scope)
    at = at * domains[var] + assignment[var];
  return tables[factor.table][at];
}

int64_t Elimination::costOf(llvm::ArrayRef<unsigned> of,
                            const Assignment &assignment) const {
  int64_t cost = 0;
  for (unsigned index : of)
    cost = addCosts(cost, valueOf(factors[index], assignment));
  return cost;
}

/// The values of the eliminated variable that are best once its neighbours are
/// assigned.
llvm::SmallVector<unsigned, 8>
Elimination::bestValues(const Step &step, Assignment &assignment) const {
  llvm::SmallVector<unsigned, 8> values;
  int64_t least = Forbidden;
  for (unsigned value = 0; value < domains[step.var]; ++value) {
    assignment[step.var] = value;
    int64_t cost = costOf(step.factors, assignment);
    if (cost < least) {
      least = cost;
      values.clear();
    }
    if (cost == least)
      values.push_back(value);
  }
  return values;
}

Assignment Elimination::optimum(Preference preference) const {
  Assignment assignment(domains.size(), 0);
  for (auto [var, value] : core)
    assignment[var] = value;
  for (const Step &step : llvm::reverse(steps)) {
    auto values = bestValues(step, assignment);
    assignment[step.var] = *std::min_element(
        values.begin(), values.end(), [&](unsigned a, unsigned b) {
          return preference(step.var, a) < preference(step.var, b);
        });
  }
  return assignment;
}

std::vector<Assignment> Elimination::optima(size_t limit) const {
  std::vector<Assignment> found;
  Assignment assignment(domains.size(), 0);
  for (auto [var, value] : core)
    assignment[var] = value;

  // The values still to try of each variable, last eliminated first.
  std::vector<llvm::SmallVector<unsigned, 8>> open;
  auto stepAt = [&](size_t depth) -> const Step & {
    return steps[steps.size() - 1 - depth];
  };
  while (found.size() < limit) {
    while (open.size() < steps.size()) {
      const Step &step = stepAt(open.size());
      open.push_back(bestValues(step, assignment));
      std::reverse(open.back().begin(), open.back().end());
      assignment[step.var] = open.back().pop_back_val();
    }
    found.push_back(assignment);
    while (!open.empty() && open.back().empty())
      open.pop_back();
    if (open.empty())
      break;
    assignment[stepAt(open.size() - 1).var] = open.back().pop_back_val();
  }
  return found;
}
