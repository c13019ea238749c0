//===- Elimination.cpp - Exact minima of sums of small tables -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Elimination.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <tuple>

using namespace mlir::tofu::search;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {

/// One loop of a walk over a dense table that reads another one: its length and
/// the stride in the table that is read.
struct Loop {
  int64_t size, stride;
};

} // namespace

/// Adds to `sum`, a dense table whose dims are `loops` from slowest to fastest,
/// the entries that `loops` select of another table.
static int64_t *addEntries(int64_t *sum, const int64_t *table,
                           llvm::ArrayRef<Loop> loops) {
  if (loops.empty()) {
    *sum = addCosts(*sum, *table);
    return sum + 1;
  }
  auto [size, stride] = loops.front();
  if (loops.size() > 1) {
    for (int64_t i = 0; i < size; ++i)
      sum = addEntries(sum, table + i * stride, loops.drop_front());
    return sum;
  }
  if (stride == 0) {
    for (int64_t i = 0; i < size; ++i)
      sum[i] = addCosts(sum[i], *table);
    return sum + size;
  }
  for (int64_t i = 0; i < size; ++i)
    sum[i] = addCosts(sum[i], table[i * stride]);
  return sum + size;
}

/// Merges neighbouring loops that are one walk, so that inner loops are long.
static void coalesce(llvm::SmallVectorImpl<Loop> &loops) {
  size_t kept = 0;
  for (Loop loop : loops) {
    if (loop.size == 1)
      continue;
    if (kept && loops[kept - 1].stride == loop.stride * loop.size)
      loops[kept - 1] = {loops[kept - 1].size * loop.size, loop.stride};
    else
      loops[kept++] = loop;
  }
  loops.truncate(kept);
}

/// Stride of each variable of `vars` in a table over `scope`, 0 if it is not in
/// there.
static llvm::SmallVector<Loop> loopsOver(llvm::ArrayRef<unsigned> vars,
                                         llvm::ArrayRef<unsigned> scope,
                                         llvm::ArrayRef<unsigned> domains) {
  llvm::SmallVector<Loop> loops;
  for (unsigned var : vars) {
    int64_t stride = 1;
    size_t at = scope.size();
    while (at > 0 && scope[at - 1] != var)
      stride *= domains[scope[--at]];
    loops.push_back({domains[var], at > 0 ? stride : 0});
  }
  return loops;
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

Elimination::Elimination(llvm::ArrayRef<unsigned> domains)
    : domains(domains), leaves(domains.size(), -1),
      factorsOf(domains.size()), neighbours(domains.size()) {}

void Elimination::add(llvm::ArrayRef<unsigned> scope,
                      llvm::ArrayRef<int64_t> table) {
  Factor factor;
  factor.table = table;
  for (unsigned var : scope)
    if (domains[var] > 1)
      factor.scope.push_back(var);
  if (factor.scope.empty()) {
    constant = addCosts(constant, table.front());
    return;
  }
  factors.push_back(std::move(factor));
  attach(factors.size() - 1);
}

void Elimination::attach(unsigned index) {
  llvm::ArrayRef<unsigned> scope = factors[index].scope;
  for (unsigned var : scope) {
    factorsOf[var].push_back(index);
    auto &near = neighbours[var];
    for (unsigned other : scope) {
      auto at = llvm::lower_bound(near, other);
      if (other != var && (at == near.end() || *at != other))
        near.insert(at, other);
    }
  }
}

int64_t Elimination::tableSize(unsigned var) const {
  int64_t size = domains[var];
  for (unsigned other : neighbours[var]) {
    size *= domains[other];
    if (size > int64_t(1) << 40)
      break;
  }
  return size;
}

llvm::SmallVector<unsigned, 8> Elimination::liveFactors(unsigned var) const {
  llvm::SmallVector<unsigned, 8> live;
  for (unsigned index : factorsOf[var])
    if (factors[index].live)
      live.push_back(index);
  return live;
}

void Elimination::eliminate(unsigned var) {
  llvm::SmallVector<unsigned, 4> scope(neighbours[var].begin(),
                                       neighbours[var].end());
  int64_t size = 1;
  for (unsigned other : scope)
    size *= domains[other];
  largestWidth = std::max<unsigned>(largestWidth, scope.size());

  // The choices for `var` are the slowest dim, so that the minimum over them
  // runs along the whole table.
  llvm::SmallVector<unsigned, 8> dims{var};
  dims.append(scope.begin(), scope.end());
  std::vector<int64_t> sum(size * domains[var], 0);
  for (unsigned index : liveFactors(var)) {
    auto loops = loopsOver(dims, factors[index].scope, domains);
    coalesce(loops);
    addEntries(sum.data(), factors[index].table.data(), loops);
  }
  for (unsigned value = 1; value < domains[var]; ++value)
    for (int64_t i = 0; i < size; ++i)
      sum[i] = std::min(sum[i], sum[value * size + i]);
  sum.resize(size);
  sum.shrink_to_fit();

  detach(var);
  leaveTable(scope, std::move(sum));
}

/// Takes `var` and its factors out of the graph, and notes them for later.
void Elimination::detach(unsigned var) {
  Step step{var, liveFactors(var)};
  for (unsigned index : step.factors)
    factors[index].live = false;
  for (unsigned other : neighbours[var])
    neighbours[other].erase(llvm::lower_bound(neighbours[other], var));
  factorsOf[var].clear();
  steps.push_back(std::move(step));
}

void Elimination::leaveTable(llvm::ArrayRef<unsigned> scope,
                             std::vector<int64_t> table) {
  if (scope.empty()) {
    constant = addCosts(constant, table.front());
    return;
  }
  // Many leaves of one hub would leave as many tables: add them up.
  int *sum = scope.size() == 1 ? &leaves[scope.front()] : nullptr;
  if (sum && *sum >= 0) {
    for (auto [mine, more] : llvm::zip_equal(ownTables[*sum], table))
      mine = addCosts(mine, more);
    return;
  }
  if (sum)
    *sum = ownTables.size();
  ownTables.push_back(std::move(table));
  Factor factor;
  factor.scope.assign(scope.begin(), scope.end());
  factor.table = ownTables.back();
  factors.push_back(std::move(factor));
  attach(factors.size() - 1);
}

bool Elimination::solve(const Options &options) {
  std::set<std::pair<int64_t, unsigned>> queue;
  std::vector<int64_t> sizes(domains.size());
  for (unsigned var = 0; var < domains.size(); ++var)
    if (domains[var] > 1)
      queue.insert({sizes[var] = tableSize(var), var});

  while (!queue.empty() && queue.begin()->first <= options.tableLimit) {
    unsigned var = queue.begin()->second;
    queue.erase(queue.begin());
    llvm::SmallVector<unsigned, 8> near(neighbours[var].begin(),
                                        neighbours[var].end());
    eliminate(var);
    for (unsigned other : near) {
      queue.erase({sizes[other], other});
      queue.insert({sizes[other] = tableSize(other), other});
    }
  }

  best = constant;
  llvm::SmallVector<unsigned> rest;
  for (auto [size, var] : queue)
    rest.push_back(var);
  return (rest.empty() || searchCore(coreOrder(rest), options.beamWidth)) &&
         best < Forbidden;
}

//===----------------------------------------------------------------------===//
// Beam over what is too dense to eliminate
//===----------------------------------------------------------------------===//

/// Each variable has as many neighbours before it as can be, so that the beam
/// sees the cost of a choice soon.
llvm::SmallVector<unsigned>
Elimination::coreOrder(llvm::ArrayRef<unsigned> vars) const {
  llvm::SmallVector<unsigned> order, before(domains.size(), 0);
  std::vector<unsigned> rest(vars.begin(), vars.end());
  llvm::sort(rest);
  while (!rest.empty()) {
    auto next = std::max_element(
        rest.begin(), rest.end(), [&](unsigned a, unsigned b) {
          return std::pair(before[a], neighbours[a].size()) <
                 std::pair(before[b], neighbours[b].size());
        });
    order.push_back(*next);
    for (unsigned other : neighbours[*next])
      ++before[other];
    rest.erase(next);
  }
  return order;
}

bool Elimination::searchCore(llvm::ArrayRef<unsigned> order,
                             unsigned beamWidth) {
  struct Partial {
    int64_t cost;
    Assignment values; ///< of the variables so far, in `order`
  };
  std::vector<bool> known(domains.size());
  Assignment assignment(domains.size(), 0);
  std::vector<Partial> beam{{constant, {}}};
  for (unsigned var : order) {
    known[var] = true;
    llvm::SmallVector<unsigned, 8> complete;
    for (unsigned index : liveFactors(var))
      if (llvm::all_of(factors[index].scope,
                       [&](unsigned other) { return known[other]; }))
        complete.push_back(index);
    std::vector<Partial> next;
    for (const Partial &partial : beam) {
      for (auto [i, value] : llvm::enumerate(partial.values))
        assignment[order[i]] = value;
      for (unsigned value = 0; value < domains[var]; ++value) {
        assignment[var] = value;
        int64_t cost = addCosts(partial.cost, costOf(complete, assignment));
        if (cost == Forbidden)
          continue;
        next.push_back({cost, partial.values});
        next.back().values.push_back(value);
      }
    }
    llvm::sort(next, [](const Partial &a, const Partial &b) {
      return std::tie(a.cost, a.values) < std::tie(b.cost, b.values);
    });
    if (next.size() > beamWidth)
      next.resize(beamWidth);
    beam = std::move(next);
  }
  for (unsigned var : order)
    core.push_back({var, 0});
  if (beam.empty())
    return false;
  for (auto [i, value] : llvm::enumerate(beam.front().values))
    assignment[order[i]] = value;
  improveCore(assignment);
  return true;
}

/// Changes one variable at a time for as long as that helps.
void Elimination::improveCore(Assignment &assignment) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [var, chosen] : core) {
      auto live = liveFactors(var);
      unsigned at = assignment[var];
      int64_t least = costOf(live, assignment);
      for (unsigned value = 0; value < domains[var]; ++value) {
        assignment[var] = value;
        int64_t cost = costOf(live, assignment);
        if (cost < least) {
          least = cost;
          at = value;
          changed = true;
        }
      }
      assignment[var] = at;
    }
  }
  llvm::SmallVector<unsigned> live;
  for (auto &[var, chosen] : core) {
    chosen = assignment[var];
    live.append(liveFactors(var));
  }
  llvm::sort(live);
  live.erase(std::unique(live.begin(), live.end()), live.end());
  best = addCosts(constant, costOf(live, assignment));
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

int64_t Elimination::valueOf(const Factor &factor,
                             const Assignment &assignment) const {
  int64_t at = 0;
  for (unsigned var : factor.scope)
    at = at * domains[var] + assignment[var];
  return factor.table[at];
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
