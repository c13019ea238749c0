//===- PlanChoices.cpp - Choices of a step, and their costs ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/Elimination.h"

#include "OperandSet.h"
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

/// `cuts` without `axis`.
static Cuts withoutAxis(Cuts cuts, unsigned axis) {
  for (Axes &axes : cuts.dims)
    llvm::erase(axes, axis);
  llvm::erase(cuts.partial, axis);
  if (cuts.partial.empty())
    cuts.partialOperands = 0;
  return cuts;
}

/// `axes` with `axis` in its place in mesh order.
static void insertAxis(Axes &axes, unsigned axis) {
  axes.insert(llvm::lower_bound(axes, axis), axis);
}

uint64_t mlir::tofu::search::axesNotIn(const Cuts &cuts) {
  uint64_t used = 0;
  for (unsigned axis : cuts.partial)
    used |= uint64_t(1) << axis;
  for (const Axes &axes : cuts.dims)
    for (unsigned axis : axes)
      used |= uint64_t(1) << axis;
  return ~used;
}

/// Whether `axis` may cut dim `i` after the axes before it.
static bool mayCut(llvm::ArrayRef<IterationDim> dims, unsigned i,
                   llvm::ArrayRef<Axes> cuts, unsigned axis, const Mesh &mesh) {
  auto before = [&](unsigned dim) {
    return llvm::ArrayRef(cuts[dim]).take_while(
        [&](unsigned other) { return other < axis; });
  };
  if (dims[i].kind == DimKind::Unsplittable ||
      smallestPart(dims[i].size, before(i), mesh) < mesh.sizes[axis])
    return false;
  for (int outer = dims[i].after; outer >= 0; outer = dims[outer].after)
    if (largestPart(dims[outer].size, before(outer), mesh) > 1)
      return false;
  return true;
}

/// Whether all dims that are cut may be.
static bool areSplittable(llvm::ArrayRef<IterationDim> dims, const Cuts &cuts,
                          const Mesh &mesh) {
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    if (!cuts.dims[dim].empty() && !isSplittable(dims, dim, cuts.dims, mesh))
      return false;
  return true;
}

/// Whether every axis cuts something, or may leave all whole: it is in
/// `mayBeWhole`, or can't cut anything after the axes before it.
static bool isComplete(llvm::ArrayRef<IterationDim> dims, const Cuts &cuts,
                       const Mesh &mesh, uint64_t mayBeWhole) {
  uint64_t whole = axesNotIn(cuts) & ~mayBeWhole;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis) {
    if (!(whole >> axis & 1) || mesh.sizes[axis] == 1)
      continue;
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (mayCut(dims, dim, cuts.dims, axis, mesh))
        return false;
  }
  return true;
}

/// Appends all that `axis` can make of `base`.
void PlanSpace::addChoices(const Kind &kind, const Cuts &base, unsigned axis,
                           const Mesh &mesh, std::vector<Cuts> &choices) const {
  for (unsigned dim = 0; dim < kind.dims.size(); ++dim) {
    Cuts cuts = base;
    insertAxis(cuts.dims[dim], axis);
    // The parts that axes before and after it leave must not be empty.
    if (kind.dims[dim].kind != DimKind::Unsplittable &&
        smallestPart(kind.dims[dim].size, cuts.dims[dim], mesh) > 0)
      choices.push_back(std::move(cuts));
  }
  choices.push_back(base);
  for (uint64_t set : kind.linear) {
    // A strategy has one set of partial operands for all its partial axes.
    if (base.partialOperands && base.partialOperands != set)
      continue;
    choices.push_back(base);
    insertAxis(choices.back().partial, axis);
    choices.back().partialOperands = set;
  }
  if (kind.mayBePartial) {
    choices.push_back(base);
    insertAxis(choices.back().partial, axis);
  }
}

Cuts mlir::tofu::search::restrictTo(const Mesh &mesh, Cuts cuts) {
  auto isBeyond = [&](unsigned axis) { return axis >= mesh.numAxes(); };
  for (Axes &axes : cuts.dims)
    llvm::erase_if(axes, isBeyond);
  llvm::erase_if(cuts.partial, isBeyond);
  if (cuts.partial.empty())
    cuts.partialOperands = 0;
  return cuts;
}

/// What a variable of `kind` may become by `axes` if what the other axes do
/// stays as in `state`.
PlanSpace::Choices PlanSpace::makeChoices(const Kind &kind, State state,
                                          llvm::ArrayRef<unsigned> axes,
                                          const Mesh &mesh,
                                          AxisSet mayBeWhole) {
  if (kind.pinned) {
    Cuts cuts = restrictTo(mesh, *kind.pinned);
    return {0, {internState(cuts)}, axesNotIn(cuts)};
  }
  std::vector<Cuts> all{states[state]};
  for (unsigned axis : axes)
    all.front() = withoutAxis(std::move(all.front()), axis);
  for (unsigned axis : axes) {
    std::vector<Cuts> more;
    for (const Cuts &cuts : all)
      addChoices(kind, cuts, axis, mesh, more);
    all = std::move(more);
  }
  Choices choices;
  for (const Cuts &cuts : all)
    if (areSplittable(kind.dims, cuts, mesh) &&
        isComplete(kind.dims, cuts, mesh, mayBeWhole)) {
      choices.states.push_back(internState(cuts));
      choices.mayBeWhole |= axesNotIn(cuts);
    }
  return choices;
}

std::vector<const PlanSpace::Choices *>
PlanSpace::choices(const States &current, llvm::ArrayRef<unsigned> axes,
                   const Mesh &mesh) {
  std::vector<const Choices *> result(variables.size());
  AxisSet inMesh = (AxisSet(1) << mesh.numAxes()) - 1;
  auto lookup = [&](unsigned var, AxisSet mayBeWhole) {
    const Kind &kind = kinds[variables[var].kind];
    mayBeWhole = (kind.mayBeWhole ? ~AxisSet(0) : mayBeWhole) & inMesh;
    Key key{variables[var].kind, current[var], int64_t(inMesh),
            int64_t(mayBeWhole)};
    key.append(axes.begin(), axes.end());
    const Choices *&known = choicesByKey[key];
    if (!known) {
      allChoices.push_back(
          makeChoices(kind, current[var], axes, mesh, mayBeWhole));
      allChoices.back().id = allChoices.size() - 1;
      known = &allChoices.back();
    }
    result[var] = known;
  };
  for (unsigned var = 0; var < variables.size(); ++var)
    if (variables[var].producer < 0)
      lookup(var, 0);
  // A value may be whole where the work that produces it is replicated.
  for (unsigned var = 0; var < variables.size(); ++var)
    if (int producer = variables[var].producer; producer >= 0)
      lookup(var, result[producer]->mayBeWhole);
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

/// Whether the plan space rules out the two states, of an operator and of a
/// value that it reads or produces, together.
bool PlanSpace::isForbidden(const Cost &cost, const Cuts &opCuts,
                            const Cuts &valueCuts, const Mesh &mesh) const {
  if (cost.role == Role::Write)
    return forbidsResult(cost.op, cost.index, opCuts, valueCuts, mesh);
  // Who pins a strategy may have it take whole values as partial sums.
  return !graph.operators[cost.op].pinned &&
         hasOperand(opCuts.partialOperands, cost.index) &&
         !allIn(opCuts.partial, valueCuts.partial);
}

bool PlanSpace::forbidsResult(unsigned opNumber, unsigned result,
                              const Cuts &opCuts, const Cuts &valueCuts,
                              const Mesh &mesh) const {
  const Operator &op = graph.operators[opNumber];
  if (!allIn(valueCuts.partial, sumPartialAxes(op, opCuts.strategy())))
    return true;
  const Value &value = graph.values[op.results[result].value];
  if (options.replication || value.pinned)
    return false;
  return !isComplete(dimsOf(value), valueCuts, mesh, axesNotIn(opCuts));
}

bool PlanSpace::isAllowed(unsigned var, const Cuts &cuts,
                          const Mesh &mesh) const {
  const Kind &kind = kinds[variables[var].kind];
  if (kind.pinned)
    return true;
  for (auto [dim, axes] : llvm::zip_equal(kind.dims, cuts.dims))
    if (smallestPart(dim.size, axes, mesh) == 0)
      return false;
  // A value may be whole where what produces it is, and only there.
  bool mayBeWhole = kind.mayBeWhole || variables[var].producer >= 0;
  return areSplittable(kind.dims, cuts, mesh) &&
         isComplete(kind.dims, cuts, mesh, mayBeWhole ? ~AxisSet(0) : 0);
}

int64_t PlanSpace::costOf(const Cost &cost, llvm::ArrayRef<State> scope,
                          CostModel &model) const {
  auto cutsAt = [&](unsigned i) -> const Cuts & {
    return states[scope[cost.positions[i]]];
  };
  if (cost.role == Role::Carry) {
    const Value &value = graph.values[graph.carried[cost.op].from];
    return model.readCost(value, model.layoutShards(value, cutsAt(0).layout()),
                          model.carriedShards(value, cutsAt(1).layout()));
  }
  const Operator &op = graph.operators[cost.op];
  Strategy strategy = cutsAt(0).strategy();
  if (cost.role == Role::Work)
    return model.workCost(graph, op, strategy);
  if (isForbidden(cost, cutsAt(0), cutsAt(1), model.getMesh()))
    return Forbidden;
  if (cost.role == Role::Write) {
    const Value &value = graph.values[op.results[cost.index].value];
    return model.writeCost(value,
                           model.resultShards(op, cost.index, strategy, value),
                           model.layoutShards(value, cutsAt(1).layout()));
  }
  const Value &value = graph.values[op.operands[cost.index].value];
  Layout result;
  if (cost.role == Role::ReadInitial)
    result = cutsAt(2).layout();
  return model.readCost(
      value, model.layoutShards(value, cutsAt(1).layout()),
      model.operandShards(op, cost.index, strategy, value, &result));
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
  // Pins may name axes of one part, for which there are no steps.
  for (auto [op, var] : llvm::zip_equal(graph.operators, opVariables))
    plan.strategies.push_back(op.pinned ? *op.pinned
                                        : states[current[var]].strategy());
  for (auto [value, var] : llvm::zip_equal(graph.values, valueVariables)) {
    Layout layout;
    layout.dims.resize(value.shape.size());
    if (var >= 0)
      layout = value.pinned ? *value.pinned : states[current[var]].layout();
    plan.layouts.push_back(std::move(layout));
  }
  return plan;
}

PlanSpace::States PlanSpace::statesOf(const Plan &plan) {
  States result = startStates;
  for (auto [value, var] : llvm::enumerate(valueVariables))
    if (var >= 0)
      result[var] = internState(
          {plan.layouts[value].dims, plan.layouts[value].partial, 0});
  for (auto [op, var] : llvm::enumerate(opVariables)) {
    const Strategy &strategy = plan.strategies[op];
    result[var] = internState(
        {strategy.dims, strategy.partial, strategy.partialOperands});
  }
  return result;
}
