//===- CostModel.cpp - Bytes that a plan moves ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/CostModel.h"

#include "Tofu/Search/ReshardPlanner.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

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

size_t CostModel::KeyHash::operator()(const Key &key) const {
  return llvm::hash_combine_range(key.begin(), key.end());
}

CostModel::Family CostModel::family(const Placement &placement,
                                    llvm::ArrayRef<int64_t> shape) {
  Key key(shape.begin(), shape.end());
  for (const LinearExpr &expr : placement.index) {
    key.append({expr.whole, expr.constant, int64_t(expr.terms.size())});
    for (auto [dim, coefficient] : expr.terms) {
      const Axes &axes = placement.dimAxes[dim];
      key.append(
          {dim, coefficient, placement.dimSizes[dim], int64_t(axes.size())});
      key.append(axes.begin(), axes.end());
    }
  }
  auto [known, isNew] = byPlacement.try_emplace(std::move(key), 0);
  if (!isNew)
    return known->second;

  llvm::SmallVector<Box> boxes = placement.boxes(shape, mesh);
  Key bounds{int64_t(shape.size())};
  for (const Box &box : boxes)
    for (Interval interval : box)
      bounds.append({interval.lo, interval.hi});
  auto [same, isNewFamily] =
      byBoxes.try_emplace(std::move(bounds), families.size());
  if (isNewFamily)
    families.push_back(std::move(boxes));
  return known->second = same->second;
}

CostModel::Need CostModel::operandNeed(const Operator &op, unsigned i,
                                       const Strategy &strategy,
                                       const Value &value,
                                       const Layout *resultLayout) {
  Need need;
  if (strategy.partialOperands >> i & 1)
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

int64_t CostModel::readBytes(const Value &value, const Layout &layout,
                             const Need &need) {
  if (value.constant)
    return 0;
  Family held =
      family(Placement::ofLayout(value.shape, layout.dims), value.shape);
  return value.elementBytes *
         elements(held, layout.partial, need.family, need.partial);
}

int64_t CostModel::writeBytes(const Operator &op, unsigned i,
                              const Strategy &strategy, const Value &value,
                              const Layout &layout) {
  Family produced = family(resultPlacement(op, i, strategy), value.shape);
  Family wanted =
      family(Placement::ofLayout(value.shape, layout.dims), value.shape);
  return value.elementBytes *
         elements(produced, partialAxes(op, strategy), wanted, layout.partial);
}

int64_t CostModel::carryBytes(const Value &value, const Layout &from,
                              const Layout &to) {
  Need need{family(Placement::ofLayout(value.shape, to.dims), value.shape), {}};
  return readBytes(value, from, need);
}

static uint64_t asBits(llvm::ArrayRef<unsigned> axes) {
  uint64_t bits = 0;
  for (unsigned axis : axes)
    bits |= uint64_t(1) << axis;
  return bits;
}

int64_t CostModel::elements(Family from, llvm::ArrayRef<unsigned> fromPartial,
                            Family to, llvm::ArrayRef<unsigned> toPartial) {
  std::pair<uint64_t, uint64_t> key((uint64_t(from) << 32) | to,
                                    (asBits(fromPartial) << 32) |
                                        asBits(toPartial));
  auto [known, isNew] = differences.try_emplace(key, 0);
  if (isNew)
    known->second = receivedElements({boxes(from), fromPartial},
                                     {boxes(to), toPartial}, mesh);
  return known->second;
}
