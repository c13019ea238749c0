//===- PlanDot.cpp - The plan as a graph
//--------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"

#include "PlanText.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::tofu;

/// Of Graphviz's colour scheme set312.
static constexpr unsigned kNumColours = 12;

namespace {
class DotWriter {
public:
  DotWriter(const PlanGraph &graph, const search::Plan &plan)
      : graph(graph), plan(plan), os(text) {}

  std::string write() {
    func::FuncOp function = graph.function;
    os << "digraph \"" << escaped(function.getName()) << "\" {\n"
       << "  label=\"@" << escaped(function.getName()) << " on "
       << plan.mesh.numDevices() << " devices (" << getText(plan.mesh)
       << "): " << plan.totalBytes << " bytes\";\n"
       << "  node [style=filled, colorscheme=set312, fillcolor=white];\n";
    for (unsigned i = 0; i < graph.values.size(); ++i)
      writeValue(i);
    for (unsigned i = 0; i < graph.operators.size(); ++i)
      writeOperator(i);
    for (auto [carried, bytes] :
         llvm::zip_equal(graph.graph.carried, plan.carriedBytes))
      writeEdge("v", carried.from, "v", carried.to, bytes, "dashed");
    os << "}\n";
    return std::move(text);
  }

private:
  static std::string escaped(StringRef name) {
    std::string result;
    for (char c : name) {
      if (c == '"' || c == '\\')
        result += '\\';
      result += c;
    }
    return result;
  }

  void writeValue(unsigned i) {
    os << "  v" << i << " [shape=ellipse, label=\""
       << escaped(getValueText(graph, i)) << "\\n"
       << escaped(getText(plan.layouts[i], plan.mesh)) << "\"];\n";
  }

  void writeOperator(unsigned i) {
    const search::Operator &op = graph.graph.operators[i];
    std::string strategy = getStrategyText(graph, plan, i);
    os << "  o" << i << " [shape=box, fillcolor=" << colourOf(strategy)
       << ", label=\"" << escaped(op.name) << " "
       << escaped(getText(graph.operators[i].op->getLoc())) << "\\n"
       << getSizesText(op.dims) << "\\n"
       << escaped(strategy) << "\"];\n";
    const search::Bytes &bytes = plan.operatorBytes[i];
    for (auto [operand, moved] : llvm::zip_equal(op.operands, bytes.operands))
      writeEdge("v", operand.value, "o", i, moved, "solid");
    for (auto [result, moved] : llvm::zip_equal(op.results, bytes.results))
      writeEdge("o", i, "v", result.value, moved, "solid");
  }

  void writeEdge(StringRef fromKind, unsigned from, StringRef toKind,
                 unsigned to, int64_t bytes, StringRef style) {
    os << "  " << fromKind << from << " -> " << toKind << to
       << " [style=" << style;
    if (bytes)
      os << ", penwidth=2, label=\"" << bytes << "\"";
    os << "];\n";
  }

  /// Equal strategies have equal colours.
  unsigned colourOf(StringRef strategy) {
    return colours.try_emplace(strategy, colours.size() % kNumColours + 1)
        .first->second;
  }

  const PlanGraph &graph;
  const search::Plan &plan;
  llvm::StringMap<unsigned> colours;
  std::string text;
  llvm::raw_string_ostream os;
};
} // namespace

std::string mlir::tofu::getDot(const PlanGraph &graph,
                               const search::Plan &plan) {
  return DotWriter(graph, plan).write();
}
