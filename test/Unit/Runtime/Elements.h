//===- Elements.h - Numbers as elements of any type -------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_UNIT_RUNTIME_ELEMENTS_H
#define TOFU_TEST_UNIT_RUNTIME_ELEMENTS_H

#include "Tofu/Runtime/Half.h"
#include "Tofu/Runtime/Runtime.h"

#include <cmath>
#include <complex>
#include <cstring>

namespace mlir::tofu::test {

inline int64_t bytesOf(int64_t type) {
  static const int64_t bytes[] = {4, 8, 2, 2, 1, 1, 2, 4, 8, 8, 8, 16};
  return bytes[type];
}

inline bool isComplexType(int64_t type) { return type >= TOFU_COMPLEX_F32; }

inline bool isFloatType(int64_t type) { return type <= TOFU_BF16; }

template <typename T>
void storeAs(char *to, T value) {
  std::memcpy(to, &value, sizeof(value));
}
template <typename T>
T loadAs(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Stores a number as an element; it must be representable. The imaginary part
/// of a complex one is 0.
inline void store(int64_t type, char *to, double value) {
  switch (type) {
  case TOFU_F32:
    return storeAs<float>(to, value);
  case TOFU_F64:
    return storeAs<double>(to, value);
  case TOFU_F16:
    return storeAs<uint16_t>(to, halfFromFloat(value));
  case TOFU_BF16:
    return storeAs<uint16_t>(to, bfloatFromFloat(value));
  case TOFU_I1:
  case TOFU_I8:
    return storeAs<int8_t>(to, value);
  case TOFU_I16:
    return storeAs<int16_t>(to, value);
  case TOFU_I32:
    return storeAs<int32_t>(to, value);
  case TOFU_COMPLEX_F32:
    return storeAs<std::complex<float>>(to, value);
  case TOFU_COMPLEX_F64:
    return storeAs<std::complex<double>>(to, value);
  default:
    return storeAs<int64_t>(to, value);
  }
}

/// The number that `store` stored; NaN for any other complex one.
template <typename T>
double loadComplex(const char *from) {
  auto value = loadAs<std::complex<T>>(from);
  return value.imag() == 0 ? value.real() : NAN;
}

inline double load(int64_t type, const char *from) {
  switch (type) {
  case TOFU_F32:
    return loadAs<float>(from);
  case TOFU_F64:
    return loadAs<double>(from);
  case TOFU_F16:
    return floatFromHalf(loadAs<uint16_t>(from));
  case TOFU_BF16:
    return floatFromBFloat(loadAs<uint16_t>(from));
  case TOFU_I1:
  case TOFU_I8:
    return loadAs<int8_t>(from);
  case TOFU_I16:
    return loadAs<int16_t>(from);
  case TOFU_I32:
    return loadAs<int32_t>(from);
  case TOFU_COMPLEX_F32:
    return loadComplex<float>(from);
  case TOFU_COMPLEX_F64:
    return loadComplex<double>(from);
  default:
    return loadAs<int64_t>(from);
  }
}

} // namespace mlir::tofu::test

#endif // TOFU_TEST_UNIT_RUNTIME_ELEMENTS_H
