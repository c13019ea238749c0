//===- Random.h - Choices by seed -------------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_FUZZ_RANDOM_H
#define TOFU_TEST_FUZZ_RANDOM_H

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace mlir::tofu::fuzz {

/// The same choices on every machine: the library's distributions differ, its
/// engine does not.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  uint64_t number() { return engine(); }

  /// From 0 to `count` - 1.
  int64_t below(int64_t count) { return int64_t(engine() % uint64_t(count)); }

  /// From `low` to `high`.
  int64_t between(int64_t low, int64_t high) {
    return low + below(high - low + 1);
  }

  bool chance(int percent) { return below(100) < percent; }

  template <typename T>
  const T &pick(const std::vector<T> &list) {
    return list[below(list.size())];
  }

  template <typename T>
  void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[below(i)]);
  }

private:
  std::mt19937_64 engine;
};

} // namespace mlir::tofu::fuzz

#endif // TOFU_TEST_FUZZ_RANDOM_H
