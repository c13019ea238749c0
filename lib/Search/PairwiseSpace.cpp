//===- PairwiseSpace.cpp - A plan space as a pairwise model ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PairwiseSpace.h"

#include "IndexKey.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir::tofu::search;

PairwiseSpace::~PairwiseSpace() = default;

void PairwiseSpace::makeModel(llvm::ArrayRef<unsigned> sizes,
                              llvm::ArrayRef<unsigned> ids) {
  domainIds.assign(ids.begin(), ids.end());
  domainSizes.assign(sizes.begin(), sizes.end());
  addInitials();
  model = std::make_unique<PairwiseModel>(domainSizes);
  tieInitials();
  addReads();
  addWrites();
  if (options.objective == Objective::Time)
    addWork();
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

void PairwiseSpace::addInitials() {
  Numbering<Key> numbers;
  unsigned firstId = 0;
  for (unsigned id : domainIds)
    firstId = std::max(firstId, id + 1);
  for (auto [i, op] : llvm::enumerate(graph.operators))
    for (auto [j, operand] : llvm::enumerate(op.operands)) {
      if (operand.initOf < 0 || graph.values[operand.value].constant ||
          space.isFreeRead(i, j))
        continue;
      unsigned var = space.variableOfOperator(i);
      unsigned result = space.variableOfValue(op.results[operand.initOf].value);
      Initial initial{unsigned(i), unsigned(j), result, {}};
      for (unsigned value = 0; value < domainSizes[var]; ++value)
        if (!cutsReduction(i, value))
          initial.uncut.push_back(value);
      if (initial.uncut.size() == domainSizes[var])
        continue;
      Key key{int64_t(domainIds[var]), int64_t(domainIds[result])};
      key.append(initial.uncut.begin(), initial.uncut.end());
      domainIds.push_back(firstId + numbers(std::move(key)).first);
      domainSizes.push_back(initial.uncut.size() + domainSizes[result]);
      initials.push_back(std::move(initial));
    }
}

/// Rules out values of the variables of initial values that don't fit.
void PairwiseSpace::tieInitials() {
  for (auto [i, initial] : llvm::enumerate(initials)) {
    unsigned mine = space.numVariables() + i;
    unsigned op = space.variableOfOperator(initial.op);
    unsigned uncut = initial.uncut.size(),
             layouts = domainSizes[initial.result];
    auto [entry, isNew] = ties.try_emplace(domainIds[mine]);
    auto &[toOp, toResult] = entry->second;
    if (isNew) {
      // Columns: each uncut value of the operator, then all others.
      toOp.numColumns = uncut + 1;
      toOp.columnsOf.emplace_back();
      for (unsigned value = 0; value < uncut + layouts; ++value)
        toOp.columnsOf.front().push_back(std::min(value, uncut));
      for (unsigned value = 0; value < domainSizes[op]; ++value) {
        unsigned at = llvm::find(initial.uncut, value) - initial.uncut.begin();
        for (unsigned column = 0; column <= uncut; ++column)
          toOp.table.push_back(column == at ? 0 : Forbidden);
      }
      // Columns: any layout, then each.
      toResult.numColumns = 1 + layouts;
      toResult.columnsOf.emplace_back();
      for (unsigned value = 0; value < uncut + layouts; ++value)
        toResult.columnsOf.front().push_back(value < uncut ? 0
                                                           : 1 + value - uncut);
      for (unsigned layout = 0; layout < layouts; ++layout)
        for (unsigned column = 0; column <= layouts; ++column)
          toResult.table.push_back(
              column == 0 || column == 1 + layout ? 0 : Forbidden);
    }
    model->addGroup(op, toOp.table, toOp.numColumns,
                    PairwiseModel::Reader{mine, toOp.columnsOf.front()});
    model->addGroup(initial.result, toResult.table, toResult.numColumns,
                    PairwiseModel::Reader{mine, toResult.columnsOf.front()});
  }
}

PairwiseSpace::Needed PairwiseSpace::neededBy(const Use &use,
                                              unsigned value) const {
  if (!use.initial)
    return {!use.op, false, use.var, value};
  unsigned uncut = use.initial->uncut.size();
  if (value >= uncut)
    return {true, options.partials && !use.op->linear.empty(),
            use.initial->result, value - uncut};
  return {false, false, space.variableOfOperator(use.initial->op),
          use.initial->uncut[value]};
}

Assignment PairwiseSpace::complete(Assignment assignment) const {
  for (const Initial &initial : initials) {
    unsigned op = assignment[space.variableOfOperator(initial.op)];
    unsigned at = llvm::find(initial.uncut, op) - initial.uncut.begin();
    bool isCut = at == initial.uncut.size();
    assignment.push_back(at + (isCut ? assignment[initial.result] : 0));
  }
  return assignment;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// All that a use of a value depends on, besides the value.
PairwiseSpace::Key PairwiseSpace::signatureOf(const Use &use) const {
  Key key{int64_t(domainIds[use.var]), use.op ? 1 : 0};
  if (!use.op)
    return key;
  const Operand &operand = use.op->operands[use.operand];
  appendIndex(key, operand.index);
  key.push_back(use.initial != nullptr);
  key.push_back(use.op->linear.empty() ? -1 : int(use.operand));
  for (const IterationDim &dim : use.op->dims)
    key.append({dim.size, int64_t(dim.kind)});
  return key;
}

/// The one of all equal groups that is kept.
const PairwiseSpace::Columns *PairwiseSpace::share(Columns group) {
  uint64_t hash = llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(group.table.data()),
                     group.table.size() * sizeof(group.table.front())));
  auto [first, last] = distinct.equal_range(hash);
  for (; first != last; ++first)
    if (first->second == group)
      return &first->second;
  return &distinct.emplace(hash, std::move(group))->second;
}

/// Kinds of readers that share columns, directly or through others. A column
/// that costs nothing is not shared.
llvm::IntEqClasses PairwiseSpace::Columns::sharing() const {
  auto costs = [&](unsigned column) {
    for (size_t at = column; at < table.size(); at += numColumns)
      if (table[at] != 0)
        return true;
    return false;
  };
  llvm::IntEqClasses classes(columnsOf.size());
  std::vector<int> firstReader(numColumns, -1);
  for (auto [kind, mine] : llvm::enumerate(columnsOf))
    for (unsigned column : mine) {
      if (firstReader[column] < 0)
        firstReader[column] = kind;
      else if (firstReader[column] != int(kind) && costs(column))
        classes.join(firstReader[column], kind);
    }
  classes.compress();
  return classes;
}

/// Readers that share no column with others are a group of their own.
PairwiseSpace::Reads PairwiseSpace::split(const Columns &group) {
  llvm::IntEqClasses classes = group.sharing();
  Reads reads;
  std::vector<Columns> parts(classes.getNumClasses());
  std::vector<Numbering<unsigned>> numbers(parts.size());
  std::vector<std::vector<unsigned>> kept(parts.size());
  for (auto [kind, mine] : llvm::enumerate(group.columnsOf)) {
    unsigned part = classes[kind];
    reads.placeOf.push_back({part, unsigned(parts[part].columnsOf.size())});
    std::vector<unsigned> &renumbered = parts[part].columnsOf.emplace_back();
    for (unsigned column : mine) {
      auto [at, isNew] = numbers[part](column);
      renumbered.push_back(at);
      if (isNew)
        kept[part].push_back(column);
    }
  }
  for (auto [part, columns] : llvm::zip_equal(parts, kept)) {
    part.numColumns = columns.size();
    for (size_t row = 0; row < group.table.size(); row += group.numColumns)
      for (unsigned column : columns)
        part.table.push_back(group.table[row + column]);
    reads.parts.push_back(share(std::move(part)));
  }
  return reads;
}

void PairwiseSpace::addGroup(unsigned row, const Value &value,
                             llvm::ArrayRef<Use> uses) {
  Key key{int64_t(domainIds[row]), value.elementBytes, /*writes=*/0,
          value.times};
  key.append(value.shape.begin(), value.shape.end());
  // Uses that are alike share their columns.
  llvm::SmallVector<Key, 4> signatures;
  llvm::SmallVector<Use, 4> examples;
  llvm::SmallVector<unsigned, 4> exampleOf;
  for (const Use &use : uses) {
    Key signature = signatureOf(use);
    exampleOf.push_back(llvm::find(signatures, signature) - signatures.begin());
    if (exampleOf.back() < signatures.size())
      continue;
    key.push_back(signature.size());
    key.append(signature.begin(), signature.end());
    signatures.push_back(std::move(signature));
    examples.push_back(use);
  }
  auto [known, isNew] = reads.try_emplace(std::move(key));
  if (isNew) {
    Columns group;
    fillReads(group, row, value, examples);
    known->second = split(group);
  }
  const Reads &mine = known->second;
  std::vector<llvm::SmallVector<PairwiseModel::Reader, 4>> readers(
      mine.parts.size());
  for (auto [use, example] : llvm::zip_equal(uses, exampleOf)) {
    auto [part, kind] = mine.placeOf[example];
    readers[part].push_back({use.var, mine.parts[part]->columnsOf[kind]});
  }
  for (auto [part, some] : llvm::zip_equal(mine.parts, readers))
    model->addGroup(row, part->table, part->numColumns, some);
}

void PairwiseSpace::addReads() {
  std::vector<llvm::SmallVector<Use, 4>> usesOf(graph.values.size());
  unsigned nextInitial = 0;
  for (auto [i, op] : llvm::enumerate(graph.operators))
    for (auto [j, operand] : llvm::enumerate(op.operands)) {
      if (graph.values[operand.value].constant || space.isFreeRead(i, j))
        continue;
      Use use{space.variableOfOperator(i), &op, unsigned(j), nullptr};
      if (nextInitial < initials.size() && initials[nextInitial].op == i &&
          initials[nextInitial].operand == j) {
        use.var = space.numVariables() + nextInitial;
        use.initial = &initials[nextInitial++];
      }
      usesOf[operand.value].push_back(use);
    }
  for (const Carried &carried : graph.carried) {
    int from = space.variableOfValue(carried.from),
        to = space.variableOfValue(carried.to);
    if (from >= 0 && to >= 0 && from != to)
      usesOf[carried.from].push_back({unsigned(to), nullptr, 0, nullptr});
  }
  for (auto [number, uses] : llvm::enumerate(usesOf)) {
    if (uses.empty())
      continue;
    const Value &value = graph.values[number];
    unsigned row = space.variableOfValue(number);
    if (options.charge == Charge::PerUse) {
      for (const Use &use : uses)
        addGroup(row, value, use);
      continue;
    }
    // Uses that always need the same are one.
    llvm::SmallVector<Use, 4> distinct;
    for (const Use &use : uses)
      if (llvm::none_of(distinct, [&](const Use &other) {
            return other.var == use.var &&
                   signatureOf(other) == signatureOf(use);
          }))
        distinct.push_back(use);
    addGroup(row, value, distinct);
  }
}

void PairwiseSpace::addWrites() {
  for (auto [i, op] : llvm::enumerate(graph.operators))
    for (auto [j, result] : llvm::enumerate(op.results)) {
      const Value &value = graph.values[result.value];
      if (value.constant || space.isFreeWrite(i, j))
        continue;
      unsigned row = space.variableOfValue(result.value),
               col = space.variableOfOperator(i);
      Key key{int64_t(domainIds[row]), value.elementBytes, /*writes=*/1,
              value.times, int64_t(domainIds[col])};
      key.append(value.shape.begin(), value.shape.end());
      appendIndex(key, result.index);
      for (const IterationDim &dim : op.dims)
        key.append({dim.size, int64_t(dim.kind), dim.additive});
      const Columns *&group = columns[std::move(key)];
      if (!group) {
        Columns fresh;
        fillWrites(fresh, row, i, j);
        group = share(std::move(fresh));
      }
      model->addGroup(row, group->table, group->numColumns,
                      PairwiseModel::Reader{col, group->columnsOf.front()});
    }
}

/// A group of one column, which the variable of the operator reads itself.
void PairwiseSpace::addWork() {
  for (auto [i, op] : llvm::enumerate(graph.operators)) {
    unsigned var = space.variableOfOperator(i);
    Key key{int64_t(domainIds[var]), 0, /*work=*/2};
    key.append(workSignature(graph, op));
    const Columns *&group = columns[std::move(key)];
    if (!group) {
      Columns fresh;
      fresh.numColumns = 1;
      fresh.columnsOf.emplace_back(domainSizes[var], 0);
      fillWork(fresh, i);
      group = share(std::move(fresh));
    }
    model->addGroup(var, group->table, group->numColumns,
                    PairwiseModel::Reader{var, group->columnsOf.front()});
  }
}
