//===- CombineElements.h - Combining two elements ---------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the host and, compiled as CUDA, for devices.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_HOST_COMBINEELEMENTS_H
#define TOFU_LIB_RUNTIME_HOST_COMBINEELEMENTS_H

#include "Tofu/Runtime/Half.h"
#include "Tofu/Runtime/Runtime.h"

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

namespace mlir::tofu::host {

struct Sum {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return a + b;
  }
  /// To add +0 would make +0 of -0.
  template <typename T>
  TOFU_HOST_DEVICE static T neutral() {
    return std::is_floating_point_v<T> ? -T(0) : T(0);
  }
};
struct Prod {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return a * b;
  }
  template <typename T>
  TOFU_HOST_DEVICE static T neutral() {
    return 1;
  }
};
struct And {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return a & b;
  }
  template <typename T>
  TOFU_HOST_DEVICE static T neutral() {
    return static_cast<T>(~T(0));
  }
};
struct Or {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return a | b;
  }
  template <typename T>
  TOFU_HOST_DEVICE static T neutral() {
    return 0;
  }
};
struct Xor : Or {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return a ^ b;
  }
};

/// Complex numbers as compiled programs add and multiply them; multiplying as
/// C++ does would look for infinities.
struct ComplexSum {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return {a.real() + b.real(), a.imag() + b.imag()};
  }
  template <typename T>
  TOFU_HOST_DEVICE static T neutral() {
    using Part = typename T::value_type;
    return {Sum::neutral<Part>(), Sum::neutral<Part>()};
  }
};
struct ComplexProd {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return {a.real() * b.real() - a.imag() * b.imag(),
            a.real() * b.imag() + a.imag() * b.real()};
  }
  template <typename T>
  TOFU_HOST_DEVICE static T neutral() {
    return {1, 0};
  }
};

/// The smaller; of zeros the negative one.
template <typename T>
TOFU_HOST_DEVICE T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a < b || (a == b && std::signbit(a)) ? a : b;
  else
    return a < b ? a : b;
}
template <typename T>
TOFU_HOST_DEVICE T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a > b || (a == b && !std::signbit(a)) ? a : b;
  else
    return a > b ? a : b;
}

struct Min {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return a != a ? a : b != b ? b : smaller(a, b);
  }
  template <typename T>
  TOFU_HOST_DEVICE static T neutral() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};
struct Max {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return a != a ? a : b != b ? b : larger(a, b);
  }
  template <typename T>
  TOFU_HOST_DEVICE static T neutral() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
};
struct MinNum {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return a != a ? b : b != b ? a : smaller(a, b);
  }
  template <typename T>
  TOFU_HOST_DEVICE static T neutral() {
    return std::numeric_limits<T>::quiet_NaN();
  }
};
struct MaxNum : MinNum {
  template <typename T>
  TOFU_HOST_DEVICE static T apply(T a, T b) {
    return a != a ? b : b != b ? a : larger(a, b);
  }
};

/// Elements of type `Stored` in memory, combined as `Computed`.
template <typename Stored, typename Computed>
struct Plain {
  using Memory = Stored;
  TOFU_HOST_DEVICE static Computed load(Stored value) {
    return static_cast<Computed>(value);
  }
  TOFU_HOST_DEVICE static Stored store(Computed value) {
    return static_cast<Stored>(value);
  }
};
struct BFloat {
  using Memory = uint16_t;
  TOFU_HOST_DEVICE static float load(uint16_t bits) {
    return floatFromBFloat(bits);
  }
  TOFU_HOST_DEVICE static uint16_t store(float value) {
    return bfloatFromFloat(value);
  }
};
struct Half {
  using Memory = uint16_t;
  TOFU_HOST_DEVICE static float load(uint16_t bits) {
    return floatFromHalf(bits);
  }
  TOFU_HOST_DEVICE static uint16_t store(float value) {
    return halfFromFloat(value);
  }
};

template <typename Element, typename Visitor>
typename Visitor::Result visitForFloat(int64_t combiner, Visitor &visit) {
  switch (combiner) {
  case TOFU_COMBINE_SUM:
    return visit(Element(), Sum());
  case TOFU_COMBINE_PROD:
    return visit(Element(), Prod());
  case TOFU_COMBINE_MIN:
    return visit(Element(), Min());
  case TOFU_COMBINE_MAX:
    return visit(Element(), Max());
  case TOFU_COMBINE_MINNUM:
    return visit(Element(), MinNum());
  case TOFU_COMBINE_MAXNUM:
    return visit(Element(), MaxNum());
  default:
    return {};
  }
}

template <typename Part, typename Visitor>
typename Visitor::Result visitForComplex(int64_t combiner, Visitor &visit) {
  using Element = Plain<std::complex<Part>, std::complex<Part>>;
  switch (combiner) {
  case TOFU_COMBINE_SUM:
    return visit(Element(), ComplexSum());
  case TOFU_COMBINE_PROD:
    return visit(Element(), ComplexProd());
  default:
    return {};
  }
}

/// Sums and products are computed unsigned, where overflow wraps; 64 bits wide,
/// where no promotion to int makes it signed again.
template <typename Signed, typename Visitor>
typename Visitor::Result visitForInteger(int64_t combiner, Visitor &visit) {
  using Unsigned = std::make_unsigned_t<Signed>;
  using Wrapping = Plain<Unsigned, uint64_t>;
  switch (combiner) {
  case TOFU_COMBINE_SUM:
    return visit(Wrapping(), Sum());
  case TOFU_COMBINE_PROD:
    return visit(Wrapping(), Prod());
  case TOFU_COMBINE_MIN:
    return visit(Plain<Signed, Signed>(), Min());
  case TOFU_COMBINE_MAX:
    return visit(Plain<Signed, Signed>(), Max());
  case TOFU_COMBINE_MINUI:
    return visit(Plain<Unsigned, Unsigned>(), Min());
  case TOFU_COMBINE_MAXUI:
    return visit(Plain<Unsigned, Unsigned>(), Max());
  case TOFU_COMBINE_AND:
    return visit(Wrapping(), And());
  case TOFU_COMBINE_OR:
    return visit(Wrapping(), Or());
  case TOFU_COMBINE_XOR:
    return visit(Wrapping(), Xor());
  default:
    return {};
  }
}

/// One bit, in a byte.
struct Bit : Plain<uint8_t, uint8_t> {
  TOFU_HOST_DEVICE static uint8_t store(uint8_t value) { return value & 1; }
};

/// In one bit a sum is xor, a product and; as a signed number 1 is -1.
template <typename Visitor>
typename Visitor::Result visitForBool(int64_t combiner, Visitor &visit) {
  switch (combiner) {
  case TOFU_COMBINE_SUM:
  case TOFU_COMBINE_XOR:
    return visit(Bit(), Xor());
  case TOFU_COMBINE_PROD:
  case TOFU_COMBINE_MAX:
  case TOFU_COMBINE_MINUI:
  case TOFU_COMBINE_AND:
    return visit(Bit(), And());
  case TOFU_COMBINE_MIN:
  case TOFU_COMBINE_MAXUI:
  case TOFU_COMBINE_OR:
    return visit(Bit(), Or());
  default:
    return {};
  }
}

/// Calls `visit` with the elements and the operator of a TofuCombiner on a
/// TofuElementType, both in range; not if the type has no such combiner.
template <typename Visitor>
typename Visitor::Result visitCombiner(int64_t combiner, int64_t type,
                                       Visitor visit) {
  switch (type) {
  case TOFU_F32:
    return visitForFloat<Plain<float, float>>(combiner, visit);
  case TOFU_F64:
    return visitForFloat<Plain<double, double>>(combiner, visit);
  case TOFU_F16:
    return visitForFloat<Half>(combiner, visit);
  case TOFU_BF16:
    return visitForFloat<BFloat>(combiner, visit);
  case TOFU_I1:
    return visitForBool(combiner, visit);
  case TOFU_I8:
    return visitForInteger<int8_t>(combiner, visit);
  case TOFU_I16:
    return visitForInteger<int16_t>(combiner, visit);
  case TOFU_I32:
    return visitForInteger<int32_t>(combiner, visit);
  case TOFU_I64:
  case TOFU_INDEX:
    return visitForInteger<int64_t>(combiner, visit);
  case TOFU_COMPLEX_F32:
    return visitForComplex<float>(combiner, visit);
  case TOFU_COMPLEX_F64:
    return visitForComplex<double>(combiner, visit);
  default:
    return {};
  }
}

} // namespace mlir::tofu::host

#endif // TOFU_LIB_RUNTIME_HOST_COMBINEELEMENTS_H
