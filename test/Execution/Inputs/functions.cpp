//===- functions.cpp - Functions that tests declare and call --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// None of them may be called without anything to do: they say so and end the
// process.
//
//===----------------------------------------------------------------------===//

#include "mlir/ExecutionEngine/CRunnerUtils.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

template <typename T, int rank>
using Tensor = StridedMemRefType<T, rank>;

/// Checks that elements lie one after the other and that there are some.
template <typename T, int rank>
static void checkTensor(const Tensor<T, rank> &tensor, const char *function) {
  int64_t stride = 1;
  bool good = tensor.offset == 0;
  for (int dim = rank; dim-- > 0; stride *= tensor.sizes[dim])
    good &= tensor.strides[dim] == stride && tensor.sizes[dim] > 0;
  if (good)
    return;
  std::fprintf(stderr, "%s: called with a tensor that it can't take\n",
               function);
  std::abort();
}

extern "C" {

/// Mean of each row, times a factor, and mean of the squares.
void _mlir_ciface_moments(Tensor<float, 2> *x, float factor,
                          Tensor<float, 1> *mean, Tensor<float, 1> *square) {
  checkTensor(*x, "moments");
  int64_t n = x->sizes[1];
  for (int64_t i = 0; i < x->sizes[0]; ++i) {
    float sum = 0, squares = 0;
    for (int64_t j = 0; j < n; ++j) {
      float value = x->data[i * n + j];
      sum += value;
      squares += value * value;
    }
    mean->data[i] = factor * sum / n;
    square->data[i] = squares / n;
  }
}

/// Sum and greatest element of each column.
void _mlir_ciface_sum_and_max(Tensor<float, 2> *x, Tensor<float, 1> *sum,
                              Tensor<float, 1> *max) {
  checkTensor(*x, "sum_and_max");
  int64_t n = x->sizes[1];
  for (int64_t j = 0; j < n; ++j) {
    sum->data[j] = 0;
    max->data[j] = x->data[j];
    for (int64_t i = 0; i < x->sizes[0]; ++i) {
      sum->data[j] += x->data[i * n + j];
      max->data[j] = std::max(max->data[j], x->data[i * n + j]);
    }
  }
}

/// Sum of the squares of each column.
void _mlir_ciface_sum_squares(Tensor<float, 2> *x, Tensor<float, 1> *out) {
  checkTensor(*x, "sum_squares");
  int64_t n = x->sizes[1];
  std::fill_n(out->data, n, 0.0f);
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    for (int64_t j = 0; j < n; ++j)
      out->data[j] += x->data[i * n + j] * x->data[i * n + j];
}

/// The same, added to what there is.
void _mlir_ciface_add_squares(Tensor<float, 2> *x, Tensor<float, 1> *initial,
                              Tensor<float, 1> *out) {
  _mlir_ciface_sum_squares(x, out);
  for (int64_t j = 0; j < x->sizes[1]; ++j)
    out->data[j] += initial->data[j];
}

/// The largest of each column; `_` is not looked at.
void _mlir_ciface_column_max(void *, Tensor<int32_t, 2> *x,
                             Tensor<int32_t, 1> *out) {
  checkTensor(*x, "column_max");
  int64_t n = x->sizes[1];
  std::copy_n(x->data, n, out->data);
  for (int64_t i = 1; i < x->sizes[0]; ++i)
    for (int64_t j = 0; j < n; ++j)
      out->data[j] = std::max(out->data[j], x->data[i * n + j]);
}

/// Every second window of three, weighted.
void _mlir_ciface_smooth(Tensor<float, 1> *in, Tensor<float, 1> *weights,
                         Tensor<float, 1> *out) {
  checkTensor(*in, "smooth");
  for (int64_t y = 0; y < out->sizes[0]; ++y) {
    out->data[y] = 0;
    for (int64_t i = 0; i < 3; ++i)
      out->data[y] += in->data[2 * y + i] * weights->data[i];
  }
}

/// One of every kind of scalar.
void _mlir_ciface_scalars(Tensor<int64_t, 1> *x, bool twice, int8_t a,
                          int16_t b, int32_t c, int64_t d, int64_t index,
                          float e, double f, Tensor<int64_t, 1> *out) {
  checkTensor(*x, "scalars");
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    out->data[i] = (x->data[i] + a + b + c + d + index +
                    static_cast<int64_t>(e) + static_cast<int64_t>(f)) *
                   (twice ? 2 : 1);
}

/// 1 where a bf16 and a boolean say so, of which each is 1.0 or true.
void _mlir_ciface_both(Tensor<uint16_t, 1> *x, Tensor<uint8_t, 1> *y,
                       Tensor<uint8_t, 0> *all) {
  checkTensor(*x, "both");
  constexpr uint16_t one = 0x3f80;
  all->data[0] = 1;
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    all->data[0] &= (x->data[i] == one) & y->data[i];
}

/// The last element first.
void _mlir_ciface_reverse(Tensor<float, 1> *in, Tensor<float, 1> *out) {
  checkTensor(*in, "reverse");
  std::reverse_copy(in->data, in->data + in->sizes[0], out->data);
}

/// Nothing but numbers.
void _mlir_ciface_count(Tensor<int32_t, 1> *out) {
  for (int64_t i = 0; i < out->sizes[0]; ++i)
    out->data[i] = 7;
}

} // extern "C"
