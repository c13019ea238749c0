//===- EpilogueFusion.h - Contractions that get an epilogue -----*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_EPILOGUEFUSION_H
#define TOFU_LIB_CONVERSION_EPILOGUEFUSION_H

#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tofu {

struct Epilogue;

/// The contraction without an epilogue whose result is `operand` of `reader`,
/// which alone reads it, element by element; null if there is none. `reader` is
/// on tensors, element-wise and has one result.
ContractOp getContractionReadBy(linalg::GenericOp reader, OpOperand &operand);

/// The dims of the result that a library's bias may run along, as loops of the
/// contraction: the innermost ones that are all rows, or all columns, of
/// products, and the filters of convolutions. None if it has no bias.
SmallVector<AffineExpr> getBiasDims(ContractOp op);

/// True if the library may add the result to a tensor of its shape that is
/// elsewhere: it does so with products.
bool mayAddToTensor(ContractOp op);

/// True if a library may have the activation, with or without a bias, for
/// results of that element type; `adds` says that the result is added to what
/// is there before. Where both kinds of relu are the same, it is set to the
/// library's.
bool matchLibrary(ContractOp op, bool adds, bool hasBias, Type type,
                  Epilogue &epilogue);

/// True if what `op` reads of `value` must stay as it is, since it may not be
/// written to or is needed afterwards: there would be a copy of it.
bool isKept(Value value, Operation *op);

/// A contraction that takes the place of `contract` and `reader`.
struct FusedContraction {
  ContractOp contract;
  linalg::GenericOp reader;
  /// What it is added to, where the sum is then; null if that is up to the
  /// contraction.
  Value addend;

  /// What it writes to.
  Value getTarget() const;
  /// Where it can be if it needs these values besides: at one of the two,
  /// unless something is in between that it may overlap with. Null if nowhere.
  Operation *findPlace(ArrayRef<Value> needs) const;
  /// Puts it where the rewriter is; the bias may be null.
  void replace(IRRewriter &rewriter, Value lhs, Value rhs, Value bias,
               AffineMap biasMap, Activation activation) const;
};

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_EPILOGUEFUSION_H
