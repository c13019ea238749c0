//===- GuardAssertions.cpp - Assertions within kernels --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GuardAssertions.h"

#include "Tofu/Dialect/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tofu;

Assertions::Assertions(Operation *root) {
  root->walk<WalkOrder::PreOrder>(
      [&](cf::AssertOp op) { assertions.push_back(op); });
}

void Assertions::check(OpBuilder &builder, Value failed) {
  for (auto [i, assertion] : llvm::enumerate(assertions)) {
    Location loc = assertion.getLoc();
    Value number = arith::ConstantIntOp::create(builder, loc, i + 1, 32);
    Value good = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       failed, number);
    cf::AssertOp::create(builder, loc, good, assertion.getMsg());
  }
}

/// A zero of a type of numbers; null for others.
static Value createZero(OpBuilder &builder, Location loc, Type type) {
  Builder attributes(builder.getContext());
  auto complex = dyn_cast<ComplexType>(type);
  Type part = complex ? complex.getElementType() : type;
  if (!part.isIntOrIndexOrFloat())
    return {};
  Attribute zero = attributes.getZeroAttr(part);
  if (complex)
    zero = attributes.getArrayAttr({zero, zero});
  return createConstantScalar(builder, loc, type, zero);
}

/// Makes the rest of the block, after `assertion`, depend on it.
static FailureOr<Block *> guardRest(cf::AssertOp assertion, Value flag,
                                    unsigned number) {
  Block *block = assertion->getBlock();
  Operation *terminator = block->getTerminator();
  Location loc = assertion.getLoc();
  OpBuilder builder(assertion);
  auto branch = scf::IfOp::create(builder, loc, terminator->getOperandTypes(),
                                  assertion.getArg(),
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);

  Block *rest = branch.thenBlock();
  rest->getOperations().splice(rest->end(), block->getOperations(),
                               std::next(assertion->getIterator()),
                               terminator->getIterator());
  builder.setInsertionPointToEnd(rest);
  scf::YieldOp::create(builder, loc, terminator->getOperands());

  builder.setInsertionPointToEnd(branch.elseBlock());
  Value value = arith::ConstantIntOp::create(builder, loc, number, 32);
  memref::StoreOp::create(builder, loc, value, flag);
  SmallVector<Value> zeros;
  for (Type type : terminator->getOperandTypes()) {
    zeros.push_back(createZero(builder, loc, type));
    if (!zeros.back())
      return assertion.emitOpError()
             << "can't guard a value of type " << type << " on a device";
  }
  scf::YieldOp::create(builder, loc, zeros);
  terminator->setOperands(branch.getResults());
  assertion->erase();
  return rest;
}

LogicalResult Assertions::guard(Block &block, Value flag) {
  unsigned number = 0;
  return guardBlock(block, flag, number);
}

LogicalResult Assertions::guardBlock(Block &block, Value flag,
                                     unsigned &number) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
      FailureOr<Block *> rest = guardRest(assertion, flag, ++number);
      return failed(rest) ? failure() : guardBlock(**rest, flag, number);
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (failed(guardBlock(inner, flag, number)))
          return failure();
  }
  return success();
}
