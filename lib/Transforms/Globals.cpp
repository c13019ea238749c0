//===- Globals.cpp - Globals in a plan ------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Globals.h"

using namespace mlir;
using namespace mlir::tofu;

GlobalAccess::GlobalAccess(Operation *op) {
  SymbolRefAttr symbol;
  if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op)) {
    symbol = load.getGlobal();
    loaded = load.getResult();
  } else if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op)) {
    symbol = load.getGlobal();
    loaded = load.getResult();
  } else if (auto store = dyn_cast<ml_program::GlobalStoreOp>(op)) {
    symbol = store.getGlobal();
    stored = &store.getValueMutable();
  } else {
    return;
  }
  auto type = dyn_cast<RankedTensorType>(loaded ? loaded.getType()
                                                : stored->get().getType());
  if (type && type.hasStaticShape())
    global =
        SymbolTable::lookupNearestSymbolFrom<ml_program::GlobalOp>(op, symbol);
}

LayoutAttr mlir::tofu::getGlobalLayout(ml_program::GlobalOp global) {
  return global->getAttrOfType<LayoutAttr>(TofuDialect::kLayout);
}

FailureOr<LayoutAttr>
mlir::tofu::requireGlobalLayout(Operation *access,
                                ml_program::GlobalOp global) {
  if (LayoutAttr layout = getGlobalLayout(global))
    return layout;
  return access->emitOpError() << "global @" << global.getSymName()
                               << " has no tofu.layout; run tofu-plan";
}
