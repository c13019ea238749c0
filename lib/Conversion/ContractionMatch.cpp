//===- ContractionMatch.cpp - What is a contraction -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractionMatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tofu;

/// Adds the dims of a sum of positive multiples of dims to `dims`; fails if one
/// is there already or the index is none.
static LogicalResult addDims(AffineExpr expr, llvm::SmallBitVector &dims) {
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (binary.getKind() == AffineExprKind::Mul && factor &&
        factor.getValue() > 0 && isa<AffineDimExpr>(binary.getLHS()))
      return addDims(binary.getLHS(), dims);
    return success(binary.getKind() == AffineExprKind::Add &&
                   succeeded(addDims(binary.getLHS(), dims)) &&
                   succeeded(addDims(binary.getRHS(), dims)));
  }
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim || dims.test(dim.getPosition()))
    return failure();
  dims.set(dim.getPosition());
  return success();
}

/// The dims that index an operand; nothing if an index is not of the kind that
/// `tofu.contract` takes.
static std::optional<llvm::SmallBitVector> getDims(AffineMap map) {
  llvm::SmallBitVector dims(map.getNumDims());
  for (AffineExpr expr : map.getResults()) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (constant ? constant.getValue() != 0 : failed(addDims(expr, dims)))
      return std::nullopt;
  }
  return dims;
}

static bool hasSums(AffineMap map) {
  return llvm::any_of(map.getResults(), [](AffineExpr expr) {
    return isa<AffineBinaryOpExpr>(expr);
  });
}

/// Size of each loop dim as the operands have it.
static SmallVector<int64_t> getLoopSizes(const Contraction &contraction) {
  SmallVector<int64_t> sizes(contraction.maps[0].getNumDims(),
                             ShapedType::kDynamic);
  for (unsigned i = 0; i < 3; ++i) {
    ArrayRef<int64_t> shape =
        cast<ShapedType>(contraction.operands[i].getType()).getShape();
    for (auto [size, expr] : llvm::zip(shape, contraction.maps[i].getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && ShapedType::isStatic(size))
        sizes[dim.getPosition()] = size;
  }
  return sizes;
}

bool Contraction::isWanted() const {
  std::optional<llvm::SmallBitVector> lhs = getDims(maps[0]),
                                      rhs = getDims(maps[1]),
                                      out = getDims(maps[2]);
  if (!lhs || !rhs || !out || hasSums(maps[2]) ||
      (hasSums(maps[0]) && hasSums(maps[1])))
    return false;
  SmallVector<int64_t> sizes = getLoopSizes(*this);
  bool hasRow = false, hasColumn = false, hasSum = false, hasBatch = false;
  for (unsigned dim = 0; dim < sizes.size(); ++dim) {
    unsigned uses = lhs->test(dim) + rhs->test(dim) + out->test(dim);
    if (uses < 2)
      return false;
    if (sizes[dim] == 1)
      continue;
    hasBatch |= uses == 3;
    if (uses == 3)
      continue;
    hasRow |= !rhs->test(dim);
    hasColumn |= !lhs->test(dim);
    hasSum |= !out->test(dim);
  }
  bool isDepthwise = hasBatch && (hasSums(maps[0]) || hasSums(maps[1])) &&
                     (hasRow || hasColumn);
  return hasSum && ((hasRow && hasColumn) || (takesDepthwise && isDepthwise));
}

int64_t Contraction::getWork() const {
  int64_t work = 1;
  for (int64_t size : getLoopSizes(*this)) {
    if (ShapedType::isDynamic(size))
      return -1;
    work *= size;
  }
  return work;
}

/// The value that `value` is a widening of, or itself.
static Value skipWidening(Value value) {
  auto widening = value.getDefiningOp<arith::ExtFOp>();
  return widening ? widening.getIn() : value;
}

/// True if the body yields out + a * b, with a and b its first two arguments,
/// and does nothing else.
static bool isMultiplyAdd(Block &body) {
  if (!llvm::all_of(body.without_terminator(),
                    [](Operation &op) { return isMemoryEffectFree(&op); }))
    return false;
  Value sum = body.getTerminator()->getOperand(0);
  auto add = sum.getDefiningOp<arith::AddFOp>();
  if (!add)
    return false;
  Value out = body.getArgument(2), product = add.getLhs();
  if (product == out)
    product = add.getRhs();
  else if (add.getRhs() != out)
    return false;
  auto mul = product.getDefiningOp<arith::MulFOp>();
  if (!mul)
    return false;
  Value a = skipWidening(mul.getLhs()), b = skipWidening(mul.getRhs());
  return (a == body.getArgument(0) && b == body.getArgument(1)) ||
         (b == body.getArgument(0) && a == body.getArgument(1));
}

std::optional<Contraction> tofu::matchContraction(linalg::LinalgOp op,
                                                  bool takesDepthwise) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !isMultiplyAdd(*op.getBlock()))
    return std::nullopt;
  Contraction contraction;
  contraction.takesDepthwise = takesDepthwise;
  for (unsigned i = 0; i < 3; ++i) {
    OpOperand &operand = op->getOpOperand(i);
    if (!isa<RankedTensorType>(operand.get().getType()))
      return std::nullopt;
    contraction.operands[i] = operand.get();
    contraction.maps[i] = op.getMatchingIndexingMap(&operand);
  }
  // Runtime tables have one type for both inputs.
  if (getElementTypeOrSelf(contraction.operands[0]) !=
          getElementTypeOrSelf(contraction.operands[1]) ||
      !contraction.isWanted())
    return std::nullopt;
  return contraction;
}

/// For an operation whose result holds the elements of its one input, moved or
/// widened: the map from the result's indices to the input's.
static AffineMap getMoveMap(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumResults() != 1 || op.getNumParallelLoops() != op.getNumLoops())
    return {};
  Block *body = op.getBlock();
  Value yielded = skipWidening(body->getTerminator()->getOperand(0));
  if (yielded != body->getArgument(0))
    return {};
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!out.isPermutation())
    return {};
  AffineMap in = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  return in.compose(inversePermutation(out));
}

unsigned tofu::lookThroughProducers(Contraction &contraction, unsigned i) {
  unsigned skipped = 0;
  while (auto op = contraction.operands[i].getDefiningOp<linalg::GenericOp>()) {
    AffineMap move = getMoveMap(op);
    if (!move)
      break;
    Contraction candidate = contraction;
    candidate.operands[i] = op.getDpsInputs()[0];
    candidate.maps[i] = move.compose(contraction.maps[i]);
    if (!isa<RankedTensorType>(candidate.operands[i].getType()) ||
        !candidate.isWanted())
      break;
    contraction = candidate;
    ++skipped;
  }
  return skipped;
}
