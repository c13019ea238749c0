//===- EpilogueMatch.h - What is an epilogue --------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_EPILOGUEMATCH_H
#define TOFU_LIB_CONVERSION_EPILOGUEMATCH_H

#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::tofu {

/// What an element-wise operation makes of an input: activation(input + bias),
/// maybe of another type.
struct Epilogue {
  std::optional<unsigned> biasInput;
  Activation activation = Activation::None;
  /// Whether it is promised that there is no NaN, so that both kinds of relu
  /// are the same.
  bool hasNoNaN = false;
};

/// What `value` is of x, without a bias; nothing if it is something else.
std::optional<Epilogue> matchActivation(Value value, Value x);

/// Recognises by its body an operation with one result that is an epilogue of
/// input `input` and has no inputs but this one and the bias. Maps and types of
/// operands are the caller's to look at.
std::optional<Epilogue> matchEpilogue(linalg::GenericOp op, unsigned input);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_EPILOGUEMATCH_H
