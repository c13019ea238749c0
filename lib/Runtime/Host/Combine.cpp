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
};
struct Prod {
  template <typename T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct And {
  template <typename T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return a ^ b;
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
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    return a != a ? a : b != b ? b : larger(a, b);
  }
};
struct MinNum {
  template <typename T>
  static T apply(T a, T b) {
    return a != a ? b : b != b ? a : smaller(a, b);
  }
};
struct MaxNum {
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

template <typename Element>
CombineFunction getForFloat(int64_t combiner) {
  switch (combiner) {
  case TOFU_COMBINE_SUM:
    return combine<Element, Sum>;
  case TOFU_COMBINE_PROD:
    return combine<Element, Prod>;
  case TOFU_COMBINE_MIN:
    return combine<Element, Min>;
  case TOFU_COMBINE_MAX:
    return combine<Element, Max>;
  case TOFU_COMBINE_MINNUM:
    return combine<Element, MinNum>;
  case TOFU_COMBINE_MAXNUM:
    return combine<Element, MaxNum>;
  default:
    return nullptr;
  }
}

/// Sums and products are computed unsigned, where overflow wraps; 64 bits wide,
/// where no promotion to int makes it signed again.
template <typename Signed>
CombineFunction getForInteger(int64_t combiner) {
  using Unsigned = std::make_unsigned_t<Signed>;
  using Wrapping = Plain<Unsigned, uint64_t>;
  switch (combiner) {
  case TOFU_COMBINE_SUM:
    return combine<Wrapping, Sum>;
  case TOFU_COMBINE_PROD:
    return combine<Wrapping, Prod>;
  case TOFU_COMBINE_MIN:
    return combine<Plain<Signed, Signed>, Min>;
  case TOFU_COMBINE_MAX:
    return combine<Plain<Signed, Signed>, Max>;
  case TOFU_COMBINE_MINUI:
    return combine<Plain<Unsigned, Unsigned>, Min>;
  case TOFU_COMBINE_MAXUI:
    return combine<Plain<Unsigned, Unsigned>, Max>;
  case TOFU_COMBINE_AND:
    return combine<Wrapping, And>;
  case TOFU_COMBINE_OR:
    return combine<Wrapping, Or>;
  case TOFU_COMBINE_XOR:
    return combine<Wrapping, Xor>;
  default:
    return nullptr;
  }
}

/// In one bit a sum is xor, a product and; as a signed number 1 is -1.
CombineFunction getForBool(int64_t combiner) {
  using Bit = Plain<uint8_t, uint8_t>;
  switch (combiner) {
  case TOFU_COMBINE_SUM:
  case TOFU_COMBINE_XOR:
    return combine<Bit, Xor>;
  case TOFU_COMBINE_PROD:
  case TOFU_COMBINE_MAX:
  case TOFU_COMBINE_MINUI:
  case TOFU_COMBINE_AND:
    return combine<Bit, And>;
  case TOFU_COMBINE_MIN:
  case TOFU_COMBINE_MAXUI:
  case TOFU_COMBINE_OR:
    return combine<Bit, Or>;
  default:
    return nullptr;
  }
}

} // namespace

CombineFunction host::getCombineFunction(int64_t combiner, int64_t type) {
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
  default:
    return nullptr;
  }
}
