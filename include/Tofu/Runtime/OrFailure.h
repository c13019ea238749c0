//===- OrFailure.h - What may fail, with a reason ---------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runners run where LLVM isn't, so they have a few lines of their own where the
// compiler has llvm::Error and llvm::Expected.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_ORFAILURE_H
#define TOFU_RUNTIME_ORFAILURE_H

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace mlir::tofu {

/// Why something couldn't be done.
struct Failure {
  std::string reason;
};

/// What a function without a result returns: nothing, if all went well.
using MaybeFailure = std::optional<Failure>;

/// A value, or why there is none.
template <typename T>
class [[nodiscard]] OrFailure {
public:
  OrFailure(T value) : content(std::move(value)) {}
  OrFailure(Failure failure) : content(std::move(failure)) {}

  explicit operator bool() const { return std::holds_alternative<T>(content); }

  /// There must be a value.
  T &operator*() { return *std::get_if<T>(&content); }
  T *operator->() { return std::get_if<T>(&content); }

  /// There must be none.
  Failure &failure() { return *std::get_if<Failure>(&content); }
  const std::string &reason() const {
    return std::get_if<Failure>(&content)->reason;
  }

private:
  std::variant<T, Failure> content;
};

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_ORFAILURE_H
