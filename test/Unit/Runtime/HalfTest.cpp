//===- HalfTest.cpp - Tests of the 16-bit floats --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Half.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir::tofu;

namespace {

/// The value of the bits by the definition of the format.
double valueOf(uint16_t bits, int exponentBits) {
  int mantissaBits = 15 - exponentBits;
  int exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
  double mantissa = bits & ((1 << mantissaBits) - 1);
  int bias = (1 << (exponentBits - 1)) - 1;
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1)
    return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
  return sign * std::ldexp(mantissa + (1 << mantissaBits),
                           exponent - bias - mantissaBits);
}

/// Checks that `bits` is the nearest to `value`, ties to even.
void expectNearest(float value, uint16_t bits, int exponentBits) {
  if (std::isnan(value)) {
    EXPECT_TRUE(std::isnan(valueOf(bits, exponentBits)));
    return;
  }
  double got = valueOf(bits, exponentBits);
  EXPECT_EQ(std::signbit(got), std::signbit(value)) << value;
  if (std::isinf(got)) {
    // From halfway between the largest number and the next power of two.
    uint16_t largest = (bits & 0x7fff) - 1;
    double step =
        valueOf(largest, exponentBits) - valueOf(largest - 1, exponentBits);
    EXPECT_GE(std::fabs(value), valueOf(largest, exponentBits) + step / 2)
        << value;
    return;
  }
  double distance = std::fabs(got - value);
  for (int other : {bits - 1, bits + 1}) {
    double neighbour = valueOf(other, exponentBits);
    if (std::isnan(neighbour) || std::isinf(neighbour) ||
        std::signbit(neighbour) != std::signbit(got))
      continue;
    double theirs = std::fabs(neighbour - value);
    EXPECT_LE(distance, theirs) << value;
    if (distance == theirs)
      EXPECT_EQ(bits & 1, 0) << value;
  }
}

TEST(Half, AllBitsToFloatAndBack) {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    for (bool isHalf : {true, false}) {
      float value = isHalf ? floatFromHalf(bits) : floatFromBFloat(bits);
      double expected = valueOf(bits, isHalf ? 5 : 8);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(value)) << bits;
        continue;
      }
      EXPECT_EQ(value, expected) << bits;
      EXPECT_EQ(isHalf ? halfFromFloat(value) : bfloatFromFloat(value), bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    float value = floatFromBits(random());
    expectNearest(value, bfloatFromFloat(value), 8);
    // Most floats are out of the range of f16.
    uint32_t exponent = 100 + random() % 50;
    float near = floatFromBits((random() & 0x807fffff) | exponent << 23);
    expectNearest(near, halfFromFloat(near), 5);
  }
  for (float value : {65519.0f, 65520.0f, 0x1p-24f, 0x1p-25f, 0x1.8p-24f,
                      0x1.8p-25f, 0x1.ffcp-15f, 0x1.ffep-15f, -0.0f})
    expectNearest(value, halfFromFloat(value), 5);
}

} // namespace
