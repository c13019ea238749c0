//===- PlanTable.cpp - The plan for people to read ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanGraph.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::tofu;

static std::string axesText(ArrayRef<unsigned> axes, const search::Mesh &mesh) {
  std::string text;
  for (unsigned axis : axes)
    text += (text.empty() ? "" : ".") + mesh.names[axis];
  return text.empty() ? "-" : text;
}

static std::string dimsText(ArrayRef<search::Axes> dims,
                            ArrayRef<unsigned> partial,
                            const search::Mesh &mesh) {
  std::string text = "[";
  for (auto [i, axes] : llvm::enumerate(dims))
    text += (i ? " " : "") + axesText(axes, mesh);
  text += "]";
  if (!partial.empty())
    text += " partial " + axesText(partial, mesh);
  return text;
}

static int64_t sum(ArrayRef<int64_t> values) {
  int64_t total = 0;
  for (int64_t value : values)
    total += value;
  return total;
}

/// The line of a file, or the name, that an operation comes from.
static std::string locationText(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return (":" + Twine(file.getLine())).str();
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    if (!fused.getLocations().empty())
      return locationText(fused.getLocations().front());
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return locationText(call.getCallee());
  return "-";
}

namespace {
/// Operators whose lines differ in nothing but their place are one line.
struct Line {
  std::string where, name, sizes, strategy, layout;
  int64_t operandBytes = 0, resultBytes = 0, count = 1;

  bool isLike(const Line &other) const {
    return name == other.name && sizes == other.sizes &&
           strategy == other.strategy && layout == other.layout;
  }
};
} // namespace

static std::string sizesText(ArrayRef<search::IterationDim> dims) {
  std::string text;
  for (const search::IterationDim &dim : dims)
    text += (text.empty() ? "" : "x") + std::to_string(dim.size);
  return text.empty() ? "-" : text;
}

static Line getLine(const PlanGraph &graph, const search::Plan &plan,
                    unsigned i) {
  const search::Operator &op = graph.graph.operators[i];
  Line line;
  line.where = locationText(graph.operators[i].op->getLoc());
  line.name = op.name;
  line.sizes = sizesText(op.dims);
  line.strategy = graph.operators[i].semantics
                      ? dimsText(plan.strategies[i].dims,
                                 plan.strategies[i].partial, plan.mesh)
                      : "replicated";
  if (!op.results.empty()) {
    const search::Layout &layout = plan.layouts[op.results[0].value];
    line.layout = dimsText(layout.dims, layout.partial, plan.mesh);
  }
  line.operandBytes = sum(plan.operatorBytes[i].operands);
  line.resultBytes = sum(plan.operatorBytes[i].results);
  return line;
}

static void printColumns(raw_ostream &os, ArrayRef<std::string> columns) {
  os << llvm::formatv(
      "  {0,-8} {1,-26} {2,-22} {3,-20} {4,-18} {5,14} {6,14}\n", columns[0],
      columns[1], columns[2], columns[3], columns[4], columns[5], columns[6]);
}

static void print(raw_ostream &os, const Line &line) {
  std::string name = line.name;
  if (line.count > 1)
    name += " x" + std::to_string(line.count);
  printColumns(os, {line.where, name, line.sizes, line.strategy, line.layout,
                    std::to_string(line.operandBytes),
                    std::to_string(line.resultBytes)});
}

static std::string meshText(const search::Mesh &mesh) {
  std::string text;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    text += (axis ? ", " : "") + mesh.names[axis] + " = " +
            std::to_string(mesh.sizes[axis]);
  return text.empty() ? "no axes" : text;
}

void mlir::tofu::printPlan(raw_ostream &os, const PlanGraph &graph,
                           const search::Plan &plan) {
  func::FuncOp function = graph.function;
  os << "plan of @" << function.getName() << " on " << plan.mesh.numDevices()
     << " devices (" << meshText(plan.mesh)
     << "); bytes are received, summed over devices";
  if (graph.hasUnknownSizes)
    os << ", for unknown sizes of " << graph.sizeHint;
  os << "\n";
  printColumns(os, {"where", "operator", "iteration space", "strategy",
                    "result layout", "operand bytes", "result bytes"});
  std::vector<Line> lines;
  for (unsigned i = 0; i < graph.operators.size(); ++i) {
    Line line = getLine(graph, plan, i);
    // Runs of operators that move nothing are folded: element-wise chains.
    if (!lines.empty() && lines.back().isLike(line)) {
      lines.back().operandBytes += line.operandBytes;
      lines.back().resultBytes += line.resultBytes;
      ++lines.back().count;
      continue;
    }
    lines.push_back(line);
  }
  for (const Line &line : lines)
    print(os, line);
  for (auto [i, carried] : llvm::enumerate(graph.graph.carried)) {
    Line line;
    line.where = "-";
    line.name = "carried value";
    const search::Layout &layout = plan.layouts[carried.to];
    line.layout = dimsText(layout.dims, layout.partial, plan.mesh);
    line.operandBytes = plan.carriedBytes[i];
    if (line.operandBytes)
      print(os, line);
  }
  os << "  total: " << plan.totalBytes << " bytes\n";
}
