//===- PlanText.cpp - Plans in words --------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanText.h"

using namespace mlir;
using namespace mlir::tofu;

static std::string getText(ArrayRef<unsigned> axes, const search::Mesh &mesh) {
  std::string text;
  for (unsigned axis : axes)
    text += (text.empty() ? "" : ".") + mesh.names[axis];
  return text.empty() ? "-" : text;
}

static std::string getText(ArrayRef<search::Axes> dims,
                           ArrayRef<unsigned> partial,
                           const search::Mesh &mesh) {
  std::string text = "[";
  for (auto [i, axes] : llvm::enumerate(dims))
    text += (i ? " " : "") + getText(axes, mesh);
  text += "]";
  if (!partial.empty())
    text += " partial " + getText(partial, mesh);
  return text;
}

std::string mlir::tofu::getText(const search::Layout &layout,
                                const search::Mesh &mesh) {
  return ::getText(layout.dims, layout.partial, mesh);
}

std::string mlir::tofu::getText(const search::Strategy &strategy,
                                const search::Mesh &mesh) {
  return ::getText(strategy.dims, strategy.partial, mesh);
}

std::string mlir::tofu::getStrategyText(const PlanGraph &graph,
                                        const search::Plan &plan, unsigned i) {
  return graph.operators[i].semantics ? getText(plan.strategies[i], plan.mesh)
                                      : "replicated";
}

std::string mlir::tofu::getSizesText(ArrayRef<search::IterationDim> dims) {
  std::string text;
  for (const search::IterationDim &dim : dims)
    text += (text.empty() ? "" : "x") + std::to_string(dim.size);
  return text.empty() ? "-" : text;
}

std::string mlir::tofu::getText(const search::Mesh &mesh) {
  std::string text;
  for (unsigned axis = 0; axis < mesh.numAxes(); ++axis)
    text += (axis ? ", " : "") + mesh.names[axis] + " = " +
            std::to_string(mesh.sizes[axis]);
  return text.empty() ? "no axes" : text;
}

std::string mlir::tofu::getText(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return (":" + Twine(file.getLine())).str();
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    if (!fused.getLocations().empty())
      return getText(fused.getLocations().front());
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return getText(call.getCallee());
  return "-";
}

std::string mlir::tofu::getValueText(const PlanGraph &graph, unsigned value) {
  for (const PlannedGlobal &global : graph.globals)
    if (ml_program::GlobalOp op = global.op; global.value == value)
      return ("global @" + op.getSymName()).str();
  Value known = graph.values[value];
  auto result = dyn_cast<OpResult>(known);
  Operation *op =
      result ? result.getOwner() : known.getParentBlock()->getParentOp();
  std::string number =
      std::to_string(result ? result.getResultNumber()
                            : cast<BlockArgument>(known).getArgNumber());
  if (isa<func::FuncOp>(op))
    return "argument " + number;
  return op->getName().getStringRef().str() + " " + getText(op->getLoc()) +
         (result ? " result " : " argument ") + number;
}

std::string mlir::tofu::getCostText(int64_t cost, search::Objective objective) {
  if (objective == search::Objective::Bytes)
    return std::to_string(cost);
  int64_t picoseconds = std::abs(cost);
  std::string fraction = std::to_string(picoseconds % 1000000);
  fraction.insert(0, 6 - fraction.size(), '0');
  return (cost < 0 ? "-" : "") + std::to_string(picoseconds / 1000000) + "." +
         fraction;
}

StringRef mlir::tofu::getUnit(search::Objective objective) {
  return objective == search::Objective::Bytes ? "bytes" : "us";
}

std::string mlir::tofu::getChangeText(int64_t cost,
                                      search::Objective objective) {
  return (cost < 0 ? "" : "+") + getCostText(cost, objective);
}

int64_t mlir::tofu::getSum(ArrayRef<int64_t> numbers) {
  int64_t sum = 0;
  for (int64_t number : numbers)
    sum += number;
  return sum;
}

int64_t mlir::tofu::getBytes(const search::Plan &plan, unsigned i) {
  return getSum(plan.operatorBytes[i].operands) +
         getSum(plan.operatorBytes[i].results);
}
