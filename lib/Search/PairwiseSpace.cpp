//===- PairwiseSpace.cpp - A plan space as a pairwise model ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PairwiseSpace.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::tofu::search;

PairwiseSpace::~PairwiseSpace() = default;

static void appendIndex(llvm::SmallVectorImpl<int64_t> &key,
                        llvm::ArrayRef<LinearExpr> index) {
  for (const LinearExpr &expr : index) {
    key.append({expr.whole, expr.constant, int64_t(expr.terms.size())});
    for (auto [dim, coefficient] : expr.terms)
      key.append({int64_t(dim), coefficient});
  }
}

void PairwiseSpace::makeModel(llvm::ArrayRef<unsigned> domainSizes,
                              llvm::ArrayRef<unsigned> ids) {
  domainIds.assign(ids.begin(), ids.end());
  model = std::make_unique<PairwiseModel>(domainSizes);
  addReads();
  addWrites();
}

/// All that a use of a value depends on, besides the value.
PairwiseSpace::Key PairwiseSpace::signatureOf(const Use &use) const {
  Key key{int64_t(domainIds[use.var]), use.op ? 1 : 0};
  if (!use.op)
    return key;
  const Operand &operand = use.op->operands[use.operand];
  appendIndex(key, operand.index);
  key.push_back(operand.initOf >= 0);
  key.push_back(use.op->linear.empty() ? -1 : int(use.operand));
  for (const IterationDim &dim : use.op->dims)
    key.append({dim.size, int64_t(dim.kind)});
  return key;
}

void PairwiseSpace::addGroup(unsigned row, const Value &value,
                             llvm::ArrayRef<Use> uses) {
  Key key{int64_t(domainIds[row]), value.elementBytes, /*writes=*/0};
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
  auto [group, isNew] = columns.try_emplace(std::move(key));
  if (isNew)
    fillReads(group->second, row, value, examples);
  llvm::SmallVector<PairwiseModel::Reader> readers;
  for (auto [use, example] : llvm::zip_equal(uses, exampleOf))
    readers.push_back({use.var, group->second.columnsOf[example]});
  model->addGroup(row, group->second.table, group->second.numColumns, readers);
}

void PairwiseSpace::addReads() {
  std::vector<llvm::SmallVector<Use, 4>> usesOf(graph.values.size());
  for (auto [i, op] : llvm::enumerate(graph.operators))
    for (auto [j, operand] : llvm::enumerate(op.operands))
      if (!graph.values[operand.value].constant && !space.isFreeRead(i, j))
        usesOf[operand.value].push_back(
            {space.variableOfOperator(i), &op, unsigned(j)});
  for (const Carried &carried : graph.carried) {
    int from = space.variableOfValue(carried.from),
        to = space.variableOfValue(carried.to);
    if (from >= 0 && to >= 0 && from != to)
      usesOf[carried.from].push_back({unsigned(to), nullptr, 0});
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
              int64_t(domainIds[col])};
      key.append(value.shape.begin(), value.shape.end());
      appendIndex(key, result.index);
      for (const IterationDim &dim : op.dims)
        key.append({dim.size, int64_t(dim.kind), dim.additive});
      auto [group, isNew] = columns.try_emplace(std::move(key));
      if (isNew)
        fillWrites(group->second, row, i, j);
      model->addGroup(
          row, group->second.table, group->second.numColumns,
          PairwiseModel::Reader{col, group->second.columnsOf.front()});
    }
}
