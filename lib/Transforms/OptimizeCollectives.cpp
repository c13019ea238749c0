//===- OptimizeCollectives.cpp - Fewer collectives ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Placement.h"
#include "Tofu/Transforms/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_OPTIMIZECOLLECTIVESPASS
#include "Tofu/Transforms/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

static bool isCollective(Operation *op) {
  return isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, FetchOp>(
      op);
}

static int64_t countCollectives(ModuleOp module) {
  int64_t count = 0;
  module->walk([&](Operation *op) { count += isCollective(op); });
  return count;
}

/// A move that combines nothing: its input, shape and placements.
namespace {
struct Move {
  Value input;
  GlobalShape shape;
  PlacementAttrInterface from, to;
};
} // namespace

static std::optional<Move> getMove(Operation *op) {
  auto read = [](auto move) -> std::optional<Move> {
    if (move.getFrom().getPartialAxes() != move.getTo().getPartialAxes())
      return std::nullopt;
    return Move{move.getInput(), move.getShape(), move.getFrom(), move.getTo()};
  };
  if (auto gather = dyn_cast_or_null<AllGatherOp>(op))
    return read(gather);
  if (auto exchange = dyn_cast_or_null<AllToAllOp>(op))
    return read(exchange);
  if (auto fetch = dyn_cast_or_null<FetchOp>(op))
    return read(fetch);
  return std::nullopt;
}

/// Bytes are not compared but elements: both moves are of one value.
static int64_t countMoved(const Move &move, MeshOp mesh) {
  return search::movedElements(getBoxes(move.from, move.shape.sizes, mesh),
                               getBoxes(move.to, move.shape.sizes, mesh));
}

/// Lets the second of two moves in a row fetch from where the value was, if the
/// first has no other use or the direct way is shorter than the second alone.
static bool shortcut(Operation *op) {
  std::optional<Move> second = getMove(op);
  if (!second)
    return false;
  Operation *before = second->input.getDefiningOp();
  std::optional<Move> first = getMove(before);
  if (!first || first->to != second->from || !(first->shape == second->shape))
    return false;
  MeshOp mesh = lookupMesh(op, first->from.getMesh());
  Move direct{first->input, first->shape, first->from, second->to};
  int64_t spent = countMoved(*second, mesh);
  if (second->input.hasOneUse())
    spent += countMoved(*first, mesh);
  if (countMoved(direct, mesh) > spent)
    return false;
  // Back to where it was.
  if (direct.from == direct.to &&
      direct.input.getType() == op->getResult(0).getType()) {
    op->getResult(0).replaceAllUsesWith(direct.input);
    op->erase();
    return true;
  }
  OpBuilder builder(op);
  auto fetch =
      FetchOp::create(builder, op->getLoc(), op->getResult(0).getType(),
                      direct.input, direct.shape, direct.from, direct.to);
  op->getResult(0).replaceAllUsesWith(fetch.getResult());
  op->erase();
  return true;
}

namespace {
struct OptimizeCollectivesPass
    : public tofu::impl::OptimizeCollectivesPassBase<OptimizeCollectivesPass> {
  void runOnOperation() override {
    int64_t before = countCollectives(getOperation());
    SmallVector<Operation *> moves;
    getOperation()->walk([&](Operation *op) {
      if (getMove(op))
        moves.push_back(op);
    });
    for (Operation *op : moves)
      shortcut(op);
    // Collectives are pure: all devices drop the same ones.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    numRemoved += before - countCollectives(getOperation());
  }
};
} // namespace
