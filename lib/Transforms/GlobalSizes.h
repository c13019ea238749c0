//===- GlobalSizes.h - Sizes that the program computes ----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the sizes of tensors come from that are known only when the program
// runs: from other tensors, down to the arguments of the function, and from
// scalars. A tensor whose sizes come from nowhere else can't be cut: of a part
// of it nothing tells how large the whole is.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_GLOBALSIZES_H
#define TOFU_LIB_TRANSFORMS_GLOBALSIZES_H

#include "Tofu/Dialect/Placement.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace mlir::tofu {

/// The tensor dim whose size decides that of `of`: an argument's, or one that
/// its operation computes from scalars and other tensors, or one about which
/// nothing is known.
TensorDim findRoot(TensorDim of);

/// True if the sizes of `tensor`, if it is one, can be told without it: all are
/// known, or come
/// from other values or the caller of the function.
bool hasTraceableSizes(Value tensor);

/// Values of unknown sizes, in a function on global types.
class GlobalSizes {
public:
  /// The shape of `tensor`, with values that are there wherever it is. Creates
  /// them if need be.
  const GlobalShape &get(Value tensor);

  /// Replaces what reads the size of a tensor by what decides it, as far as
  /// that is known, in `region`.
  void resolve(Region &region);

private:
  Value getSize(TensorDim of);
  Value createSize(TensorDim root);
  void reify(Operation *op);

  /// True if nothing else decides the size, as far as is known.
  bool isFinal(TensorDim of) const;
  /// True if `op` reads a size that something else decides.
  bool isForeignRead(Operation *op) const;

  DenseMap<Value, GlobalShape> shapes;
  DenseMap<std::pair<Value, unsigned>, Value> sizes;
  DenseMap<Operation *, ReifiedRankedShapedTypeDims> reified;
};

/// Numbers for unknown sizes, to plan with.
class SizeHints {
public:
  /// Takes those of arguments, and those about which nothing is known, for
  /// `hint`; the others follow.
  explicit SizeHints(int64_t hint) : hint(hint) {}

  SmallVector<int64_t> getShape(Value tensor);

  /// The operator that `semantics` of `op` describe, with a number for each
  /// size. A dim about whose size nothing is known is not to be cut.
  FailureOr<search::Operator> getOperator(Operation *op,
                                          SemanticsAttr semantics);

private:
  /// What an iteration dim covers: the tensor's size and the dim's are related
  /// by its index, `constant + coefficient * dim + others`.
  struct Covered {
    TensorDim of;
    int64_t constant, coefficient;
  };

  int64_t getSize(TensorDim of);
  std::optional<int64_t> getRelatedSize(TensorDim root);
  void relateSizes(Operation *op, SemanticsAttr semantics);

  int64_t hint;
  DenseMap<std::pair<Value, unsigned>, int64_t> sizes;
  /// Of roots: how large an operation writes them, and what they cover.
  DenseMap<std::pair<Value, unsigned>, int64_t> extents;
  DenseMap<std::pair<Value, unsigned>, Covered> covered;
  DenseSet<Operation *> related;
};

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_GLOBALSIZES_H
