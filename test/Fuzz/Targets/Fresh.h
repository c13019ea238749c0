//===- Fresh.h - What the runs of a fuzzer share ----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_FUZZ_TARGETS_FRESH_H
#define TOFU_TEST_FUZZ_TARGETS_FRESH_H

#include "Tofu/InitAll.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>

/// A context that says nothing of errors. The dialects are loaded, so that no
/// run depends on those that the runs before it made use of.
struct QuietContext : mlir::MLIRContext {
  explicit QuietContext(const mlir::DialectRegistry &registry)
      : MLIRContext(registry, Threading::DISABLED) {
    loadAllAvailableDialects();
    getDiagEngine().registerHandler(
        [](mlir::Diagnostic &) { return mlir::success(); });
  }
};

inline mlir::DialectRegistry getAllDialects() {
  mlir::DialectRegistry registry;
  mlir::tofu::registerAllDialectsAndExtensions(registry);
  return registry;
}

/// One T for many runs, as contexts and pass managers take longer to make than
/// most runs take. Now and then it is made anew: a context keeps each name and
/// each constant that it has seen.
template <typename T>
T &getFresh() {
  constexpr unsigned kRuns = 500;
  static std::unique_ptr<T> held;
  static unsigned runsLeft = 0;
  if (runsLeft-- == 0) {
    held.reset();
    held = std::make_unique<T>();
    runsLeft = kRuns - 1;
  }
  return *held;
}

#endif // TOFU_TEST_FUZZ_TARGETS_FRESH_H
