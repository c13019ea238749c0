//===- Combiners.cpp - How partial results combine ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tofu;

Combiner mlir::tofu::getCombiner(Operation *op) {
  return llvm::TypeSwitch<Operation *, Combiner>(op)
      .Case<arith::AddFOp, complex::AddOp>([](auto) { return Combiner::Sum; })
      .Case<arith::AddIOp>([](auto add) {
        // One bit has no room for a carry.
        return add.getType().isInteger(1) ? Combiner::Xor : Combiner::Sum;
      })
      .Case<arith::MulFOp, arith::MulIOp, complex::MulOp>(
          [](auto) { return Combiner::Prod; })
      .Case<arith::MinimumFOp, arith::MinSIOp>(
          [](auto) { return Combiner::Min; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>(
          [](auto) { return Combiner::Max; })
      .Case<arith::MinNumFOp>([](auto) { return Combiner::MinNum; })
      .Case<arith::MaxNumFOp>([](auto) { return Combiner::MaxNum; })
      .Case<arith::MinUIOp>([](auto) { return Combiner::MinUI; })
      .Case<arith::MaxUIOp>([](auto) { return Combiner::MaxUI; })
      .Case<arith::AndIOp>([](auto) { return Combiner::And; })
      .Case<arith::OrIOp>([](auto) { return Combiner::Or; })
      .Case<arith::XOrIOp>([](auto) { return Combiner::Xor; })
      .Default([](Operation *) { return Combiner::None; });
}

static TypedAttr getNeutralFloat(FloatType type, Combiner combiner) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  switch (combiner) {
  case Combiner::Sum:
    // x + -0 is x for every x; x + 0 is not for -0.
    return FloatAttr::get(type, APFloat::getZero(semantics, /*Negative=*/true));
  case Combiner::Prod:
    return FloatAttr::get(type, APFloat::getOne(semantics));
  case Combiner::Min:
  case Combiner::MinNum:
    return FloatAttr::get(type, APFloat::getInf(semantics));
  case Combiner::Max:
  case Combiner::MaxNum:
    return FloatAttr::get(type, APFloat::getInf(semantics, /*Negative=*/true));
  default:
    return {};
  }
}

/// For an integer type or index.
static TypedAttr getNeutralInteger(Type type, Combiner combiner) {
  unsigned width = isa<IndexType>(type) ? IndexType::kInternalStorageBitWidth
                                        : type.getIntOrFloatBitWidth();
  switch (combiner) {
  case Combiner::Sum:
  case Combiner::Or:
  case Combiner::Xor:
  case Combiner::MaxUI:
    return IntegerAttr::get(type, APInt::getZero(width));
  case Combiner::Prod:
    return IntegerAttr::get(type, APInt(width, 1));
  case Combiner::Min:
    return IntegerAttr::get(type, APInt::getSignedMaxValue(width));
  case Combiner::Max:
    return IntegerAttr::get(type, APInt::getSignedMinValue(width));
  case Combiner::And:
  case Combiner::MinUI:
    return IntegerAttr::get(type, APInt::getAllOnes(width));
  default:
    return {};
  }
}

/// Zero and one have a real part like that of floats.
static Attribute getNeutralComplex(ComplexType type, Combiner combiner) {
  auto part = dyn_cast<FloatType>(type.getElementType());
  if (!part || (combiner != Combiner::Sum && combiner != Combiner::Prod))
    return {};
  TypedAttr real = getNeutralFloat(part, combiner);
  TypedAttr imaginary =
      combiner == Combiner::Sum ? real : TypedAttr(FloatAttr::get(part, 0.0));
  return ArrayAttr::get(type.getContext(), {real, imaginary});
}

Attribute mlir::tofu::getNeutral(Type type, Combiner combiner) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return getNeutralComplex(complex, combiner);
  if (auto real = dyn_cast<FloatType>(type))
    return getNeutralFloat(real, combiner);
  if (type.isIntOrIndex())
    return getNeutralInteger(type, combiner);
  return {};
}

Value mlir::tofu::createConstantScalar(OpBuilder &builder, Location loc,
                                       Type type, Attribute number) {
  if (auto parts = dyn_cast<ArrayAttr>(number))
    return complex::ConstantOp::create(builder, loc, type, parts);
  return arith::ConstantOp::materialize(builder, number, type, loc);
}

/// The tensor all of whose elements are `number`.
static DenseElementsAttr getSplat(RankedTensorType type, Attribute number) {
  auto parts = dyn_cast<ArrayAttr>(number);
  if (!parts)
    return DenseElementsAttr::get(type, number);
  return DenseElementsAttr::get(
      type, std::complex<APFloat>(cast<FloatAttr>(parts[0]).getValue(),
                                  cast<FloatAttr>(parts[1]).getValue()));
}

Value mlir::tofu::createNeutral(OpBuilder &builder, Location loc,
                                Type elementType, const GlobalShape &shape,
                                Combiner combiner) {
  Attribute neutral = getNeutral(elementType, combiner);
  if (!neutral)
    return {};
  auto type = RankedTensorType::get(shape.sizes, elementType);
  if (shape.isStatic())
    return arith::ConstantOp::create(builder, loc, getSplat(type, neutral));
  Value scalar = createConstantScalar(builder, loc, elementType, neutral);
  Value empty = tensor::EmptyOp::create(builder, loc, type, shape.values);
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

Value mlir::tofu::createNeutralScalar(OpBuilder &builder, Location loc,
                                      Type type, Combiner combiner) {
  Attribute neutral = getNeutral(type, combiner);
  return neutral ? createConstantScalar(builder, loc, type, neutral) : Value();
}

Value mlir::tofu::createCombine(OpBuilder &b, Location loc, Combiner combiner,
                                Value x, Value y) {
  bool real = isa<FloatType>(x.getType());
  bool isComplex = isa<ComplexType>(x.getType());
  switch (combiner) {
  case Combiner::Sum:
    return isComplex ? complex::AddOp::create(b, loc, x, y).getResult()
           : real    ? arith::AddFOp::create(b, loc, x, y).getResult()
                     : arith::AddIOp::create(b, loc, x, y).getResult();
  case Combiner::Prod:
    return isComplex ? complex::MulOp::create(b, loc, x, y).getResult()
           : real    ? arith::MulFOp::create(b, loc, x, y).getResult()
                     : arith::MulIOp::create(b, loc, x, y).getResult();
  case Combiner::Min:
    return real ? arith::MinimumFOp::create(b, loc, x, y).getResult()
                : arith::MinSIOp::create(b, loc, x, y).getResult();
  case Combiner::Max:
    return real ? arith::MaximumFOp::create(b, loc, x, y).getResult()
                : arith::MaxSIOp::create(b, loc, x, y).getResult();
  case Combiner::And:
    return arith::AndIOp::create(b, loc, x, y);
  case Combiner::Or:
    return arith::OrIOp::create(b, loc, x, y);
  case Combiner::Xor:
    return arith::XOrIOp::create(b, loc, x, y);
  case Combiner::MinNum:
    return arith::MinNumFOp::create(b, loc, x, y);
  case Combiner::MaxNum:
    return arith::MaxNumFOp::create(b, loc, x, y);
  case Combiner::MinUI:
    return arith::MinUIOp::create(b, loc, x, y);
  case Combiner::MaxUI:
    return arith::MaxUIOp::create(b, loc, x, y);
  case Combiner::None:
  case Combiner::Region:
    return {};
  }
  return {};
}
