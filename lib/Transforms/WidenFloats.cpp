//===- WidenFloats.cpp - The same program in f64 --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_WIDENFLOATSPASS
#include "Tofu/Transforms/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

static bool isShort(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  return floatType && floatType.getWidth() < 64;
}

/// Whether there is a short float in a type, such as in a function's.
static bool hasShort(Type type) {
  return type
      .walk([](Type part) {
        return isShort(part) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

static APFloat widen(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

static DenseElementsAttr widen(DenseElementsAttr constant) {
  Type wide = Float64Type::get(constant.getContext());
  if (!isa<ComplexType>(constant.getElementType()))
    return cast<DenseFPElementsAttr>(constant).mapValues(
        wide,
        [](const APFloat &value) { return widen(value).bitcastToAPInt(); });
  auto values = constant.getValues<std::complex<APFloat>>();
  SmallVector<std::complex<APFloat>> widened;
  for (auto it = values.begin(), end = values.end(); it != end; ++it) {
    widened.emplace_back(widen((*it).real()), widen((*it).imag()));
    if (constant.isSplat())
      break;
  }
  return DenseElementsAttr::get(
      constant.getType().clone(ComplexType::get(wide)), ArrayRef(widened));
}

/// Replaces types, and the numbers of constants.
static AttrTypeReplacer makeReplacer() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FloatType type) -> std::optional<Type> {
    if (!isShort(type))
      return std::nullopt;
    return Float64Type::get(type.getContext());
  });
  replacer.addReplacement(
      [](FloatAttr attr) -> AttrTypeReplacer::ReplaceFnResult<Attribute> {
        if (!isShort(attr.getType()))
          return std::nullopt;
        Type wide = Float64Type::get(attr.getContext());
        return std::pair(
            Attribute(FloatAttr::get(wide, widen(attr.getValue()))),
            WalkResult::skip());
      });
  replacer.addReplacement([](DenseElementsAttr attr)
                              -> AttrTypeReplacer::ReplaceFnResult<Attribute> {
    if (!hasShort(attr.getElementType()))
      return std::nullopt;
    return std::pair(Attribute(widen(attr)), WalkResult::skip());
  });
  return replacer;
}

//===----------------------------------------------------------------------===//
// What can't be widened
//===----------------------------------------------------------------------===//

/// Whether an attribute keeps short floats as bytes, of which only the type
/// would be replaced.
static bool keepsBytes(Attribute attr) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr))
    return hasShort(resource.getType());
  auto array = dyn_cast<DenseArrayAttr>(attr);
  return array && hasShort(array.getElementType());
}

static LogicalResult verifyWidens(Operation *op) {
  auto isShortValue = [](Value value) { return hasShort(value.getType()); };
  if (isa<arith::BitcastOp, tensor::BitcastOp, complex::BitcastOp>(op) &&
      (llvm::any_of(op->getOperands(), isShortValue) ||
       llvm::any_of(op->getResults(), isShortValue)))
    return op->emitError("can't be widened: it looks at bits of short floats");
  auto function = dyn_cast<func::FuncOp>(op);
  if (function && function.isExternal() && hasShort(function.getFunctionType()))
    return op->emitError("can't be widened: it is elsewhere");
  bool isKept = op->getAttrDictionary()
                    .walk([](Attribute attr) {
                      return keepsBytes(attr) ? WalkResult::interrupt()
                                              : WalkResult::advance();
                    })
                    .wasInterrupted();
  if (isKept)
    return op->emitError("can't be widened: its numbers are kept as bytes");
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

struct WidenFloats : public tofu::impl::WidenFloatsPassBase<WidenFloats> {
  using WidenFloatsPassBase::WidenFloatsPassBase;

  void runOnOperation() override {
    bool good = true;
    getOperation().walk(
        [&](Operation *op) { good &= succeeded(verifyWidens(op)); });
    if (!good)
      return signalPassFailure();
    makeReplacer().recursivelyReplaceElementsIn(
        getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
        /*replaceTypes=*/true);
    getOperation().walk([](Operation *op) {
      bool isCast = isa<arith::ExtFOp, arith::TruncFOp>(op);
      if (!isCast || op->getOperand(0).getType() != op->getResult(0).getType())
        return;
      op->replaceAllUsesWith(op->getOperands());
      op->erase();
    });
  }
};

} // namespace
