//===- Obey.cpp - Plans with what is given --------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/CostModel.h"
#include "Tofu/Search/Search.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tofu::search;

static void obey(const Value &value, Layout &layout) {
  if (value.pinned)
    layout = *value.pinned;
  for (auto [dim, axes] : llvm::zip_equal(dimsOf(value), layout.dims))
    if (dim.kind == DimKind::Unsplittable)
      axes.clear();
}

void mlir::tofu::search::obey(const PartitionGraph &graph, Plan &plan) {
  for (auto [value, layout] : llvm::zip_equal(graph.values, plan.layouts))
    ::obey(value, layout);
  for (const auto &values : graph.tied)
    for (unsigned value : values)
      plan.layouts[value] = plan.layouts[values.front()];
  for (auto [op, strategy] :
       llvm::zip_equal(graph.operators, plan.strategies)) {
    if (op.pinned)
      strategy = *op.pinned;
    // Results stay partial only where the strategy still leaves them so.
    Axes sums = sumPartialAxes(op, strategy);
    if (sums != partialAxes(op, strategy))
      sums.clear();
    for (const Result &result : op.results) {
      Axes &partial = plan.layouts[result.value].partial;
      if (!graph.values[result.value].pinned)
        partial = without(partial, without(partial, sums));
    }
  }
}
