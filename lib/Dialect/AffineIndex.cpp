//===- AffineIndex.cpp - Index computations as expressions ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AffineIndex.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tofu;

AffineExpr mlir::tofu::toAffine(AffineExpr expr, AffineMap map,
                                ValueRange operands,
                                function_ref<AffineExpr(Value)> leaf,
                                unsigned depth) {
  SmallVector<AffineExpr> known;
  for (Value operand : operands) {
    known.push_back(toAffine(operand, expr.getContext(), leaf, depth + 1));
    if (!known.back())
      return {};
  }
  ArrayRef<AffineExpr> all(known);
  return expr.replaceDimsAndSymbols(all.take_front(map.getNumDims()),
                                    all.drop_front(map.getNumDims()));
}

AffineExpr mlir::tofu::toAffine(OpFoldResult index, MLIRContext *context,
                                function_ref<AffineExpr(Value)> leaf,
                                unsigned depth) {
  constexpr unsigned kMostDepth = 16;
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return getAffineConstantExpr(*constant, context);
  auto value = dyn_cast<Value>(index);
  if (!value || depth > kMostDepth)
    return {};
  if (AffineExpr known = leaf(value))
    return known;
  Operation *def = value.getDefiningOp();
  if (!def)
    return {};
  auto binary = [&](auto combine) -> AffineExpr {
    AffineExpr lhs = toAffine(def->getOperand(0), context, leaf, depth + 1);
    AffineExpr rhs =
        lhs ? toAffine(def->getOperand(1), context, leaf, depth + 1)
            : AffineExpr();
    return rhs ? combine(lhs, rhs) : AffineExpr();
  };
  return llvm::TypeSwitch<Operation *, AffineExpr>(def)
      .Case<affine::AffineApplyOp>([&](affine::AffineApplyOp op) {
        return toAffine(op.getAffineMap().getResult(0), op.getAffineMap(),
                        op.getMapOperands(), leaf, depth);
      })
      .Case<arith::AddIOp>([&](auto) {
        return binary([](AffineExpr a, AffineExpr b) { return a + b; });
      })
      .Case<arith::SubIOp>([&](auto) {
        return binary([](AffineExpr a, AffineExpr b) { return a - b; });
      })
      .Case<arith::MulIOp>([&](auto) {
        return binary([](AffineExpr a, AffineExpr b) {
          bool linear =
              isa<AffineConstantExpr>(a) || isa<AffineConstantExpr>(b);
          return linear ? a * b : AffineExpr();
        });
      })
      .Default([](Operation *) { return AffineExpr(); });
}
