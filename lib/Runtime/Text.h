//===- Text.h - Pieces of text ----------------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_TEXT_H
#define TOFU_LIB_RUNTIME_TEXT_H

#include "Tofu/Runtime/OrFailure.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::tofu {

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }

inline bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// Takes `prefix` off, if the text starts with it.
inline bool consumeFront(std::string_view &text, std::string_view prefix) {
  if (!startsWith(text, prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Takes a decimal number off.
template <typename Integer>
bool consumeInteger(std::string_view &text, Integer &value) {
  const char *end = text.data() + text.size();
  auto [next, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc())
    return false;
  text.remove_prefix(next - text.data());
  return true;
}

/// The number that all of the text is, in decimal.
template <typename Integer>
std::optional<Integer> parseInteger(std::string_view text) {
  Integer value;
  if (!consumeInteger(text, value) || !text.empty())
    return std::nullopt;
  return value;
}

/// The number that all of the text is; may be inf or nan.
std::optional<double> parseFloat(std::string_view text);

/// The text between separators, each one of the characters. Empty pieces are
/// left out if `skipsEmpty`.
std::vector<std::string_view> split(std::string_view text,
                                    std::string_view separators,
                                    bool skipsEmpty = false);

/// Text and numbers, one after the other.
template <typename... Parts>
std::string join(const Parts &...parts) {
  std::string text;
  auto append = [&](const auto &part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_arithmetic_v<Part>)
      text += std::to_string(part);
    else
      text += part;
  };
  (append(parts), ...);
  return text;
}

/// "1, 2, 3"
std::string joinIntegers(const std::vector<int64_t> &numbers);

/// What printf prints.
[[gnu::format(printf, 1, 2)]] std::string format(const char *format, ...);

/// All of a file.
OrFailure<std::string> readFile(const std::string &path);

/// Writes a file; "-" is the standard output.
MaybeFailure writeFile(const std::string &path, std::string_view contents);

} // namespace mlir::tofu

#endif // TOFU_LIB_RUNTIME_TEXT_H
