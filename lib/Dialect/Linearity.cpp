//===- Linearity.cpp - What an operation is linear in ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Linearity.h"

#include "Tofu/Dialect/Placement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tofu;

namespace {
/// How a scalar of the body depends on the operands of the set.
enum class Dependence {
  None,   ///< not at all
  Zero,   ///< it is zero
  Linear, ///< linear and homogeneous
  Other,
};
} // namespace

/// True for zero, and for what has zeros everywhere.
static bool isZero(Attribute number) {
  if (auto elements = dyn_cast<SplatElementsAttr>(number))
    return isZero(elements.getSplatValue<Attribute>());
  if (auto parts = dyn_cast<ArrayAttr>(number))
    return llvm::all_of(parts, [](Attribute part) { return isZero(part); });
  if (auto real = dyn_cast<FloatAttr>(number))
    return real.getValue().isZero();
  auto integer = dyn_cast<IntegerAttr>(number);
  return integer && integer.getValue().isZero();
}

static bool isZero(Value value) {
  Attribute number;
  return matchPattern(value, m_Constant(&number)) && isZero(number);
}

bool mlir::tofu::isZeros(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return isZero(fill.getInputs()[0]);
  return isZero(value);
}

/// Adding keeps what both sides are; zero adds nothing.
static Dependence addDependences(Dependence a, Dependence b) {
  if (a == Dependence::Zero)
    return b;
  if (b == Dependence::Zero)
    return a;
  return a == b ? a : Dependence::Other;
}

static Dependence multiply(Dependence a, Dependence b) {
  if (a == Dependence::Linear && b == Dependence::None)
    return Dependence::Linear;
  if (b == Dependence::Linear && a == Dependence::None)
    return Dependence::Linear;
  return Dependence::Other;
}

static Dependence analyze(Operation *op, ArrayRef<Dependence> operands) {
  auto isFree = [](Dependence d) {
    return d == Dependence::None || d == Dependence::Zero;
  };
  if (llvm::all_of(operands, isFree))
    return op->getNumResults() == 1 && isZero(op->getResult(0))
               ? Dependence::Zero
               : Dependence::None;
  // A complex number is the sum of what its parts make of it.
  if (isa<arith::AddFOp, arith::SubFOp, arith::AddIOp, arith::SubIOp,
          complex::AddOp, complex::SubOp, complex::CreateOp>(op))
    return addDependences(operands[0], operands[1]);
  if (isa<arith::MulFOp, arith::MulIOp, complex::MulOp>(op))
    return multiply(operands[0], operands[1]);
  if (isa<arith::DivFOp, complex::DivOp>(op) && operands[1] == Dependence::None)
    return operands[0];
  if (isa<arith::NegFOp, arith::ExtFOp, complex::NegOp, complex::ConjOp,
          complex::ReOp, complex::ImOp>(op))
    return operands[0];
  if (isa<arith::SelectOp>(op) && isFree(operands[0]))
    return addDependences(operands[1], operands[2]);
  return Dependence::Other;
}

/// How the body's argument for `operand` depends on the operands of `set`.
static Dependence getDependence(linalg::LinalgOp op, OpOperand &operand,
                                int64_t set) {
  bool inSet = set >> operand.getOperandNumber() & 1;
  // What a reduction has so far is linear if it starts from zero or from an
  // operand of the set, and the body keeps it so.
  if (op.isDpsInit(&operand) && op.getNumReductionLoops())
    return inSet || isZeros(operand.get()) ? Dependence::Linear
                                           : Dependence::Other;
  if (inSet)
    return Dependence::Linear;
  return isZeros(operand.get()) ? Dependence::Zero : Dependence::None;
}

/// How what a body extracts from a tensor depends on the operands of `set`,
/// among them the tensors that it captures.
static Dependence getDependence(linalg::LinalgOp op, tensor::ExtractOp extract,
                                ArrayRef<Dependence> operands, int64_t set) {
  bool isKnown = llvm::all_of(operands, [](Dependence d) {
    return d == Dependence::None || d == Dependence::Zero;
  });
  if (!isKnown)
    return Dependence::Other;
  SmallVector<Value> tensors = getTensorOperands(op);
  size_t number = op->getNumOperands();
  while (number < tensors.size() && tensors[number] != extract.getTensor())
    ++number;
  if (number < 62 && (set >> number & 1))
    return Dependence::Linear;
  return isZeros(extract.getTensor()) ? Dependence::Zero : Dependence::None;
}

/// True if all that the body yields is linear in the operands of `set`.
static bool isLinear(linalg::LinalgOp op, int64_t set) {
  Block *body = op.getBlock();
  DenseMap<Value, Dependence> known;
  for (OpOperand &operand : op->getOpOperands())
    known[op.getMatchingBlockArgument(&operand)] =
        getDependence(op, operand, set);
  for (Operation &inner : body->without_terminator()) {
    SmallVector<Dependence> operands;
    for (Value operand : inner.getOperands()) {
      auto it = known.find(operand);
      operands.push_back(it != known.end() ? it->second
                         : isZero(operand) ? Dependence::Zero
                                           : Dependence::None);
    }
    // What an assertion checks must be the value, not a part of a sum.
    bool sees =
        inner.getNumRegions() || llvm::any_of(operands, [](Dependence d) {
          return d == Dependence::Linear || d == Dependence::Other;
        });
    if (sees && !isMemoryEffectFree(&inner))
      return false;
    Dependence result = Dependence::Other;
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      result = getDependence(op, extract, operands, set);
    else if (!inner.getNumRegions())
      result = analyze(&inner, operands);
    for (Value value : inner.getResults())
      known[value] = result;
  }
  return llvm::all_of(body->getTerminator()->getOperands(), [&](Value yielded) {
    auto it = known.find(yielded);
    return it != known.end() && it->second == Dependence::Linear;
  });
}

SmallVector<int64_t> mlir::tofu::getLinearOperands(linalg::LinalgOp op) {
  // Operand numbers are those of the semantics only if all are tensors.
  if (!llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) ||
      op->getNumOperands() > 62)
    return {};
  SmallVector<int64_t> sets;
  int64_t all = 0;
  for (int64_t i = 0; i < op.getNumDpsInputs(); ++i) {
    if (op.payloadUsesValueFromOperand(op.getDpsInputOperand(i)))
      all |= int64_t(1) << i;
    if (isLinear(op, int64_t(1) << i))
      sets.push_back(int64_t(1) << i);
  }
  if (all && !llvm::is_contained(sets, all) && isLinear(op, all))
    sets.push_back(all);
  size_t end = std::min<size_t>(getTensorOperands(op).size(), 62);
  for (size_t captured = op->getNumOperands(); captured < end; ++captured)
    if (isLinear(op, int64_t(1) << captured))
      sets.push_back(int64_t(1) << captured);
  return sets;
}
