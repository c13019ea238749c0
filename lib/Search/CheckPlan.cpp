//===- CheckPlan.cpp - Whether a plan is valid ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/CostModel.h"

#include "OperandSet.h"
#include "Tofu/Search/Search.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mlir::tofu::search;

using Problem = std::optional<std::string>;

static Problem problem(const llvm::Twine &text) { return text.str(); }

/// Checks that the axes of a strategy or layout exist and are used once.
static Problem checkAxes(llvm::ArrayRef<Axes> dims, const Axes &partial,
                         const Mesh &mesh, const llvm::Twine &of) {
  std::vector<bool> used(mesh.numAxes(), false);
  llvm::SmallVector<unsigned> all(partial.begin(), partial.end());
  for (const Axes &axes : dims)
    all.append(axes.begin(), axes.end());
  for (unsigned axis : all) {
    if (axis >= mesh.numAxes())
      return problem(of + ": axis " + llvm::Twine(axis) + ", mesh has " +
                     llvm::Twine(mesh.numAxes()));
    if (used[axis])
      return problem(of + ": axis " + llvm::Twine(axis) + " is used twice");
    used[axis] = true;
  }
  return std::nullopt;
}

static Problem checkStrategy(const Operator &op, const Strategy &strategy,
                             const Mesh &mesh, const llvm::Twine &of) {
  if (strategy.dims.size() != op.dims.size())
    return problem(of + ": strategy has " + llvm::Twine(strategy.dims.size()) +
                   " dims, operator has " + llvm::Twine(op.dims.size()));
  if (Problem bad = checkAxes(strategy.dims, strategy.partial, mesh, of))
    return bad;
  for (auto [i, dim] : llvm::enumerate(op.dims))
    if (!strategy.dims[i].empty() &&
        !isSplittable(op.dims, i, strategy.dims, mesh))
      return problem(of + ": dim " + llvm::Twine(i) +
                     " is cut but unsplittable" +
                     (dim.after < 0 ? llvm::Twine()
                                    : " while dim " + llvm::Twine(dim.after) +
                                          " has several indices in a part"));
  if (strategy.partial.empty() != (strategy.partialOperands == 0))
    return problem(of + ": partial axes without partial operands, or the "
                        "other way round");
  if (strategy.partialOperands &&
      !llvm::is_contained(op.linear, strategy.partialOperands))
    return problem(of + ": not linear in its partial operands");
  return std::nullopt;
}

/// Checks that what is given is kept.
static Problem checkGiven(const PartitionGraph &graph, const Plan &plan) {
  for (auto [i, op] : llvm::enumerate(graph.operators))
    if (op.pinned && !(plan.strategies[i] == *op.pinned))
      return problem("operator " + llvm::Twine(i) + " (" + op.name +
                     "): not cut as it is pinned");
  for (auto [i, value] : llvm::enumerate(graph.values)) {
    if (value.pinned && !(plan.layouts[i] == *value.pinned))
      return problem("value " + llvm::Twine(i) + ": lies not as it is pinned");
    for (auto [d, dim] : llvm::enumerate(dimsOf(value)))
      if (dim.kind == DimKind::Unsplittable && !plan.layouts[i].dims[d].empty())
        return problem("value " + llvm::Twine(i) + ": dim " + llvm::Twine(d) +
                       " is cut, which is forbidden");
  }
  return std::nullopt;
}

static Problem checkLayout(const Value &value, const Layout &layout,
                           const Mesh &mesh, const llvm::Twine &of) {
  if (layout.dims.size() != value.shape.size())
    return problem(of + ": layout has " + llvm::Twine(layout.dims.size()) +
                   " dims, value has " + llvm::Twine(value.shape.size()));
  if (Problem bad = checkAxes(layout.dims, layout.partial, mesh, of))
    return bad;
  if (value.neverPartial && !layout.partial.empty())
    return problem(of + ": partial, but must be combined");
  return std::nullopt;
}

/// Checks that what is partial adds up. A constant is made anew on each device,
/// whole; the layouts of results are partial sums.
static Problem checkPartials(const PartitionGraph &graph, const Plan &plan,
                             unsigned index, const llvm::Twine &of) {
  const Operator &op = graph.operators[index];
  const Strategy &strategy = plan.strategies[index];
  for (auto [i, operand] : llvm::enumerate(op.operands))
    if (hasOperand(strategy.partialOperands, i) &&
        graph.values[operand.value].constant)
      return problem(of + ": operand " + llvm::Twine(i) +
                     " is a constant, never a partial result");
  Axes sums = sumPartialAxes(op, strategy);
  if (without(partialAxes(op, strategy), sums).empty())
    return std::nullopt;
  for (auto [i, result] : llvm::enumerate(op.results))
    if (!plan.layouts[result.value].partial.empty())
      return problem(of + ": result " + llvm::Twine(i) +
                     " is a partial sum, the operator leaves other partial "
                     "results");
  return std::nullopt;
}

static Problem checkSizes(const PartitionGraph &graph, const Plan &plan) {
  if (plan.mesh.names.size() != plan.mesh.sizes.size())
    return problem("mesh has " + llvm::Twine(plan.mesh.names.size()) +
                   " names, " + llvm::Twine(plan.mesh.sizes.size()) + " sizes");
  for (int64_t size : plan.mesh.sizes)
    if (size < 1)
      return problem("mesh axis of size " + llvm::Twine(size));
  if (plan.strategies.size() != graph.operators.size())
    return problem("plan has " + llvm::Twine(plan.strategies.size()) +
                   " strategies, program has " +
                   llvm::Twine(graph.operators.size()) + " operators");
  if (plan.layouts.size() != graph.values.size())
    return problem("plan has " + llvm::Twine(plan.layouts.size()) +
                   " layouts, program has " + llvm::Twine(graph.values.size()) +
                   " values");
  return std::nullopt;
}

Problem mlir::tofu::search::checkPlan(const PartitionGraph &graph,
                                      const Plan &plan) {
  if (Problem bad = checkSizes(graph, plan))
    return bad;
  std::vector<bool> produced(graph.values.size(), false);
  for (auto [i, value] : llvm::enumerate(graph.values))
    if (Problem bad = checkLayout(value, plan.layouts[i], plan.mesh,
                                  "value " + llvm::Twine(i)))
      return bad;
  for (auto [i, op] : llvm::enumerate(graph.operators)) {
    std::string of =
        ("operator " + llvm::Twine(i) + " (" + op.name + ")").str();
    if (Problem bad = checkStrategy(op, plan.strategies[i], plan.mesh, of))
      return bad;
    if (Problem bad = checkPartials(graph, plan, i, of))
      return bad;
    for (const Result &result : op.results)
      produced[result.value] = true;
  }
  for (const auto &values : graph.tied)
    for (unsigned value : values)
      if (!(plan.layouts[value] == plan.layouts[values.front()]))
        return problem("values " + llvm::Twine(values.front()) + " and " +
                       llvm::Twine(value) + " must lie alike");
  if (Problem bad = checkGiven(graph, plan))
    return bad;
  for (unsigned i = 0; i < graph.values.size(); ++i)
    if (!produced[i] && !plan.layouts[i].partial.empty())
      return problem("value " + llvm::Twine(i) +
                     ": partial, but no operator produces it");
  return std::nullopt;
}
