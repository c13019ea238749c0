//===- PairwiseMomentum.cpp - Passes that gather speed --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass moves costs by one neighbourhood of what looks alike, so that through
// many layers alike it takes many passes which all change the same by about as
// much. So messages and shares go on as they went in the pass before, with a
// factor that grows from pass to pass (Nesterov, "A method of solving a convex
// programming problem with convergence rate O(1/k^2)", 1983), and begin anew
// where that was too far (O'Donoghue and Candes, "Adaptive restart for
// accelerated gradient schemes", 2015). Any messages give a bound, so nothing
// can go wrong but the time of a pass.
//
//===----------------------------------------------------------------------===//

#include "Clock.h"
#include "PairwiseView.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir::tofu::search;

/// How far passes go on at most, as a part of the change of the one before, and
/// what becomes of that where it was too far and where it wasn't.
static constexpr double kMostSpeed = 0.9, kSlower = 0.7, kFaster = 1.1;
/// Changes that come of forbidden costs are no direction.
static constexpr double kMostChange = double(Forbidden) / 64;

class PairwiseModel::View::Momentum {
public:
  explicit Momentum(View &view) : view(view) {}

  /// Goes on as the pass before went. False if there was none.
  bool push();

  /// To be called after a pass that began where the bound was `before`; takes
  /// it back if that is less now.
  void settle(double before);

  /// The next pass goes nowhere on its own.
  void rest() { steps = 0; }

  bool isResting() const { return steps == 0; }

private:
  /// Of all edges, in their order.
  struct State {
    std::vector<double> messages, shares;
  };

  void save();
  void pushMessages(std::vector<double> &messages, size_t at);
  void pushShares(const GroupClass &group, size_t at);
  void takeBack();

  View &view;
  State now, last; ///< where this pass began, and the one before
  std::vector<double> leastOfType;
  double sumOfLeast = 0;
  unsigned steps = 0; ///< passes since a restart
  double speed = 0, mostSpeed = kMostSpeed;
  std::vector<double> least; ///< scratch: of the readers of an entry
};

void PairwiseModel::View::Momentum::save() {
  now.messages.clear();
  now.shares.clear();
  for (const EdgeClass &edge : view.edges) {
    llvm::append_range(now.messages, edge.toRow);
    llvm::append_range(now.messages, edge.toCol);
    llvm::append_range(now.shares, edge.ownShare);
  }
  leastOfType.clear();
  for (const Type &type : view.types)
    leastOfType.push_back(type.least);
  sumOfLeast = view.sumOfLeast;
}

bool PairwiseModel::View::Momentum::push() {
  std::swap(now, last);
  save();
  speed = std::min(mostSpeed, steps / (steps + 3.0));
  if (steps == 0)
    return false;
  size_t at = 0;
  for (EdgeClass &edge : view.edges) {
    pushMessages(edge.toRow, at);
    pushMessages(edge.toCol, at + edge.toRow.size());
    at += edge.toRow.size() + edge.toCol.size();
  }
  at = 0;
  for (const GroupClass &group : view.groups) {
    pushShares(group, at);
    for (unsigned i = 0; i < group.numEdges; ++i)
      at += view.edges[group.firstEdge + i].ownShare.size();
  }
  return true;
}

/// Messages and shares are at `at` of a state.
void PairwiseModel::View::Momentum::pushMessages(std::vector<double> &messages,
                                                 size_t at) {
  const double *mine = &now.messages[at], *before = &last.messages[at];
  for (size_t i = 0; i < messages.size(); ++i) {
    double change = mine[i] - before[i];
    messages[i] += std::abs(change) < kMostChange ? speed * change : 0;
  }
}

/// Shares stay shares: none is negative, and their sum is the same.
void PairwiseModel::View::Momentum::pushShares(const GroupClass &group,
                                               size_t at) {
  if (group.numEdges < 2)
    return;
  auto edges =
      llvm::MutableArrayRef(view.edges).slice(group.firstEdge, group.numEdges);
  size_t size = edges.front().ownShare.size();
  auto pushed = [&](const double *mine, const double *before, size_t entry) {
    return mine[entry] + speed * (mine[entry] - before[entry]);
  };
  least.assign(size, 0);
  for (size_t reader = 0; reader < edges.size(); ++reader) {
    const double *mine = &now.shares[at + reader * size],
                 *before = &last.shares[at + reader * size];
    for (size_t entry = 0; entry < size; ++entry)
      least[entry] = std::min(least[entry], pushed(mine, before, entry));
  }
  for (size_t reader = 0; reader < edges.size(); ++reader) {
    const double *mine = &now.shares[at + reader * size],
                 *before = &last.shares[at + reader * size];
    double *share = edges[reader].ownShare.data();
    for (size_t entry = 0; entry < size; ++entry)
      share[entry] =
          least[entry] < 0 ? share[entry] : pushed(mine, before, entry);
  }
}

void PairwiseModel::View::Momentum::settle(double before) {
  if (view.bound() < before && steps > 0) {
    takeBack();
    mostSpeed *= kSlower;
    return;
  }
  ++steps;
  mostSpeed = std::min(kMostSpeed, kFaster * mostSpeed);
}

void PairwiseModel::View::Momentum::takeBack() {
  const double *messages = now.messages.data(), *shares = now.shares.data();
  auto restore = [](std::vector<double> &values, const double *&from) {
    std::copy_n(from, values.size(), values.begin());
    from += values.size();
  };
  for (EdgeClass &edge : view.edges) {
    restore(edge.toRow, messages);
    restore(edge.toCol, messages);
    restore(edge.ownShare, shares);
  }
  for (auto [type, cost] : llvm::zip_equal(view.types, leastOfType))
    type.least = cost;
  view.sumOfLeast = sumOfLeast;
  steps = 0;
}

/// There and back. False if nothing is left.
bool PairwiseModel::View::pass(double upper, Momentum &momentum) {
  for (const GroupClass &group : groups)
    rebalance(group);
  // Costs of edges may be negative then, until all were seen again.
  bool isBound = !momentum.push();
  for (unsigned number = 0; number < classes.size(); ++number)
    if (!visit(number, /*forwards=*/true, isBound ? upper : kInfinity))
      return false;
  for (const GroupClass &group : groups)
    rebalance(group);
  for (unsigned number = classes.size(); number-- > 0;)
    if (!visit(number, /*forwards=*/false, upper))
      return false;
  return true;
}

/// Goes on while passes help.
void PairwiseModel::View::raise(const Options &options, double seconds,
                                double upper, unsigned &passes) {
  Clock clock;
  Momentum momentum(*this);
  unsigned most = passes + options.passes;
  for (double before = bound(); passes < most && clock.seconds() < seconds;
       before = bound()) {
    ++passes;
    bool isPlain = momentum.isResting();
    if (!pass(upper, momentum))
      return;
    momentum.settle(before);
    // Costs are whole numbers.
    if (upper - bound() < 0.5 || options.isClose(bound(), upper))
      return;
    if (bound() - before >= options.leastProgress * (upper - bound()))
      continue;
    if (isPlain)
      return;
    momentum.rest();
  }
}
