//===- Branches.cpp - Branches and loops in a plan ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Branches.h"

#include "Globals.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::tofu;

bool mlir::tofu::isPlannedBranch(Operation *op) {
  if (!isa<RegionBranchOpInterface>(op) || isa<PartitionableOpInterface>(op))
    return false;
  return llvm::all_of(op->getRegions(), [](Region &region) {
    return region.empty() ||
           (region.hasOneBlock() && !region.front().empty() &&
            isa<RegionBranchTerminatorOpInterface>(region.front().back()));
  });
}

SmallVector<Handover> mlir::tofu::getHandovers(Operation *op) {
  RegionBranchSuccessorMapping mapping;
  cast<RegionBranchOpInterface>(op).getSuccessorOperandInputMapping(mapping);
  SmallVector<Handover> handovers;
  auto add = [&](Operation *from) {
    for (OpOperand &operand : from->getOpOperands()) {
      auto it = mapping.find(&operand);
      if (it == mapping.end() ||
          !isa<RankedTensorType>(operand.get().getType()))
        continue;
      Handover &handover = handovers.emplace_back(Handover{&operand, {}});
      llvm::append_range(handover.inputs, it->second);
    }
  };
  add(op);
  for (Region &region : op->getRegions())
    if (!region.empty())
      add(region.front().getTerminator());
  return handovers;
}

LayoutAttr mlir::tofu::getPlannedLayout(Value value) {
  auto entry = [](ArrayAttr layouts, unsigned i) {
    return layouts && i < layouts.size() ? layouts[i] : Attribute();
  };
  if (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    if (GlobalAccess access(op); access)
      return getGlobalLayout(access.global);
    return dyn_cast_or_null<LayoutAttr>(
        entry(op->getAttrOfType<ArrayAttr>(TofuDialect::kLayouts),
              result.getResultNumber()));
  }
  auto arg = cast<BlockArgument>(value);
  Operation *parent = arg.getOwner()->getParentOp();
  if (auto function = dyn_cast<func::FuncOp>(parent))
    return function.getArgAttrOfType<LayoutAttr>(arg.getArgNumber(),
                                                 TofuDialect::kLayout);
  auto regions = parent->getAttrOfType<ArrayAttr>(TofuDialect::kArgLayouts);
  auto layouts = dyn_cast_or_null<ArrayAttr>(
      entry(regions, arg.getOwner()->getParent()->getRegionNumber()));
  return dyn_cast_or_null<LayoutAttr>(entry(layouts, arg.getArgNumber()));
}

FailureOr<LayoutAttr> mlir::tofu::getHandoverLayout(Operation *op,
                                                    const Handover &handover) {
  LayoutAttr common;
  for (Value input : handover.inputs) {
    LayoutAttr layout = getPlannedLayout(input);
    if (!layout)
      return op->emitOpError() << "has no layouts; run tofu-plan";
    if (common && layout != common)
      return op->emitOpError() << "hands one value on in the layouts " << layout
                               << " and " << common;
    common = layout;
  }
  return common;
}

int64_t mlir::tofu::getTripCount(Block *block) {
  // Larger ones leave no room for the bytes of a plan.
  constexpr int64_t kMostTrips = int64_t(1) << 20;
  int64_t trips = 1;
  for (Operation *op = block->getParentOp(); op && !isa<func::FuncOp>(op);
       op = op->getParentOp()) {
    auto loop = dyn_cast<LoopLikeOpInterface>(op);
    if (!loop)
      continue;
    std::optional<SmallVector<OpFoldResult>> lower = loop.getLoopLowerBounds(),
                                             upper = loop.getLoopUpperBounds(),
                                             step = loop.getLoopSteps();
    if (!lower || !upper || !step || lower->size() != 1)
      continue;
    std::optional<int64_t> from = getConstantIntValue(lower->front()),
                           to = getConstantIntValue(upper->front()),
                           by = getConstantIntValue(step->front());
    if (!from || !to || !by || *by <= 0)
      continue;
    int64_t count = *to > *from ? llvm::divideCeilSigned(*to - *from, *by) : 0;
    trips = std::min(trips * std::min(count, kMostTrips), kMostTrips);
  }
  return trips;
}
