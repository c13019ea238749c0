//===- Versions.h - What the CUDA backend is loaded with --------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The libraries that are there when the backend is loaded may be others than
// those that it was built with.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_CUDA_VERSIONS_H
#define TOFU_LIB_RUNTIME_CUDA_VERSIONS_H

#include <cstddef>
#include <string>

namespace mlir::tofu::cuda {

/// A version as cuBLASLt, cuDNN and NCCL number theirs: a major version is ten
/// thousand, a minor one a hundred.
class LibraryVersion {
public:
  /// Below `old` a major version was one thousand.
  LibraryVersion(size_t number, size_t old)
      : scale(number < old ? 1000 : 10000), number(number) {}

  size_t getMajor() const { return number / scale; }
  /// "2.28.9"
  std::string getText() const;

private:
  size_t scale, number;
};

LibraryVersion getCudnnVersion(size_t number);

/// What is wrong, and what to do, if a library that is `what`, such as "NCCL
/// 2.28.9", isn't of the major version that this was built for.
std::string checkMajor(const std::string &what, const std::string &library,
                       size_t major, size_t builtFor);

/// What is wrong, and what to do, if this can't work with the CUDA runtime, the
/// cuBLASLt or the NCCL that it is loaded with.
std::string checkLibraries();

/// The same of a driver that is too old for the CUDA runtime. If there is none,
/// the runtime says so itself.
std::string checkDriver();

/// The versions of these libraries, for people: "CUDA 13.0, ...".
std::string describeLibraries();

} // namespace mlir::tofu::cuda

#endif // TOFU_LIB_RUNTIME_CUDA_VERSIONS_H
