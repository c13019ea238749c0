//===- FakeCudnnExecution.cpp - What convolutions compute -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCudnnOperation.h"
#include "Indices.h"
#include "Tofu/Runtime/Half.h"

#include <cmath>

using namespace mlir::tofu;
using namespace mlir::tofu::test;
using namespace mlir::tofu::test::cudnn;

static double load(cudnnDataType_t type, const char *memory, int64_t at) {
  switch (type) {
  case CUDNN_DATA_FLOAT:
    return reinterpret_cast<const float *>(memory)[at];
  case CUDNN_DATA_HALF:
    return floatFromHalf(reinterpret_cast<const uint16_t *>(memory)[at]);
  case CUDNN_DATA_BFLOAT16:
    return floatFromBFloat(reinterpret_cast<const uint16_t *>(memory)[at]);
  default:
    return reinterpret_cast<const double *>(memory)[at];
  }
}

static void store(cudnnDataType_t type, char *memory, int64_t at,
                  double value) {
  switch (type) {
  case CUDNN_DATA_FLOAT:
    reinterpret_cast<float *>(memory)[at] = static_cast<float>(value);
    break;
  case CUDNN_DATA_HALF:
    reinterpret_cast<uint16_t *>(memory)[at] =
        halfFromFloat(static_cast<float>(value));
    break;
  case CUDNN_DATA_BFLOAT16:
    reinterpret_cast<uint16_t *>(memory)[at] =
        bfloatFromFloat(static_cast<float>(value));
    break;
  default:
    reinterpret_cast<double *>(memory)[at] = value;
    break;
  }
}

void cudnn::convolve(const Operation &operation, const char *x, char *w,
                     char *y) {
  const Tensor &ofX = operation.x, &ofW = operation.w, &ofY = operation.y;
  const Tensor &result = operation.result();
  char *memory = operation.isFilterGradient ? w : y;
  std::map<int64_t, double> sums;
  int64_t channels = ofW.sizes[1],
          perGroup = ofW.sizes[0] / (ofX.sizes[1] / channels);
  forEachIndex(ofY.sizes, [&](const std::vector<int64_t> &atY) {
    std::vector<int64_t> window(ofW.sizes.begin() + 1, ofW.sizes.end());
    forEachIndex(window, [&](const std::vector<int64_t> &tap) {
      std::vector<int64_t> atW = {atY[1]},
                           atX = {atY[0],
                                  atY[1] / perGroup * channels + tap[0]};
      atW.insert(atW.end(), tap.begin(), tap.end());
      for (size_t i = 0; i < operation.stride.size(); ++i)
        atX.push_back(atY[i + 2] * operation.stride[i] +
                      tap[i + 1] * operation.dilation[i]);
      double image = load(ofX.type, x, ofX.offset(atX));
      if (operation.isFilterGradient)
        sums[ofW.offset(atW)] += image * load(ofY.type, y, ofY.offset(atY));
      else
        sums[ofY.offset(atY)] += image * load(ofW.type, w, ofW.offset(atW));
    });
  });
  for (auto [at, sum] : sums)
    store(result.type, memory, at,
          operation.beta ? operation.beta * load(result.type, memory, at) + sum
                         : sum);
}

static double apply(const Step &step, double x, const char *addend,
                    const std::vector<int64_t> &index, bool keepsNaN) {
  switch (step.mode) {
  case CUDNN_POINTWISE_ADD:
    return x + load(step.addend->type, addend,
                    step.addsTensor() ? step.addend->offset(index) : index[1]);
  case CUDNN_POINTWISE_RELU_FWD:
    return std::isnan(x) && !step.keepsNaN && !keepsNaN ? 0 : x <= 0 ? 0 : x;
  case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
    return x / 2 *
           (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) *
                          (x + 0.044715 * x * x * x)));
  default:
    return x;
  }
}

void cudnn::convolveInSteps(const Operation &operation,
                            std::map<int64_t, char *> &memory, bool keepsNaN) {
  Operation sums = operation;
  Tensor &tensor = operation.isFilterGradient ? sums.w : sums.y;
  tensor.type = operation.computeType;
  int64_t last = 0;
  for (size_t dim = 0; dim < tensor.sizes.size(); ++dim)
    last += (tensor.sizes[dim] - 1) * tensor.strides[dim];
  std::vector<double> storage(last + 1);
  char *data = reinterpret_cast<char *>(storage.data());
  convolve(sums, memory[operation.x.id],
           operation.isFilterGradient ? data : memory[operation.w.id],
           operation.isFilterGradient ? memory[operation.y.id] : data);
  const Tensor &result = operation.result();
  forEachIndex(result.sizes, [&](const std::vector<int64_t> &index) {
    double value = load(tensor.type, data, tensor.offset(index));
    for (const Step &step : operation.steps)
      value =
          apply(step, value, step.addend ? memory[step.addend->id] : nullptr,
                index, keepsNaN);
    store(result.type, memory[result.id], result.offset(index), value);
  });
}
