//===- Errors.h - What libraries say of their errors ------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Their functions may know no text for an error, and give null.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_ERRORS_H
#define TOFU_LIB_RUNTIME_CUDA_ERRORS_H

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <string>

// Where the library is too old for it, the backend says that first.
#pragma weak ncclGetLastError

namespace mlir::tofu::cuda {

/// A text of a library, or the number of the error if it has none.
inline std::string getText(const char *text, int error) {
  return text && *text ? text : "error " + std::to_string(error);
}

/// What more there is to say, if anything.
inline std::string withDetail(const std::string &text, const char *detail) {
  return detail && *detail ? text + ", " + detail : text;
}

inline std::string describe(cudaError_t error) {
  return getText(cudaGetErrorString(error), error) + " (" +
         getText(cudaGetErrorName(error), error) + ")";
}

inline std::string describe(cublasStatus_t status) {
  return "cuBLASLt: " + getText(cublasLtGetStatusString(status), status);
}

/// The last error is that of any communicator.
inline std::string describe(ncclResult_t result) {
  return withDetail("NCCL: " + getText(ncclGetErrorString(result), result),
                    ncclGetLastError(nullptr));
}

} // namespace mlir::tofu::cuda

#endif // TOFU_LIB_RUNTIME_CUDA_ERRORS_H
