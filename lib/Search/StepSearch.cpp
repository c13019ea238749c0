//===- StepSearch.cpp - One axis after the other --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepSearch.h"

#include "Tofu/Search/Alternatives.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <deque>
#include <set>

using namespace mlir::tofu::search;

/// Steps up to which each carries as many plans as it may.
static constexpr unsigned kFewSteps = 3;

/// A number that looks random but is the same on every machine (splitmix64).
static uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

static uint64_t firstValue(unsigned, unsigned value) { return value; }

PlanSpace::States Extension::apply(PlanSpace::States states,
                                   const Assignment &assignment) const {
  for (auto [var, value] : llvm::enumerate(assignment))
    states[var] = choices[var]->states[value];
  return states;
}

/// Where the states are among the choices; nothing if some are not.
static std::optional<Assignment> findIn(const Extension &extension,
                                        const PlanSpace::States &states) {
  Assignment assignment;
  for (auto [choices, state] : llvm::zip_equal(extension.choices, states)) {
    auto at = llvm::find(choices->states, state);
    if (at == choices->states.end())
      return std::nullopt;
    assignment.push_back(at - choices->states.begin());
  }
  return assignment;
}

Extension StepSearch::extend(const PlanSpace::States &states,
                             llvm::ArrayRef<unsigned> axes, CostModel &model) {
  Extension extension;
  extension.choices = space.choices(states, axes, model.getMesh());
  llvm::SmallVector<unsigned> domains;
  for (const PlanSpace::Choices *choices : extension.choices)
    domains.push_back(choices->states.size());
  extension.solver = std::make_unique<Elimination>(domains);
  for (const PlanSpace::Term &term : space.getTerms())
    extension.solver->add(term.scope,
                          space.costs(term, extension.choices, model));
  Elimination::Options limits;
  limits.tableLimit = options.tableLimit;
  std::optional<Assignment> hint = findIn(extension, states);
  extension.solver->solve(limits, hint ? &*hint : nullptr);
  return extension;
}

/// Up to `limit` different optimal assignments. There can be far too many to
/// list, and neighbours in a list are alike, so each follows a preference of
/// its own: first dims, last dims, then orders of the choices that are the same
/// for all variables of a kind (repeated layers are then cut alike), then any.
std::vector<Assignment> StepSearch::tied(const Extension &extension,
                                         size_t limit) {
  if (limit == 1)
    return {extension.solver->optimum(firstValue)};
  std::vector<Assignment> all = extension.solver->optima(limit + 1);
  if (all.size() <= limit)
    return all;
  std::set<Assignment> found;
  std::vector<Assignment> chosen;
  for (uint64_t seed = 0; seed < 2 * limit && chosen.size() < limit; ++seed) {
    auto preference = [&](unsigned var, unsigned value) -> uint64_t {
      if (seed < 2)
        return seed == 0 ? value : ~value;
      unsigned who = seed % 4 ? space.kindOf(var) : ~var;
      return scramble(scramble(scramble(seed) ^ who) ^ value);
    };
    Assignment assignment = extension.solver->optimum(preference);
    if (found.insert(assignment).second)
      chosen.push_back(std::move(assignment));
  }
  return chosen;
}

//===----------------------------------------------------------------------===//
// Recursion
//===----------------------------------------------------------------------===//

Mesh mlir::tofu::search::prefixOf(const Mesh &mesh, unsigned axis) {
  Mesh prefix = mesh;
  prefix.sizes.truncate(axis + 1);
  prefix.names.truncate(std::min<size_t>(axis + 1, prefix.names.size()));
  return prefix;
}

/// Extends all plans by the last axis of `mesh`.
std::vector<Candidate> StepSearch::step(const std::vector<Candidate> &plans,
                                        const Mesh &mesh) {
  CostModel model(mesh, options);
  model.weighMemory(options.memoryWeight);
  std::vector<std::pair<const Candidate *, Extension>> extensions;
  for (const Candidate &plan : plans) {
    extensions.push_back(
        {&plan, extend(plan.states, mesh.numAxes() - 1, model)});
    exact &= extensions.back().second.solver->exact();
  }
  llvm::sort(extensions, [](const auto &a, const auto &b) {
    return std::pair(a.second.solver->minimum(), a.first) <
           std::pair(b.second.solver->minimum(), b.first);
  });

  // A plan that is dearer now may be cheaper in the end, so some stay. Where
  // steps are slow, and not exact, few plans must do, and so where there are
  // many steps.
  unsigned most = options.tiedPlans * kFewSteps / std::max(numSteps, kFewSteps);
  size_t limit = std::max(1u, exact ? most : most / 8);
  if (extensions.size() > llvm::divideCeil(limit, 2))
    extensions.resize(llvm::divideCeil(limit, 2));
  std::vector<Candidate> next;
  for (auto [i, extension] : llvm::enumerate(extensions)) {
    size_t share = llvm::divideCeil(limit - next.size(), extensions.size() - i);
    for (const Assignment &assignment : tied(extension.second, share))
      next.push_back(
          {extension.second.apply(extension.first->states, assignment),
           extension.second.solver->minimum()});
  }
  return next;
}

std::vector<Candidate> StepSearch::recurse(const Mesh &mesh) {
  std::vector<Candidate> plans{{space.start(), 0}};
  numSteps = axesThatSplit(mesh).size();
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
    if (mesh.sizes[axis] == 1)
      continue;
    plans = step(plans, prefixOf(mesh, axis));
  }
  return plans;
}

std::optional<PlanSpace::States> StepSearch::pickRandomly(const Mesh &mesh,
                                                          uint64_t seed) {
  PlanSpace::States states = space.start();
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
    if (mesh.sizes[axis] == 1)
      continue;
    CostModel model(prefixOf(mesh, axis));
    Extension extension;
    extension.choices = space.choices(states, axis, model.getMesh());
    llvm::SmallVector<unsigned> domains;
    for (const PlanSpace::Choices *choices : extension.choices)
      domains.push_back(choices->states.size());
    extension.solver = std::make_unique<Elimination>(domains);
    // All that is not forbidden is equally good.
    std::deque<std::vector<int64_t>> tables;
    for (const PlanSpace::Term &term : space.getTerms()) {
      llvm::ArrayRef<int64_t> costs =
          space.costs(term, extension.choices, model);
      if (!llvm::is_contained(costs, Forbidden))
        continue;
      std::vector<int64_t> &table = tables.emplace_back();
      for (int64_t cost : costs)
        table.push_back(cost == Forbidden ? Forbidden : 0);
      extension.solver->add(term.scope, table);
    }
    Elimination::Options limits;
    limits.tableLimit = options.tableLimit;
    if (!extension.solver->solve(limits))
      return std::nullopt;
    auto preference = [&](unsigned var, unsigned value) {
      return scramble(scramble(scramble(seed + axis) ^ var) ^ value);
    };
    states = extension.apply(std::move(states),
                             extension.solver->optimum(preference));
  }
  return states;
}
