//===- MoveReshapes.cpp - Reshapes out of chains of generics --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/BufferOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_MOVERESHAPES
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

static bool isElementwise(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() == 0;
}

/// True if the reshape at `operand` lies between element-wise generics, or what
/// collapses the result of a contraction before one, so that they can be fused
/// once it is gone: `operand` is either the expansion's source or an
/// element-wise generic's input.
static bool isInChain(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  Operation *user = operand->getOwner();
  if (isa<tensor::ExpandShapeOp>(user))
    return isElementwise(producer) && producer->hasOneUse() &&
           llvm::all_of(user->getUsers(), isElementwise);
  auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(producer);
  if (!collapse || !isElementwise(user))
    return false;
  Operation *source = collapse.getSrc().getDefiningOp();
  return (isElementwise(source) || isa_and_nonnull<ContractOp>(source)) &&
         source->hasOneUse() && collapse->hasOneUse();
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

namespace {

/// The loops of a contraction whose result is expanded.
struct ExpandedLoops {
  ExpandedLoops(ContractOp contract,
                ArrayRef<ReassociationIndices> reassociation);

  bool isSplit(AffineExpr expr) const {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && !parts[dim.getPosition()].empty();
  }
  /// The indices that take the place of one.
  SmallVector<AffineExpr> getIndices(AffineExpr expr) const;

  /// For each loop that is split the dims of the expansion that it becomes.
  SmallVector<ArrayRef<int64_t>> parts;
  /// The first of the loops that each loop becomes.
  SmallVector<AffineExpr> first;
  unsigned number = 0;
};

/// Expands the operands of a contraction instead of its result.
struct ExpandContraction : OpRewritePattern<tensor::ExpandShapeOp> {
  ExpandContraction(MLIRContext *context, Pass::Statistic &numMoved)
      : OpRewritePattern(context), numMoved(numMoved) {}

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override;

  Pass::Statistic &numMoved;
};

} // namespace

ExpandedLoops::ExpandedLoops(ContractOp contract,
                             ArrayRef<ReassociationIndices> reassociation) {
  AffineMap out = contract.getMap(2);
  parts.resize(out.getNumDims());
  for (auto [expr, group] : llvm::zip(out.getResults(), reassociation))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && group.size() > 1)
      parts[dim.getPosition()] = group;
  for (ArrayRef<int64_t> each : parts) {
    first.push_back(getAffineDimExpr(number, contract.getContext()));
    number += std::max<size_t>(each.size(), 1);
  }
}

SmallVector<AffineExpr> ExpandedLoops::getIndices(AffineExpr expr) const {
  if (!isSplit(expr))
    return {expr.replaceDims(first)};
  unsigned loop = cast<AffineDimExpr>(expr).getPosition();
  unsigned position = cast<AffineDimExpr>(first[loop]).getPosition();
  SmallVector<AffineExpr> indices;
  for (unsigned part = 0; part < parts[loop].size(); ++part)
    indices.push_back(getAffineDimExpr(position + part, expr.getContext()));
  return indices;
}

/// True if each loop that is split indexes a dim of the operand by itself,
/// whose size is known if that of the result's dim is.
static bool canExpand(ContractOp contract, unsigned operand,
                      const ExpandedLoops &loops) {
  ArrayRef<AffineExpr> out = contract.getMap(2).getResults();
  auto type = cast<RankedTensorType>(contract->getOperand(operand).getType()),
       outType = cast<RankedTensorType>(contract.getOut().getType());
  auto fits = [&](AffineExpr expr, int64_t dim) {
    if (loops.isSplit(expr))
      return type.isDynamicDim(dim) ==
             outType.isDynamicDim(llvm::find(out, expr) - out.begin());
    for (auto [loop, parts] : llvm::enumerate(loops.parts))
      if (!parts.empty() && expr.isFunctionOfDim(loop))
        return false;
    return true;
  };
  for (auto [dim, expr] :
       llvm::enumerate(contract.getMap(operand).getResults()))
    if (!fits(expr, dim))
      return false;
  return true;
}

/// An operand of the contraction in the shape that the loops want. Memory is
/// made in that shape.
static Value expandOperand(PatternRewriter &rewriter, ContractOp contract,
                           unsigned number, const ExpandedLoops &loops,
                           tensor::ExpandShapeOp expansion) {
  Value operand = contract->getOperand(number);
  Location loc = contract.getLoc();
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<OpFoldResult> given = expansion.getMixedOutputShape(), sizes;
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (auto [dim, expr] :
       llvm::enumerate(contract.getMap(number).getResults())) {
    ReassociationIndices &group = groups.emplace_back();
    auto add = [&](int64_t staticSize, OpFoldResult size) {
      group.push_back(shape.size());
      shape.push_back(staticSize);
      sizes.push_back(size);
    };
    if (!loops.isSplit(expr)) {
      add(type.getDimSize(dim),
          tensor::getMixedSize(rewriter, loc, operand, dim));
      continue;
    }
    for (int64_t part : loops.parts[cast<AffineDimExpr>(expr).getPosition()])
      add(expansion.getResultType().getDimSize(part), given[part]);
  }
  if (shape.size() == groups.size())
    return operand;
  if (operand.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  return tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape),
                                       operand, groups, sizes);
}

/// The contraction whose result is expanded before what may be its epilogue;
/// null if it is none.
static ContractOp getExpandedContraction(tensor::ExpandShapeOp op) {
  auto contract = op.getSrc().getDefiningOp<ContractOp>();
  bool isBetween = contract && contract->hasOneUse() &&
                   contract->getBlock() == op->getBlock() &&
                   !contract.hasEpilogue() && !op->use_empty() &&
                   llvm::all_of(op->getUsers(), isElementwise);
  return isBetween ? contract : ContractOp();
}

LogicalResult
ExpandContraction::matchAndRewrite(tensor::ExpandShapeOp op,
                                   PatternRewriter &rewriter) const {
  ContractOp contract = getExpandedContraction(op);
  if (!contract)
    return failure();
  SmallVector<ReassociationIndices> reassociation =
      op.getReassociationIndices();
  for (auto [expr, group] :
       llvm::zip(contract.getMap(2).getResults(), reassociation))
    if (group.size() > 1 && !isa<AffineDimExpr>(expr))
      return failure();
  ExpandedLoops loops(contract, reassociation);
  for (unsigned number = 0; number < 3; ++number)
    if (!canExpand(contract, number, loops))
      return failure();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (unsigned number = 0; number < 3; ++number) {
    operands.push_back(expandOperand(rewriter, contract, number, loops, op));
    SmallVector<AffineExpr> indices;
    for (AffineExpr expr : contract.getMap(number).getResults())
      llvm::append_range(indices, loops.getIndices(expr));
    maps.push_back(
        AffineMap::get(loops.number, 0, indices, rewriter.getContext()));
  }
  rewriter.replaceOpWithNewOp<ContractOp>(
      op, op.getResultType(), operands[0], operands[1], operands[2],
      /*bias=*/Value(), rewriter.getAffineMapArrayAttr(maps),
      contract.getAccumulateAttr());
  rewriter.eraseOp(contract);
  ++numMoved;
  return success();
}

namespace {

struct MoveReshapes : public tofu::impl::MoveReshapesBase<MoveReshapes> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isElementwise(op) || isa<tensor::ExpandShapeOp>(op))
        ops.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(
        patterns, [this](OpOperand *operand) {
          bool moves = isInChain(operand);
          numMoved += moves;
          return moves;
        });
    patterns.add<ExpandContraction>(&getContext(), numMoved);
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
