//===- Versions.cpp - What the CUDA backend is loaded with ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Versions.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;

/// Of all functions that are called, ncclCommSplit came last.
static constexpr size_t kLeastNccl = NCCL_VERSION(2, 18, 1);

std::string LibraryVersion::getText() const {
  size_t rest = number % scale;
  return std::to_string(getMajor()) + "." + std::to_string(rest / 100) + "." +
         std::to_string(rest % 100);
}

/// From 9 on as the others.
LibraryVersion cuda::getCudnnVersion(size_t number) { return {number, 10000}; }

/// From 2.9 on.
static LibraryVersion makeNcclVersion(size_t number) { return {number, 10000}; }

/// During 11, which began as 11000.
static LibraryVersion getCublasLtVersion() {
  return {cublasLtGetVersion(), 100000};
}

/// No version that Tofu takes, if it can't be asked.
static size_t getNccl() {
  int version = 0;
  return ncclGetVersion(&version) == ncclSuccess ? version : 0;
}

static int getRuntime() {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == cudaSuccess ? version : 0;
}

/// As CUDA counts: a major version is a thousand, a minor one ten.
static std::string formatCuda(int version) {
  return "CUDA " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

std::string cuda::checkMajor(const std::string &what,
                             const std::string &library, size_t major,
                             size_t builtFor) {
  if (major == builtFor)
    return {};
  return what + ", but Tofu was built for " + library + " " +
         std::to_string(builtFor) +
         ": put the library of that version first in LD_LIBRARY_PATH";
}

static std::string checkNccl() {
  size_t number = getNccl();
  LibraryVersion version = makeNcclVersion(number);
  std::string what = "the NCCL that is loaded is " + version.getText();
  std::string error =
      checkMajor(what, "NCCL", version.getMajor(), size_t(NCCL_MAJOR));
  if (!error.empty() || number >= kLeastNccl)
    return error;
  return what + ", but Tofu needs " + makeNcclVersion(kLeastNccl).getText() +
         " or later: put a later library first in LD_LIBRARY_PATH";
}

std::string cuda::checkLibraries() {
  std::string is = " that is loaded is ";
  int runtime = getRuntime();
  std::string error = checkMajor("the CUDA runtime" + is + formatCuda(runtime),
                                 "CUDA", runtime / 1000, CUDART_VERSION / 1000);
  if (!error.empty())
    return error;
  LibraryVersion cublasLt = getCublasLtVersion();
  error = checkMajor("the cuBLASLt" + is + cublasLt.getText(), "cuBLASLt",
                     cublasLt.getMajor(), CUBLAS_VER_MAJOR);
  return error.empty() ? checkNccl() : error;
}

/// A driver runs what is of its major version or of an earlier one. What is
/// wrong with one that doesn't answer, whoever counts GPUs says.
std::string cuda::checkDriver() {
  int driver = 0, runtime = getRuntime();
  if (cudaDriverGetVersion(&driver) != cudaSuccess || !driver ||
      driver / 1000 >= runtime / 1000)
    return {};
  return "the driver is one for " + formatCuda(driver) +
         ", too old for the runtime, which is " + formatCuda(runtime) +
         ": install a driver for CUDA " + std::to_string(runtime / 1000) +
         " or later";
}

std::string cuda::describeLibraries() {
  return formatCuda(getRuntime()) + ", cuBLASLt " +
         getCublasLtVersion().getText() + ", NCCL " +
         makeNcclVersion(getNccl()).getText();
}
