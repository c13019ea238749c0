//===- Alternatives.cpp - What else could be cut how ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Alternatives.h"

#include "OperandSet.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir::tofu::search;

Axes mlir::tofu::search::axesThatSplit(const Mesh &mesh) {
  Axes axes;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    if (mesh.sizes[axis] > 1)
      axes.push_back(axis);
  return axes;
}

/// Cuts dim `dim` by those of `axes` that it is large enough for. False if it
/// is for none.
static bool cutDim(llvm::ArrayRef<IterationDim> dims, unsigned dim,
                   llvm::ArrayRef<unsigned> axes, const Mesh &mesh,
                   DimCuts &cuts) {
  if (!isSplittable(dims, dim, cuts, mesh))
    return false;
  size_t before = cuts[dim].size();
  for (unsigned axis : axes)
    if (smallestPart(dims[dim].size, cuts[dim], mesh) >= mesh.sizes[axis])
      cuts[dim].push_back(axis);
  return cuts[dim].size() > before;
}

/// How many of `axes` may choose dims of their own: the others join the last
/// one.
static size_t countFree(size_t numDims, size_t numAxes, size_t limit) {
  size_t ways = 1, free = 0;
  while (free < numAxes && ways * std::max<size_t>(numDims, 1) <= limit) {
    ways *= std::max<size_t>(numDims, 1);
    ++free;
  }
  return std::max<size_t>(free, 1);
}

std::vector<DimCuts>
mlir::tofu::search::listCuts(llvm::ArrayRef<IterationDim> dims,
                             llvm::ArrayRef<unsigned> axes, const Mesh &mesh,
                             size_t limit) {
  std::vector<DimCuts> all{DimCuts(dims.size())};
  size_t free = countFree(dims.size(), axes.size(), limit);
  for (size_t i = 0; i < std::min(free, axes.size()); ++i) {
    llvm::ArrayRef<unsigned> group =
        i + 1 == free ? axes.drop_front(i) : axes.slice(i, 1);
    std::vector<DimCuts> more;
    for (const DimCuts &cuts : all) {
      size_t before = more.size();
      for (unsigned dim = 0; dim < dims.size(); ++dim)
        if (DimCuts next = cuts; cutDim(dims, dim, group, mesh, next))
          more.push_back(std::move(next));
      if (more.size() == before)
        more.push_back(cuts);
    }
    all = std::move(more);
  }
  return all;
}

std::vector<DimCuts> mlir::tofu::search::listCuts(const Value &value,
                                                  const Mesh &mesh,
                                                  size_t limit) {
  if (value.pinned)
    return {value.pinned->dims};
  return listCuts(dimsOf(value), axesThatSplit(mesh), mesh, limit);
}

//===----------------------------------------------------------------------===//
// Other strategies of one operator
//===----------------------------------------------------------------------===//

Alternatives::Alternatives(const PartitionGraph &graph, const Plan &plan,
                           const SearchOptions &options)
    : graph(graph), plan(plan), charge(options.charge),
      objective(options.objective), totalCost(costOf(plan, objective)),
      model(plan.mesh, options), uses(graph.values.size()) {
  for (auto [i, op] : llvm::enumerate(graph.operators)) {
    llvm::SmallSetVector<unsigned, 4> values;
    for (const Operand &operand : op.operands)
      values.insert(operand.value);
    for (unsigned value : values)
      uses[value].append(usesOf(i, plan.strategies[i], value));
  }
  for (auto [from, to, after] : graph.carried) {
    const Value &value = graph.values[from];
    Placement wanted = Placement::ofLayout(value.shape, plan.layouts[to].dims);
    uses[from].push_back({-1, {model.family(wanted, value.shape), {}}});
  }
}

/// What operator `index` needs of `value`.
llvm::SmallVector<Alternatives::Use, 4>
Alternatives::usesOf(unsigned index, const Strategy &strategy, unsigned value) {
  const Operator &op = graph.operators[index];
  llvm::SmallVector<Use, 4> found;
  for (auto [i, operand] : llvm::enumerate(op.operands)) {
    if (operand.value != value)
      continue;
    const Layout *result =
        operand.initOf < 0 ? nullptr
                           : &plan.layouts[op.results[operand.initOf].value];
    found.push_back(
        {int(index),
         model.operandShards(op, i, strategy, graph.values[value], result)});
  }
  return found;
}

/// Costs of all reads of what operator `index` reads, by anyone, of its results
/// and its work.
int64_t Alternatives::costAround(unsigned index, const Strategy &strategy) {
  const Operator &op = graph.operators[index];
  llvm::SmallSetVector<unsigned, 4> values;
  for (const Operand &operand : op.operands)
    values.insert(operand.value);
  int64_t cost = model.workCost(graph, op, strategy);
  for (unsigned value : values) {
    CostModel::Shards held =
        model.layoutShards(graph.values[value], plan.layouts[value]);
    llvm::SmallVector<Use, 4> all = usesOf(index, strategy, value);
    for (const Use &use : uses[value])
      if (use.reader != int(index))
        all.push_back(use);
    for (auto [i, use] : llvm::enumerate(all)) {
      bool isCopied = llvm::any_of(
          llvm::ArrayRef(all).take_front(i),
          [&, &use = use](const Use &other) { return other.need == use.need; });
      if (charge == Charge::PerUse || !isCopied)
        cost += model.readCost(graph.values[value], held, use.need);
    }
  }
  for (auto [i, result] : llvm::enumerate(op.results)) {
    const Value &value = graph.values[result.value];
    cost +=
        model.writeCost(value, model.resultShards(op, i, strategy, value),
                        model.layoutShards(value, plan.layouts[result.value]));
  }
  return cost;
}

/// Whether the results may stay partial as they do in the plan.
bool Alternatives::fitsResults(const Operator &op,
                               const Strategy &strategy) const {
  Axes sums = sumPartialAxes(op, strategy);
  bool onlySums = sums == partialAxes(op, strategy);
  return llvm::all_of(op.results, [&](const Result &result) {
    const Axes &partial = plan.layouts[result.value].partial;
    return partial.empty() || (onlySums && without(partial, sums).empty());
  });
}

/// The sets of `axes` that may cut an operator: all of them; where work may be
/// replicated, any, if there are few axes, or none.
static std::vector<Axes> listAxes(const Axes &axes, Objective objective) {
  if (objective == Objective::Bytes || axes.empty())
    return {axes};
  constexpr size_t kFewAxes = 3;
  if (axes.size() > kFewAxes)
    return {axes, {}};
  std::vector<Axes> sets;
  for (unsigned bits = 1u << axes.size(); bits-- > 0;) {
    Axes &set = sets.emplace_back();
    for (unsigned i = 0; i < axes.size(); ++i)
      if (bits >> i & 1)
        set.push_back(axes[i]);
  }
  return sets;
}

/// Those that let as many partial operands through as may be, or none, and
/// those of the plan.
std::vector<Strategy> Alternatives::strategiesOf(unsigned index) const {
  const Operator &op = graph.operators[index];
  if (op.pinned)
    return {*op.pinned};
  std::vector<Strategy> starts(1);
  for (uint64_t set : op.linear) {
    Axes common = axesThatSplit(plan.mesh);
    for (auto [i, operand] : llvm::enumerate(op.operands))
      if (hasOperand(set, i))
        common = without(common,
                         without(common, plan.layouts[operand.value].partial));
    if (set && !common.empty())
      starts.push_back({{}, common, set});
  }
  std::vector<Strategy> all;
  for (const Strategy &start : starts) {
    Axes axes = without(axesThatSplit(plan.mesh), start.partial);
    for (const Axes &set : listAxes(axes, objective))
      for (DimCuts &cuts : listCuts(op.dims, set, plan.mesh))
        // An axis that is too large for all dims is left out by itself.
        if (Strategy next{std::move(cuts), start.partial,
                          start.partialOperands};
            fitsResults(op, next) &&
            (set.size() == axes.size() || !llvm::is_contained(all, next)))
          all.push_back(std::move(next));
  }
  if (!llvm::is_contained(all, plan.strategies[index]))
    all.insert(all.begin(), plan.strategies[index]);
  return all;
}

std::vector<Alternative> Alternatives::of(unsigned index) {
  int64_t others = totalCost - costAround(index, plan.strategies[index]);
  std::vector<Strategy> strategies = strategiesOf(index);
  // By cost, then in the order that they are listed in.
  std::vector<std::pair<int64_t, size_t>> order;
  for (auto [i, strategy] : llvm::enumerate(strategies))
    order.push_back({others + costAround(index, strategy), i});
  llvm::sort(order);
  std::vector<Alternative> all;
  for (auto [cost, i] : order)
    all.push_back({std::move(strategies[i]), cost});
  return all;
}

std::optional<Alternative> Alternatives::runnerUp(unsigned index) {
  for (Alternative &alternative : of(index))
    if (!(alternative.strategy == plan.strategies[index]))
      return std::move(alternative);
  return std::nullopt;
}
