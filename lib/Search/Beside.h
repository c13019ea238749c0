//===- Beside.h - Two things at once ----------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_BESIDE_H
#define TOFU_LIB_SEARCH_BESIDE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/ThreadPool.h"

namespace mlir::tofu::search {

/// Runs `other` on another thread if there is one, beside `mine` on this one;
/// else before it.
inline void runBeside(llvm::ThreadPoolInterface *threads,
                      llvm::function_ref<void()> other,
                      llvm::function_ref<void()> mine) {
  if (!threads) {
    other();
    return mine();
  }
  llvm::ThreadPoolTaskGroup group(*threads);
  group.async(other);
  mine();
  group.wait();
}

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_BESIDE_H
