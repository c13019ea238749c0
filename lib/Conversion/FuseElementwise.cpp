//===- FuseElementwise.cpp - Fewer and larger loop nests ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk over each block, from producers to consumers. Upstream's pattern for
// this asks the greedy driver to visit everything again after each fusion.
//
//===----------------------------------------------------------------------===//

#include "GenericInputs.h"
#include "RowGroups.h"
#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/Structure.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// Rough cost of an operation of a body: what a loop over it would notice.
static int64_t getCost(Operation &op) {
  if (isa<linalg::YieldOp, linalg::IndexOp, arith::ConstantOp, arith::ExtFOp,
          arith::IndexCastOp>(op))
    return 0;
  if (isa<arith::DivFOp, tensor::ExtractOp>(op) || op.getNumRegions() ||
      isa_and_nonnull<math::MathDialect>(op.getDialect()))
    return 16;
  return 1;
}

static int64_t getBodyCost(linalg::GenericOp op) {
  int64_t cost = 0;
  for (Operation &inner : *op.getBody())
    cost += getCost(inner);
  return cost;
}

/// True if the consumer visits each element that it reads of `operand` once.
static bool readsOnce(linalg::GenericOp consumer, OpOperand *operand) {
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  if (map.isPermutation())
    return true;
  // Dims of size 1 may be missing.
  SmallVector<int64_t> sizes = consumer.getStaticLoopRanges();
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] != 1 && !map.isFunctionOfDim(dim))
      return false;
  return map.isProjectedPermutation(/*allowZeroInResults=*/true);
}

static bool isUsedOnlyBy(Operation *producer, Operation *consumer) {
  return llvm::all_of(producer->getUsers(),
                      [&](Operation *user) { return user == consumer; });
}

/// True if all other users of `producer` come after `consumer`, so that the
/// fused operation can stand in for both.
static bool isFirstUser(Operation *consumer, Operation *producer) {
  return llvm::all_of(producer->getUsers(), [&](Operation *user) {
    Operation *ancestor = consumer->getBlock()->findAncestorOpInBlock(*user);
    return ancestor &&
           (user == consumer || consumer->isBeforeInBlock(ancestor));
  });
}

static bool usesInits(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return op.payloadUsesValueFromOperand(&init);
  });
}

static unsigned countUses(linalg::GenericOp consumer, Operation *producer) {
  return llvm::count_if(consumer->getOperands(), [&](Value value) {
    return value.getDefiningOp() == producer;
  });
}

/// The sizes of a result, by those of what `producer` reads.
static FailureOr<SmallVector<Value>>
findSizes(IRRewriter &rewriter, linalg::GenericOp producer, OpResult result) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<Value> sizes;
  if (type.hasStaticShape())
    return sizes;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(producer);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(rewriter, producer, shapes)))
    return failure();
  for (auto [dim, size] : llvm::enumerate(shapes[result.getResultNumber()]))
    if (type.isDynamicDim(dim))
      sizes.push_back(
          getValueOrCreateConstantIndexOp(rewriter, producer.getLoc(), size));
  return sizes;
}

/// Results that begin with nothing need a place, not what another operation has
/// made: that would be made for it although all else is fused. Element-wise
/// operations on tensors come that way.
static void detachInits(IRRewriter &rewriter, linalg::GenericOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    auto producer = init.get().getDefiningOp<linalg::GenericOp>();
    if (!producer || op.payloadUsesValueFromOperand(&init))
      continue;
    FailureOr<SmallVector<Value>> sizes =
        findSizes(rewriter, producer, cast<OpResult>(init.get()));
    if (failed(sizes))
      continue;
    rewriter.setInsertionPoint(op);
    Value place = tensor::EmptyOp::create(
        rewriter, op.getLoc(), cast<RankedTensorType>(init.get().getType()),
        *sizes);
    rewriter.modifyOpInPlace(op, [&] { init.set(place); });
  }
}

namespace {

struct FuseElementwise
    : public tofu::impl::FuseElementwiseBase<FuseElementwise> {
  using FuseElementwiseBase::FuseElementwiseBase;

  void runOnOperation() override {
    if (failed(dropUnusedResults(getOperation())))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      fuseBlock(rewriter, *block);
      if (rows)
        fuseRows(rewriter, *block);
    }
  }

private:
  void fuseBlock(IRRewriter &rewriter, Block &block) {
    for (Operation *op = block.empty() ? nullptr : &block.front(); op;) {
      Operation *next = op->getNextNode();
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        detachInits(rewriter, generic);
        generic = simplifyInputs(rewriter, generic);
        while (linalg::GenericOp fused = fuseOne(rewriter, generic))
          generic = simplifyInputs(rewriter, fused);
      }
      op = next;
    }
  }

  /// What one kernel will do row by row is computed again where it is read: it
  /// then needn't be written.
  void fuseRows(IRRewriter &rewriter, Block &block) {
    for (const RowGroup &group : findRowGroupsOnTensors(block, reassociate)) {
      SmallVector<Operation *> members;
      for (const RowMember &member : group.getMembers())
        members.push_back(member.op);
      for (const RowMember &member : group.getMembers())
        if (!member.hasValuePerRow())
          if (auto producer = dyn_cast_or_null<linalg::GenericOp>(
                  members[&member - group.getMembers().begin()]))
            repeatInUsers(rewriter, producer, members);
    }
  }

  /// Fuses `producer` into all of its users if all are among `members`, which
  /// are replaced by what becomes of them.
  void repeatInUsers(IRRewriter &rewriter, linalg::GenericOp producer,
                     SmallVectorImpl<Operation *> &members) {
    if (producer->use_empty() ||
        !llvm::all_of(producer->getUses(), [&](OpOperand &use) {
          return llvm::is_contained(members, use.getOwner()) && canRepeat(use);
        }))
      return;
    int64_t numUsers =
        DenseSet<Operation *>(producer->user_begin(), producer->user_end())
            .size();
    if ((numUsers - 1) * getBodyCost(producer) > maxRepeatedCost)
      return;
    while (!producer->use_empty()) {
      auto consumer = cast<linalg::GenericOp>(*producer->user_begin());
      Operation *&member = *llvm::find(members, consumer.getOperation());
      member = repeatIn(rewriter, producer, consumer);
      if (!member)
        return;
    }
    rewriter.eraseOp(producer);
  }

  bool canRepeat(OpOperand &use) {
    auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
    return consumer && consumer.isDpsInput(&use) && isFusable(consumer, &use) &&
           isMemoryEffectFree(use.get().getDefiningOp());
  }

  /// Fuses a copy of `producer` into `consumer`.
  linalg::GenericOp repeatIn(IRRewriter &rewriter, linalg::GenericOp producer,
                             linalg::GenericOp consumer) {
    rewriter.setInsertionPoint(consumer);
    Operation *copy = rewriter.clone(*producer);
    rewriter.modifyOpInPlace(consumer, [&] {
      for (OpOperand &operand : consumer->getOpOperands())
        if (auto result = dyn_cast<OpResult>(operand.get()))
          if (result.getOwner() == producer)
            operand.set(copy->getResult(result.getResultNumber()));
    });
    while (consumer && !copy->use_empty()) {
      OpOperand *read =
          llvm::find_if(consumer->getOpOperands(), [&](OpOperand &operand) {
            return operand.get().getDefiningOp() == copy;
          });
      bool isLast = countUses(consumer, copy) == 1;
      consumer = fuse(rewriter, consumer, read);
      if (isLast)
        break;
    }
    return consumer ? simplifyInputs(rewriter, consumer) : consumer;
  }

  /// Fuses one producer of `consumer` into it; null if none is worth it.
  linalg::GenericOp fuseOne(IRRewriter &rewriter, linalg::GenericOp consumer) {
    for (OpOperand *operand : consumer.getDpsInputOperands()) {
      if (!isWorthFusing(consumer, operand))
        continue;
      if (linalg::GenericOp fused = fuse(rewriter, consumer, operand))
        return fused;
    }
    return {};
  }

  /// True if the producer can be fused at all, and not too much comes together.
  bool isFusable(linalg::GenericOp consumer, OpOperand *operand) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    if (!producer || producer->getBlock() != consumer->getBlock() ||
        !linalg::areElementwiseOpsFusable(operand))
      return false;
    AffineMap map = consumer.getMatchingIndexingMap(operand);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
        !llvm::all_of(consumer.getIndexingMapsArray(), [](AffineMap other) {
          return other.isProjectedPermutation(/*allowZeroInResults=*/true);
        }))
      return false;
    if (producer->getNumOperands() + consumer->getNumOperands() > maxOperands ||
        usesInits(producer))
      return false;
    // An assertion holds for every element, read or not.
    if (!isMemoryEffectFree(producer) && !map.isPermutation())
      return false;
    return getBodyCost(producer) + getBodyCost(consumer) <= maxBodyCost;
  }

  bool isWorthFusing(linalg::GenericOp consumer, OpOperand *operand) {
    if (!isFusable(consumer, operand))
      return false;
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    AffineMap map = consumer.getMatchingIndexingMap(operand);
    int64_t cost = getBodyCost(producer);
    bool once = readsOnce(consumer, operand);
    if (isUsedOnlyBy(producer, consumer))
      return once || cost <= cheapCost;
    if (isFreeToRepeat(producer))
      return true;
    return once && map.isIdentity() && !vanishes(consumer) &&
           canStandIn(producer, consumer);
  }

  /// True if all that reads the result will read through the operation instead,
  /// such as a widening: what it reads needn't be written twice.
  static bool vanishes(linalg::GenericOp op) {
    return isFreeToRepeat(op) &&
           llvm::all_of(op->getUsers(), [&](Operation *user) {
             return isa<linalg::GenericOp>(user) &&
                    user->getBlock() == op->getBlock();
           });
  }

  /// True if reading through `producer` is as fast as reading its result:
  /// elements come as they are and in the same order, some perhaps repeated.
  static bool isFreeToRepeat(linalg::GenericOp producer) {
    if (producer->getNumResults() != 1 || getBodyCost(producer) != 0)
      return false;
    AffineMap out =
        producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
    if (!out.isIdentity())
      return false;
    return llvm::all_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
      SmallVector<unsigned> dims;
      for (AffineExpr expr :
           producer.getMatchingIndexingMap(input).getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          dims.push_back(dim.getPosition());
        else if (!isa<AffineConstantExpr>(expr))
          return false;
      return llvm::is_sorted(dims);
    });
  }

  /// True if the fused operation can also yield what `producer` gave to others.
  static bool canStandIn(linalg::GenericOp producer,
                         linalg::GenericOp consumer) {
    return consumer.getNumReductionLoops() == 0 &&
           countUses(consumer, producer) == 1 &&
           producer->getNumResults() == 1 && isFirstUser(consumer, producer);
  }

  linalg::GenericOp fuse(IRRewriter &rewriter, linalg::GenericOp consumer,
                         OpOperand *operand) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    rewriter.setInsertionPoint(consumer);
    if (isFreeToRepeat(producer) && !isUsedOnlyBy(producer, consumer)) {
      unsigned number = cast<OpResult>(operand->get()).getResultNumber();
      auto copy = cast<linalg::GenericOp>(rewriter.clone(*producer));
      operand->set(copy->getResult(number));
      producer = copy;
    }
    FailureOr<linalg::ElementwiseOpFusionResult> result =
        linalg::fuseElementwiseOps(rewriter, operand);
    if (failed(result))
      return {};
    Operation *fused = result->fusedOp;
    for (auto [old, replacement] : result->replacements)
      rewriter.replaceUsesWithIf(old, replacement, [&](OpOperand &use) {
        return use.getOwner() != fused && use.getOwner() != consumer;
      });
    rewriter.eraseOp(consumer);
    if (producer->use_empty())
      rewriter.eraseOp(producer);
    ++numFused;
    return cast<linalg::GenericOp>(fused);
  }
};

} // namespace
