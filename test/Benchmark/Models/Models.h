//===- Models.h - Training steps of known models ----------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_BENCHMARK_MODELS_MODELS_H
#define TOFU_TEST_BENCHMARK_MODELS_MODELS_H

#include "Program.h"

#include "llvm/Support/Error.h"

#include <map>

namespace mlir::tofu::models {

/// The sizes of a model, by name.
using Sizes = std::map<std::string, int64_t, std::less<>>;

/// Something that can be said of a model on the command line.
struct Setting {
  StringRef name;
  int64_t standard;
  StringRef meaning;
};

struct Model {
  StringRef name, meaning;
  std::vector<Setting> settings;
  /// Adds the forward and backward pass and returns the loss.
  llvm::Expected<Value> (*build)(Program &, const Sizes &);
};

Model getMlp();
Model getWResNet();
Model getRnn();
Model getGpt();
Model getMoe();

/// What is wrong with sizes that don't go together.
template <typename... Args>
llvm::Error sizeError(const char *format, Args &&...args) {
  return llvm::createStringError(std::errc::invalid_argument, format,
                                 std::forward<Args>(args)...);
}

} // namespace mlir::tofu::models

#endif // TOFU_TEST_BENCHMARK_MODELS_MODELS_H
