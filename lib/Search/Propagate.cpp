//===- Propagate.cpp - What is pinned spreads -----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clock.h"
#include "Tofu/Search/Alternatives.h"
#include "Tofu/Search/Search.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <set>

using namespace mlir::tofu::search;

/// Whether some dim is cut by `axis`.
static bool isUsed(const DimCuts &cuts, unsigned axis) {
  return llvm::any_of(
      cuts, [&](const Axes &axes) { return llvm::is_contained(axes, axis); });
}

namespace {

class Propagation {
public:
  Propagation(const PartitionGraph &graph, const Mesh &mesh) : graph(graph) {
    plan.mesh = mesh;
    for (const Operator &op : graph.operators) {
      plan.strategies.emplace_back().dims.resize(op.dims.size());
      if (op.pinned)
        priorities.insert(op.priority);
    }
    for (const Value &value : graph.values) {
      plan.layouts.emplace_back().dims.resize(value.shape.size());
      valueDims.push_back(dimsOf(value));
      if (value.pinned)
        priorities.insert(value.priority);
    }
  }

  bool isPinned() const { return !priorities.empty(); }

  Plan make() {
    for (int64_t priority : priorities) {
      setPins(priority);
      while (spread())
        ;
    }
    obey(graph, plan);
    return std::move(plan);
  }

private:
  void setPins(int64_t priority) {
    for (auto [op, strategy] :
         llvm::zip_equal(graph.operators, plan.strategies))
      if (op.pinned && op.priority == priority)
        strategy = *op.pinned;
    for (auto [value, layout] : llvm::zip_equal(graph.values, plan.layouts))
      if (value.pinned && value.priority == priority)
        layout = *value.pinned;
  }

  /// Once forwards and once backwards. False if that changed nothing.
  bool spread() {
    bool changed = false;
    unsigned count = graph.operators.size();
    for (unsigned i = 0; i < count; ++i)
      changed |= spreadThrough(i);
    changed |= spreadCarried();
    for (unsigned i = count; i-- > 0;)
      changed |= spreadThrough(i);
    return changed;
  }

  bool spreadThrough(unsigned index) {
    const Operator &op = graph.operators[index];
    bool changed = false;
    for (const Operand &operand : op.operands)
      changed |= reachOperator(index, operand.value, operand.index);
    for (const Result &result : op.results)
      changed |= reachOperator(index, result.value, result.index);
    for (const Operand &operand : op.operands)
      changed |= reachValue(index, operand.value, operand.index);
    for (const Result &result : op.results)
      changed |= reachValue(index, result.value, result.index);
    return changed;
  }

  /// Cuts `dim` of what is cut by `cuts` by those of `axes` that may. A dim is
  /// cut by a prefix of what cuts the other one, so that parts fit together.
  bool add(llvm::ArrayRef<IterationDim> dims, unsigned dim, const Axes &axes,
           DimCuts &cuts) {
    bool changed = false;
    for (unsigned axis : axes) {
      if (llvm::is_contained(cuts[dim], axis))
        continue;
      if (isUsed(cuts, axis) || !isSplittable(dims, dim, cuts, plan.mesh) ||
          smallestPart(dims[dim].size, cuts[dim], plan.mesh) <
              plan.mesh.sizes[axis])
        break;
      cuts[dim].push_back(axis);
      changed = true;
    }
    return changed;
  }

  bool reachOperator(unsigned index, unsigned value,
                     llvm::ArrayRef<LinearExpr> indices) {
    const Operator &op = graph.operators[index];
    if (op.pinned || graph.values[value].constant)
      return false;
    bool changed = false;
    for (auto [expr, axes] : llvm::zip_equal(indices, plan.layouts[value].dims))
      for (unsigned dim = 0; dim < op.dims.size(); ++dim)
        if (expr.isDim(dim))
          changed |= add(op.dims, dim, axes, plan.strategies[index].dims);
    return changed;
  }

  bool reachValue(unsigned index, unsigned value,
                  llvm::ArrayRef<LinearExpr> indices) {
    if (graph.values[value].constant)
      return false;
    bool changed = false;
    const DimCuts &cuts = plan.strategies[index].dims;
    for (auto [at, expr] : llvm::enumerate(indices))
      for (unsigned dim = 0; dim < cuts.size(); ++dim)
        if (expr.isDim(dim))
          changed |= addToValue(value, at, cuts[dim]);
    return changed;
  }

  /// Values that are tied are cut together.
  bool addToValue(unsigned value, unsigned dim, const Axes &axes) {
    if (graph.values[value].pinned ||
        !add(valueDims[value], dim, axes, plan.layouts[value].dims))
      return false;
    for (const auto &values : graph.tied)
      if (llvm::is_contained(values, value))
        for (unsigned other : values)
          plan.layouts[other] = plan.layouts[value];
    return true;
  }

  bool spreadCarried() {
    bool changed = false;
    for (auto [from, to, after] : graph.carried)
      for (unsigned dim = 0; dim < graph.values[from].shape.size(); ++dim) {
        changed |= addToValue(to, dim, plan.layouts[from].dims[dim]);
        changed |= addToValue(from, dim, plan.layouts[to].dims[dim]);
      }
    return changed;
  }

  const PartitionGraph &graph;
  Plan plan;
  std::vector<llvm::SmallVector<IterationDim, 4>> valueDims;
  std::set<int64_t, std::greater<>> priorities;
};

} // namespace

SearchResult
mlir::tofu::search::searchPropagation(const PartitionGraph &graph,
                                      const Mesh &mesh,
                                      const SearchOptions &options) {
  Clock clock;
  SearchResult result;
  Propagation propagation(graph, mesh);
  if (!propagation.isPinned())
    result.remarks.push_back("nothing is pinned, so that nothing is cut");
  result.plan = propagation.make();
  countBytes(graph, result.plan, options.charge);
  result.seconds = clock.seconds();
  return result;
}
