//===- Cudnn.h - cuDNN, where it is there -----------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library is loaded when it is first asked for: it is large, few programs
// have convolutions, and machines without it run these by the backend's own
// kernel. Of its API the graph's is used. The legacy one says the order of a
// filter's dims instead of their strides, and is being withdrawn.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_CUDNN_H
#define TOFU_LIB_RUNTIME_CUDA_CUDNN_H

#include <cudnn_graph.h>
#include <string>
#include <utility>
#include <vector>

namespace mlir::tofu::cuda {

/// The functions of the library.
struct Cudnn {
  /// Loads a library of that name; says why not if it can't be used.
  static Cudnn load(const std::string &file);

  /// The library that this was built for, loaded once for the process.
  static const Cudnn &get();

  bool isUsable() const { return whyNot.empty(); }
  /// What is wrong if it is of another major version than this was built for.
  std::string checkVersion() const;
  /// "9.19.0"
  std::string getVersionText() const;

  decltype(&::cudnnGetVersion) getVersion = nullptr;
  decltype(&::cudnnGetErrorString) getErrorString = nullptr;
  decltype(&::cudnnGetLastErrorString) getLastErrorString = nullptr;
  decltype(&::cudnnCreate) create = nullptr;
  decltype(&::cudnnDestroy) destroy = nullptr;
  decltype(&::cudnnSetStream) setStream = nullptr;
  decltype(&::cudnnBackendCreateDescriptor) createDescriptor = nullptr;
  decltype(&::cudnnBackendDestroyDescriptor) destroyDescriptor = nullptr;
  decltype(&::cudnnBackendSetAttribute) setAttribute = nullptr;
  decltype(&::cudnnBackendGetAttribute) getAttribute = nullptr;
  decltype(&::cudnnBackendFinalize) finalize = nullptr;
  decltype(&::cudnnBackendExecute) execute = nullptr;

  std::string file, whyNot;
};

/// An object of the library. What fails shows when it is finalized.
class CudnnDescriptor {
public:
  CudnnDescriptor() = default;
  CudnnDescriptor(const Cudnn &library, cudnnBackendDescriptorType_t type)
      : library(&library), status(library.createDescriptor(type, &raw)) {}
  CudnnDescriptor(CudnnDescriptor &&other) { *this = std::move(other); }
  CudnnDescriptor &operator=(CudnnDescriptor &&other) {
    std::swap(library, other.library);
    std::swap(raw, other.raw);
    std::swap(status, other.status);
    return *this;
  }
  /// Nothing depends on it any more.
  ~CudnnDescriptor() {
    if (raw)
      library->destroyDescriptor(raw);
  }

  cudnnBackendDescriptor_t get() const { return raw; }

  CudnnDescriptor &set(cudnnBackendAttributeName_t name,
                       cudnnBackendAttributeType_t type, int64_t count,
                       const void *values) {
    if (status == CUDNN_STATUS_SUCCESS)
      status = library->setAttribute(raw, name, type, count, values);
    return *this;
  }
  template <typename T>
  CudnnDescriptor &set(cudnnBackendAttributeName_t name,
                       cudnnBackendAttributeType_t type, T value) {
    return set(name, type, 1, &value);
  }
  CudnnDescriptor &set(cudnnBackendAttributeName_t name, int64_t value) {
    return set(name, CUDNN_TYPE_INT64, value);
  }
  CudnnDescriptor &set(cudnnBackendAttributeName_t name,
                       const std::vector<int64_t> &values) {
    return set(name, CUDNN_TYPE_INT64, values.size(), values.data());
  }
  CudnnDescriptor &set(cudnnBackendAttributeName_t name,
                       const CudnnDescriptor &value) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.get());
  }

  /// The values of an attribute, at most `count`; fewer or none if that fails.
  template <typename T>
  std::vector<T> getValues(cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type,
                           int64_t count) const {
    std::vector<T> values(count);
    int64_t found = 0;
    if (library->getAttribute(raw, name, type, count, &found, values.data()) !=
        CUDNN_STATUS_SUCCESS)
      found = 0;
    values.resize(found < count ? found : count);
    return values;
  }

  /// False if this is nothing that the library can do.
  bool finalize() {
    if (status == CUDNN_STATUS_SUCCESS)
      status = library->finalize(raw);
    return status == CUDNN_STATUS_SUCCESS;
  }

private:
  const Cudnn *library = nullptr;
  cudnnBackendDescriptor_t raw = nullptr;
  cudnnStatus_t status = CUDNN_STATUS_NOT_INITIALIZED;
};

/// The configurations of engines that heuristics list, best first.
std::vector<CudnnDescriptor> getConfigs(const Cudnn &library,
                                        const CudnnDescriptor &heuristics);

/// True if a configuration's engine adds in the same order in every run, and
/// neither rounds inputs or sums to fewer bits nor computes by transforms, as
/// Winograd's do. Tensor cores round f32 to TF32.
bool isExact(const Cudnn &library, const CudnnDescriptor &config,
             bool isFloat32);

} // namespace mlir::tofu::cuda

#endif // TOFU_LIB_RUNTIME_CUDA_CUDNN_H
