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

/// linalg.unpack; what else has no loops of its own is read off its tiles.
void registerUnpackModel(DialectRegistry &registry);

/// Reshapes, slices, pad, concat and casts.
void registerTensorModels(DialectRegistry &registry);

/// The element-wise operations of arith and math, on tensors.
void registerElementwiseModels(DialectRegistry &registry);

/// Calls of functions outside of the program, by the semantics that their
/// declarations carry.
void registerFuncModels(DialectRegistry &registry);

/// Tensors that are put where another tensor is.
void registerBufferizationModels(DialectRegistry &registry);

/// What `op` reads and writes: by its own PartitionableOpInterface, or else
/// read off what its TilingInterface does. Null if it has neither or cannot be
/// described; `why` then says why. With semantics, `why` may say which dim
/// stays whole because it could not be analysed, and why.
SemanticsAttr computeSemantics(Operation *op, std::string &why);

/// True if `op` has one of the interfaces that say how it is cut.
bool hasModel(Operation *op);

/// Builds the part of an operation with a model, and gives the local results.
/// Emits an error and fails if it cannot.
FailureOr<SmallVector<Value>> createLocal(LocalPiece &piece);

/// The dim that numbers the parts in result `i`'s partial results, where the
/// operation combines them itself and loop `dim` is cut.
FailureOr<unsigned> getPartsDim(Operation *op, unsigned i, unsigned dim);

/// Operations that combine the partial results of `op`, `parts`, to its
/// results: the values of these. `dim` is the loop that was cut. Emits an error
/// and fails if it cannot.
FailureOr<SmallVector<Value>> createMerge(OpBuilder &builder, Operation *op,
                                          ValueRange parts, unsigned dim);

/// Semantics under construction: dims and accesses with made-up names.
class SemanticsBuilder {
public:
  explicit SemanticsBuilder(MLIRContext *context) : context(context) {}

  /// Adds a dim and gives the expression that stands for it. A reduction has
  /// one combiner for all results, or one for each.
  AffineExpr addDim(int64_t size, DimKind kind = DimKind::Parallel,
                    ArrayRef<Combiner> combiners = {});
  /// Adds a parallel dim that may be cut where the parts of `outer` have one
  /// index each.
  AffineExpr addDimAfter(AffineExpr outer, int64_t size);
  /// Adds a parallel dim of unknown size that covers what it indexes.
  AffineExpr addCoveringDim();

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
