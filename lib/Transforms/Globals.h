//===- Globals.h - Globals in a plan ----------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A global lies in one layout at all times, whoever loads and stores it.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_GLOBALS_H
#define TOFU_LIB_TRANSFORMS_GLOBALS_H

#include "Tofu/Dialect/Tofu.h"

#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

namespace mlir::tofu {

/// A load or store of a global. Numbers and tensors of unknown size are whole
/// on every device and none of the plan's business: `global` is null then, and
/// for other operations.
struct GlobalAccess {
  explicit GlobalAccess(Operation *op);

  ml_program::GlobalOp global;
  Value loaded;                ///< null for a store
  OpOperand *stored = nullptr; ///< null for a load

  explicit operator bool() const { return static_cast<bool>(global); }
};

/// The layout that the plan gives a global; null if it gives none.
LayoutAttr getGlobalLayout(ml_program::GlobalOp global);

/// The same; emits an error for `access` if there is none.
FailureOr<LayoutAttr> requireGlobalLayout(Operation *access,
                                          ml_program::GlobalOp global);

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_GLOBALS_H
