//===- Contraction.h - The loops of a contraction ---------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any contraction of two tensors as loops over memory: each has a size and a
// stride in A, B and C (0 where it doesn't index the tensor). What the loops
// are to a matrix product follows from where they appear. The bias of an
// epilogue is one more tensor that loops over the result step through.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_CONTRACTION_H
#define TOFU_LIB_RUNTIME_HOST_CONTRACTION_H

#include "Views.h"
#include "World.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::tofu::host {

enum Operand { kA = 0, kB = 1, kC = 2, kBias = 3 };

/// A loop; strides in elements of each tensor.
struct ContractionLoop {
  int64_t size;
  int64_t strides[4];
};

/// Loops of one role, outermost first.
using ContractionLoops = std::vector<ContractionLoop>;

int64_t numIterations(const ContractionLoops &loops);

/// The stride with which all of `loops` together step through a tensor; nothing
/// if they are not one loop there. With no loops: 0.
std::optional<int64_t> joinedStride(const ContractionLoops &loops,
                                    Operand operand);

/// Orders loops by their stride in `operand`, largest first, and joins
/// neighbours that are one loop in all tensors.
void orderAndJoin(ContractionLoops &loops, Operand operand);

/// C[batch, rows, columns] = or += the sum over `inner` of A[batch, rows,
/// inner]
/// * B[batch, inner, columns]; then the epilogue.
struct Contraction {
  int64_t inputType, outputType;
  bool accumulate;
  int64_t activation = TOFU_ACTIVATION_NONE;
  char *data[3];
  const char *bias = nullptr;
  ContractionLoops batch, rows, columns, inner;
  /// Whether a loop over C, or over what is summed, has no iterations.
  bool hasNoResult = false, hasNoTerms = false;

  /// Reads a table (Runtime.h). Loops are those of the table, but for loops of
  /// one iteration, which are left out. False with the reason in `error` if it
  /// or the sizes make no sense.
  bool read(const int64_t *words, const ContractionMemrefs &memrefs,
            std::string &error);

  bool hasEpilogue() const { return bias || activation; }
  Contraction withoutEpilogue() const;

  /// Joins what is one loop in all tensors.
  void join();

  /// The same with A and B exchanged: the transposed product.
  Contraction transposed() const;

  double flops() const;
};

/// Adds the bias to each element of C, and applies the activation.
void applyEpilogue(const Contraction &contraction);

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_CONTRACTION_H
