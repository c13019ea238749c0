//===- Gemm.cpp - Matrix products of the host backend ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"

#include "Tofu/Runtime/Half.h"
#include "Tofu/Runtime/Runtime.h"
#include "Views.h"

#include <algorithm>
#include <dnnl.h>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

// The library is built for any processor of its architecture; the loops below
// are worth a second version.
#if defined(__x86_64__) && defined(__ELF__)
#define TOFU_CLONES __attribute__((target_clones("default", "arch=haswell")))
#else
#define TOFU_CLONES
#endif

int64_t host::getComputeType(int64_t inputType, int64_t outputType) {
  switch (outputType) {
  case TOFU_I64:
  case TOFU_INDEX:
    return TOFU_I64;
  case TOFU_I8:
  case TOFU_I16:
  case TOFU_I32:
    return TOFU_I32;
  default:
    return inputType == TOFU_F64 || outputType == TOFU_F64 ? TOFU_F64
                                                           : TOFU_F32;
  }
}

bool host::takesTransposed(int64_t computeType) {
  return computeType == TOFU_F32;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Row-major matrices only. A block of B's rows stays in cache while all rows
/// of A go by; the innermost loop runs along rows of B and C.
template <typename T>
__attribute__((always_inline)) static inline void
multiplyPlain(int64_t rows, int64_t columns, int64_t inner, const T *a,
              int64_t aLead, const T *b, int64_t bLead, T *c, int64_t cLead) {
  constexpr int64_t kInner = 64, kColumns = 256;
  for (int64_t k0 = 0; k0 < inner; k0 += kInner) {
    int64_t k1 = std::min(k0 + kInner, inner);
    for (int64_t j0 = 0; j0 < columns; j0 += kColumns) {
      int64_t width = std::min(kColumns, columns - j0);
      for (int64_t i = 0; i < rows; ++i) {
        T *__restrict cRow = c + i * cLead + j0;
        int64_t k = k0;
        for (; k + 4 <= k1; k += 4) {
          const T *aRow = a + i * aLead + k, *bRow = b + k * bLead + j0;
          for (int64_t j = 0; j < width; ++j)
            cRow[j] += aRow[0] * bRow[j] + aRow[1] * bRow[bLead + j] +
                       aRow[2] * bRow[2 * bLead + j] +
                       aRow[3] * bRow[3 * bLead + j];
        }
        for (; k < k1; ++k)
          for (int64_t j = 0; j < width; ++j)
            cRow[j] += a[i * aLead + k] * b[k * bLead + j0 + j];
      }
    }
  }
}

// Integers are unsigned, where overflow wraps.
#define TOFU_DEFINE_PRODUCT(NAME, TYPE)                                        \
  TOFU_CLONES static void NAME(int64_t rows, int64_t columns, int64_t inner,   \
                               const TYPE *a, int64_t aLead, const TYPE *b,    \
                               int64_t bLead, TYPE *c, int64_t cLead) {        \
    multiplyPlain<TYPE>(rows, columns, inner, a, aLead, b, bLead, c, cLead);   \
  }
TOFU_DEFINE_PRODUCT(multiplyF64, double)
TOFU_DEFINE_PRODUCT(multiplyI32, uint32_t)
TOFU_DEFINE_PRODUCT(multiplyI64, uint64_t)
#undef TOFU_DEFINE_PRODUCT

template <typename T, typename Product>
static bool multiplyWith(Product product, int64_t rows, int64_t columns,
                         int64_t inner, const Matrix &a, const Matrix &b,
                         bool accumulate, void *c, int64_t lead) {
  T *out = static_cast<T *>(c);
  if (!accumulate)
    for (int64_t i = 0; i < rows; ++i)
      std::fill_n(out + i * lead, columns, T(0));
  product(rows, columns, inner, static_cast<const T *>(a.data), a.lead,
          static_cast<const T *>(b.data), b.lead, out, lead);
  return true;
}

bool host::multiply(int64_t computeType, int64_t rows, int64_t columns,
                    int64_t inner, const Matrix &a, const Matrix &b,
                    bool accumulate, void *c, int64_t lead) {
  switch (computeType) {
  case TOFU_F64:
    return multiplyWith<double>(multiplyF64, rows, columns, inner, a, b,
                                accumulate, c, lead);
  case TOFU_I32:
    return multiplyWith<uint32_t>(multiplyI32, rows, columns, inner, a, b,
                                  accumulate, c, lead);
  case TOFU_I64:
    return multiplyWith<uint64_t>(multiplyI64, rows, columns, inner, a, b,
                                  accumulate, c, lead);
  default:
    return dnnl_sgemm(a.isTransposed ? 'T' : 'N', b.isTransposed ? 'T' : 'N',
                      rows, columns, inner, 1.0f,
                      static_cast<const float *>(a.data), a.lead,
                      static_cast<const float *>(b.data), b.lead,
                      accumulate ? 1.0f : 0.0f, static_cast<float *>(c),
                      lead) == dnnl_success;
  }
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

namespace {

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

} // namespace

/// What all conversions of a kind of type go through.
static double widen(double value) { return value; }
static float widen(float value) { return value; }
static float widen(Half value) { return floatFromHalf(value.bits); }
static float widen(BFloat value) { return floatFromBFloat(value.bits); }
template <typename T>
static int64_t widen(T value) {
  return value;
}

template <typename To, typename Wide>
static To narrow(Wide value) {
  if constexpr (std::is_same_v<To, Half>)
    return {halfFromFloat(static_cast<float>(value))};
  else if constexpr (std::is_same_v<To, BFloat>)
    return {bfloatFromFloat(static_cast<float>(value))};
  else
    return static_cast<To>(value);
}

template <typename To, typename From>
static void convertAs(void *to, const void *from, int64_t size) {
  auto *__restrict out = static_cast<To *>(to);
  const auto *__restrict in = static_cast<const From *>(from);
  for (int64_t i = 0; i < size; ++i)
    out[i] = narrow<To>(widen(in[i]));
}

template <typename To>
static void convertFromFloat(void *to, int64_t fromType, const void *from,
                             int64_t size) {
  switch (fromType) {
  case TOFU_F64:
    return convertAs<To, double>(to, from, size);
  case TOFU_F16:
    return convertAs<To, Half>(to, from, size);
  case TOFU_BF16:
    return convertAs<To, BFloat>(to, from, size);
  default:
    return convertAs<To, float>(to, from, size);
  }
}

template <typename To>
static void convertFromInteger(void *to, int64_t fromType, const void *from,
                               int64_t size) {
  switch (fromType) {
  case TOFU_I8:
    return convertAs<To, int8_t>(to, from, size);
  case TOFU_I16:
    return convertAs<To, int16_t>(to, from, size);
  case TOFU_I32:
    return convertAs<To, int32_t>(to, from, size);
  default:
    return convertAs<To, int64_t>(to, from, size);
  }
}

void host::convert(int64_t toType, void *to, int64_t fromType, const void *from,
                   int64_t size) {
  switch (toType) {
  case TOFU_F32:
    return convertFromFloat<float>(to, fromType, from, size);
  case TOFU_F64:
    return convertFromFloat<double>(to, fromType, from, size);
  case TOFU_F16:
    return convertFromFloat<Half>(to, fromType, from, size);
  case TOFU_BF16:
    return convertFromFloat<BFloat>(to, fromType, from, size);
  case TOFU_I8:
    return convertFromInteger<int8_t>(to, fromType, from, size);
  case TOFU_I16:
    return convertFromInteger<int16_t>(to, fromType, from, size);
  case TOFU_I32:
    return convertFromInteger<int32_t>(to, fromType, from, size);
  default:
    return convertFromInteger<int64_t>(to, fromType, from, size);
  }
}
