//===- Mutate.cpp - Mutations of text, token by token
//-----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes changed at random seldom parse: this mutator of libFuzzer changes
// words, numbers and signs.
//
//===----------------------------------------------------------------------===//

#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t mostSize);

static std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> tokens;
  bool inWord = false;
  for (char c : text) {
    bool isWord = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (isWord && inWord)
      tokens.back() += c;
    else
      tokens.emplace_back(1, c);
    inWord = isWord;
  }
  return tokens;
}

static std::string pickNumber(std::mt19937 &engine) {
  static const char *const kNumbers[] = {
      "0",  "1", "2",          "3",          "4",
      "7",  "8", "63",         "64",         "65",
      "-1", "?", "2147483647", "4294967296", "9223372036854775807",
  };
  return kNumbers[engine() % std::size(kNumbers)];
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t mostSize, unsigned seed) {
  std::mt19937 engine(seed);
  if (size == 0 || engine() % 20 == 0)
    return LLVMFuzzerMutate(data, size, mostSize);
  std::vector<std::string> tokens =
      split(std::string(reinterpret_cast<char *>(data), size));
  for (unsigned i = 1 + engine() % 3; i > 0; --i) {
    size_t at = engine() % tokens.size(), other = engine() % tokens.size();
    bool isNumber = std::isdigit(static_cast<unsigned char>(tokens[at][0]));
    switch (engine() % 5) {
    case 0:
      tokens[at].clear();
      break;
    case 1:
      tokens[at] += tokens[other];
      break;
    case 2:
      std::swap(tokens[at], tokens[other]);
      break;
    default:
      tokens[at] = isNumber ? pickNumber(engine) : tokens[other];
      break;
    }
  }
  std::string text;
  for (const std::string &token : tokens)
    text += token;
  if (text.size() > mostSize)
    return LLVMFuzzerMutate(data, size, mostSize);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
