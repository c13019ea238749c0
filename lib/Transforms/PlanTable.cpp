//===- PlanTable.cpp - The plan for people to read ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "PlanText.h"
#include "Tofu/Search/Alternatives.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::tofu;

namespace {
/// Operators whose lines differ in nothing but their place are one line.
struct Line {
  std::string where, name, sizes, strategy, layout;
  std::string runnerUp = "-", runnerUpCost = "-";
  int64_t operandBytes = 0, resultBytes = 0, time = 0, count = 1;

  bool isLike(const Line &other) const {
    return name == other.name && sizes == other.sizes &&
           strategy == other.strategy && layout == other.layout &&
           runnerUp == other.runnerUp && runnerUpCost == other.runnerUpCost;
  }
};
} // namespace

static Line getLine(const PlanGraph &graph, const search::Plan &plan,
                    search::Alternatives &alternatives,
                    search::Objective objective, unsigned i) {
  const search::Operator &op = graph.graph.operators[i];
  Line line;
  line.where = getText(graph.operators[i].op->getLoc());
  line.name = op.name;
  line.sizes = getSizesText(op.dims);
  line.strategy = getStrategyText(graph, plan, i);
  if (!op.results.empty())
    line.layout = getText(plan.layouts[op.results[0].value], plan.mesh);
  line.operandBytes = getSum(plan.operatorBytes[i].operands);
  line.resultBytes = getSum(plan.operatorBytes[i].results);
  if (objective == search::Objective::Time)
    line.time = plan.operatorTimes[i];
  if (std::optional<search::Alternative> other = alternatives.runnerUp(i)) {
    line.runnerUp = getText(other->strategy, plan.mesh);
    line.runnerUpCost =
        getChangeText(other->totalCost - costOf(plan, objective), objective);
  }
  return line;
}

/// The column of times is there only if `time` is not empty.
static void printColumns(raw_ostream &os, ArrayRef<std::string> columns,
                         StringRef time) {
  os << llvm::formatv("  {0,-8} {1,-26} {2,-22} {3,-20} {4,-18} {5,14} {6,14} ",
                      columns[0], columns[1], columns[2], columns[3],
                      columns[4], columns[5], columns[6]);
  if (!time.empty())
    os << llvm::formatv("{0,16} ", time);
  os << llvm::formatv("{0,14} {1}\n", columns[7], columns[8]);
}

static void print(raw_ostream &os, const Line &line,
                  search::Objective objective) {
  std::string name = line.name;
  if (line.count > 1)
    name += " x" + std::to_string(line.count);
  printColumns(
      os,
      {line.where, name, line.sizes, line.strategy, line.layout,
       std::to_string(line.operandBytes), std::to_string(line.resultBytes),
       line.runnerUpCost, line.runnerUp},
      objective == search::Objective::Time ? getCostText(line.time, objective)
                                           : "");
}

static void printPeak(raw_ostream &os, const PlanGraph &graph,
                      const search::PeakMemory &peak) {
  os << "  memory: " << peak.bytes << " bytes per device";
  if (peak.op)
    os << ", most at " << getText(graph.operators[*peak.op].op->getLoc()) << " "
       << graph.graph.operators[*peak.op].name;
  os << "\n";
}

void mlir::tofu::printPlan(raw_ostream &os, const PlanGraph &graph,
                           const search::Plan &plan,
                           const search::PeakMemory &peak,
                           const search::SearchOptions &options) {
  func::FuncOp function = graph.function;
  bool isTimed = options.objective == search::Objective::Time;
  os << "plan of @" << function.getName() << " on " << plan.mesh.numDevices()
     << " devices (" << getText(plan.mesh)
     << "); bytes are received, summed over devices";
  if (isTimed)
    os << ", times in microseconds, of the work and of what is received";
  if (graph.hasUnknownSizes)
    os << ", for unknown sizes of " << graph.sizeHint;
  os << "\n";
  printColumns(os,
               {"where", "operator", "iteration space", "strategy",
                "result layout", "operand bytes", "result bytes",
                "runner-up costs", "runner-up"},
               isTimed ? "time" : "");
  search::Alternatives alternatives(graph.graph, plan, options);
  std::vector<Line> lines;
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    Line line = getLine(graph, plan, alternatives, options.objective, i);
    // Runs of operators that move nothing are folded: element-wise chains.
    if (!lines.empty() && lines.back().isLike(line)) {
      lines.back().operandBytes += line.operandBytes;
      lines.back().resultBytes += line.resultBytes;
      lines.back().time += line.time;
      ++lines.back().count;
      continue;
    }
    lines.push_back(line);
  }
  for (const Line &line : lines)
    print(os, line, options.objective);
  for (auto [i, carried] : llvm::enumerate(graph.graph.carried)) {
    Line line;
    line.where = "-";
    line.name = "carried value";
    line.layout = getText(plan.layouts[carried.to], plan.mesh);
    line.operandBytes = plan.carriedBytes[i];
    if (isTimed)
      line.time = plan.carriedTimes[i];
    if (line.operandBytes)
      print(os, line, options.objective);
  }
  os << "  total: " << plan.totalBytes << " bytes";
  if (isTimed)
    os << ", " << getCostText(plan.totalTime, options.objective) << " us, "
       << getCostText(plan.workTime, options.objective) << " of it work";
  os << "\n";
  printPeak(os, graph, peak);
}
