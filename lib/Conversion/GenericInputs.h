//===- GenericInputs.h - Fewer inputs of a generic --------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_GENERICINPUTS_H
#define TOFU_LIB_CONVERSION_GENERICINPUTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tofu {

/// Rewrites inputs that are the same number everywhere to scalars of the body,
/// and inputs that are read twice in the same way to one. Returns the new
/// operation, or the given one if there was nothing to do.
linalg::GenericOp simplifyInputs(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_GENERICINPUTS_H
