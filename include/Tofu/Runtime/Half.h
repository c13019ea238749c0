//===- Half.h - 16-bit floats as bits ---------------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f16 and bf16 to and from f32, in integer arithmetic that compilers vectorize:
// the runtime is built for any processor, and needs no compiler support for
// these types. Rounding is to nearest even; NaN stays NaN.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_HALF_H
#define TOFU_RUNTIME_HALF_H

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define TOFU_HOST_DEVICE __host__ __device__
#else
#define TOFU_HOST_DEVICE
#endif

namespace mlir::tofu {

TOFU_HOST_DEVICE inline uint32_t floatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

TOFU_HOST_DEVICE inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

TOFU_HOST_DEVICE inline float floatFromBFloat(uint16_t bits) {
  return floatFromBits(static_cast<uint32_t>(bits) << 16);
}

TOFU_HOST_DEVICE inline uint16_t bfloatFromFloat(float value) {
  uint32_t bits = floatBits(value);
  bool isNaN = (bits & 0x7fffffff) > 0x7f800000;
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>(isNaN ? (bits >> 16) | 0x40 : rounded);
}

TOFU_HOST_DEVICE inline float floatFromHalf(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t magnitude = half & 0x7fff;
  // The exponent moves by 127 - 15; infinity and NaN keep the largest one.
  uint32_t normal = (magnitude << 13) + ((127 - 15) << 23);
  uint32_t special = (magnitude << 13) | 0x7f800000;
  // A subnormal is its integer value times 2^-24, exactly.
  uint32_t subnormal =
      floatBits(static_cast<float>(static_cast<int32_t>(magnitude)) *
                floatFromBits((127 - 24) << 23));
  uint32_t bits = magnitude >= 0x7c00   ? special
                  : magnitude >= 0x0400 ? normal
                                        : subnormal;
  return floatFromBits(sign | bits);
}

TOFU_HOST_DEVICE inline uint16_t halfFromFloat(float value) {
  uint32_t bits = floatBits(value);
  uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  uint32_t normal =
      (magnitude - ((127 - 15) << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Adding 0.5 leaves the value, in units of 2^-24 and rounded to nearest
  // even, in the lowest bits.
  uint32_t subnormal =
      floatBits(floatFromBits(magnitude) + 0.5f) - floatBits(0.5f);
  uint32_t result = magnitude > 0x7f800000    ? 0x7e00
                    : magnitude >= 0x47800000 ? 0x7c00 // 65536 and above
                    : magnitude >= 0x38800000 ? normal // 2^-14 and above
                                              : subnormal;
  return static_cast<uint16_t>(sign | result);
}

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_HALF_H
