//===- Mutate.cpp - Mutations of text, token by token
//-----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes changed at random seldom parse. This mutator of libFuzzer puts numbers
// for numbers, words for words that stand between the same signs, and what is
// in brackets for what is in brackets; a number often wherever it stands, as
// sizes agree with each other.
//
//===----------------------------------------------------------------------===//

#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t mostSize);

using Tokens = std::vector<std::string>;

static bool isDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c));
}

static bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

static bool isSpace(const std::string &token) {
  return token == " " || token == "\n";
}

/// Words, numbers and signs. The x between the sizes of a shape stands alone.
static Tokens split(const std::string &text) {
  Tokens tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    bool isSize =
        !tokens.empty() && (isDigit(tokens.back()[0]) || tokens.back() == "?");
    if (isDigit(text[at])) {
      while (end < text.size() && isDigit(text[end]))
        ++end;
    } else if (isWordChar(text[at]) && !(text[at] == 'x' && isSize)) {
      while (end < text.size() && (isWordChar(text[end]) || text[end] == '.'))
        ++end;
    }
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

namespace {

/// Changes one text.
class Mutation {
public:
  Mutation(Tokens tokens, unsigned seed)
      : tokens(std::move(tokens)), engine(seed) {}

  std::string apply() {
    for (unsigned i = below(4) ? 1 : 2; i > 0 && !tokens.empty(); --i)
      change();
    std::string text;
    for (const std::string &token : tokens)
      text += token;
    return text;
  }

private:
  size_t below(size_t end) { return engine() % end; }

  void change() {
    size_t at = below(tokens.size());
    while (isSpace(tokens[at]) && ++at < tokens.size())
      ;
    if (at == tokens.size())
      return;
    switch (below(16)) {
    case 0:
      tokens.erase(tokens.begin() + at);
      return;
    case 1:
      tokens.insert(tokens.begin() + at, tokens[below(tokens.size())]);
      return;
    case 2:
      return replaceLine(at);
    case 3:
    case 4:
    case 5:
    case 6:
      return replaceGroup(at);
    default:
      return replaceToken(at);
    }
  }

  void replaceToken(size_t at) {
    std::string old = tokens[at];
    std::string made =
        isDigit(old[0]) || old == "?" ? pickNumber() : pickLike(at);
    if (below(2)) {
      tokens[at] = made;
      return;
    }
    for (std::string &token : tokens)
      if (token == old)
        token = made;
  }

  std::string pickNumber() {
    static const char *const kLarge[] = {
        "63",
        "64",
        "65",
        "-1",
        "?",
        "2147483647",
        "4294967296",
        "4611686018427387904",
        "9223372036854775807",
    };
    return below(4) ? std::to_string(below(10))
                    : kLarge[below(std::size(kLarge))];
  }

  /// A token that stands between the same signs as the one at `at`.
  std::string pickLike(size_t at) {
    Tokens like;
    for (size_t i = 0; i < tokens.size(); ++i)
      if (isWordChar(tokens[i][0]) == isWordChar(tokens[at][0]) &&
          (beside(i, -1) == beside(at, -1) || beside(i, 1) == beside(at, 1)))
        like.push_back(tokens[i]);
    return like[below(like.size())];
  }

  /// The sign before or after a token; any word counts as the same sign.
  char beside(size_t at, int step) const {
    do
      at += step;
    while (at < tokens.size() && isSpace(tokens[at]));
    if (at >= tokens.size())
      return 0;
    return isWordChar(tokens[at][0]) ? 'a' : tokens[at][0];
  }

  /// Puts what is in some brackets into brackets of the same kind, of which the
  /// first ones at or after `at` are taken.
  void replaceGroup(size_t at) {
    size_t end = 0;
    while (at < tokens.size() && !(end = endOfGroup(at)))
      ++at;
    if (at == tokens.size())
      return;
    std::vector<std::pair<size_t, size_t>> groups;
    for (size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i] == tokens[at])
        if (size_t other = endOfGroup(i))
          groups.push_back({i, other});
    auto [from, to] = groups[below(groups.size())];
    Tokens made(tokens.begin() + from, tokens.begin() + to);
    tokens.erase(tokens.begin() + at, tokens.begin() + end);
    tokens.insert(tokens.begin() + at, made.begin(), made.end());
  }

  /// One past the bracket that closes the one at `at`; 0 if there is none.
  size_t endOfGroup(size_t at) const {
    static const std::string kOpen = "([{<", kClose = ")]}>";
    size_t kind = kOpen.find(tokens[at][0]);
    if (kind == std::string::npos)
      return 0;
    unsigned depth = 0;
    for (size_t i = at; i < tokens.size(); ++i) {
      // Not the end of an arrow.
      if (tokens[i][0] == kClose[kind] && tokens[i - 1] != "-" && --depth == 0)
        return i + 1;
      depth += tokens[i][0] == kOpen[kind];
    }
    return 0;
  }

  /// Drops a line, or puts another in front of it.
  void replaceLine(size_t at) {
    auto [begin, end] = lineOf(at);
    if (below(2)) {
      tokens.erase(tokens.begin() + begin, tokens.begin() + end);
      return;
    }
    auto [from, to] = lineOf(below(tokens.size()));
    Tokens made(tokens.begin() + from, tokens.begin() + to);
    tokens.insert(tokens.begin() + begin, made.begin(), made.end());
  }

  std::pair<size_t, size_t> lineOf(size_t at) const {
    size_t begin = at, end = at;
    while (begin > 0 && tokens[begin - 1] != "\n")
      --begin;
    while (end < tokens.size() && tokens[end++] != "\n")
      ;
    return {begin, end};
  }

  Tokens tokens;
  std::mt19937 engine;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t mostSize, unsigned seed) {
  if (size == 0 || seed % 32 == 0)
    return LLVMFuzzerMutate(data, size, mostSize);
  std::string text(reinterpret_cast<char *>(data), size);
  text = Mutation(split(text), seed).apply();
  if (text.empty() || text.size() > mostSize)
    return LLVMFuzzerMutate(data, size, mostSize);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
