//===- Gemm.h - Matrix products of the host backend -------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_GEMM_H
#define TOFU_LIB_RUNTIME_HOST_GEMM_H

#include <cstdint>

namespace mlir::tofu::host {

/// A row-major matrix, or a transposed one, which is column-major; rows, or
/// columns, are `lead` elements apart.
struct Matrix {
  const void *data;
  int64_t lead;
  bool isTransposed;
};

/// The element type that contractions to `outputType` are computed in: f32 for
/// f32 and the types that are narrower, f64, i32 or i64.
int64_t getComputeType(int64_t inputType, int64_t outputType);

/// True if products of that type take transposed matrices.
bool takesTransposed(int64_t computeType);

/// C (rows x columns, row-major, `lead` elements apart) = A * B, or += A * B.
/// Sizes are at least 1. False if the library fails.
bool multiply(int64_t computeType, int64_t rows, int64_t columns, int64_t inner,
              const Matrix &a, const Matrix &b, bool accumulate, void *c,
              int64_t lead);

/// Converts `size` elements: integers are sign-extended or truncated, floats
/// rounded to nearest even.
void convert(int64_t toType, void *to, int64_t fromType, const void *from,
             int64_t size);

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_GEMM_H
