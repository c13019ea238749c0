// The function that docs/examples/cholesky.mlir declares: L of A = L * L^T for
// each matrix of a batch.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cmath>
#include <cstdint>

// What MLIR makes of a tensor<?x?x?xf32>. The elements lie one after the other,
// last dim fastest.
struct Tensor3 {
  float *allocated, *elements;
  int64_t offset, sizes[3], strides[3];
};

extern "C" void _mlir_ciface_cholesky(const Tensor3 *mat, Tensor3 *out) {
  int64_t n = mat->sizes[1];
  for (int64_t b = 0; b < mat->sizes[0]; ++b) {
    const float *a = mat->elements + b * n * n;
    float *l = out->elements + b * n * n;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = j <= i ? a[i * n + j] : 0.0f;
        for (int64_t k = 0; k < j && j <= i; ++k)
          sum -= l[i * n + k] * l[j * n + k];
        l[i * n + j] = j < i    ? sum / l[j * n + j]
                       : j == i ? std::sqrt(sum)
                                : 0.0f;
      }
  }
}
