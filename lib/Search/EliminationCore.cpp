//===- EliminationCore.cpp - What is too dense to eliminate ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The variables that elimination leaves are first set by a beam, or as a hint
// says. Then parts of them are solved exactly while the others stay as they
// are, in turns.
//
//===----------------------------------------------------------------------===//

#include "EliminationOrder.h"
#include "Tables.h"
#include "Tofu/Search/Elimination.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace mlir::tofu::search;

bool Elimination::searchCore(llvm::ArrayRef<unsigned> vars,
                             const Options &options, const Assignment *hint) {
  for (unsigned var : vars)
    core.push_back({var, 0});
  llvm::SmallVector<unsigned, 0> of = coreFactors();
  Assignment assignment = hint ? *hint : Assignment(domains.size(), 0);
  if ((!hint || costOf(of, assignment) == Forbidden) &&
      !beam(beamOrder(vars), options.beamWidth, assignment)) {
    best = Forbidden;
    return false;
  }
  descend(vars, assignment);

  std::vector<unsigned> timesFixed(domains.size(), 0);
  unsigned sinceImproved = 0;
  for (unsigned i = 0; i < options.neighbourhoods && sinceImproved < 8; ++i) {
    auto fixed = chooseFixed(of, options.neighbourhoodLimit, timesFixed);
    sinceImproved =
        improve(of, fixed, options, assignment) ? 0 : sinceImproved + 1;
  }
  for (auto &[var, value] : core)
    value = assignment[var];
  best = addCosts(constant, costOf(of, assignment));
  return best < Forbidden;
}

/// The factors that are left, each once.
llvm::SmallVector<unsigned, 0> Elimination::coreFactors() const {
  llvm::SmallVector<unsigned, 0> live;
  for (unsigned index = 0; index < factors.size(); ++index)
    if (factors[index].live)
      live.push_back(index);
  return live;
}

//===----------------------------------------------------------------------===//
// Beam
//===----------------------------------------------------------------------===//

/// Each variable has as many neighbours before it as can be, so that the beam
/// sees the cost of a choice soon.
llvm::SmallVector<unsigned>
Elimination::beamOrder(llvm::ArrayRef<unsigned> vars) const {
  llvm::SmallVector<unsigned> order, before(domains.size(), 0);
  std::vector<unsigned> rest(vars.begin(), vars.end());
  while (!rest.empty()) {
    auto next =
        std::max_element(rest.begin(), rest.end(), [&](unsigned a, unsigned b) {
          return std::pair(before[a], factorsOf[a].size()) <
                 std::pair(before[b], factorsOf[b].size());
        });
    order.push_back(*next);
    for (unsigned index : liveFactors(*next))
      for (unsigned other : factors[index].scope)
        ++before[other];
    rest.erase(next);
  }
  return order;
}

/// Sets the variables of `order` in `assignment`. False if all that the beam
/// met is forbidden.
bool Elimination::beam(llvm::ArrayRef<unsigned> order, unsigned width,
                       Assignment &assignment) const {
  struct Partial {
    int64_t cost;
    Assignment values; ///< of the variables so far, in `order`
  };
  std::vector<bool> known(domains.size());
  std::vector<Partial> best{{0, {}}};
  for (unsigned var : order) {
    known[var] = true;
    llvm::SmallVector<unsigned, 8> complete;
    for (unsigned index : liveFactors(var))
      if (llvm::all_of(factors[index].scope,
                       [&](unsigned other) { return known[other]; }))
        complete.push_back(index);
    std::vector<Partial> next;
    for (const Partial &partial : best) {
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
    if (next.size() > width)
      next.resize(width);
    best = std::move(next);
  }
  if (best.empty())
    return false;
  for (auto [i, value] : llvm::enumerate(best.front().values))
    assignment[order[i]] = value;
  return true;
}

//===----------------------------------------------------------------------===//
// Local search
//===----------------------------------------------------------------------===//

/// Changes one variable at a time for as long as that helps.
void Elimination::descend(llvm::ArrayRef<unsigned> vars,
                          Assignment &assignment) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned var : vars) {
      auto live = liveFactors(var);
      unsigned at = assignment[var];
      int64_t least = costOf(live, assignment);
      for (unsigned value = 0; value < domains[var]; ++value) {
        assignment[var] = value;
        if (int64_t cost = costOf(live, assignment); cost < least) {
          least = cost;
          at = value;
          changed = true;
        }
      }
      assignment[var] = at;
    }
  }
}

/// Variables to leave as they are so that the others can be eliminated with
/// tables of at most `limit` entries: those that were fixed least often so far,
/// and of these the ones with most neighbours.
std::vector<bool>
Elimination::chooseFixed(llvm::ArrayRef<unsigned> of, int64_t limit,
                         std::vector<unsigned> &timesFixed) const {
  EliminationOrder order(domains);
  for (unsigned index : of)
    order.connect(factors[index].scope);
  order.start();
  std::vector<bool> fixed(domains.size(), true);
  for (auto [var, value] : core)
    fixed[var] = false;
  while (!order.empty()) {
    if (order.nextSize() <= limit) {
      order.eliminate(order.next());
      continue;
    }
    // Any variable may be fixed, but one of the next table makes it smaller.
    auto rank = [&](unsigned var) {
      return std::tuple(-int64_t(timesFixed[var]),
                        order.neighboursOf(var).size(), var);
    };
    unsigned chosen = order.next();
    for (unsigned var : order.neighboursOf(order.next()))
      if (rank(var) > rank(chosen))
        chosen = var;
    fixed[chosen] = true;
    ++timesFixed[chosen];
    order.fix(chosen);
  }
  return fixed;
}

/// Solves for the variables that are not fixed. True if that helped.
bool Elimination::improve(llvm::ArrayRef<unsigned> of,
                          const std::vector<bool> &fixed,
                          const Options &options,
                          Assignment &assignment) const {
  llvm::SmallVector<unsigned> free(domains);
  for (unsigned var = 0; var < free.size(); ++var)
    if (fixed[var])
      free[var] = 1;
  Elimination part(free);
  std::deque<std::vector<int64_t>> sections;
  for (unsigned index : of) {
    const Factor &factor = factors[index];
    int64_t size = 1, offset = 0;
    for (unsigned var : factor.scope) {
      size *= free[var];
      offset = offset * domains[var] + (fixed[var] ? assignment[var] : 0);
    }
    llvm::SmallVector<unsigned, 8> vars;
    for (unsigned var : factor.scope)
      if (!fixed[var])
        vars.push_back(var);
    sections.emplace_back(size, 0);
    addEntries(sections.back().data(), tables[factor.table].data() + offset,
               loopsOver(vars, factor.scope, domains));
    part.add(vars, sections.back());
  }
  Options limits = options;
  limits.neighbourhoods = 0;
  // The order may be another one than that of chooseFixed: leave some room.
  limits.tableLimit =
      std::max(options.tableLimit, 16 * options.neighbourhoodLimit);
  int64_t before = costOf(of, assignment);
  if (!part.solve(limits, &assignment) || part.minimum() > before)
    return false;
  Assignment found = part.optimum([](unsigned, unsigned) { return 0; });
  for (auto [var, value] : core)
    if (!fixed[var])
      assignment[var] = found[var];
  return part.minimum() < before;
}
