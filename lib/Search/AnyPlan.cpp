//===- AnyPlan.cpp - A random plan out of all that are valid --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What people may write, and no search would: axes in any order, parts that are
// empty, work repeated for no reason.
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Search.h"

#include "OperandSet.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>
#include <random>

using namespace mlir::tofu::search;

namespace {
class AnyPlan {
public:
  AnyPlan(const PartitionGraph &graph, const Mesh &mesh,
          const SearchOptions &options)
      : graph(graph), options(options), engine(options.seed) {
    plan.mesh = mesh;
  }

  Plan make() {
    for (const Value &value : graph.values)
      plan.layouts.push_back({pickCuts(value.shape.size(), {}), {}});
    for (const auto &values : graph.tied)
      for (unsigned value : values)
        plan.layouts[value] = plan.layouts[values.front()];
    for (const Operator &op : graph.operators)
      plan.strategies.push_back(pickStrategy(op));
    obey(graph, plan);
    countBytes(graph, plan, options.charge);
    return std::move(plan);
  }

private:
  unsigned below(unsigned count) { return engine() % count; }

  /// Each axis but those of `used` on some dim, or on none, in any order.
  llvm::SmallVector<Axes, 4> pickCuts(unsigned rank, const Axes &used) {
    llvm::SmallVector<Axes, 4> dims(rank);
    std::vector<unsigned> axes(plan.mesh.numAxes());
    std::iota(axes.begin(), axes.end(), 0);
    for (unsigned i = axes.size(); i > 1; --i)
      std::swap(axes[i - 1], axes[below(i)]);
    for (unsigned axis : axes)
      if (unsigned dim = below(rank + 1);
          dim < rank && !llvm::is_contained(used, axis))
        dims[dim].push_back(axis);
    return dims;
  }

  /// Operators are in program order, so that the layouts of what they read are
  /// known.
  Strategy pickStrategy(const Operator &op) {
    Strategy strategy;
    if (!op.linear.empty())
      pickPartials(op, strategy);
    strategy.dims = pickCuts(op.dims.size(), strategy.partial);
    for (unsigned dim = 0; dim < op.dims.size(); ++dim)
      if (!isSplittable(op.dims, dim, strategy.dims, plan.mesh))
        strategy.dims[dim].clear();
    if (options.partials)
      for (const Result &result : op.results)
        leavePartial(result.value, sumPartialAxes(op, strategy));
    return strategy;
  }

  /// Lets the axes through over which all operands of a set are partial.
  void pickPartials(const Operator &op, Strategy &strategy) {
    uint64_t set = op.linear[below(op.linear.size())];
    Axes common;
    for (unsigned axis = 0; axis < plan.mesh.numAxes(); ++axis) {
      bool all = set != 0;
      for (auto [i, operand] : llvm::enumerate(op.operands))
        if (hasOperand(set, i))
          all &= llvm::is_contained(plan.layouts[operand.value].partial, axis);
      if (all)
        common.push_back(axis);
    }
    if (common.empty())
      return;
    strategy.partial = common;
    strategy.partialOperands = set;
  }

  /// Leaves a value partial over some of `axes`, which then don't cut it.
  void leavePartial(unsigned value, const Axes &axes) {
    if (graph.values[value].neverPartial || graph.values[value].constant)
      return;
    Layout &layout = plan.layouts[value];
    for (unsigned axis : axes)
      if (below(3) != 0)
        layout.partial.push_back(axis);
    for (Axes &dim : layout.dims)
      llvm::erase_if(dim, [&](unsigned axis) {
        return llvm::is_contained(layout.partial, axis);
      });
  }

  const PartitionGraph &graph;
  const SearchOptions &options;
  /// The same on every machine, which the library's distributions are not.
  std::mt19937_64 engine;
  Plan plan;
};
} // namespace

SearchResult mlir::tofu::search::searchAny(const PartitionGraph &graph,
                                           const Mesh &mesh,
                                           const SearchOptions &options) {
  SearchResult result;
  result.plan = AnyPlan(graph, mesh, options).make();
  return result;
}
