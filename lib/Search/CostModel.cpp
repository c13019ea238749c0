//===- CostModel.cpp - What a plan costs ----------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/CostModel.h"

#include "Families.h"
#include "OperandSet.h"

#include "Tofu/Search/Elimination.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir::tofu::search;

Axes mlir::tofu::search::without(llvm::ArrayRef<unsigned> axes,
                                 llvm::ArrayRef<unsigned> other) {
  Axes rest;
  for (unsigned axis : axes)
    if (!llvm::is_contained(other, axis))
      rest.push_back(axis);
  return rest;
}

bool mlir::tofu::search::needsResultLayout(const Operator &op, unsigned i,
                                           const Strategy &strategy) {
  return op.operands[i].initOf >= 0 && !reductionAxes(op, strategy).empty();
}

CostModel::CostModel(Mesh mesh)
    : families(std::make_unique<Families>(std::move(mesh))) {}

CostModel::CostModel(Mesh mesh, const Rates &its) : CostModel(std::move(mesh)) {
  rates = its;
  scale = double(its.numDevices) / double(getMesh().numDevices());
}

CostModel::CostModel(Mesh mesh, const SearchOptions &options)
    : CostModel(std::move(mesh)) {
  if (options.objective == Objective::Bytes)
    return;
  rates = *options.rates;
  scale = double(rates->numDevices) / double(getMesh().numDevices());
  minimisesTime = true;
}

static bool areSame(llvm::ArrayRef<LinearExpr> a,
                    llvm::ArrayRef<LinearExpr> b) {
  return llvm::equal(a, b, [](const LinearExpr &x, const LinearExpr &y) {
    return x.whole == y.whole && x.constant == y.constant && x.terms == y.terms;
  });
}

bool mlir::tofu::search::isReadBefore(const Operator &op, unsigned i) {
  const Operand &mine = op.operands[i];
  return llvm::any_of(
      llvm::ArrayRef(op.operands).take_front(i), [&](const Operand &other) {
        return other.value == mine.value && areSame(other.index, mine.index);
      });
}

CostModel::CostModel(CostModel &&) = default;
CostModel &CostModel::operator=(CostModel &&) = default;
CostModel::~CostModel() = default;

const Mesh &CostModel::getMesh() const { return families->getMesh(); }

CostModel::Family CostModel::family(const Placement &placement,
                                    llvm::ArrayRef<int64_t> shape) {
  return families->add(placement, shape);
}

CostModel::Shards CostModel::layoutShards(const Value &value,
                                          const Layout &layout) {
  return {family(Placement::ofLayout(value.shape, layout.dims), value.shape),
          layout.partial};
}

CostModel::Shards CostModel::carriedShards(const Value &value,
                                           const Layout &layout) {
  return {layoutShards(value, layout).family, {}};
}

CostModel::Shards CostModel::operandShards(const Operator &op, unsigned i,
                                           const Strategy &strategy,
                                           const Value &value,
                                           const Layout *resultLayout) {
  Shards need;
  if (hasOperand(strategy.partialOperands, i))
    need.partial = strategy.partial;
  if (!needsResultLayout(op, i, strategy)) {
    need.family = family(operandPlacement(op, i, strategy), value.shape);
    return need;
  }
  need.family =
      family(Placement::ofLayout(value.shape, resultLayout->dims), value.shape);
  // An initial value that comes in partial can only be added to a result that
  // is left partial over the same axes.
  need.partial =
      without(need.partial, without(need.partial, resultLayout->partial));
  return need;
}

CostModel::Shards CostModel::resultShards(const Operator &op, unsigned i,
                                          const Strategy &strategy,
                                          const Value &value) {
  return {family(resultPlacement(op, i, strategy), value.shape),
          partialAxes(op, strategy)};
}

int64_t CostModel::movedBytes(const Value &value, const Shards &from,
                              const Shards &to) {
  return value.constant ? 0 : value.elementBytes * elements(from, to);
}

int64_t CostModel::movedCost(const Value &value, const Shards &from,
                             const Shards &to) {
  return minimisesTime ? movedTime(value, from, to)
                       : movedBytes(value, from, to);
}

bool CostModel::isView(const Shards &held, const Shards &need) {
  if (!without(held.partial, need.partial).empty() ||
      !without(need.partial, held.partial).empty())
    return false;
  if (need.family == held.family)
    return true;
  auto [known, isNew] = within.try_emplace({need.family, held.family}, false);
  if (isNew)
    known->second = families->areWithin(need.family, held.family);
  return known->second;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static constexpr double kPicoseconds = 1e12;

/// What must not be taken for Forbidden is far less; see mostTime.
static int64_t clampTime(double picoseconds) {
  return int64_t(std::clamp<double>(picoseconds, 0, double(Forbidden - 1)));
}

int64_t mlir::tofu::search::asPicoseconds(double seconds) {
  return clampTime(std::round(seconds * kPicoseconds));
}

int64_t mlir::tofu::search::asFewerPicoseconds(double seconds) {
  // More than what sums in another order round to.
  return clampTime(std::floor(seconds * (1 - 1e-12) * kPicoseconds));
}

const Regions &CostModel::regionsOf(Family family, uint64_t axes) {
  auto known = regions.find({family, axes});
  if (known == regions.end())
    known = regions
                .try_emplace({family, axes},
                             Regions(families->boxes(family), axes, getMesh()))
                .first;
  return known->second;
}

int64_t CostModel::movedTime(const Value &value, const Shards &from,
                             const Shards &to) {
  if (value.constant || from == to)
    return 0;
  auto [known, isNew] = crossings.try_emplace(keyOf(from, to), 0, 0);
  if (isNew) {
    auto getHeld = [&](uint64_t axes) -> const Regions & {
      return regionsOf(from.family, axes);
    };
    auto getNeeded = [&](uint64_t axes) -> const Regions & {
      return regionsOf(to.family, axes);
    };
    llvm::SmallVector<double, 4> received = elementsPerAxis(
        getHeld, getNeeded, PartialAxes(from.partial, to.partial, getMesh()),
        getMesh());
    auto &[latency, perByte] = known->second;
    for (auto [axis, elements] : llvm::enumerate(received)) {
      if (elements <= 0)
        continue;
      latency += rates->axes[axis].latency;
      perByte += elements / (rates->axes[axis].bandwidth * scale);
    }
  }
  auto [latency, perByte] = known->second;
  return asPicoseconds(double(value.times) * latency +
                       double(value.elementBytes) * perByte);
}

double mlir::tofu::search::workSeconds(const Operator &op, double points,
                                       double bytes, const Rates &rates) {
  double seconds =
      std::max(points * double(op.flops) / rates.flops[size_t(op.precision)],
               bytes / rates.memoryBandwidth);
  return double(op.times) * seconds;
}

int64_t CostModel::workTime(const PartitionGraph &graph, const Operator &op,
                            const Strategy &strategy) {
  // The first device has the largest part of every dim.
  double points = 1;
  for (auto [dim, axes] : llvm::zip_equal(op.dims, strategy.dims))
    points *= double(largestPart(dim.size, axes, getMesh()));
  double bytes = 0;
  auto add = [&](unsigned number, const Placement &placement) {
    const Value &value = graph.values[number];
    bytes +=
        value.bytesOnce() * double(largest(family(placement, value.shape)));
  };
  for (auto [i, operand] : llvm::enumerate(op.operands))
    if (!isReadBefore(op, i))
      add(operand.value, operandPlacement(op, i, strategy));
  for (auto [i, result] : llvm::enumerate(op.results))
    add(result.value, resultPlacement(op, i, strategy));
  return asPicoseconds(workSeconds(op, points, bytes, *rates) / scale);
}

int64_t CostModel::workCost(const PartitionGraph &graph, const Operator &op,
                            const Strategy &strategy) {
  if (!minimisesTime)
    return 0;
  return std::llround((1 - memoryWeight) *
                      double(workTime(graph, op, strategy)));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t CostModel::largest(Family family) {
  return families->largestVolume(family);
}

llvm::SmallVector<int64_t> CostModel::volumes(Family family) {
  if (std::optional<int64_t> all = families->uniformVolume(family))
    return {*all};
  llvm::SmallVector<int64_t> each;
  for (const Box &box : families->boxes(family))
    each.push_back(volume(box));
  return each;
}

int64_t CostModel::mix(int64_t moved, int64_t heldElements,
                       const Value &value) const {
  double held = double(heldElements) * double(value.elementBytes);
  if (minimisesTime) {
    double slowest = rates->axes.empty() ? 1 : rates->axes.front().bandwidth;
    for (const Link &link : rates->axes)
      slowest = std::min(slowest, link.bandwidth);
    held *= kPicoseconds / (slowest * scale);
  } else {
    held *= double(getMesh().numDevices());
  }
  return std::llround((1 - memoryWeight) * double(moved) + memoryWeight * held);
}

int64_t CostModel::readCost(const Value &value, const Shards &held,
                            const Shards &need) {
  int64_t moved = movedCost(value, held, need);
  if (memoryWeight == 0 || value.constant)
    return moved;
  return mix(moved, isView(held, need) ? 0 : largest(need.family), value);
}

int64_t CostModel::writeCost(const Value &value, const Shards &made,
                             const Shards &held) {
  int64_t moved = movedCost(value, made, held);
  if (memoryWeight == 0)
    return moved;
  bool isThere =
      made.family == held.family && without(made.partial, held.partial).empty();
  return mix(moved, largest(held.family) + (isThere ? 0 : largest(made.family)),
             value);
}

CostModel::Difference CostModel::keyOf(const Shards &from, const Shards &to) {
  return {(uint64_t(from.family) << 32) | to.family,
          (asBits(from.partial) << 32) | asBits(to.partial)};
}

int64_t CostModel::elements(const Shards &from, const Shards &to) {
  if (from.partial.empty() && to.partial.empty() && families->hasFewDevices())
    return families->movedElements(from.family, to.family);
  auto [known, isNew] = differences.try_emplace(keyOf(from, to), 0);
  if (isNew)
    known->second = families->receivedElements(from.family, from.partial,
                                               to.family, to.partial);
  return known->second;
}
