//===- SumOfHalves.h - A sum that shows how often it is rounded -*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_UNIT_RUNTIME_SUMOFHALVES_H
#define TOFU_TEST_UNIT_RUNTIME_SUMOFHALVES_H

#include "Elements.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

namespace mlir::tofu::test {

/// 2048 * 1 + 1 * 1 in f16, and then a bias of 1. The sum lies between 2048 and
/// 2050, the next number of f16: rounded before the bias it is 2048, so that
/// the result is 2048 too; rounded once, after it, the result is 2050.
inline double sumHalvesAndBias() {
  const int64_t table[] = {TOFU_TABLE_VERSION,
                           TOFU_F16,
                           TOFU_F16,
                           /*accumulate=*/0,
                           /*loops=*/3,
                           /*ranks=*/2,
                           2,
                           2,
                           /*A=*/0,
                           2,
                           /*B=*/2,
                           1,
                           /*C=*/0,
                           1,
                           TOFU_ACTIVATION_NONE,
                           /*bias=*/1};
  TestMemref a({1, 2}, {0, 1}, 0, 2), b({2, 1}, {0, 1}, 0, 2),
      c({1, 1}, {0, 1}, 0, 2), bias({1}, {0}, 0, 2);
  store(TOFU_F16, a.at({0, 0}, 2), 2048);
  store(TOFU_F16, a.at({0, 1}, 2), 1);
  store(TOFU_F16, b.at({0, 0}, 2), 1);
  store(TOFU_F16, b.at({1, 0}, 2), 1);
  store(TOFU_F16, bias.at({0}, 2), 1);
  TestWorld world(1);
  EXPECT_EQ(world.run([&](TofuContext *context, int64_t) {
    tofuContractWithEpilogue(context, nullptr, table, "here", 2, a.descriptor(),
                             2, b.descriptor(), 2, c.descriptor(), 1,
                             bias.descriptor());
  }),
            TOFU_OK)
      << world.error();
  return load(TOFU_F16, c.at({0, 0}, 2));
}

} // namespace mlir::tofu::test

#endif // TOFU_TEST_UNIT_RUNTIME_SUMOFHALVES_H
