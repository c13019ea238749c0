//===- PlanChoices.cpp - Choices of a step, and their costs ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Elimination.h"
#include "Tofu/Search/PlanSpace.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tofu::search;

PlanSpace::State PlanSpace::internState(const Cuts &cuts) {
  Key key{int64_t(cuts.partialOperands), int64_t(cuts.partial.size())};
  key.append(cuts.partial.begin(), cuts.partial.end());
  for (const Axes &axes : cuts.dims) {
    key.push_back(axes.size());
    key.append(axes.begin(), axes.end());
  }
  auto [number, isNew] = stateNumbers.try_emplace(key, states.size());
  if (isNew)
    states.push_back(cuts);
  return number->second;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// What a variable of `kind` may become by the last axis of `mesh`.
PlanSpace::Choices PlanSpace::makeChoices(const Kind &kind, State state,
                                          const Mesh &mesh, bool mayBeWhole) {
  unsigned axis = mesh.numAxes() - 1;
  const Cuts before = states[state];
  Choices choices;
  for (unsigned dim = 0; dim < kind.dims.size(); ++dim) {
    if (kind.dims[dim].kind == DimKind::Unsplittable ||
        smallestPart(kind.dims[dim].size, before.dims[dim], mesh) <
            mesh.sizes[axis])
      continue;
    Cuts cuts = before;
    cuts.dims[dim].push_back(axis);
    choices.states.push_back(internState(cuts));
  }
  choices.cuts = !choices.states.empty();
  if (!choices.cuts || mayBeWhole)
    choices.states.push_back(state);
  for (uint64_t set : kind.linear) {
    // A strategy has one set of partial operands for all its partial axes.
    if (before.partialOperands && before.partialOperands != set)
      continue;
    Cuts cuts = before;
    cuts.partial.push_back(axis);
    cuts.partialOperands = set;
    choices.states.push_back(internState(cuts));
  }
  if (kind.mayBePartial) {
    Cuts cuts = before;
    cuts.partial.push_back(axis);
    choices.states.push_back(internState(cuts));
  }
  return choices;
}

std::vector<const PlanSpace::Choices *>
PlanSpace::choices(const States &current, const Mesh &mesh) {
  std::vector<const Choices *> result(variables.size());
  unsigned axis = mesh.numAxes() - 1;
  auto lookup = [&](unsigned var, bool producerWhole) {
    const Kind &kind = kinds[variables[var].kind];
    bool whole = kind.mayBeWhole || producerWhole;
    const Choices *&known =
        choicesByKey[{variables[var].kind, current[var], axis, whole}];
    if (!known) {
      allChoices.push_back(makeChoices(kind, current[var], mesh, whole));
      allChoices.back().id = allChoices.size() - 1;
      known = &allChoices.back();
    }
    result[var] = known;
  };
  for (unsigned var = 0; var < variables.size(); ++var)
    if (variables[var].producer < 0)
      lookup(var, false);
  // A value may be whole where the work that produces it is replicated.
  for (unsigned var = 0; var < variables.size(); ++var)
    if (int producer = variables[var].producer; producer >= 0)
      lookup(var, !result[producer]->cuts);
  return result;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Whether all of `axes` are in `among`.
static bool allIn(llvm::ArrayRef<unsigned> axes,
                  llvm::ArrayRef<unsigned> among) {
  return without(axes, among).empty();
}

int64_t PlanSpace::costOf(const Cost &cost, llvm::ArrayRef<State> scope,
                          CostModel &model) const {
  auto cutsAt = [&](unsigned i) -> const Cuts & {
    return states[scope[cost.positions[i]]];
  };
  if (cost.role == Role::Carry) {
    const Carried &carried = graph.carried[cost.op];
    return model.carryBytes(graph.values[carried.from], cutsAt(0).layout(),
                            cutsAt(1).layout());
  }
  const Operator &op = graph.operators[cost.op];
  Strategy strategy = cutsAt(0).strategy();
  Layout layout = cutsAt(1).layout();
  if (cost.role == Role::Write) {
    if (!allIn(layout.partial, sumPartialAxes(op, strategy)))
      return Forbidden;
    const Value &value = graph.values[op.results[cost.index].value];
    return model.writeBytes(op, cost.index, strategy, value, layout);
  }
  if (strategy.partialOperands >> cost.index & 1 &&
      !allIn(strategy.partial, layout.partial))
    return Forbidden;
  const Value &value = graph.values[op.operands[cost.index].value];
  Layout result;
  if (cost.role == Role::ReadInitial)
    result = cutsAt(2).layout();
  return model.readBytes(
      value, layout,
      model.operandNeed(op, cost.index, strategy, value, &result));
}

/// Calls `visit` with every combination of states, the last running fastest.
static void forEachCombination(
    llvm::ArrayRef<const PlanSpace::Choices *> scope,
    llvm::function_ref<void(llvm::ArrayRef<PlanSpace::State>)> visit,
    llvm::SmallVectorImpl<PlanSpace::State> &states) {
  if (states.size() == scope.size())
    return visit(states);
  for (PlanSpace::State state : scope[states.size()]->states) {
    states.push_back(state);
    forEachCombination(scope, visit, states);
    states.pop_back();
  }
}

const std::vector<int64_t> &
PlanSpace::costTable(unsigned number, llvm::ArrayRef<const Choices *> scope,
                     CostModel &model) {
  llvm::SmallVector<unsigned, 4> key{number};
  for (const Choices *choices : scope)
    key.push_back(choices->id);
  std::vector<int64_t> &table = costTables[key];
  llvm::SmallVector<State, 3> combination;
  if (table.empty())
    forEachCombination(
        scope,
        [&](llvm::ArrayRef<State> at) {
          table.push_back(costOf(costExamples[number], at, model));
        },
        combination);
  return table;
}

llvm::ArrayRef<int64_t>
PlanSpace::costs(const Term &term, llvm::ArrayRef<const Choices *> choices,
                 CostModel &model) {
  llvm::SmallVector<const Choices *, 3> scope;
  llvm::SmallVector<unsigned, 4> key{term.group};
  for (unsigned var : term.scope) {
    scope.push_back(choices[var]);
    key.push_back(choices[var]->id);
  }
  std::vector<int64_t> &table = groupTables[key];
  if (!table.empty())
    return table;
  for (auto [cost, count] : groups[term.group]) {
    const std::vector<int64_t> &single = costTable(cost, scope, model);
    table.resize(single.size(), 0);
    for (auto [sum, more] : llvm::zip_equal(table, single))
      sum = more == Forbidden ? Forbidden : addCosts(sum, count * more);
  }
  return table;
}

Plan PlanSpace::planOf(const States &current, const Mesh &mesh) const {
  Plan plan;
  plan.mesh = mesh;
  for (unsigned var : opVariables)
    plan.strategies.push_back(states[current[var]].strategy());
  for (auto [value, var] : llvm::zip_equal(graph.values, valueVariables)) {
    Layout layout;
    layout.dims.resize(value.shape.size());
    plan.layouts.push_back(var < 0 ? layout : states[current[var]].layout());
  }
  return plan;
}
