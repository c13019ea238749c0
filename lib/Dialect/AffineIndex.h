//===- AffineIndex.h - Index computations as expressions --------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_DIALECT_AFFINEINDEX_H
#define TOFU_LIB_DIALECT_AFFINEINDEX_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::tofu {

/// `index` as an expression: of constants, of what `leaf` has an expression for
/// (null for anything else), and of the sums, differences and products by
/// constants that arith and affine make of them. Null if it is none, or nested
/// too deeply.
AffineExpr toAffine(OpFoldResult index, MLIRContext *context,
                    function_ref<AffineExpr(Value)> leaf, unsigned depth = 0);

/// `expr`, of a map with these operands, as an expression likewise.
AffineExpr toAffine(AffineExpr expr, AffineMap map, ValueRange operands,
                    function_ref<AffineExpr(Value)> leaf, unsigned depth = 0);

} // namespace mlir::tofu

#endif // TOFU_LIB_DIALECT_AFFINEINDEX_H
