//===- Baselines.cpp - What the Tofu paper compares with ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clock.h"
#include "Tofu/Search/Alternatives.h"
#include "Tofu/Search/CostModel.h"
#include "Tofu/Search/Search.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tofu::search;

//===----------------------------------------------------------------------===//
// Without reductions
//===----------------------------------------------------------------------===//

SearchResult
mlir::tofu::search::searchWithoutReductions(const PartitionGraph &graph,
                                            const Mesh &mesh,
                                            const SearchOptions &options) {
  PartitionGraph whole = graph;
  for (Operator &op : whole.operators)
    for (IterationDim &dim : op.dims)
      if (dim.kind == DimKind::Reduction && !op.pinned)
        dim.kind = DimKind::Unsplittable;
  // What moves doesn't depend on what might have been cut.
  SearchResult result = searchKBest(whole, mesh, options);
  // Among plans that cut reductions there may be better ones.
  result.lowerBound.reset();
  return result;
}

//===----------------------------------------------------------------------===//
// One dim for all axes
//===----------------------------------------------------------------------===//

static void spellOut(Axes &axes, const Axes &all) {
  if (!axes.empty())
    axes = all;
}

SearchResult mlir::tofu::search::searchEqualChop(const PartitionGraph &graph,
                                                 const Mesh &mesh,
                                                 const SearchOptions &options) {
  Clock clock;
  // What is pinned may have a dim for each axis.
  PartitionGraph free = graph;
  for (Operator &op : free.operators)
    op.pinned.reset();
  for (Value &value : free.values)
    value.pinned.reset();
  Mesh line{{"all"}, {mesh.numDevices()}};
  SearchOptions bytes = options;
  bytes.objective = Objective::Bytes;
  SearchResult result = searchKBest(free, line, bytes);
  result.lowerBound.reset();
  // Cut by all axes, one after the other, a dim has as many parts, and the
  // smallest and the largest are as large.
  Axes axes = axesThatSplit(mesh);
  Plan &plan = result.plan;
  plan.mesh = mesh;
  for (Strategy &strategy : plan.strategies) {
    for (Axes &dim : strategy.dims)
      spellOut(dim, axes);
    spellOut(strategy.partial, axes);
  }
  for (Layout &layout : plan.layouts) {
    for (Axes &dim : layout.dims)
      spellOut(dim, axes);
    spellOut(layout.partial, axes);
  }
  obey(graph, plan);
  countBytes(graph, plan, options.charge);
  result.seconds = clock.seconds();
  return result;
}

//===----------------------------------------------------------------------===//
// First dims
//===----------------------------------------------------------------------===//

/// Each axis cuts the first dim that is large enough for it.
static Layout cutFirstDims(const Value &value, const Mesh &mesh) {
  if (value.pinned)
    return *value.pinned;
  Layout layout;
  layout.dims.resize(value.shape.size());
  for (unsigned axis : axesThatSplit(mesh))
    for (auto [dim, axes] : llvm::zip_equal(dimsOf(value), layout.dims))
      if (dim.kind != DimKind::Unsplittable &&
          smallestPart(dim.size, axes, mesh) >= mesh.sizes[axis]) {
        axes.push_back(axis);
        break;
      }
  return layout;
}

/// Bytes that `op` receives under `strategy`, every use charged.
static int64_t bytesOf(const PartitionGraph &graph, const Operator &op,
                       const Strategy &strategy, llvm::ArrayRef<Layout> layouts,
                       CostModel &model) {
  int64_t bytes = 0;
  for (auto [i, operand] : llvm::enumerate(op.operands)) {
    const Value &value = graph.values[operand.value];
    const Layout *result = operand.initOf < 0
                               ? nullptr
                               : &layouts[op.results[operand.initOf].value];
    bytes += model.movedBytes(
        value, model.layoutShards(value, layouts[operand.value]),
        model.operandShards(op, i, strategy, value, result));
  }
  for (auto [i, result] : llvm::enumerate(op.results)) {
    const Value &value = graph.values[result.value];
    bytes += model.movedBytes(value, model.resultShards(op, i, strategy, value),
                              model.layoutShards(value, layouts[result.value]));
  }
  return bytes;
}

static Strategy findBest(const PartitionGraph &graph, const Operator &op,
                         llvm::ArrayRef<Layout> layouts, CostModel &model) {
  if (op.pinned)
    return *op.pinned;
  const Mesh &mesh = model.getMesh();
  std::optional<int64_t> least;
  Strategy best;
  for (const DimCuts &cuts : listCuts(op.dims, axesThatSplit(mesh), mesh)) {
    Strategy strategy{cuts, {}, 0};
    int64_t bytes = bytesOf(graph, op, strategy, layouts, model);
    if (least && *least <= bytes)
      continue;
    least = bytes;
    best = std::move(strategy);
  }
  return best;
}

SearchResult
mlir::tofu::search::searchAllRowGreedy(const PartitionGraph &graph,
                                       const Mesh &mesh,
                                       const SearchOptions &options) {
  Clock clock;
  SearchResult result;
  Plan &plan = result.plan;
  CostModel model(mesh);
  plan.mesh = mesh;
  for (const Value &value : graph.values)
    plan.layouts.push_back(cutFirstDims(value, mesh));
  for (const auto &values : graph.tied)
    for (unsigned value : values)
      plan.layouts[value] = plan.layouts[values.front()];
  for (const Operator &op : graph.operators)
    plan.strategies.push_back(findBest(graph, op, plan.layouts, model));
  countBytes(graph, plan, options.charge, model);
  result.seconds = clock.seconds();
  return result;
}
