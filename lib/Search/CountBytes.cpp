//===- CountBytes.cpp - The bytes of a plan -------------------------------===//
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

namespace {

/// Walks the program in order; with Charge::Once it remembers which copies of
/// a value exist already.
class ByteCounter {
public:
  ByteCounter(const PartitionGraph &graph, const Plan &plan, CostModel &model,
              Charge charge)
      : graph(graph), plan(plan), model(model), charge(charge),
        copies(charge == Charge::Once ? graph.values.size() : 0) {}

  Bytes ofOperator(unsigned index) {
    const Operator &op = graph.operators[index];
    const Strategy &strategy = plan.strategies[index];
    Bytes bytes;
    for (unsigned i = 0; i < op.operands.size(); ++i)
      bytes.operands.push_back(ofOperand(op, i, strategy));
    for (auto [i, result] : llvm::enumerate(op.results)) {
      const Value &value = graph.values[result.value];
      bytes.results.push_back(model.movedBytes(
          value, model.resultShards(op, i, strategy, value),
          model.layoutShards(value, plan.layouts[result.value])));
    }
    return bytes;
  }

  int64_t ofCarried(const Carried &carried) {
    const Value &value = graph.values[carried.from];
    return read(carried.from,
                model.carriedShards(value, plan.layouts[carried.to]));
  }

private:
  int64_t ofOperand(const Operator &op, unsigned i, const Strategy &strategy) {
    const Operand &operand = op.operands[i];
    const Layout *resultLayout =
        operand.initOf >= 0 ? &plan.layouts[op.results[operand.initOf].value]
                            : nullptr;
    return read(operand.value,
                model.operandShards(op, i, strategy,
                                    graph.values[operand.value], resultLayout));
  }

  int64_t read(unsigned value, const CostModel::Shards &need) {
    if (charge == Charge::Once) {
      for (const CostModel::Shards &copy : copies[value])
        if (copy == need)
          return 0;
      copies[value].push_back(need);
    }
    const Value &read = graph.values[value];
    return model.movedBytes(read, model.layoutShards(read, plan.layouts[value]),
                            need);
  }

  const PartitionGraph &graph;
  const Plan &plan;
  CostModel &model;
  Charge charge;
  std::vector<llvm::SmallVector<CostModel::Shards, 1>> copies;
};

} // namespace

void mlir::tofu::search::countBytes(const PartitionGraph &graph, Plan &plan,
                                    Charge charge, CostModel &model) {
  ByteCounter counter(graph, plan, model, charge);
  plan.totalBytes = 0;
  plan.operatorBytes.clear();
  plan.carriedBytes.clear();
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    plan.operatorBytes.push_back(counter.ofOperator(i));
    const Bytes &bytes = plan.operatorBytes.back();
    for (int64_t moved : bytes.operands)
      plan.totalBytes += moved;
    for (int64_t moved : bytes.results)
      plan.totalBytes += moved;
  }
  for (const Carried &carried : graph.carried) {
    plan.carriedBytes.push_back(counter.ofCarried(carried));
    plan.totalBytes += plan.carriedBytes.back();
  }
}

void mlir::tofu::search::countBytes(const PartitionGraph &graph, Plan &plan,
                                    Charge charge) {
  CostModel model(plan.mesh);
  countBytes(graph, plan, charge, model);
}
