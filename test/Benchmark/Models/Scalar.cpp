//===- Scalar.cpp - Arithmetic in the bodies of operations ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tofu;
using namespace mlir::tofu::models;

template <typename Op, typename... Args>
static Scalar make(Scalar first, Args &&...args) {
  ImplicitLocOpBuilder &b = first.getBuilder();
  return Scalar(b, Op::create(b, std::forward<Args>(args)...));
}

template <typename Op>
static Scalar unary(Scalar a) {
  return make<Op>(a, a.getValue());
}

template <typename Op>
static Scalar binary(Scalar a, Scalar b) {
  return make<Op>(a, a.getValue(), b.getValue());
}

Scalar Scalar::constant(double number) const {
  return make<arith::ConstantOp>(
      *this, builder->getFloatAttr(value.getType(), number));
}

Scalar models::operator+(Scalar a, Scalar b) {
  return binary<arith::AddFOp>(a, b);
}

Scalar models::operator-(Scalar a, Scalar b) {
  return binary<arith::SubFOp>(a, b);
}

Scalar models::operator*(Scalar a, Scalar b) {
  return binary<arith::MulFOp>(a, b);
}

Scalar models::operator/(Scalar a, Scalar b) {
  return binary<arith::DivFOp>(a, b);
}

Scalar models::max(Scalar a, Scalar b) {
  return binary<arith::MaximumFOp>(a, b);
}

Scalar models::exp(Scalar a) { return unary<math::ExpOp>(a); }
Scalar models::log(Scalar a) { return unary<math::LogOp>(a); }
Scalar models::rsqrt(Scalar a) { return unary<math::RsqrtOp>(a); }
Scalar models::tanh(Scalar a) { return unary<math::TanhOp>(a); }

static Scalar compare(arith::CmpFPredicate ofFloats,
                      arith::CmpIPredicate ofIndices, Scalar a, Scalar b) {
  if (isa<FloatType>(a.getValue().getType()))
    return make<arith::CmpFOp>(a, ofFloats, a.getValue(), b.getValue());
  return make<arith::CmpIOp>(a, ofIndices, a.getValue(), b.getValue());
}

Scalar models::greater(Scalar a, double b) { return less(a.constant(b), a); }

Scalar models::equal(Scalar a, Scalar b) {
  return compare(arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, a, b);
}

Scalar models::less(Scalar a, Scalar b) {
  return compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, a, b);
}

Scalar models::lessOrEqual(Scalar a, Scalar b) {
  return compare(arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle, a, b);
}

Scalar models::select(Scalar condition, Scalar a, Scalar b) {
  return make<arith::SelectOp>(a, condition.getValue(), a.getValue(),
                               b.getValue());
}

Scalar models::loopIndex(Scalar like, unsigned loop) {
  return make<linalg::IndexOp>(like, loop);
}

Scalar models::indexConstant(Scalar like, int64_t number) {
  return make<arith::ConstantIndexOp>(like, number);
}

Scalar models::toIndex(Scalar label) {
  return make<arith::IndexCastOp>(label, label.getBuilder().getIndexType(),
                                  label.getValue());
}

Scalar models::toFloat(Scalar index, Scalar like) {
  Value integer = arith::IndexCastOp::create(
      index.getBuilder(), index.getBuilder().getI64Type(), index.getValue());
  return make<arith::SIToFPOp>(index, like.getValue().getType(), integer);
}
