//===- Export.cpp - The host backend as a library -------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The library hides its symbols, but for what this declares.
#pragma GCC visibility push(default)
#include "Tofu/Runtime/Backend.h"
#pragma GCC visibility pop

#include "World.h"

const TofuBackend *tofuGetBackend(void) {
  return &mlir::tofu::host::getHostBackend();
}
