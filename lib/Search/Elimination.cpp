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

Elimination::Elimination(llvm::ArrayRef<unsigned> domains)
    : domains(domains), leaves(domains.size(), -1), factorsOf(domains.size()) {}

void Elimination::add(llvm::ArrayRef<unsigned> scope,
                      llvm::ArrayRef<int64_t> table) {
  Factor factor;
  factor.table = table;
  for (unsigned var : scope)
    if (domains[var] > 1)
      factor.scope.push_back(var);
  if (factor.scope.empty())
    constant = addCosts(constant, table.front());
  else
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

int64_t Elimination::largestTable() const {
  EliminationOrder order(domains);
  for (const Factor &factor : factors)
    order.connect(factor.scope);
  int64_t largest = 1;
  for (order.start(); !order.empty(); order.eliminate(order.next()))
    largest = std::max(largest, order.nextSize());
  return largest;
}

bool Elimination::solve(const Options &options, const Assignment *hint) {
  EliminationOrder order(domains);
  for (const Factor &factor : factors)
    order.connect(factor.scope);
  order.start();
  while (!order.empty() && order.nextSize() <= options.tableLimit) {
    unsigned var = order.next();
    eliminate(var, order.neighboursOf(var));
    order.eliminate(var);
  }
  best = constant;
  if (!order.empty())
    return searchCore(order.rest(), options, hint);
  return best < Forbidden;
}

void Elimination::eliminate(unsigned var, llvm::ArrayRef<unsigned> scope) {
  int64_t size = 1;
  for (unsigned other : scope)
    size *= domains[other];
  largestWidth = std::max<unsigned>(largestWidth, scope.size());

  // The choices for `var` are the slowest dim, so that the minimum over them
  // runs along the whole table.
  llvm::SmallVector<unsigned, 8> dims{var};
  dims.append(scope.begin(), scope.end());
  std::vector<int64_t> sum(size * domains[var], 0);
  Step step{var, liveFactors(var)};
  for (unsigned index : step.factors) {
    Factor &factor = factors[index];
    addEntries(sum.data(), factor.table.data(),
               loopsOver(dims, factor.scope, domains));
    factor.live = false;
  }
  for (unsigned value = 1; value < domains[var]; ++value)
    for (int64_t i = 0; i < size; ++i)
      sum[i] = std::min(sum[i], sum[value * size + i]);
  sum.resize(size);
  sum.shrink_to_fit();
  steps.push_back(std::move(step));
  leaveTable(scope, std::move(sum));
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
