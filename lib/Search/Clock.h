//===- Clock.h - How long a search takes ------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_SEARCH_CLOCK_H
#define TOFU_LIB_SEARCH_CLOCK_H

#include <chrono>

namespace mlir::tofu::search {

/// Runs from when it is made.
class Clock {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

} // namespace mlir::tofu::search

#endif // TOFU_LIB_SEARCH_CLOCK_H
