//===- LoopNest.cpp - Order and accesses of a loop nest -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tofu;

/// Coefficient of each dim in a linear expression; fails on others.
static LogicalResult addCoefficients(AffineExpr expr, int64_t factor,
                                     MutableArrayRef<int64_t> coefficients) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += factor;
    return success();
  }
  if (isa<AffineConstantExpr>(expr))
    return success();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (binary.getKind() == AffineExprKind::Add)
    return success(
        succeeded(addCoefficients(binary.getLHS(), factor, coefficients)) &&
        succeeded(addCoefficients(binary.getRHS(), factor, coefficients)));
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !constant)
    return failure();
  return addCoefficients(binary.getLHS(), factor * constant.getValue(),
                         coefficients);
}

Strides tofu::getLoopStrides(linalg::LinalgOp op, OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  Strides unknown(map.getNumDims(), ShapedType::kDynamic);
  auto type = dyn_cast<MemRefType>(operand->get().getType());
  if (!type)
    return Strides(map.getNumDims(), 0);
  int64_t offset;
  SmallVector<int64_t> memoryStrides;
  if (failed(type.getStridesAndOffset(memoryStrides, offset)))
    return unknown;
  Strides strides(map.getNumDims(), 0);
  for (auto [expr, stride] : llvm::zip(map.getResults(), memoryStrides)) {
    SmallVector<int64_t> coefficients(map.getNumDims(), 0);
    if (failed(addCoefficients(expr, 1, coefficients)))
      return unknown;
    for (auto [loop, coefficient] : llvm::zip(strides, coefficients)) {
      if (coefficient == 0)
        continue;
      bool isKnown = ShapedType::isStatic(stride) && ShapedType::isStatic(loop);
      loop = isKnown ? loop + coefficient * stride : ShapedType::kDynamic;
    }
  }
  return strides;
}

static bool isFreeCombiner(Operation *op) {
  return isa<arith::AddFOp, arith::MulFOp, arith::AddIOp, arith::MulIOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
             arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

SmallVector<Operation *> tofu::getFreeCombiners(linalg::LinalgOp op) {
  SmallVector<Operation *> combiners;
  Operation *yield = op.getBlock()->getTerminator();
  for (auto [arg, yielded] :
       llvm::zip(op.getRegionOutputArgs(), yield->getOperands())) {
    Operation *combiner = yielded.getDefiningOp();
    bool isFree = combiner && isFreeCombiner(combiner) && arg.hasOneUse() &&
                  *arg.user_begin() == combiner && yielded.hasOneUse();
    combiners.push_back(isFree ? combiner : nullptr);
  }
  return combiners;
}

static bool areAllFree(linalg::LinalgOp op) {
  return llvm::all_of(getFreeCombiners(op),
                      [](Operation *combiner) { return combiner; });
}

namespace {

/// What it costs to have a loop innermost, for the loops of one operation.
class InnermostCost {
public:
  explicit InnermostCost(linalg::LinalgOp op)
      : op(op), sizes(op.getStaticLoopRanges()),
        iterators(op.getIteratorTypesArray()), allFree(areAllFree(op)) {
    for (OpOperand &operand : op->getOpOperands())
      strides.push_back(getLoopStrides(op, &operand));
    for (unsigned loop = 0; loop < sizes.size(); ++loop)
      if (isReduction(loop))
        lastReduction = loop;
  }

  bool isReduction(unsigned loop) const {
    return iterators[loop] == utils::IteratorType::reduction;
  }

  /// Estimated cost per iteration in units of one vectorized access.
  int64_t get(unsigned loop) const {
    int64_t cost = 0;
    for (const Strides &operand : strides)
      cost += operand[loop] == 0 ? 0 : operand[loop] == 1 ? 1 : kStrided;
    if (isReduction(loop) && !allFree)
      cost += kSerial;
    if (ShapedType::isStatic(sizes[loop]) && sizes[loop] < kShort)
      cost += kSerial;
    return cost;
  }

  bool isTrivial(unsigned loop) const { return sizes[loop] == 1; }

  /// True if the loop may be moved to the innermost place.
  bool isAllowed(unsigned loop) const {
    if (isTrivial(loop))
      return false;
    return !isReduction(loop) || allFree || loop == lastReduction;
  }

private:
  static constexpr int64_t kStrided = 6, kSerial = 6, kShort = 8;

  linalg::LinalgOp op;
  SmallVector<int64_t> sizes;
  SmallVector<utils::IteratorType> iterators;
  bool allFree;
  SmallVector<Strides> strides;
  unsigned lastReduction = 0;
};

} // namespace

SmallVector<unsigned> tofu::chooseLoopOrder(linalg::LinalgOp op) {
  InnermostCost cost(op);
  unsigned numLoops = op.getNumLoops();
  std::optional<unsigned> best;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (cost.isAllowed(loop) && (!best || cost.get(loop) <= cost.get(*best)))
      best = loop;

  SmallVector<unsigned> order = llvm::to_vector(llvm::seq(numLoops));
  if (!best)
    return order;
  // A sum in registers wants all reductions inside; otherwise just one loop
  // moves. Loops of one iteration would keep others from becoming one.
  auto rank = [&](unsigned loop) {
    if (loop == *best)
      return 2;
    if (cost.isTrivial(loop))
      return -1;
    return cost.isReduction(*best) && cost.isReduction(loop) ? 1 : 0;
  };
  llvm::stable_sort(order,
                    [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
  return order;
}

unsigned tofu::countAccumulatingLoops(linalg::LinalgOp op,
                                      ArrayRef<unsigned> order) {
  unsigned count = 0;
  for (unsigned loop : llvm::reverse(order)) {
    for (OpOperand &init : op.getDpsInitsMutable())
      if (op.getMatchingIndexingMap(&init).isFunctionOfDim(loop))
        return count;
    ++count;
  }
  return count;
}

/// True if `outer` and `inner` are the indices of neighbouring dims of the
/// operand without gaps between rows, or index nothing: then they are one loop
/// whatever the sizes.
static bool indexWithoutGaps(linalg::LinalgOp op, OpOperand &operand,
                             unsigned outer, unsigned inner) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  bool isUsed = map.isFunctionOfDim(outer) || map.isFunctionOfDim(inner);
  if (!type || !isUsed)
    return true;
  ArrayRef<AffineExpr> indices = map.getResults();
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    AffineExpr index = indices[dim];
    if (!index.isFunctionOfDim(outer) && !index.isFunctionOfDim(inner))
      continue;
    // The first one must be the outer loop, right before the inner one.
    auto isLoop = [&](size_t at, unsigned loop) {
      return at < indices.size() &&
             indices[at] == getAffineDimExpr(loop, op.getContext());
    };
    return type.getLayout().isIdentity() && isLoop(dim, outer) &&
           isLoop(dim + 1, inner) &&
           llvm::none_of(indices.drop_front(dim + 2), [&](AffineExpr other) {
             return other.isFunctionOfDim(outer) ||
                    other.isFunctionOfDim(inner);
           });
  }
  return true;
}

SmallVector<SmallVector<unsigned>>
tofu::collapseLoops(linalg::LinalgOp op, ArrayRef<unsigned> order) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<Strides> strides;
  for (OpOperand &operand : op->getOpOperands())
    strides.push_back(getLoopStrides(op, &operand));
  auto areOneIn = [&](OpOperand &operand, unsigned outer, unsigned inner) {
    const Strides &known = strides[operand.getOperandNumber()];
    if (ShapedType::isStatic(sizes[inner]) &&
        ShapedType::isStatic(known[outer]) &&
        ShapedType::isStatic(known[inner]))
      return known[outer] == known[inner] * sizes[inner];
    return indexWithoutGaps(op, operand, outer, inner);
  };
  auto areOne = [&](unsigned outer, unsigned inner) {
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      return areOneIn(operand, outer, inner);
    });
  };
  SmallVector<SmallVector<unsigned>> groups;
  for (unsigned loop : order) {
    if (!groups.empty() && !op.hasIndexSemantics() &&
        areOne(groups.back().back(), loop))
      groups.back().push_back(loop);
    else
      groups.push_back({loop});
  }
  return groups;
}
