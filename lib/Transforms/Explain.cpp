//===- Explain.cpp - What one operation costs, and could
//----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "PlanText.h"
#include "Tofu/Search/Alternatives.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::tofu;

/// Of the operators that receive the most, so many get a remark.
static constexpr size_t kMostRemarks = 10;

static void printTensor(raw_ostream &os, const Twine &what,
                        const search::Layout &layout, int64_t bytes,
                        const search::Mesh &mesh) {
  os << llvm::formatv("  {0,-24} {1,-20} {2,14} bytes\n", what.str(),
                      getText(layout, mesh), bytes);
}

static void printTensors(raw_ostream &os, const PlanGraph &graph,
                         const search::Plan &plan, unsigned i) {
  const search::Operator &op = graph.graph.operators[i];
  const search::Bytes &bytes = plan.operatorBytes[i];
  // Operands are numbered as among the tensors of the operation.
  for (auto [operand, number, moved] : llvm::zip_equal(
           op.operands, graph.operators[i].operands, bytes.operands))
    printTensor(os, "operand " + Twine(number), plan.layouts[operand.value],
                moved, plan.mesh);
  for (auto [r, result, moved] : llvm::enumerate(op.results, bytes.results))
    printTensor(os, "result " + Twine(r), plan.layouts[result.value], moved,
                plan.mesh);
  for (auto [carried, moved] :
       llvm::zip_equal(graph.graph.carried, plan.carriedBytes))
    for (const search::Result &result : op.results)
      if (result.value == carried.from)
        printTensor(os, "carried to " + getValueText(graph, carried.to),
                    plan.layouts[carried.to], moved, plan.mesh);
}

static void explainOperator(raw_ostream &os, const PlanGraph &graph,
                            const search::Plan &plan,
                            search::Alternatives &alternatives,
                            search::Objective objective, unsigned i) {
  const search::Operator &op = graph.graph.operators[i];
  func::FuncOp function = graph.function;
  os << "operator " << i << " of @" << function.getName() << ": " << op.name
     << " at " << getText(graph.operators[i].op->getLoc()) << ", "
     << getSizesText(op.dims) << ", " << getStrategyText(graph, plan, i)
     << "\n";
  printTensors(os, graph, plan, i);
  if (!graph.operators[i].semantics)
    return;
  os << "  what the plan would cost with each strategy, all else as it is:\n";
  for (const search::Alternative &other : alternatives.of(i))
    os << llvm::formatv(
        "  {0} {1,14} {2} {3,14}  {4}\n",
        other.strategy == plan.strategies[i] ? '*' : ' ',
        getCostText(other.totalCost, objective), getUnit(objective),
        getChangeText(other.totalCost - costOf(plan, objective), objective),
        getText(other.strategy, plan.mesh));
}

/// Whether `where`, with or without an @, names `loc` or a location that it is
/// made of: by name, as file:line:column, file:line or :line.
static bool isAt(Location loc, StringRef where) {
  where.consume_front("@");
  if (where == getText(loc))
    return true;
  WalkResult result = loc->walk([&](Location each) {
    if (auto name = dyn_cast<NameLoc>(each))
      return name.getName() == where ? WalkResult::interrupt()
                                     : WalkResult::advance();
    auto file = dyn_cast<FileLineColLoc>(each);
    if (!file)
      return WalkResult::advance();
    std::string line = (":" + Twine(file.getLine())).str(),
                column = (line + ":" + Twine(file.getColumn())).str();
    StringRef name = where;
    for (StringRef place : {StringRef(column), StringRef(line)})
      if (name.consume_back(place))
        return name.empty() || name == file.getFilename() ||
                       name == llvm::sys::path::filename(file.getFilename())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

LogicalResult mlir::tofu::explainOperators(raw_ostream &os,
                                           const PlanGraph &graph,
                                           const search::Plan &plan,
                                           const search::SearchOptions &options,
                                           StringRef where) {
  search::Alternatives alternatives(graph.graph, plan, options);
  bool found = false;
  for (auto [i, planned] : llvm::enumerate(graph.operators)) {
    if (where != std::to_string(i) && !isAt(planned.op->getLoc(), where))
      continue;
    explainOperator(os, graph, plan, alternatives, options.objective, i);
    found = true;
  }
  return success(found);
}

void mlir::tofu::remarkDearest(const PlanGraph &graph, const search::Plan &plan,
                               const search::SearchOptions &options) {
  func::FuncOp function = graph.function;
  if (!function.getContext()->getRemarkEngine())
    return;
  SmallVector<std::pair<int64_t, unsigned>> dearest;
  for (unsigned i = 0; i < graph.operators.size(); ++i)
    if (int64_t bytes = getBytes(plan, i))
      dearest.push_back({-bytes, i});
  llvm::sort(dearest);
  dearest.truncate(std::min(dearest.size(), kMostRemarks));
  // Remarks are about bytes, whatever the plan is least in.
  search::SearchOptions inBytes = options;
  inBytes.objective = search::Objective::Bytes;
  search::Alternatives alternatives(graph.graph, plan, inBytes);
  for (auto [bytes, i] : dearest) {
    auto remark = remark::analysis(graph.operators[i].op->getLoc(),
                                   remark::RemarkOpts::name("Bytes")
                                       .category("tofu-plan")
                                       .function(function.getName()));
    // Nobody wants any.
    if (!remark)
      return;
    remark << remark::metric("Operator", graph.graph.operators[i].name)
           << remark::metric("Strategy", getStrategyText(graph, plan, i))
           << remark::metric("OperandBytes",
                             getSum(plan.operatorBytes[i].operands))
           << remark::metric("ResultBytes",
                             getSum(plan.operatorBytes[i].results))
           << remark::metric("TotalBytes", plan.totalBytes);
    if (std::optional<search::Alternative> other = alternatives.runnerUp(i))
      remark << remark::metric("RunnerUp", getText(other->strategy, plan.mesh))
             << remark::metric("RunnerUpTotalBytes", other->totalCost);
  }
}
