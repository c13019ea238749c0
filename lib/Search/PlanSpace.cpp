//===- PlanSpace.cpp - The choices of one step of the search --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/PlanSpace.h"

#include "IndexKey.h"
#include "OperandSet.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

using namespace mlir::tofu::search;

//===----------------------------------------------------------------------===//
// Which values may be partial, which operators are joined
//===----------------------------------------------------------------------===//

/// Whether `index` is (d0, d1, ...) over all dims of `op`, of the sizes of
/// `shape`: cutting a dim cuts the tensor likewise.
static bool isIdentity(const Operator &op, llvm::ArrayRef<LinearExpr> index,
                       llvm::ArrayRef<int64_t> shape) {
  if (index.size() != op.dims.size())
    return false;
  for (unsigned dim = 0; dim < index.size(); ++dim)
    if (!index[dim].isDim(dim) || shape[dim] != op.dims[dim].size)
      return false;
  return true;
}

static bool isElementwise(const Operator &op) {
  return llvm::all_of(op.dims, [](const IterationDim &dim) {
    return dim.kind == DimKind::Parallel && dim.after < 0;
  });
}

PlanSpace::PlanSpace(const PartitionGraph &graph, const SearchOptions &options)
    : graph(graph), options(options) {
  producers.assign(graph.values.size(), -1);
  for (auto [i, op] : llvm::enumerate(graph.operators))
    for (const Result &result : op.results)
      producers[result.value] = i;
  findPartials();
  parents.resize(graph.operators.size() + graph.values.size());
  std::iota(parents.begin(), parents.end(), 0);
  isTied.assign(graph.values.size(), false);
  for (const auto &values : graph.tied)
    for (unsigned value : values) {
      isTied[value] = true;
      parents[graph.operators.size() + value] =
          graph.operators.size() + values.front();
    }
  // Times are not like bytes: going by way of another layout may take less.
  if (options.joining != Joining::None && options.objective == Objective::Bytes)
    joinChains();
  if (options.joining == Joining::Elementwise)
    joinElementwise();
  makeVariables();
}

/// The sets of operands of `op` that may all be partial, so that a partial may
/// pass through.
llvm::SmallVector<uint64_t, 2>
PlanSpace::passableSets(const Operator &op) const {
  llvm::SmallVector<uint64_t, 2> sets;
  for (uint64_t set : op.linear) {
    bool passes = set != 0;
    for (auto [i, operand] : llvm::enumerate(op.operands))
      if (hasOperand(set, i))
        passes &= partial[operand.value];
    if (passes)
      sets.push_back(set);
  }
  return sets;
}

void PlanSpace::findPartials() {
  partial.assign(graph.values.size(), false);
  if (!options.partials)
    return;
  for (const Operator &op : graph.operators) {
    bool sums = llvm::any_of(op.dims, [](const IterationDim &dim) {
      return dim.kind == DimKind::Reduction && dim.additive;
    });
    if (sums || !passableSets(op).empty())
      for (const Result &result : op.results)
        partial[result.value] = !graph.values[result.value].neverPartial;
  }
}

static unsigned findRoot(std::vector<unsigned> &parents, unsigned node) {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

/// Joins what costs no plan: going straight to where a value is needed moves no
/// more than going there by way of another layout. So a value that a single
/// element-wise operator reads lies as that needs it, one that nothing reads as
/// it is made, and an operator that only reads such a value is cut as that is
/// made.
void PlanSpace::joinChains() {
  unsigned numOps = graph.operators.size();
  std::vector<unsigned> uses(graph.values.size());
  std::vector<int> moved(numOps, 0), reader(graph.values.size(), -1);
  std::vector<bool> madeElementwise(graph.values.size());
  for (auto [i, op] : llvm::enumerate(graph.operators)) {
    bool joins = isElementwise(op) && passableSets(op).empty() && !op.pinned;
    for (const Operand &operand : op.operands) {
      const Value &value = graph.values[operand.value];
      ++uses[operand.value];
      moved[i] += !value.constant;
      if (joins && isIdentity(op, operand.index, value.shape))
        reader[operand.value] = i;
    }
    for (const Result &result : op.results)
      madeElementwise[result.value] =
          joins &&
          isIdentity(op, result.index, graph.values[result.value].shape);
  }
  for (const Carried &carried : graph.carried) {
    uses[carried.from] += 2;
    uses[carried.to] += 2;
  }
  for (unsigned value = 0; value < graph.values.size(); ++value) {
    const Value &joined = graph.values[value];
    if (partial[value] || isTied[value] || joined.constant || joined.pinned ||
        joined.forbidden || uses[value] > 1)
      continue;
    auto join = [&](unsigned op) {
      parents[findRoot(parents, numOps + value)] = findRoot(parents, op);
    };
    int user = reader[value];
    if (user >= 0)
      join(user);
    if (!madeElementwise[value])
      continue;
    if (user < 0 ||
        (moved[user] == 1 && graph.operators[user].results.size() == 1))
      join(producers[value]);
  }
}

/// Joins element-wise operators by the values that they share, and values to
/// the operators where that takes no useful choice away.
void PlanSpace::joinElementwise() {
  unsigned numOps = graph.operators.size(), numValues = graph.values.size();
  // Per value, uses that read all of it element by element in a joined
  // operator, and all uses.
  std::vector<unsigned> joinedUses(numValues), uses(numValues);
  std::vector<int> joinedOp(numValues, -1);
  std::vector<bool> producedInside(numValues);
  auto join = [&](unsigned op, unsigned value) {
    const Value &joined = graph.values[value];
    if (partial[value] || isTied[value] || joined.constant || joined.pinned ||
        joined.forbidden)
      return false;
    if (joinedOp[value] >= 0)
      parents[findRoot(parents, op)] = findRoot(parents, joinedOp[value]);
    joinedOp[value] = op;
    return true;
  };
  for (auto [i, op] : llvm::enumerate(graph.operators)) {
    bool joins = isElementwise(op) && passableSets(op).empty() && !op.pinned;
    for (const Operand &operand : op.operands) {
      ++uses[operand.value];
      const Value &value = graph.values[operand.value];
      if (joins && isIdentity(op, operand.index, value.shape))
        joinedUses[operand.value] += join(i, operand.value);
    }
    for (const Result &result : op.results)
      if (joins &&
          isIdentity(op, result.index, graph.values[result.value].shape))
        producedInside[result.value] = join(i, result.value);
  }
  for (const Carried &carried : graph.carried) {
    ++uses[carried.from];
    ++uses[carried.to];
  }
  for (unsigned value = 0; value < numValues; ++value) {
    // Where values may be replicated, only those that nothing outside the class
    // sees have nothing to gain from it.
    bool interior = uses[value] == joinedUses[value] &&
                    (producers[value] < 0 || producedInside[value]);
    // Where work may be replicated, what comes from outside must not become
    // whole with it.
    if (options.objective == Objective::Time && !producedInside[value])
      continue;
    if (joinedOp[value] >= 0 && (interior || !options.replication))
      parents[numOps + value] = findRoot(parents, joinedOp[value]);
  }
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// The variable of a node of the union-find, made when it is first asked for.
unsigned PlanSpace::variableOf(unsigned node, const Kind &kind) {
  int &var = variableOfNode[findRoot(parents, node)];
  if (var < 0) {
    Key key{kind.mayBeWhole, kind.mayBePartial, int64_t(kind.dims.size())};
    for (const IterationDim &dim : kind.dims)
      key.append({dim.size, int64_t(dim.kind), int64_t(dim.after)});
    key.append(kind.linear.begin(), kind.linear.end());
    key.push_back(kind.pinned ? int64_t(internState(*kind.pinned)) : -1);
    auto [number, isNew] = kindNumbers.try_emplace(key, kinds.size());
    if (isNew)
      kinds.push_back(kind);
    var = variables.size();
    variables.push_back({number->second, -1});
    Cuts cuts;
    cuts.dims.resize(kind.dims.size());
    startStates.push_back(internState(cuts));
  }
  return var;
}

void PlanSpace::makeVariables() {
  unsigned numOps = graph.operators.size();
  variableOfNode.assign(parents.size(), -1);
  opVariables.resize(numOps);
  valueVariables.assign(graph.values.size(), -1);
  auto visitValue = [&](unsigned index) {
    const Value &value = graph.values[index];
    if (value.constant || valueVariables[index] >= 0)
      return;
    Kind kind;
    kind.dims = dimsOf(value);
    if (value.pinned)
      kind.pinned = {value.pinned->dims, value.pinned->partial, 0};
    bool joined = findRoot(parents, numOps + index) < numOps;
    kind.mayBeWhole = options.replication && !joined;
    kind.mayBePartial = partial[index];
    unsigned var = variableOf(numOps + index, kind);
    valueVariables[index] = var;
    if (producers[index] >= 0 && !joined)
      variables[var].producer = opVariables[producers[index]];
  };
  // In program order, so that repeated layers look alike.
  for (auto [i, op] : llvm::enumerate(graph.operators)) {
    Kind kind;
    kind.dims = op.dims;
    kind.linear = passableSets(op);
    kind.mayBeWhole = options.objective == Objective::Time;
    if (op.pinned)
      kind.pinned = {op.pinned->dims, op.pinned->partial,
                     op.pinned->partialOperands};
    opVariables[i] = variableOf(i, kind);
    for (const Operand &operand : op.operands)
      visitValue(operand.value);
    for (const Result &result : op.results)
      visitValue(result.value);
  }
  for (unsigned index = 0; index < graph.values.size(); ++index)
    visitValue(index);
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

bool PlanSpace::isFreeRead(unsigned op, unsigned operand) const {
  const auto &[value, index, initOf] = graph.operators[op].operands[operand];
  return valueVariables[value] == int(opVariables[op]) &&
         isIdentity(graph.operators[op], index, graph.values[value].shape);
}

bool PlanSpace::isFreeWrite(unsigned op, unsigned result) const {
  const auto &[value, index] = graph.operators[op].results[result];
  return valueVariables[value] == int(opVariables[op]) &&
         isIdentity(graph.operators[op], index, graph.values[value].shape);
}

/// Appends what the dims of an operator and a value say about costs.
static void appendTypes(llvm::SmallVectorImpl<int64_t> &key, const Operator &op,
                        const Value &value) {
  key.push_back(op.dims.size());
  for (const IterationDim &dim : op.dims)
    key.append({dim.size, int64_t(dim.kind), dim.additive});
  key.append({op.pinned.has_value(), value.pinned.has_value(),
              int64_t(value.forbidden)});
  key.append({value.elementBytes, value.times});
  key.append(value.shape.begin(), value.shape.end());
}

/// Notes a cost over `vars` (in the order of its role). `signature` says all
/// that it depends on besides their states.
void PlanSpace::addCost(Role role, unsigned op, unsigned index, Key signature,
                        llvm::ArrayRef<unsigned> vars) {
  llvm::SmallVector<unsigned, 3> scope(vars);
  llvm::sort(scope);
  scope.erase(llvm::unique(scope), scope.end());
  Cost cost{role, op, index, {}};
  for (unsigned var : vars)
    cost.positions.push_back(llvm::find(scope, var) - scope.begin());
  signature.push_back(int64_t(role));
  signature.append(cost.positions.begin(), cost.positions.end());
  auto [number, isNew] =
      costNumbers.try_emplace(std::move(signature), costExamples.size());
  if (isNew)
    costExamples.push_back(std::move(cost));
  costsOfScopes.push_back({std::move(scope), number->second});
}

void PlanSpace::addOperandCosts(unsigned opIndex) {
  const Operator &op = graph.operators[opIndex];
  unsigned opVar = opVariables[opIndex];
  bool reduces = llvm::any_of(op.dims, [](const IterationDim &dim) {
    return dim.kind == DimKind::Reduction;
  });
  for (auto [i, operand] : llvm::enumerate(op.operands)) {
    const Value &value = graph.values[operand.value];
    if (value.constant)
      continue;
    unsigned valueVar = valueVariables[operand.value];
    if (isFreeRead(opIndex, i))
      continue;
    Key key;
    appendTypes(key, op, value);
    appendIndex(key, operand.index);
    // Which bit of a strategy's set is this operand's matters only if partials
    // pass through.
    key.push_back(kinds[variables[opVar].kind].linear.empty() ? -1 : int(i));
    if (operand.initOf < 0 || !reduces) {
      addCost(Role::Read, opIndex, i, std::move(key), {opVar, valueVar});
      continue;
    }
    unsigned result = op.results[operand.initOf].value;
    addCost(Role::ReadInitial, opIndex, i, std::move(key),
            {opVar, valueVar, unsigned(valueVariables[result])});
  }
}

void PlanSpace::addResultCosts(unsigned opIndex) {
  const Operator &op = graph.operators[opIndex];
  unsigned opVar = opVariables[opIndex];
  for (auto [i, result] : llvm::enumerate(op.results)) {
    const Value &value = graph.values[result.value];
    if (value.constant)
      continue;
    unsigned valueVar = valueVariables[result.value];
    if (isFreeWrite(opIndex, i))
      continue;
    Key key;
    appendTypes(key, op, value);
    appendIndex(key, result.index);
    addCost(Role::Write, opIndex, i, std::move(key), {opVar, valueVar});
  }
}

void PlanSpace::addWorkCost(unsigned opIndex) {
  addCost(Role::Work, opIndex, 0,
          workSignature(graph, graph.operators[opIndex]), opVariables[opIndex]);
}

void PlanSpace::makeTerms() {
  hasTerms = true;
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    addOperandCosts(i);
    addResultCosts(i);
    if (options.objective == Objective::Time)
      addWorkCost(i);
  }
  for (auto [i, carried] : llvm::enumerate(graph.carried)) {
    const Value &value = graph.values[carried.from];
    if (value.constant || graph.values[carried.to].constant ||
        valueVariables[carried.from] == valueVariables[carried.to])
      continue;
    Key key{value.elementBytes, value.times};
    key.append(value.shape.begin(), value.shape.end());
    addCost(Role::Carry, i, 0, std::move(key),
            {unsigned(valueVariables[carried.from]),
             unsigned(valueVariables[carried.to])});
  }

  std::map<Group, unsigned> groupNumbers;
  llvm::sort(costsOfScopes);
  for (size_t i = 0; i < costsOfScopes.size();) {
    auto &scope = costsOfScopes[i].first;
    Group group;
    for (; i < costsOfScopes.size() && costsOfScopes[i].first == scope; ++i) {
      unsigned cost = costsOfScopes[i].second;
      if (group.empty() || group.back().first != cost)
        group.push_back({cost, 0});
      ++group.back().second;
    }
    auto [number, isNew] = groupNumbers.try_emplace(group, groups.size());
    if (isNew)
      groups.push_back(std::move(group));
    terms.push_back({scope, number->second});
  }
  costsOfScopes.clear();
}
