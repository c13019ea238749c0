//===- GuardAssertions.h - Assertions within kernels ------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread of a device can't end the run. It leaves the number of the assertion
// that failed in a flag, and does nothing of what comes after in the block: an
// index may be good only if the assertion holds. The host looks at the flag.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_GUARDASSERTIONS_H
#define TOFU_LIB_CONVERSION_GUARDASSERTIONS_H

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::tofu {

/// The assertions within an operation, numbered from 1 in order.
class Assertions {
public:
  explicit Assertions(Operation *root);

  bool empty() const { return assertions.empty(); }

  /// Rewrites those in `block`, a copy of a block of the operation, to stores
  /// of their number to `flag`.
  LogicalResult guard(Block &block, Value flag);

  /// Asserts on the host that none `failed`, which is a number or 0.
  void check(OpBuilder &builder, Value failed);

private:
  LogicalResult guardBlock(Block &block, Value flag, unsigned &number);

  SmallVector<cf::AssertOp> assertions;
};

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_GUARDASSERTIONS_H
