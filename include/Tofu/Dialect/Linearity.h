//===- Linearity.h - What an operation is linear in -------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_LINEARITY_H
#define TOFU_DIALECT_LINEARITY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tofu {

/// Sets of tensor operands, as bit masks over the operands of the semantics, in
/// which all results are linear and homogeneous when the set is varied as one:
/// partial sums in just these give partial sums.
SmallVector<int64_t> getLinearOperands(linalg::LinalgOp op);

/// True if `value` is a tensor of zeros: a fill or a splat.
bool isZeros(Value value);

} // namespace mlir::tofu

#endif // TOFU_DIALECT_LINEARITY_H
