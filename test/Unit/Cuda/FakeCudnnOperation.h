//===- FakeCudnnOperation.h - What descriptors say --------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_UNIT_CUDA_FAKECUDNNOPERATION_H
#define TOFU_TEST_UNIT_CUDA_FAKECUDNNOPERATION_H

#include <cstring>
#include <cudnn.h>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

namespace mlir::tofu::test::cudnn {

struct Operation;

struct Object {
  cudnnBackendDescriptorType_t type;
  bool isFinal = false;
  std::map<cudnnBackendAttributeName_t, std::vector<char>> values;
  /// Of an engine, its configuration, or a plan.
  int engine = -1;
  /// Of a plan, which outlives what it was made from.
  std::shared_ptr<const Operation> operation;

  template <typename T>
  std::vector<T> getAll(cudnnBackendAttributeName_t name) const {
    auto found = values.find(name);
    if (found == values.end())
      return {};
    std::vector<T> result(found->second.size() / sizeof(T));
    std::memcpy(result.data(), found->second.data(), found->second.size());
    return result;
  }
  template <typename T>
  T get(cudnnBackendAttributeName_t name) const {
    return getAll<T>(name).at(0);
  }
  const Object &getObject(cudnnBackendAttributeName_t name) const {
    return *get<const Object *>(name);
  }
  bool has(std::vector<cudnnBackendAttributeName_t> names) const {
    for (cudnnBackendAttributeName_t name : names)
      if (!values.count(name))
        return false;
    return true;
  }
};

struct Tensor {
  explicit Tensor(const Object &object)
      : type(object.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)),
        sizes(object.getAll<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)),
        strides(object.getAll<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)),
        id(object.get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)),
        alignment(object.get<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)),
        isVirtual(object.get<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL)) {}

  int64_t offset(const std::vector<int64_t> &index) const {
    return std::inner_product(index.begin(), index.end(), strides.begin(),
                              int64_t(0));
  }

  int64_t volume() const {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                           std::multiplies<>());
  }

  cudnnDataType_t type;
  std::vector<int64_t> sizes, strides;
  int64_t id, alignment;
  bool isVirtual;
};

/// An element-wise operation.
struct Step {
  explicit Step(const Object &object);

  /// True if it has one number for each element, which are more than channels.
  bool addsTensor() const {
    return addend && addend->sizes == from.sizes &&
           addend->volume() > addend->sizes[1];
  }
  /// True if it has what it adds, if it adds: one number for each element, or
  /// for each channel.
  bool fits(const Tensor &result) const;

  cudnnPointwiseMode_t mode;
  cudnnDataType_t computeType;
  bool keepsNaN;
  Tensor from, to;
  std::optional<Tensor> addend;
};

/// An operation: which one, its tensors, how windows slide, and what is done to
/// the sums.
struct Operation {
  explicit Operation(const Object &object);

  /// Does it to the result. False if it doesn't follow on what is there.
  bool add(const Step &step);
  bool addsTensor() const { return !steps.empty() && steps[0].addsTensor(); }
  /// A bias, maybe with a tensor before it, maybe followed by relu: engines
  /// have these in any layout.
  bool isBiasOrRelu() const {
    size_t bias = addsTensor(), count = steps.size() - bias;
    return count >= 1 && steps[bias].mode == CUDNN_POINTWISE_ADD &&
           !steps[bias].addsTensor() &&
           (count == 1 ||
            (count == 2 && steps[bias + 1].mode == CUDNN_POINTWISE_RELU_FWD));
  }
  bool hasEpilogue() const {
    return !steps.empty() && steps[0].mode != CUDNN_POINTWISE_IDENTITY;
  }
  bool widens() const { return x.type != result().type; }

  bool isFilterGradient;
  std::vector<Step> steps;
  Tensor x, w, y;
  double beta;
  cudnnDataType_t computeType;
  std::vector<int64_t> stride, dilation;

  const Tensor &result() const { return isFilterGradient ? w : y; }
};

/// Sums are kept beside the result, which they are added to in the end.
void convolve(const Operation &operation, const char *x, char *w, char *y);

/// Convolves into memory of its own, does the steps, and rounds once. Asked not
/// to keep NaN in relu, some engines do all the same.
void convolveInSteps(const Operation &operation,
                     std::map<int64_t, char *> &memory, bool keepsNaN);

} // namespace mlir::tofu::test::cudnn

#endif // TOFU_TEST_UNIT_CUDA_FAKECUDNNOPERATION_H
