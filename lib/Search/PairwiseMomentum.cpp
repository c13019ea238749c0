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
  /// Of an edge.
  struct State {
    std::vector<double> toRow, toCol, ownShare;
  };

  void goOn(std::vector<double> &messages, std::vector<double> &before) const;
  void goOnWithShares(const GroupClass &group);
  void takeBack();

  View &view;
  /// By edge: where the pass before began, and from `push` on where this one
  /// did.
  std::vector<State> last;
  std::vector<double> leastOfType;
  double sumOfLeast = 0;
  unsigned steps = 0; ///< passes since a restart
  double speed = 0, mostSpeed = kMostSpeed;
  std::vector<double> least; ///< scratch: of the readers of an entry
};

static void swapShares(std::vector<double> &shares, const double *&share,
                       std::vector<double> &other) {
  std::swap(shares, other);
  if (!shares.empty())
    share = shares.data();
}

bool PairwiseModel::View::Momentum::push() {
  leastOfType.clear();
  for (const Type &type : view.types)
    leastOfType.push_back(type.least);
  sumOfLeast = view.sumOfLeast;
  if (steps == 0) {
    last.clear();
    for (const EdgeClass &edge : view.edges)
      last.push_back({edge.toRow, edge.toCol, edge.ownShare});
    return false;
  }
  speed = std::min(mostSpeed, steps / (steps + 3.0));
  for (auto [edge, before] : llvm::zip_equal(view.edges, last)) {
    goOn(edge.toRow, before.toRow);
    goOn(edge.toCol, before.toCol);
  }
  for (const GroupClass &group : view.groups)
    goOnWithShares(group);
  return true;
}

/// Leaves where messages were in `before`.
void PairwiseModel::View::Momentum::goOn(std::vector<double> &messages,
                                         std::vector<double> &before) const {
  for (auto [mine, other] : llvm::zip_equal(messages, before)) {
    double change = mine - other;
    other = mine + (std::abs(change) < kMostChange ? speed * change : 0);
  }
  std::swap(messages, before);
}

/// Shares stay shares: none is negative, and their sum is the same.
void PairwiseModel::View::Momentum::goOnWithShares(const GroupClass &group) {
  auto edges =
      llvm::MutableArrayRef(view.edges).slice(group.firstEdge, group.numEdges);
  auto before =
      llvm::MutableArrayRef(last).slice(group.firstEdge, edges.size());
  if (edges.size() < 2) {
    for (auto [edge, state] : llvm::zip_equal(edges, before))
      state.ownShare = edge.ownShare;
    return;
  }
  size_t size = edges.front().ownShare.size();
  least.assign(size, 0);
  for (auto [edge, state] : llvm::zip_equal(edges, before)) {
    const double *mine = edge.ownShare.data();
    double *other = state.ownShare.data();
    for (size_t entry = 0; entry < size; ++entry) {
      other[entry] = mine[entry] + speed * (mine[entry] - other[entry]);
      least[entry] = std::min(least[entry], other[entry]);
    }
  }
  for (auto [edge, state] : llvm::zip_equal(edges, before)) {
    const double *mine = edge.ownShare.data();
    double *other = state.ownShare.data();
    for (size_t entry = 0; entry < size; ++entry)
      other[entry] = least[entry] < 0 ? mine[entry] : other[entry];
    swapShares(edge.ownShare, edge.share, state.ownShare);
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
  for (auto [edge, before] : llvm::zip_equal(view.edges, last)) {
    std::swap(edge.toRow, before.toRow);
    std::swap(edge.toCol, before.toCol);
    swapShares(edge.ownShare, edge.share, before.ownShare);
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
