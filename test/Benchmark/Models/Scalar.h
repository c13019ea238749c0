//===- Scalar.h - Arithmetic in the bodies of operations --------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_BENCHMARK_MODELS_SCALAR_H
#define TOFU_TEST_BENCHMARK_MODELS_SCALAR_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tofu::models {

/// A number in the body of an operation, to be written with as in C++.
class Scalar {
public:
  Scalar(ImplicitLocOpBuilder &builder, Value value)
      : builder(&builder), value(value) {}

  ImplicitLocOpBuilder &getBuilder() const { return *builder; }
  Value getValue() const { return value; }

  /// `number` in the type of this.
  Scalar constant(double number) const;

private:
  ImplicitLocOpBuilder *builder;
  Value value;
};

Scalar operator+(Scalar a, Scalar b);
Scalar operator-(Scalar a, Scalar b);
Scalar operator*(Scalar a, Scalar b);
Scalar operator/(Scalar a, Scalar b);
inline Scalar operator+(Scalar a, double b) { return a + a.constant(b); }
inline Scalar operator-(Scalar a, double b) { return a - a.constant(b); }
inline Scalar operator-(double a, Scalar b) { return b.constant(a) - b; }
inline Scalar operator*(Scalar a, double b) { return a * a.constant(b); }

Scalar max(Scalar a, Scalar b);
Scalar exp(Scalar a);
Scalar log(Scalar a);
Scalar rsqrt(Scalar a);
Scalar tanh(Scalar a);

/// Truth values, for `select`. Both sides are floats, or both are indices.
Scalar greater(Scalar a, double b);
Scalar equal(Scalar a, Scalar b);
Scalar less(Scalar a, Scalar b);
Scalar lessOrEqual(Scalar a, Scalar b);
Scalar select(Scalar condition, Scalar a, Scalar b);

/// The number of the operation's loop `loop` that the body is in.
Scalar loopIndex(Scalar like, unsigned loop);
/// The index `number`.
Scalar indexConstant(Scalar like, int64_t number);
/// A class label, i32, as an index.
Scalar toIndex(Scalar label);
/// An index as a number of the type of `like`.
Scalar toFloat(Scalar index, Scalar like);

} // namespace mlir::tofu::models

#endif // TOFU_TEST_BENCHMARK_MODELS_SCALAR_H
