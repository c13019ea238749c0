//===- Recursive.cpp - Tofu's recursive search ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Elimination.h"
#include "Tofu/Search/PlanSpace.h"
#include "Tofu/Search/Search.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>
#include <memory>
#include <set>

using namespace mlir::tofu::search;

namespace {

/// One plan so far, extended by one more axis in the best ways.
struct Extension {
  std::vector<const PlanSpace::Choices *> choices;
  std::unique_ptr<Elimination> solver;
};

class RecursiveSearch {
public:
  RecursiveSearch(const PartitionGraph &graph, const SearchOptions &options)
      : graph(graph), options(options), space(graph, options) {}

  SearchResult run(const Mesh &mesh);

private:
  void step(const Mesh &mesh);
  Extension extend(const PlanSpace::States &plan, unsigned axis, CostModel &model);
  std::vector<Assignment> tied(const Extension &extension, size_t limit);
  Plan cheapest(const Mesh &mesh);

  const PartitionGraph &graph;
  const SearchOptions &options;
  PlanSpace space;
  /// Plans for the axes so far, all of the least cost.
  std::vector<PlanSpace::States> plans;
  SearchResult result;
};

} // namespace

/// A number that looks random but is the same on every machine (splitmix64).
static uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// The mesh of the first `axes` axes.
static Mesh prefix(const Mesh &mesh, unsigned axes) {
  Mesh part = mesh;
  part.sizes.truncate(axes);
  part.names.truncate(std::min<size_t>(axes, part.names.size()));
  return part;
}

Extension RecursiveSearch::extend(const PlanSpace::States &plan, unsigned axis,
                                  CostModel &model) {
  Extension extension;
  extension.choices = space.choices(plan, axis, model.getMesh());
  llvm::SmallVector<unsigned> domains;
  for (const PlanSpace::Choices *choices : extension.choices)
    domains.push_back(choices->states.size());
  extension.solver = std::make_unique<Elimination>(domains);
  for (const PlanSpace::Term &term : space.getTerms())
    extension.solver->add(term.scope,
                          space.costs(term, extension.choices, model));
  Elimination::Options limits;
  limits.tableLimit = options.tableLimit;
  extension.solver->solve(limits);
  return extension;
}

/// Up to `limit` different optimal assignments. There can be far too many to
/// list, and neighbours in a list are alike, so each follows a preference of
/// its own: first dims, last dims, then orders of the choices that are the same
/// for all variables of a kind (repeated layers are then cut alike), then any.
std::vector<Assignment> RecursiveSearch::tied(const Extension &extension,
                                              size_t limit) {
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

/// Extends all plans by the last axis of `mesh` and keeps the best.
void RecursiveSearch::step(const Mesh &mesh) {
  CostModel model(mesh);
  std::vector<std::pair<size_t, Extension>> best;
  int64_t least = Forbidden;
  for (auto [i, plan] : llvm::enumerate(plans)) {
    Extension extension = extend(plan, mesh.numAxes()-1, model);
    if (extension.solver->minimum() < least) {
      least = extension.solver->minimum();
      best.clear();
    }
    if (extension.solver->minimum() == least)
      best.push_back({i, std::move(extension)});
  }

  std::vector<PlanSpace::States> next;
  size_t limit = std::max(1u, options.tiedPlans);
  size_t each = llvm::divideCeil(limit, best.size());
  for (auto &[i, extension] : best) {
    result.exact &= extension.solver->exact();
    for (const Assignment &assignment : tied(extension, each)) {
      PlanSpace::States states = plans[i];
      for (auto [var, value] : llvm::enumerate(assignment))
        states[var] = extension.choices[var]->states[value];
      next.push_back(std::move(states));
    }
  }
  if (next.size() > limit)
    next.resize(limit);
  plans = std::move(next);
}

/// The plan that moves the least under the charge that was asked for.
Plan RecursiveSearch::cheapest(const Mesh &mesh) {
  CostModel model(mesh);
  Plan best;
  for (const PlanSpace::States &states : plans) {
    Plan plan = space.planOf(states, mesh);
    countBytes(graph, plan, options.charge, model);
    if (best.strategies.empty() || plan.totalBytes < best.totalBytes)
      best = std::move(plan);
  }
  return best;
}

SearchResult RecursiveSearch::run(const Mesh &mesh) {
  plans = {space.start()};
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    if (mesh.sizes[axis] > 1)
      step(prefix(mesh, axis + 1));
  if (getenv("POLISH")) { CostModel model(mesh); int64_t bestAll=Forbidden; std::vector<PlanSpace::States> out; int n=0; for (auto &plan : plans) { int64_t cur=Forbidden, first=0; unsigned still=0; int solves=0;
      for (unsigned axis=0; still<mesh.numAxes(); axis=(axis+1)%mesh.numAxes()) { auto e=extend(plan,axis,model); ++solves; int64_t m=e.solver->minimum(); if(!first) first=m; if (m<cur) {cur=m; still=0;} else ++still;
        auto a=e.solver->optimum([](unsigned,unsigned v)->uint64_t{return v;}); for (auto [var,v]: llvm::enumerate(a)) plan[var]=e.choices[var]->states[v]; }
      fprintf(stderr,"polish %d: first %ld -> %ld (%d solves)\n", n++, (long)first,(long)cur,solves); if(n>6)break; } }
  result.plan = cheapest(mesh);
  if (!result.exact)
    result.remarks.push_back(
        "the program is too densely connected for an exact search: a beam "
        "search chose part of the plan");
  return std::move(result);
}

SearchResult mlir::tofu::search::searchRecursive(const PartitionGraph &graph,
                                                 const Mesh &mesh,
                                                 const SearchOptions &options) {
  auto start = std::chrono::steady_clock::now();
  SearchResult result = RecursiveSearch(graph, options).run(mesh);
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  result.seconds = elapsed.count();
  return result;
}
