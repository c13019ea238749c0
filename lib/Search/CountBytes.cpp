//===- CountBytes.cpp - The bytes and the time of a plan ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Search/CostModel.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir::tofu::search;

namespace {

/// Walks the program in order; with Charge::Once it remembers which copies of
/// a value exist already.
class Counter {
public:
  /// What it costs to move a value: bytes or picoseconds.
  using Cost = int64_t (CostModel::*)(const Value &, const CostModel::Shards &,
                                      const CostModel::Shards &);

  Counter(const PartitionGraph &graph, const Plan &plan, CostModel &model,
          Charge charge, Cost cost)
      : graph(graph), plan(plan), model(model), charge(charge), cost(cost),
        copies(charge == Charge::Once ? graph.values.size() : 0) {}

  Bytes ofOperator(unsigned index) {
    const Operator &op = graph.operators[index];
    const Strategy &strategy = plan.strategies[index];
    Bytes bytes;
    for (unsigned i = 0; i < op.operands.size(); ++i)
      bytes.operands.push_back(ofOperand(op, i, strategy));
    for (auto [i, result] : llvm::enumerate(op.results)) {
      const Value &value = graph.values[result.value];
      bytes.results.push_back(
          (model.*cost)(value, model.resultShards(op, i, strategy, value),
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
    return (model.*cost)(read, model.layoutShards(read, plan.layouts[value]),
                         need);
  }

  const PartitionGraph &graph;
  const Plan &plan;
  CostModel &model;
  Charge charge;
  Cost cost;
  std::vector<llvm::SmallVector<CostModel::Shards, 1>> copies;
};

} // namespace

void mlir::tofu::search::countBytes(const PartitionGraph &graph, Plan &plan,
                                    Charge charge, CostModel &model) {
  Counter counter(graph, plan, model, charge, &CostModel::movedBytes);
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

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

void mlir::tofu::search::countTimes(const PartitionGraph &graph, Plan &plan,
                                    Charge charge, CostModel &model) {
  Counter counter(graph, plan, model, charge, &CostModel::movedTime);
  plan.totalTime = plan.workTime = 0;
  plan.operatorTimes.clear();
  plan.carriedTimes.clear();
  for (auto [i, op] : llvm::enumerate(graph.operators)) {
    int64_t work = model.workTime(graph, op, plan.strategies[i]), time = work;
    Bytes moves = counter.ofOperator(i);
    for (int64_t moved : moves.operands)
      time += moved;
    for (int64_t moved : moves.results)
      time += moved;
    plan.workTime += work;
    plan.totalTime += time;
    plan.operatorTimes.push_back(time);
  }
  for (const Carried &carried : graph.carried) {
    plan.carriedTimes.push_back(counter.ofCarried(carried));
    plan.totalTime += plan.carriedTimes.back();
  }
}

void mlir::tofu::search::countTimes(const PartitionGraph &graph, Plan &plan,
                                    Charge charge, const Rates &rates) {
  CostModel model(plan.mesh, rates);
  countTimes(graph, plan, charge, model);
}

int64_t mlir::tofu::search::costOf(const Plan &plan, Objective objective) {
  return objective == Objective::Time ? plan.totalTime : plan.totalBytes;
}

double mlir::tofu::search::mostTime(const PartitionGraph &graph,
                                    const Rates &rates) {
  double latency = 0, perByte = 0, seconds = 0;
  for (const Link &link : rates.axes) {
    latency += link.latency;
    perByte += 1 / link.bandwidth;
  }
  // All bytes of a value, each time.
  auto bytesOf = [&](unsigned number) {
    double bytes = double(graph.values[number].elementBytes);
    for (int64_t size : graph.values[number].shape)
      bytes *= double(size);
    return bytes;
  };
  auto move = [&](unsigned number) {
    seconds += double(graph.values[number].times) * latency +
               3 * bytesOf(number) * perByte;
  };
  for (const Operator &op : graph.operators) {
    double bytes = 0, points = double(op.flops);
    auto add = [&](unsigned number) {
      move(number);
      bytes += bytesOf(number) /
               std::max<double>(double(graph.values[number].times), 1);
    };
    for (const Operand &operand : op.operands)
      add(operand.value);
    for (const Result &result : op.results)
      add(result.value);
    for (const IterationDim &dim : op.dims)
      points *= double(dim.size);
    seconds += double(op.times) * (points / rates.flops[size_t(op.precision)] +
                                   bytes / rates.memoryBandwidth);
  }
  for (const Carried &carried : graph.carried)
    move(carried.from);
  return seconds * 1e12;
}
