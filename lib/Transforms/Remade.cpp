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

/// The scalar or tensor that all elements of `value` come from, as they are:
/// the operand of a fill, a broadcast or a transpose, say. Null if there is
/// none.
static Value getCopied(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getIndexingMapsArray().back().isPermutation())
    return {};
  Block *body = op.getBlock();
  Value yielded = body->getTerminator()->getOperand(0);
  if (!body->getParent()->isAncestor(yielded.getParentRegion()))
    return yielded;
  auto argument = dyn_cast<BlockArgument>(yielded);
  return argument ? op.getMatchingOpOperand(argument)->get() : Value();
}

namespace {
/// What a remade value repeats: a scalar or a constant. Neither, if its
/// elements are undefined.
struct Element {
  Value scalar;
  Attribute constant;
};
} // namespace

/// Nothing if `value` is not remade.
static std::optional<Element> getElement(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return std::nullopt;
  while (Value copied = getCopied(value))
    value = copied;
  if (!isa<TensorType>(value.getType()))
    return Element{value, {}};
  if (value.getDefiningOp<tensor::EmptyOp>())
    return Element();
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return Element{splat.getInput(), {}};
  if (SplatElementsAttr elements; matchPattern(value, m_Constant(&elements)))
    return Element{{}, elements.getSplatValue<Attribute>()};
  return std::nullopt;
}

static bool isZero(Attribute number) {
  auto real = dyn_cast<FloatAttr>(number);
  return real && real.getValue().isZero();
}

bool mlir::tofu::isRemade(Value value) { return getElement(value).has_value(); }

bool mlir::tofu::isConstantTensor(Value value) {
  return isRemade(value) || matchPattern(value, m_Constant());
}

Value mlir::tofu::remake(OpBuilder &builder, Location loc, Value value,
                         const GlobalShape &shape,
                         PlacementAttrInterface placement,
                         const search::Mesh &mesh, const IRMapping &mapping) {
  auto global = cast<RankedTensorType>(value.getType());
  Type elementType = global.getElementType();
  auto [scalar, constant] = *getElement(value);
  RankedTensorType local = getLocalType(global, placement, mesh);
  if (constant && local.hasStaticShape())
    return arith::ConstantOp::create(builder, loc,
                                     SplatElementsAttr::get(local, constant));
  Value empty =
      createLocalEmpty(builder, loc, elementType, shape, placement, mesh);
  if (!constant && !scalar)
    return empty;
  scalar = scalar ? mapping.lookupOrDefault(scalar)
                  : createConstantScalar(builder, loc, elementType, constant);
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

bool mlir::tofu::isNeutral(Value value, Combiner combiner) {
  std::optional<Element> remade = getElement(value);
  if (!remade)
    return false;
  Attribute element = remade->constant;
  if (remade->scalar)
    matchPattern(remade->scalar, m_Constant(&element));
  if (!element)
    return false;
  // Programs start sums from +0; that it makes +0 of -0 is as in the serial
  // program, where the first addition does the same.
  if (auto parts = dyn_cast<ArrayAttr>(element);
      parts && combiner == Combiner::Sum)
    return llvm::all_of(parts, isZero);
  if (combiner == Combiner::Sum && isa<FloatAttr>(element))
    return isZero(element);
  return element == getNeutral(getElementTypeOrSelf(value.getType()), combiner);
}
