//===- Models.h - Semantics of upstream operations --------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// External models of PartitionableOpInterface, one function per upstream
// dialect. They become active when the dialect is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_DIALECT_MODELS_H
#define TOFU_DIALECT_MODELS_H

#include "Tofu/Dialect/Placement.h"

namespace mlir::tofu {

/// Every linalg::LinalgOp, by its indexing maps, iterator types and body.
void registerLinalgModels(DialectRegistry &registry);

/// Reshapes, slices, pad, concat and casts.
void registerTensorModels(DialectRegistry &registry);

/// The element-wise operations of arith and math, on tensors.
void registerElementwiseModels(DialectRegistry &registry);

/// Calls of functions outside of the program, by the semantics that their
/// declarations carry.
void registerFuncModels(DialectRegistry &registry);

/// Tensors that are put where another tensor is.
void registerBufferizationModels(DialectRegistry &registry);

/// Semantics under construction: dims and accesses with made-up names.
class SemanticsBuilder {
public:
  explicit SemanticsBuilder(MLIRContext *context) : context(context) {}

  /// Adds a dim and gives the expression that stands for it.
  AffineExpr addDim(int64_t size, DimKind kind = DimKind::Parallel,
                    Combiner combiner = Combiner::None);

  /// Adds an operand with its index; a null expression is a whole dim.
  void addOperand(ArrayRef<AffineExpr> index);
  /// Adds an operand that is the initial value of result `result`.
  void addInit(ArrayRef<AffineExpr> index, unsigned result);
  /// Adds an operand that isn't read.
  void addUnread();
  /// Adds an operand that is read whole.
  void addWhole(int64_t rank);
  void addResult(ArrayRef<AffineExpr> index);
  /// Adds a set of operands in which the results are linear, as a bit mask.
  void addLinear(int64_t operands) { linear.push_back(operands); }

  SemanticsAttr build();

private:
  MLIRContext *context;
  SmallVector<IterationDimAttr> dims;
  SmallVector<AccessAttr> operands, results;
  SmallVector<int64_t> linear;
};

/// Fails, with an error, if the semantics of `piece` do not read an operand.
LogicalResult requireAllRead(const LocalPiece &piece);

/// A copy of `piece.op` with the local operands, of the given result types, at
/// the builder's place; attributes of the plan are dropped.
Operation *cloneLocal(LocalPiece &piece, ArrayRef<Value> operands,
                      TypeRange resultTypes);

} // namespace mlir::tofu

#endif // TOFU_DIALECT_MODELS_H
