//===- LoadBackend.h - Backends as shared libraries -------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_LOADBACKEND_H
#define TOFU_RUNTIME_LOADBACKEND_H

#include "Tofu/Runtime/Backend.h"
#include "Tofu/Runtime/OrFailure.h"

#include <string>

namespace mlir::tofu {

/// Loads libtofu_runtime_NAME.so from `directory`, for the rest of the process.
/// The error says whether the library is not there, what it lacks to load, or
/// that it is of another version.
OrFailure<const TofuBackend *> loadBackend(const std::string &name,
                                           const std::string &directory);

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_LOADBACKEND_H
