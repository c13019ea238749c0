//===- InsertReshards.cpp - Where data moves ------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalSizes.h"
#include "MergeParts.h"
#include "PlanGraph.h"
#include "Tofu/Dialect/Combiners.h"
#include "Tofu/Dialect/Models.h"
#include "Tofu/Transforms/Passes.h"
#include "Tofu/Transforms/Remade.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_INSERTRESHARDSPASS
#include "Tofu/Transforms/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {
/// Inserts the reshards of one function.
class Inserter {
public:
  Inserter(func::FuncOp function, MeshOp meshOp)
      : function(function),
        meshName(FlatSymbolRefAttr::get(meshOp.getSymNameAttr())),
        meshOp(meshOp), mesh(meshOp.getMesh()), builder(function.getContext()) {
  }

  LogicalResult run() {
    for (BlockArgument arg : function.getArguments())
      if (auto layout = function.getArgAttrOfType<LayoutAttr>(
              arg.getArgNumber(), TofuDialect::kLayout))
        placements[arg] = layout;
    Block &body = function.getBody().front();
    return success(succeeded(visit(body)) &&
                   succeeded(visitReturn(body.getTerminator())));
  }

  int64_t numReshards = 0;

private:
  LogicalResult visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (failed(isPlannedBranch(&op) ? visitBranch(&op) : visit(&op)))
        return failure();
    return success();
  }

  /// A branch or loop: what it hands on must lie as what that becomes.
  LogicalResult visitBranch(Operation *op) {
    SmallVector<Handover> handovers = getHandovers(op);
    for (const Handover &handover : handovers) {
      FailureOr<LayoutAttr> layout = getHandoverLayout(op, handover);
      if (failed(layout))
        return failure();
      for (Value input : handover.inputs)
        placements[input] = *layout;
    }
    auto handOn = [&](Operation *from) {
      for (const Handover &handover : handovers) {
        Value value = handover.operand->get();
        if (handover.operand->getOwner() != from || isRemade(value))
          continue;
        builder.setInsertionPoint(from);
        handover.operand->set(
            moved(value, placementOf(handover.inputs.front())));
      }
    };
    handOn(op);
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      if (failed(visit(region.front())))
        return failure();
      handOn(region.front().getTerminator());
    }
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (op->getNumResults() == 1 && isConstantTensor(op->getResult(0)))
      return success();
    // A size is the same wherever the tensor lies.
    if (getReadDim(op))
      return success();
    if (auto reshard = dyn_cast<ReshardOp>(op)) {
      if (!isRemade(reshard.getInput()))
        need(op, 0, reshard.getInput(), reshard.getFrom());
      placements[reshard] = reshard.getTo();
      return success();
    }
    if (GlobalAccess access(op); access)
      return visitAccess(op, access);
    auto strategy = op->getAttrOfType<StrategyAttr>(TofuDialect::kStrategy);
    if (!strategy)
      return visitWhole(op);
    auto semantics = op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics);
    if (!semantics)
      return op->emitOpError() << "a strategy needs semantics";
    if (semantics.combinesByRegion(strategy.resolve(mesh)))
      return visitMerged(op, semantics);
    SmallVector<InitialValue> initials;
    if (failed(takeInitialValues(op, semantics, strategy, initials)) ||
        failed(needOperands(op, semantics, strategy)))
      return failure();
    for (OpResult result : op->getOpResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      auto produced = getResultPlacement(
          semantics, strategy, result.getResultNumber(), shapeOf(result), mesh);
      if (failed(produce(result, produced)))
        return failure();
    }
    for (InitialValue &initial : initials)
      if (failed(combineInitialValue(initial)))
        return failure();
    return success();
  }

  /// A load or store of a global: what it is about lies as the global does.
  LogicalResult visitAccess(Operation *op, GlobalAccess access) {
    FailureOr<LayoutAttr> layout = requireGlobalLayout(op, access.global);
    if (failed(layout))
      return failure();
    if (access.loaded)
      placements[access.loaded] = *layout;
    else if (Value value = access.stored->get(); !isRemade(value))
      need(op, 0, value, *layout);
    return success();
  }

  LogicalResult needOperands(Operation *op, SemanticsAttr semantics,
                             StrategyAttr strategy) {
    for (auto [i, value] : llvm::enumerate(getTensorOperands(op))) {
      if (!semantics.getOperands()[i].getRead())
        continue;
      if (isRemade(value)) {
        if (failed(verifyRemade(op, i, value, strategy)))
          return failure();
        continue;
      }
      need(op, i, value,
           getOperandPlacement(semantics, strategy, i, shapeOf(value), mesh));
    }
    return success();
  }

  /// A reduction whose partial results the operation combines itself: numbered
  /// along a new dim, they are brought to where they are merged.
  LogicalResult visitMerged(Operation *op, SemanticsAttr semantics) {
    Operation *end = op->getNextNode();
    builder.setInsertionPointAfter(op);
    FailureOr<PlannedMerge> merge = createPlannedMerge(builder, op, meshOp);
    if (failed(merge))
      return failure();
    for (StackOp stack : merge->stacks) {
      placements[stack.getInput()] = stack.getFrom();
      placements[stack] = stack.getTo();
    }
    Operation *first = merge->stacks.back()->getNextNode();
    for (auto [result, stack, value] :
         llvm::zip_equal(op->getResults(), merge->stacks, merge->merged))
      result.replaceAllUsesExcept(value, stack);
    dropInitialValues(op, semantics);
    SmallVector<Value> before(op->getOperands());
    if (failed(needOperands(
            op, semantics,
            op->getAttrOfType<StrategyAttr>(TofuDialect::kStrategy))))
      return failure();
    // What the merge begins with is a part of what the parts begin with.
    for (auto [value, moved] : llvm::zip_equal(before, op->getOperands()))
      if (value != moved)
        for (Operation *next = first; next != end; next = next->getNextNode())
          next->replaceUsesOfWith(value, moved);
    for (Operation *next = first; next != end;) {
      Operation *merging = std::exchange(next, next->getNextNode());
      if (failed(visit(merging)))
        return failure();
    }
    return success();
  }

  /// Parts begin with what the operation says, not with the initial values.
  void dropInitialValues(Operation *op, SemanticsAttr semantics) {
    builder.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type)
        continue;
      unsigned tensor = tensorNumber(op, operand.getOperandNumber());
      if (semantics.getOperands()[tensor].getInitOf() >= 0)
        operand.set(tensor::EmptyOp::create(builder, op->getLoc(), type,
                                            sizes.get(operand.get()).values));
    }
  }

  /// A value that each device makes anew is whole: taken as a partial sum it
  /// would be added as often as there are devices.
  static LogicalResult verifyRemade(Operation *op, unsigned i, Value value,
                                    StrategyAttr strategy) {
    if (!llvm::is_contained(strategy.getPartialOperands(), int64_t(i)) ||
        isNeutral(value, Combiner::Sum))
      return success();
    return op->emitOpError() << "operand " << i
                             << " is made anew on each device, so it is never "
                                "a partial result";
  }

  /// An operation that every device does in full.
  LogicalResult visitWhole(Operation *op) {
    for (auto [i, value] : llvm::enumerate(getTensorOperands(op)))
      if (!isRemade(value))
        need(op, i, value, wholeOf(value));
    for (OpResult result : op->getOpResults())
      if (isa<RankedTensorType>(result.getType()) &&
          failed(produce(result, wholeOf(result))))
        return failure();
    return success();
  }

  LogicalResult visitReturn(Operation *op) {
    for (auto [i, value] : llvm::enumerate(op->getOperands())) {
      if (!isa<RankedTensorType>(value.getType()) || isRemade(value))
        continue;
      auto layout =
          function.getResultAttrOfType<LayoutAttr>(i, TofuDialect::kLayout);
      if (!layout)
        return function.emitError() << "result " << i << " has no tofu.layout";
      builder.setInsertionPoint(op);
      op->setOperand(i, moved(value, layout));
    }
    return success();
  }

  ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  LayoutAttr wholeOf(Value value) {
    return LayoutAttr::getWhole(meshName, shapeOf(value).size());
  }

  PlacementAttrInterface placementOf(Value value) {
    auto it = placements.find(value);
    return it == placements.end() ? PlacementAttrInterface(wholeOf(value))
                                  : it->second;
  }

  bool isSame(Value value, PlacementAttrInterface a, PlacementAttrInterface b) {
    return isSamePlacement(a, b, cast<RankedTensorType>(value.getType()),
                           meshOp);
  }

  /// Moves the insertion point behind what makes `value`, if it is in front.
  void moveBehind(Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == builder.getInsertionBlock() &&
        !op->isBeforeInBlock(&*builder.getInsertionPoint()))
      builder.setInsertionPointAfter(op);
  }

  /// Lets all use `to` in the place of `from`, but what makes it and what only
  /// reads sizes, from which sizes of both may come.
  static void replaceData(Value from, Value to) {
    from.replaceUsesWithIf(to, [&](OpOperand &use) {
      return use.getOwner() != to.getDefiningOp() &&
             !getReadDim(use.getOwner());
    });
  }

  /// `value` as `to` says, moved at the insertion point if it isn't moved yet.
  Value moved(Value value, PlacementAttrInterface to) {
    PlacementAttrInterface from = placementOf(value);
    if (isSame(value, from, to))
      return value;
    // Where the value is at home: not anew each time around a loop, and for
    // all that use it behind this place.
    OpBuilder::InsertionGuard guard(builder);
    if (Operation *at = value.getParentBlock()->findAncestorOpInBlock(
            *builder.getInsertionPoint()))
      builder.setInsertionPoint(at);
    const GlobalShape &shape = sizes.get(value);
    for (Value size : shape.values)
      moveBehind(size);
    for (ReshardOp known : reshards[value]) {
      if (!isSame(value, known.getTo(), to))
        continue;
      // Needs don't come in the order of the operations.
      if (!known->isBeforeInBlock(&*builder.getInsertionPoint()))
        known->moveBefore(&*builder.getInsertionPoint());
      return known;
    }
    auto reshard = ReshardOp::create(builder, value.getLoc(), value.getType(),
                                     value, shape, from, to);
    ++numReshards;
    placements[reshard] = to;
    reshards[value].push_back(reshard);
    return reshard;
  }

  /// Makes tensor `i` that `op` uses, `value`, lie as `to` says: an operand of
  /// its own, or what its regions capture.
  void need(Operation *op, unsigned i, Value value, PlacementAttrInterface to) {
    builder.setInsertionPoint(op);
    Value there = moved(value, to);
    if (there == value)
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == value &&
          tensorNumber(op, operand.getOperandNumber()) == i) {
        operand.set(there);
        return;
      }
    value.replaceUsesWithIf(there, [&](OpOperand &use) {
      return op->isProperAncestor(use.getOwner());
    });
  }

  /// Says where a result is made, and moves it to its layout.
  LogicalResult produce(OpResult result, PlacementAttrInterface produced) {
    LayoutAttr layout = getPlannedLayout(result);
    if (!layout)
      return result.getOwner()->emitOpError()
             << "result " << result.getResultNumber()
             << " has no layout; run tofu-plan";
    placements[result] = produced;
    if (isSame(result, produced, layout))
      return success();
    builder.setInsertionPointAfter(result.getOwner());
    Value there = moved(result, layout);
    replaceData(result, there);
    // Later needs start from the layout.
    reshards.erase(result);
    return success();
  }

  /// An initial value taken off a reduction, to be combined after its parts.
  struct InitialValue {
    Operation *op;
    unsigned result;
    Value value;
    Combiner combiner;
    /// Axes over which the value may come in partial.
    SmallVector<StringAttr> passing;
  };

  /// Lets the parts of a cut reduction start from the neutral element.
  LogicalResult takeInitialValues(Operation *op, SemanticsAttr semantics,
                                  StrategyAttr strategy,
                                  SmallVectorImpl<InitialValue> &initials) {
    search::Strategy resolved = strategy.resolve(mesh);
    bool cuts = llvm::any_of(
        llvm::zip_equal(semantics.getDims(), resolved.dims), [](auto pair) {
          return std::get<0>(pair).getKind() == DimKind::Reduction &&
                 !std::get<1>(pair).empty();
        });
    if (!cuts)
      return success();
    SmallVector<Value> tensors = getTensorOperands(op);
    for (auto [i, access] : llvm::enumerate(semantics.getOperands())) {
      if (access.getInitOf() < 0 || !access.getRead())
        continue;
      auto result = unsigned(access.getInitOf());
      Combiner combiner = semantics.getCombiner(resolved, result);
      if (isNeutral(tensors[i], combiner))
        continue;
      builder.setInsertionPoint(op);
      auto type = cast<RankedTensorType>(tensors[i].getType());
      Value neutral =
          createNeutral(builder, op->getLoc(), type.getElementType(),
                        sizes.get(tensors[i]), combiner);
      if (!neutral)
        return op->emitOpError()
               << "operand " << i << ": " << type.getElementType()
               << " has no neutral element of " << stringifyCombiner(combiner);
      InitialValue &initial = initials.emplace_back(
          InitialValue{op, result, tensors[i], combiner, {}});
      if (llvm::is_contained(strategy.getPartialOperands(), int64_t(i)))
        initial.passing = llvm::to_vector(strategy.getPartial().getNames());
      // A tensor operand's number is its place among the tensor operands.
      for (OpOperand &use : op->getOpOperands())
        if (use.get() == tensors[i] &&
            tensorNumber(op, use.getOperandNumber()) == i)
          use.set(neutral);
    }
    return success();
  }

  static size_t tensorNumber(Operation *op, unsigned operand) {
    return llvm::count_if(
        op->getOperands().take_front(operand),
        [](Value value) { return isa<RankedTensorType>(value.getType()); });
  }

  LogicalResult combineInitialValue(InitialValue &initial) {
    OpResult result = initial.op->getResult(initial.result);
    auto layout = cast<LayoutAttr>(initial.op->getAttrOfType<ArrayAttr>(
        TofuDialect::kLayouts)[initial.result]);
    // The result, as its layout says.
    Value parts = result;
    if (placementOf(result) != PlacementAttrInterface(layout))
      for (Operation *user : result.getUsers())
        if (isa<ReshardOp>(user))
          parts = user->getResult(0);
    builder.setInsertionPointAfter(parts.getDefiningOp());
    Value combined = createCombination(parts, initial, layout);
    replaceData(parts, combined);
    Operation *op = combined.getDefiningOp();
    if (!isRemade(initial.value))
      need(op, 0, initial.value,
           getOperandPlacement(
               op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics),
               op->getAttrOfType<StrategyAttr>(TofuDialect::kStrategy), 0,
               shapeOf(initial.value), mesh));
    placements[combined] = layout;
    return success();
  }

  /// A planned element-wise operation that combines parts and initial value. If
  /// the sum stays partial, the initial value is one of the addends of it: it
  /// counts on the first devices only, or comes in partial itself.
  Value createCombination(Value parts, const InitialValue &initial,
                          LayoutAttr layout) {
    Location loc = initial.op->getLoc();
    AxesAttr partial = layout.getPartial();
    bool passes = llvm::all_of(partial.getNames(), [&](StringAttr axis) {
      return llvm::is_contained(initial.passing, axis);
    });
    SmallVector<int64_t> partialOperands;
    Value isFirst;
    if (!partial.empty()) {
      partialOperands =
          passes ? SmallVector<int64_t>{0, 1} : SmallVector<int64_t>{1};
      if (!passes)
        isFirst = createIsFirst(builder, loc, meshName, partial, mesh);
    }
    auto type = cast<RankedTensorType>(parts.getType());
    AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    Value empty =
        tensor::EmptyOp::create(builder, loc, type, sizes.get(parts).values);
    auto generic = linalg::GenericOp::create(
        builder, loc, type, ValueRange{initial.value, parts}, empty,
        ArrayRef<AffineMap>{map, map, map}, iterators,
        [&](OpBuilder &b, Location loc, ValueRange args) {
          Value first = args[0];
          if (isFirst)
            first = arith::SelectOp::create(
                b, loc, isFirst, first,
                createNeutralScalar(b, loc, first.getType(), initial.combiner));
          linalg::YieldOp::create(
              b, loc, createCombine(b, loc, initial.combiner, first, args[1]));
        });
    std::string why;
    Operation *op = generic;
    SemanticsAttr semantics = computeSemantics(op, why);
    MLIRContext *context = op->getContext();
    generic->setAttr(TofuDialect::kSemantics, semantics);
    generic->setAttr(TofuDialect::kStrategy,
                     StrategyAttr::get(context, meshName, layout.getDims(),
                                       partial, partialOperands));
    generic->setAttr(TofuDialect::kLayouts, ArrayAttr::get(context, {layout}));
    return generic.getResult(0);
  }

  func::FuncOp function;
  FlatSymbolRefAttr meshName;
  MeshOp meshOp;
  search::Mesh mesh;
  OpBuilder builder;
  GlobalSizes sizes;
  DenseMap<Value, PlacementAttrInterface> placements;
  DenseMap<Value, SmallVector<ReshardOp>> reshards;
};

struct InsertReshardsPass
    : public tofu::impl::InsertReshardsPassBase<InsertReshardsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!isPlanned(function))
        continue;
      FailureOr<MeshOp> mesh = getPlanMesh(function);
      if (failed(mesh))
        return signalPassFailure();
      if (!*mesh)
        continue;
      Inserter inserter(function, *mesh);
      if (failed(inserter.run()))
        return signalPassFailure();
      numReshards += inserter.numReshards;
    }
  }
};
} // namespace
