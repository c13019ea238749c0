//===- Gather.cpp - Tensors that a body extracts from ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gather.h"

#include "AffineIndex.h"
#include "AttributeSyntax.h"
#include "Tofu/Dialect/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

bool mlir::tofu::isRelative(AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return isRelative(binary.getLHS()) && isRelative(binary.getRHS());
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && factor &&
         factor.getValue() > 0 && isRelative(binary.getLHS());
}

std::optional<TensorDim> mlir::tofu::findIndexed(linalg::LinalgOp op,
                                                 unsigned loop) {
  AffineExpr expr = getAffineDimExpr(loop, op.getContext());
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (std::optional<unsigned> dim = map.getResultPosition(expr))
      return TensorDim{operand.get(), *dim};
  }
  return std::nullopt;
}

/// `index`, a value in the body of `op`, as an expression over its loops; null
/// if it is none.
static AffineExpr toLoopExpr(linalg::LinalgOp op, Value index) {
  return toAffine(index, op.getContext(), [&](Value value) {
    auto loop = value.getDefiningOp<linalg::IndexOp>();
    return loop && loop->getParentOp() == op
               ? getAffineDimExpr(loop.getDim(), op.getContext())
               : AffineExpr();
  });
}

/// True if dim `of` is known to be as large as loop `loop`, of unknown size.
static bool isAsLarge(linalg::LinalgOp op, unsigned loop, TensorDim of) {
  std::optional<TensorDim> indexed = findIndexed(op, loop);
  if (!indexed)
    return false;
  using Bounds = ValueBoundsConstraintSet;
  FailureOr<bool> same =
      Bounds::areEqual(Bounds::Variable(of.tensor, of.dim),
                       Bounds::Variable(indexed->tensor, indexed->dim));
  return succeeded(same) && *same;
}

/// Index of one dim of a captured tensor, if it can be read in parts of it.
static AffineExpr getReadIndex(linalg::LinalgOp op, Value index, TensorDim of) {
  int64_t size = cast<RankedTensorType>(of.tensor.getType()).getDimSize(of.dim);
  AffineExpr expr = toLoopExpr(op, index);
  if (!expr)
    return {};
  // Just this loop takes all of a dim of its size.
  if (auto loop = dyn_cast<AffineDimExpr>(expr);
      loop && ShapedType::isDynamic(size))
    return isAsLarge(op, loop.getPosition(), of) ? expr : AffineExpr();
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0 && constant.getValue() < size
               ? expr
               : AffineExpr();
  // Indices may be out of bounds where a condition guards the extract, and what
  // is of unknown size may be.
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [dim, range] : llvm::enumerate(ranges)) {
    if (!ShapedType::isDynamic(range))
      continue;
    if (expr.isFunctionOfDim(dim))
      return {};
    range = 1;
  }
  auto linear = toLinear(expr, ranges);
  if (failed(linear))
    return {};
  int64_t least = linear->front().constant, most = least;
  for (search::LinearExpr::Term term : linear->front().terms)
    (term.coefficient < 0 ? least : most) +=
        term.coefficient * (ranges[term.dim] - 1);
  return least >= 0 && most < size ? expr : AffineExpr();
}

/// The extracts through which the body of `op` reads `captured`; nothing if it
/// uses it in another way.
static std::optional<SmallVector<tensor::ExtractOp>>
getExtracts(linalg::LinalgOp op, Value captured) {
  SmallVector<tensor::ExtractOp> extracts;
  for (OpOperand &use : captured.getUses()) {
    if (!op->isProperAncestor(use.getOwner()))
      continue;
    auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
    if (!extract)
      return std::nullopt;
    extracts.push_back(extract);
  }
  return extracts;
}

SmallVector<AffineExpr> mlir::tofu::getCapturedIndex(linalg::LinalgOp op,
                                                     Value captured) {
  auto type = cast<RankedTensorType>(captured.getType());
  SmallVector<AffineExpr> index(type.getRank());
  auto extracts = getExtracts(op, captured);
  if (!extracts || extracts->empty())
    return index;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    for (auto [i, extract] : llvm::enumerate(*extracts)) {
      AffineExpr expr = getReadIndex(op, extract.getIndices()[dim],
                                     {captured, unsigned(dim)});
      index[dim] = i == 0 || index[dim] == expr ? expr : AffineExpr();
      if (!index[dim])
        break;
    }
  }
  return index;
}

//===----------------------------------------------------------------------===//
// Dims that are indexed by data
//===----------------------------------------------------------------------===//

std::optional<GatheredDim> mlir::tofu::findGatheredDim(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() > 0 ||
      op->getNumRegions() != 1)
    return std::nullopt;
  Block &body = op->getRegion(0).front();
  auto extract =
      body.getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  // Whoever else sees the element must not see what stands for it elsewhere.
  if (!extract || extract->getBlock() != &body || !extract->hasOneUse() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return std::nullopt;
  // Where several bits share an element, parts don't add up.
  Type type = extract.getType();
  if (!getNeutral(type, Combiner::Sum) || type.isInteger(1))
    return std::nullopt;
  Value table = extract.getTensor();
  if (op->isProperAncestor(table.getParentRegion()->getParentOp()) ||
      table.getParentRegion() == &op->getRegion(0))
    return std::nullopt;
  auto extracts = getExtracts(op, table);
  if (!extracts || extracts->size() != 1)
    return std::nullopt;
  ArrayRef<int64_t> shape = extract.getTensor().getType().getShape();
  for (auto [dim, index] : llvm::enumerate(extract.getIndices()))
    if (!toLoopExpr(op, index))
      return GatheredDim{table, static_cast<unsigned>(dim), shape[dim]};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Local pieces
//===----------------------------------------------------------------------===//

/// Yields zero where `index` is not among the `size` indices that this device
/// has.
static void maskExtract(tensor::ExtractOp extract, unsigned dim, Value size) {
  OpBuilder builder(extract);
  Location loc = extract.getLoc();
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       extract.getIndices()[dim], size);
  auto choice = scf::IfOp::create(builder, loc, extract.getType(), inside,
                                  /*withElseRegion=*/true);
  extract.getResult().replaceAllUsesWith(choice.getResult(0));
  extract->moveBefore(choice.thenBlock(), choice.thenBlock()->end());
  auto inThen = OpBuilder::atBlockEnd(choice.thenBlock());
  scf::YieldOp::create(inThen, loc, extract.getResult());
  auto inElse = OpBuilder::atBlockEnd(choice.elseBlock());
  Value zero =
      createNeutralScalar(inElse, loc, extract.getType(), Combiner::Sum);
  scf::YieldOp::create(inElse, loc, zero);
}

static SmallVector<tensor::ExtractOp> collectExtracts(Operation *op) {
  SmallVector<tensor::ExtractOp> extracts;
  op->walk([&](tensor::ExtractOp extract) { extracts.push_back(extract); });
  return extracts;
}

void mlir::tofu::rebaseExtracts(LocalPiece &piece, Operation *local,
                                const std::optional<GatheredDim> &gathered) {
  SmallVector<Value> tensors = getTensorOperands(piece.op);
  size_t own = llvm::count_if(piece.op->getOperandTypes(),
                              llvm::IsaPred<RankedTensorType>);
  OpBuilder::InsertionGuard guard(piece.builder);
  piece.builder.setInsertionPoint(local);
  for (auto [global, extract] :
       llvm::zip_equal(collectExtracts(piece.op), collectExtracts(local))) {
    auto *captured =
        llvm::find(llvm::drop_begin(tensors, own), global.getTensor());
    if (captured == tensors.end())
      continue;
    unsigned number = captured - tensors.begin();
    for (unsigned dim = 0; dim < extract.getIndices().size(); ++dim) {
      OpFoldResult offset = piece.operandOffset(number, dim);
      if (isConstantIntValue(offset, 0))
        continue;
      Value first = getValueOrCreateConstantIndexOp(piece.builder,
                                                    local->getLoc(), offset);
      OpBuilder inBody(extract);
      extract.getIndicesMutable()[dim].set(arith::SubIOp::create(
          inBody, extract.getLoc(), extract.getIndices()[dim], first));
    }
    if (!gathered || gathered->table != global.getTensor() ||
        piece.strategy.getDims().back().empty())
      continue;
    Value size = getValueOrCreateConstantIndexOp(
        piece.builder, local->getLoc(),
        piece.operandSize(number, gathered->dim));
    maskExtract(extract, gathered->dim, size);
  }
}
