//===- GuardDivisions.cpp - Assert that integers can be divided -----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_GUARDDIVISIONS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

static bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp,
             arith::CeilDivSIOp>(op);
}

static bool isDivision(Operation *op) {
  return isSignedDivision(op) ||
         isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}

/// True if no number divided by `divisor` fails.
static bool isSafe(Value divisor, bool isSigned) {
  std::optional<int64_t> known = getConstantIntValue(divisor);
  return known && *known != 0 && !(isSigned && *known == -1);
}

/// True if the quotient of the least number by -1 is in question: there is no
/// such number.
static Value createOverflows(OpBuilder &builder, Location loc, Value number,
                             Value divisor) {
  Type type = number.getType();
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth
                                  : type.getIntOrFloatBitWidth();
  auto is = [&](Value value, const APInt &constant) -> Value {
    Value other = arith::ConstantOp::create(builder, loc,
                                            IntegerAttr::get(type, constant));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 other);
  };
  return arith::AndIOp::create(builder, loc,
                               is(number, APInt::getSignedMinValue(width)),
                               is(divisor, APInt::getAllOnes(width)));
}

static void guard(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value number = op->getOperand(0), divisor = op->getOperand(1);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(divisor.getType()));
  Value isGood = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       divisor, zero);
  StringRef message = "integer division by zero";
  if (isSignedDivision(op)) {
    Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value fits = arith::XOrIOp::create(
        builder, loc, createOverflows(builder, loc, number, divisor), yes);
    isGood = arith::AndIOp::create(builder, loc, isGood, fits);
    message = "integer division by zero, or of the least number by -1";
  }
  cf::AssertOp::create(builder, loc, isGood, message);
}

namespace {

struct GuardDivisions : public tofu::impl::GuardDivisionsBase<GuardDivisions> {
  void runOnOperation() override {
    SmallVector<Operation *> divisions;
    getOperation()->walk([&](Operation *op) {
      if (isDivision(op) && op->getResult(0).getType().isIntOrIndex() &&
          !isSafe(op->getOperand(1), isSignedDivision(op)))
        divisions.push_back(op);
    });
    for (Operation *op : divisions)
      guard(op);
    numGuarded += divisions.size();
  }
};

} // namespace
