//===- Remade.cpp - Values that every device makes itself -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Transforms/Remade.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tofu;

/// The elements of a constant tensor that are all the same.
static Attribute getSplat(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return elements.getSplatValue<Attribute>();
}

bool mlir::tofu::isRemade(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return false;
  if (value.getDefiningOp<tensor::EmptyOp>() || getSplat(value))
    return true;
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return true;
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && !isa<ShapedType>(fill.getInputs()[0].getType());
}

bool mlir::tofu::isConstantTensor(Value value) {
  return isRemade(value) || matchPattern(value, m_Constant());
}

/// The scalar that a fill or splat repeats; null for an empty tensor.
static Value getScalar(OpBuilder &builder, Location loc, Value value,
                       const IRMapping &mapping) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return mapping.lookupOrDefault(fill.getInputs()[0]);
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return mapping.lookupOrDefault(splat.getInput());
  if (Attribute element = getSplat(value)) {
    Type type = cast<RankedTensorType>(value.getType()).getElementType();
    return arith::ConstantOp::materialize(builder, element, type, loc);
  }
  return {};
}

Value mlir::tofu::remake(OpBuilder &builder, Location loc, Value value,
                         const GlobalShape &shape,
                         PlacementAttrInterface placement,
                         const search::Mesh &mesh, const IRMapping &mapping) {
  auto global = cast<RankedTensorType>(value.getType());
  Attribute splat = getSplat(value);
  RankedTensorType local = getLocalType(global, placement, mesh);
  if (splat && local.hasStaticShape())
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(local, splat));
  Value empty = createLocalEmpty(builder, loc, global.getElementType(), shape,
                                 placement, mesh);
  Value scalar = getScalar(builder, loc, value, mapping);
  if (!scalar)
    return empty;
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

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

static TypedAttr getNeutral(Type type, Combiner combiner) {
  if (auto real = dyn_cast<FloatType>(type))
    return getNeutralFloat(real, combiner);
  if (type.isIntOrIndex())
    return getNeutralInteger(type, combiner);
  return {};
}

Value mlir::tofu::createNeutral(OpBuilder &builder, Location loc,
                                Type elementType, const GlobalShape &shape,
                                Combiner combiner) {
  TypedAttr neutral = getNeutral(elementType, combiner);
  if (!neutral)
    return {};
  auto type = RankedTensorType::get(shape.sizes, elementType);
  if (shape.isStatic())
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, neutral));
  Value scalar = arith::ConstantOp::create(builder, loc, neutral);
  Value empty = tensor::EmptyOp::create(builder, loc, type, shape.values);
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

Value mlir::tofu::createNeutralScalar(OpBuilder &builder, Location loc,
                                      Type type, Combiner combiner) {
  TypedAttr neutral = getNeutral(type, combiner);
  if (!neutral)
    return {};
  return arith::ConstantOp::create(builder, loc, neutral);
}

bool mlir::tofu::isNeutral(Value value, Combiner combiner) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isRemade(value))
    return false;
  Attribute element = getSplat(value);
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    matchPattern(fill.getInputs()[0], m_Constant(&element));
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    matchPattern(splat.getInput(), m_Constant(&element));
  if (!element)
    return false;
  // Programs start sums from +0; that it makes +0 of -0 is as in the serial
  // program, where the first addition does the same.
  auto real = dyn_cast<FloatAttr>(element);
  if (combiner == Combiner::Sum && real)
    return real.getValue().isZero();
  return element == getNeutral(type.getElementType(), combiner);
}

Value mlir::tofu::createCombine(OpBuilder &b, Location loc, Combiner combiner,
                                Value x, Value y) {
  bool real = isa<FloatType>(x.getType());
  switch (combiner) {
  case Combiner::Sum:
    return real ? arith::AddFOp::create(b, loc, x, y).getResult()
                : arith::AddIOp::create(b, loc, x, y).getResult();
  case Combiner::Prod:
    return real ? arith::MulFOp::create(b, loc, x, y).getResult()
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
