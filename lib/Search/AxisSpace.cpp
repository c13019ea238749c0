//===- AxisSpace.cpp - Plans as a pairwise model --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisSpace.h"

using namespace mlir::tofu::search;

AxisSpace::AxisSpace(const PartitionGraph &graph, const PlanSpace &space,
                     std::vector<const Domain *> given, CostModel &costs,
                     const SearchOptions &options)
    : PairwiseSpace(graph, space, options), domains(std::move(given)),
      costs(costs) {
  llvm::SmallVector<unsigned> sizes, ids;
  for (const Domain *domain : domains) {
    sizes.push_back(domain->cuts.size());
    ids.push_back(domain->id);
  }
  makeModel(sizes, ids);
}

/// What a use needs at a value of its variable; nothing if that isn't known,
/// and then it costs nothing.
std::optional<CostModel::Shards>
AxisSpace::needOf(const Use &use, unsigned number, const Value &value) {
  Needed needed = neededBy(use, number);
  if (needed.mayBePartial)
    return std::nullopt;
  const Cuts &cuts = getCuts(needed.var, needed.value);
  if (needed.asLayout)
    return costs.carriedShards(value, cuts.layout());
  return costs.operandShards(*use.op, use.operand, cuts.strategy(), value,
                             nullptr);
}

bool AxisSpace::cutsReduction(unsigned op, unsigned value) const {
  const Cuts &cuts = getCuts(space.variableOfOperator(op), value);
  return !reductionAxes(graph.operators[op], cuts.strategy()).empty();
}

static void append(llvm::SmallVectorImpl<int64_t> &key,
                   llvm::ArrayRef<unsigned> axes) {
  key.push_back(axes.size());
  key.append(axes.begin(), axes.end());
}

void AxisSpace::fillReads(Columns &group, unsigned row, const Value &value,
                          llvm::ArrayRef<Use> uses) {
  Numbering<Key> numbers;
  std::vector<std::optional<CostModel::Shards>> needs;
  for (const Use &use : uses) {
    std::vector<unsigned> &mine = group.columnsOf.emplace_back();
    for (unsigned each = 0; each < domainSize(use.var); ++each) {
      std::optional<CostModel::Shards> need = needOf(use, each, value);
      Key key;
      if (need) {
        key.push_back(need->family);
        append(key, need->partial);
      }
      auto [number, isNew] = numbers(std::move(key));
      mine.push_back(number);
      if (isNew)
        needs.push_back(need);
    }
  }
  group.numColumns = needs.size();
  // Who pins a strategy may have it take whole values as partial sums.
  bool takesWhole = llvm::any_of(
      uses, [](const Use &use) { return use.op && use.op->pinned; });
  for (const Cuts &cuts : domains[row]->cuts) {
    CostModel::Shards held = costs.layoutShards(value, cuts.layout());
    for (const std::optional<CostModel::Shards> &need : needs)
      if (!need)
        group.table.push_back(0);
      else
        group.table.push_back(
            takesWhole || without(need->partial, held.partial).empty()
                ? costs.readCost(value, held, *need)
                : Forbidden);
  }
}

void AxisSpace::fillWrites(Columns &group, unsigned row, unsigned opNumber,
                           unsigned resultNumber) {
  const Operator &op = graph.operators[opNumber];
  const Value &value = graph.values[op.results[resultNumber].value];
  Numbering<Key> numbers;
  std::vector<std::pair<const Cuts *, CostModel::Shards>> made;
  std::vector<unsigned> &mine = group.columnsOf.emplace_back();
  for (const Cuts &cuts : domains[space.variableOfOperator(opNumber)]->cuts) {
    Strategy strategy = cuts.strategy();
    CostModel::Shards shards =
        costs.resultShards(op, resultNumber, strategy, value);
    Key key{shards.family};
    append(key, shards.partial);
    append(key, sumPartialAxes(op, strategy));
    key.push_back(int64_t(axesNotIn(cuts)));
    auto [number, isNew] = numbers(std::move(key));
    mine.push_back(number);
    if (isNew)
      made.push_back({&cuts, std::move(shards)});
  }
  group.numColumns = made.size();
  for (const Cuts &cuts : domains[row]->cuts) {
    CostModel::Shards held = costs.layoutShards(value, cuts.layout());
    for (const auto &[strategy, shards] : made)
      group.table.push_back(space.forbidsResult(opNumber, resultNumber,
                                                *strategy, cuts,
                                                costs.getMesh())
                                ? Forbidden
                                : costs.writeCost(value, shards, held));
  }
}

void AxisSpace::fillWork(Columns &group, unsigned op) {
  for (const Cuts &cuts : domains[space.variableOfOperator(op)]->cuts)
    group.table.push_back(
        costs.workCost(graph, graph.operators[op], cuts.strategy()));
}
