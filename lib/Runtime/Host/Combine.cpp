//===- Combine.cpp - Combining partial results ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combine.h"

#include "Tofu/Runtime/Half.h"
#include "Tofu/Runtime/Runtime.h"

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

const char *host::combinerName(int64_t combiner) {
  static const char *const names[] = {"none",   "sum",    "prod",  "min",
                                      "max",    "and",    "or",    "xor",
                                      "minnum", "maxnum", "minui", "maxui"};
  static_assert(sizeof(names) / sizeof(*names) == TOFU_NUM_COMBINERS,
                "one name per combiner");
  return names[combiner];
}

namespace {

struct Sum {
  template <typename T>
  static T apply(T a, T b) {
    return a + b;
  }
  /// To add +0 would make +0 of -0.
  template <typename T>
  static T neutral() {
    return std::is_floating_point_v<T> ? -T(0) : T(0);
  }
};
struct Prod {
  template <typename T>
  static T apply(T a, T b) {
    return a * b;
  }
  template <typename T>
  static T neutral() {
    return 1;
  }
};
struct And {
  template <typename T>
  static T apply(T a, T b) {
    return a & b;
  }
  template <typename T>
  static T neutral() {
    return static_cast<T>(~T(0));
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return a | b;
  }
  template <typename T>
  static T neutral() {
    return 0;
  }
};
struct Xor : Or {
  template <typename T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};

/// Complex numbers as compiled programs add and multiply them; multiplying as
/// C++ does would look for infinities.
struct ComplexSum {
  template <typename T>
  static T apply(T a, T b) {
    return {a.real() + b.real(), a.imag() + b.imag()};
  }
  template <typename T>
  static T neutral() {
    using Part = typename T::value_type;
    return {Sum::neutral<Part>(), Sum::neutral<Part>()};
  }
};
struct ComplexProd {
  template <typename T>
  static T apply(T a, T b) {
    return {a.real() * b.real() - a.imag() * b.imag(),
            a.real() * b.imag() + a.imag() * b.real()};
  }
  template <typename T>
  static T neutral() {
    return {1, 0};
  }
};

/// The smaller; of zeros the negative one.
template <typename T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a < b || (a == b && std::signbit(a)) ? a : b;
  else
    return a < b ? a : b;
}
template <typename T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a > b || (a == b && !std::signbit(a)) ? a : b;
  else
    return a > b ? a : b;
}

struct Min {
  template <typename T>
  static T apply(T a, T b) {
    return a != a ? a : b != b ? b : smaller(a, b);
  }
  template <typename T>
  static T neutral() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    return a != a ? a : b != b ? b : larger(a, b);
  }
  template <typename T>
  static T neutral() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
};
struct MinNum {
  template <typename T>
  static T apply(T a, T b) {
    return a != a ? b : b != b ? a : smaller(a, b);
  }
  template <typename T>
  static T neutral() {
    return std::numeric_limits<T>::quiet_NaN();
  }
};
struct MaxNum : MinNum {
  template <typename T>
  static T apply(T a, T b) {
    return a != a ? b : b != b ? a : larger(a, b);
  }
};

/// Elements of type `Stored` in memory, combined as `Computed`.
template <typename Stored, typename Computed>
struct Plain {
  using Memory = Stored;
  static Computed load(Stored value) { return static_cast<Computed>(value); }
  static Stored store(Computed value) { return static_cast<Stored>(value); }
};
struct BFloat {
  using Memory = uint16_t;
  static float load(uint16_t bits) { return floatFromBFloat(bits); }
  static uint16_t store(float value) { return bfloatFromFloat(value); }
};
struct Half {
  using Memory = uint16_t;
  static float load(uint16_t bits) { return floatFromHalf(bits); }
  static uint16_t store(float value) { return halfFromFloat(value); }
};

template <typename Element, typename Operator>
void combine(void *into, const void *from, int64_t size) {
  using Memory = typename Element::Memory;
  auto *__restrict a = static_cast<Memory *>(into);
  const auto *__restrict b = static_cast<const Memory *>(from);
  for (int64_t i = 0; i < size; ++i)
    a[i] = Element::store(
        Operator::apply(Element::load(a[i]), Element::load(b[i])));
}

template <typename Element, typename Operator>
void writeNeutral(void *into) {
  using Computed = decltype(Element::load({}));
  *static_cast<typename Element::Memory *>(into) =
      Element::store(Operator::template neutral<Computed>());
}

template <typename Element, typename Operator>
constexpr Combiner make() {
  return {combine<Element, Operator>, writeNeutral<Element, Operator>};
}

template <typename Element>
Combiner getForFloat(int64_t combiner) {
  switch (combiner) {
  case TOFU_COMBINE_SUM:
    return make<Element, Sum>();
  case TOFU_COMBINE_PROD:
    return make<Element, Prod>();
  case TOFU_COMBINE_MIN:
    return make<Element, Min>();
  case TOFU_COMBINE_MAX:
    return make<Element, Max>();
  case TOFU_COMBINE_MINNUM:
    return make<Element, MinNum>();
  case TOFU_COMBINE_MAXNUM:
    return make<Element, MaxNum>();
  default:
    return {};
  }
}

template <typename Part>
Combiner getForComplex(int64_t combiner) {
  using Element = Plain<std::complex<Part>, std::complex<Part>>;
  switch (combiner) {
  case TOFU_COMBINE_SUM:
    return make<Element, ComplexSum>();
  case TOFU_COMBINE_PROD:
    return make<Element, ComplexProd>();
  default:
    return {};
  }
}

/// Sums and products are computed unsigned, where overflow wraps; 64 bits wide,
/// where no promotion to int makes it signed again.
template <typename Signed>
Combiner getForInteger(int64_t combiner) {
  using Unsigned = std::make_unsigned_t<Signed>;
  using Wrapping = Plain<Unsigned, uint64_t>;
  switch (combiner) {
  case TOFU_COMBINE_SUM:
    return make<Wrapping, Sum>();
  case TOFU_COMBINE_PROD:
    return make<Wrapping, Prod>();
  case TOFU_COMBINE_MIN:
    return make<Plain<Signed, Signed>, Min>();
  case TOFU_COMBINE_MAX:
    return make<Plain<Signed, Signed>, Max>();
  case TOFU_COMBINE_MINUI:
    return make<Plain<Unsigned, Unsigned>, Min>();
  case TOFU_COMBINE_MAXUI:
    return make<Plain<Unsigned, Unsigned>, Max>();
  case TOFU_COMBINE_AND:
    return make<Wrapping, And>();
  case TOFU_COMBINE_OR:
    return make<Wrapping, Or>();
  case TOFU_COMBINE_XOR:
    return make<Wrapping, Xor>();
  default:
    return {};
  }
}

/// One bit, in a byte.
struct Bit : Plain<uint8_t, uint8_t> {
  static uint8_t store(uint8_t value) { return value & 1; }
};

/// In one bit a sum is xor, a product and; as a signed number 1 is -1.
Combiner getForBool(int64_t combiner) {
  switch (combiner) {
  case TOFU_COMBINE_SUM:
  case TOFU_COMBINE_XOR:
    return make<Bit, Xor>();
  case TOFU_COMBINE_PROD:
  case TOFU_COMBINE_MAX:
  case TOFU_COMBINE_MINUI:
  case TOFU_COMBINE_AND:
    return make<Bit, And>();
  case TOFU_COMBINE_MIN:
  case TOFU_COMBINE_MAXUI:
  case TOFU_COMBINE_OR:
    return make<Bit, Or>();
  default:
    return {};
  }
}

} // namespace

Combiner host::getCombiner(int64_t combiner, int64_t type) {
  switch (type) {
  case TOFU_F32:
    return getForFloat<Plain<float, float>>(combiner);
  case TOFU_F64:
    return getForFloat<Plain<double, double>>(combiner);
  case TOFU_F16:
    return getForFloat<Half>(combiner);
  case TOFU_BF16:
    return getForFloat<BFloat>(combiner);
  case TOFU_I1:
    return getForBool(combiner);
  case TOFU_I8:
    return getForInteger<int8_t>(combiner);
  case TOFU_I16:
    return getForInteger<int16_t>(combiner);
  case TOFU_I32:
    return getForInteger<int32_t>(combiner);
  case TOFU_I64:
  case TOFU_INDEX:
    return getForInteger<int64_t>(combiner);
  case TOFU_COMPLEX_F32:
    return getForComplex<float>(combiner);
  case TOFU_COMPLEX_F64:
    return getForComplex<double>(combiner);
  default:
    return {};
  }
}
