//===- Text.cpp - Pieces of text ------------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace mlir::tofu;

std::optional<double> mlir::tofu::parseFloat(std::string_view text) {
  std::string copy(text);
  char *end = nullptr;
  double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size())
    return std::nullopt;
  return value;
}

std::vector<std::string_view> mlir::tofu::split(std::string_view text,
                                                std::string_view separators,
                                                bool skipsEmpty) {
  std::vector<std::string_view> pieces;
  for (;;) {
    size_t end = text.find_first_of(separators);
    std::string_view piece = text.substr(0, end);
    if (!skipsEmpty || !piece.empty())
      pieces.push_back(piece);
    if (end == std::string_view::npos)
      return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string mlir::tofu::joinIntegers(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

std::string mlir::tofu::format(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int size = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(size > 0 ? size : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  return text;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {

struct Close {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

} // namespace

static Failure makeFailure(const std::string &path) {
  return {path + ": " + std::strerror(errno)};
}

OrFailure<std::string> mlir::tofu::readFile(const std::string &path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return makeFailure(path);
  std::string contents;
  std::vector<char> piece(1 << 20);
  while (size_t bytes = std::fread(piece.data(), 1, piece.size(), file.get()))
    contents.append(piece.data(), bytes);
  if (std::ferror(file.get()))
    return makeFailure(path);
  return contents;
}

static bool write(std::FILE *file, std::string_view contents) {
  return std::fwrite(contents.data(), 1, contents.size(), file) ==
             contents.size() &&
         std::fflush(file) == 0;
}

MaybeFailure mlir::tofu::writeFile(const std::string &path,
                                   std::string_view contents) {
  if (path == "-")
    return write(stdout, contents) ? MaybeFailure() : makeFailure(path);
  File file(std::fopen(path.c_str(), "wb"));
  if (!file || !write(file.get(), contents))
    return makeFailure(path);
  return std::nullopt;
}
