//===- PlanDiff.cpp - What differs between two plans
//--------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "PlanText.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::tofu;

/// Prints what `what` was and is now, once if that is the same.
static void printLine(raw_ostream &os, const Twine &what, StringRef mine,
                      StringRef others, const Twine &bytes = "") {
  os << llvm::formatv("  {0,-40} ", what.str());
  if (mine != others)
    os << others << " -> ";
  os << mine << bytes << "\n";
}

/// Prints what differs of one operator. False if nothing does.
static bool printOperator(raw_ostream &os, const PlanGraph &graph,
                          const search::Plan &plan, const search::Plan &other,
                          unsigned i) {
  std::string mine = getStrategyText(graph, plan, i),
              others = getStrategyText(graph, other, i);
  int64_t more = getBytes(plan, i) - getBytes(other, i);
  if (mine == others && more == 0)
    return false;
  printLine(os,
            "operator " + Twine(i) + ": " + graph.graph.operators[i].name +
                " " + getText(graph.operators[i].op->getLoc()),
            mine, others, ", " + getChangeText(more) + " bytes");
  return true;
}

static bool printValue(raw_ostream &os, const PlanGraph &graph,
                       const search::Plan &plan, const search::Plan &other,
                       unsigned i) {
  std::string mine = getText(plan.layouts[i], plan.mesh),
              others = getText(other.layouts[i], other.mesh);
  if (mine == others)
    return false;
  printLine(os, getValueText(graph, i), mine, others);
  return true;
}

static bool printCarried(raw_ostream &os, const PlanGraph &graph,
                         const search::Plan &plan, const search::Plan &other,
                         unsigned i) {
  int64_t more = plan.carriedBytes[i] - other.carriedBytes[i];
  if (more == 0)
    return false;
  os << "  " << getValueText(graph, graph.graph.carried[i].from)
     << " carried to " << getValueText(graph, graph.graph.carried[i].to) << ": "
     << getChangeText(more) << " bytes\n";
  return true;
}

void mlir::tofu::printDifference(raw_ostream &os, const PlanGraph &graph,
                                 const search::Plan &plan,
                                 const search::Plan &other) {
  func::FuncOp function = graph.function;
  os << "plan of @" << function.getName()
     << " against the other: " << other.totalBytes << " -> " << plan.totalBytes
     << " bytes, " << getChangeText(plan.totalBytes - other.totalBytes) << "\n";
  std::string mesh = getText(plan.mesh), otherMesh = getText(other.mesh);
  if (mesh != otherMesh)
    printLine(os, "mesh", mesh, otherMesh);
  unsigned operators = 0, values = 0;
  for (unsigned i = 0; i < graph.operators.size(); ++i)
    operators += printOperator(os, graph, plan, other, i);
  for (unsigned i = 0; i < graph.values.size(); ++i)
    values += printValue(os, graph, plan, other, i);
  for (unsigned i = 0; i < graph.graph.carried.size(); ++i)
    printCarried(os, graph, plan, other, i);
  os << "  " << operators << " of " << graph.operators.size()
     << " operators and " << values << " of " << graph.values.size()
     << " values differ\n";
}
