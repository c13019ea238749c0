//===- Remade.cpp - Values that every device makes itself -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Transforms/Remade.h"

#include "Tofu/Dialect/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tofu;

/// The elements of a constant tensor that are all the same.
static SplatElementsAttr getSplat(Value value) {
  SplatElementsAttr elements;
  matchPattern(value, m_Constant(&elements));
  return elements;
}

static bool isZero(Attribute number) {
  auto real = dyn_cast<FloatAttr>(number);
  return real && real.getValue().isZero();
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
  if (SplatElementsAttr elements = getSplat(value))
    return createConstantScalar(builder, loc, elements.getElementType(),
                                elements.getSplatValue<Attribute>());
  return {};
}

Value mlir::tofu::remake(OpBuilder &builder, Location loc, Value value,
                         const GlobalShape &shape,
                         PlacementAttrInterface placement,
                         const search::Mesh &mesh, const IRMapping &mapping) {
  auto global = cast<RankedTensorType>(value.getType());
  SplatElementsAttr splat = getSplat(value);
  RankedTensorType local = getLocalType(global, placement, mesh);
  if (splat && local.hasStaticShape())
    return arith::ConstantOp::create(builder, loc, splat.resizeSplat(local));
  Value empty = createLocalEmpty(builder, loc, global.getElementType(), shape,
                                 placement, mesh);
  Value scalar = getScalar(builder, loc, value, mapping);
  if (!scalar)
    return empty;
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

bool mlir::tofu::isNeutral(Value value, Combiner combiner) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isRemade(value))
    return false;
  Attribute element;
  if (SplatElementsAttr elements = getSplat(value))
    element = elements.getSplatValue<Attribute>();
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    matchPattern(fill.getInputs()[0], m_Constant(&element));
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    matchPattern(splat.getInput(), m_Constant(&element));
  if (!element)
    return false;
  // Programs start sums from +0; that it makes +0 of -0 is as in the serial
  // program, where the first addition does the same.
  if (auto parts = dyn_cast<ArrayAttr>(element);
      parts && combiner == Combiner::Sum)
    return llvm::all_of(parts, isZero);
  if (combiner == Combiner::Sum && isa<FloatAttr>(element))
    return isZero(element);
  return element == getNeutral(type.getElementType(), combiner);
}
