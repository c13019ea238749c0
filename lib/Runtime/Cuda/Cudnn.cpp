//===- Cudnn.cpp - cuDNN, where it is there -------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn.h"
#include "Versions.h"

#include <algorithm>
#include <dlfcn.h>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;

std::string Cudnn::getVersionText() const {
  return getCudnnVersion(getVersion()).getText();
}

Cudnn Cudnn::load(const std::string &file) {
  Cudnn library;
  library.file = file;
  // It stays: its objects may live as long as the process.
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    library.whyNot = reason ? reason : file + " can't be loaded";
    return library;
  }
  auto find = [&](auto &function, const char *name) {
    void *address = dlsym(handle, name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
    if (!address && library.whyNot.empty())
      library.whyNot = file + " has no " + name;
  };
  find(library.getVersion, "cudnnGetVersion");
  find(library.getErrorString, "cudnnGetErrorString");
  find(library.getLastErrorString, "cudnnGetLastErrorString");
  find(library.create, "cudnnCreate");
  find(library.destroy, "cudnnDestroy");
  find(library.setStream, "cudnnSetStream");
  find(library.createDescriptor, "cudnnBackendCreateDescriptor");
  find(library.destroyDescriptor, "cudnnBackendDestroyDescriptor");
  find(library.setAttribute, "cudnnBackendSetAttribute");
  find(library.getAttribute, "cudnnBackendGetAttribute");
  find(library.finalize, "cudnnBackendFinalize");
  find(library.execute, "cudnnBackendExecute");
  return library;
}

std::string Cudnn::checkVersion() const {
  return checkMajor(file + " is cuDNN " + getVersionText(), "cuDNN",
                    getCudnnVersion(getVersion()).getMajor(), CUDNN_MAJOR);
}

const Cudnn &Cudnn::get() {
  static const Cudnn library =
      load("libcudnn.so." + std::to_string(CUDNN_MAJOR));
  return library;
}

std::vector<CudnnDescriptor>
cuda::getConfigs(const Cudnn &library, const CudnnDescriptor &heuristics) {
  auto get = [&](int64_t wanted, int64_t &count, void *values) {
    return library.getAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                CUDNN_TYPE_BACKEND_DESCRIPTOR, wanted, &count,
                                values) == CUDNN_STATUS_SUCCESS;
  };
  int64_t count = 0, found = 0;
  if (!get(0, count, nullptr))
    return {};
  std::vector<CudnnDescriptor> configs;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < count; ++i) {
    configs.emplace_back(library, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    raw.push_back(configs.back().get());
  }
  if (!get(count, found, raw.data()))
    return {};
  configs.resize(std::min(count, found));
  return configs;
}

bool cuda::isExact(const Cudnn &library, const CudnnDescriptor &config,
                   bool isFloat32) {
  CudnnDescriptor engine(library, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.get();
  int64_t count = 0;
  if (library.getAttribute(config.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                           CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                           &raw) != CUDNN_STATUS_SUCCESS ||
      !count)
    return false;
  auto notes = engine.getValues<cudnnBackendNumericalNote_t>(
      CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
      CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  return std::none_of(notes.begin(), notes.end(), [&](auto note) {
    return note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE
               ? isFloat32
               : note != CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP;
  });
}
