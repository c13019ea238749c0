//===- ContractionMatch.h - What is a contraction ---------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_CONTRACTIONMATCH_H
#define TOFU_LIB_CONVERSION_CONTRACTIONMATCH_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tofu {

/// out += lhs * rhs over the loops of an operation. Each operand is indexed by
/// loop dims and zeros; an input also by sums of dims, as a convolution's.
struct Contraction {
  /// lhs, rhs and out.
  Value operands[3];
  AffineMap maps[3];
  /// Whether a convolution of each channel by itself, which has batch dims in
  /// the place of rows or columns, is wanted as well.
  bool takesDepthwise = false;

  /// True if every map is one that `tofu.contract` takes, and every loop dim is
  /// a row, a column, a summed or a batch dim, with at least one of each of the
  /// first three; or if it is a depthwise convolution, and these are wanted.
  bool isWanted() const;

  /// Multiply-adds; -1 if a size is not known.
  int64_t getWork() const;
};

/// Recognises a contraction of floats by its maps and its body, which
/// multiplies its two inputs (after widening) and adds to its output.
std::optional<Contraction> matchContraction(linalg::LinalgOp op,
                                            bool takesDepthwise);

/// Looks through producers of operand `i` that only move or widen elements, as
/// long as the result is still wanted. Returns how many.
unsigned lookThroughProducers(Contraction &contraction, unsigned i);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_CONTRACTIONMATCH_H
