//===- LowerReshards.cpp - Reshards as collectives ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Placement.h"
#include "Tofu/Search/ReshardPlanner.h"
#include "Tofu/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_LOWERRESHARDSPASS
#include "Tofu/Transforms/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;
using search::Box;

namespace {
/// Emits the steps of one reshard.
class Lowering {
public:
  Lowering(OpBuilder &builder, ReshardOp op, MeshOp meshOp)
      : builder(builder), loc(op.getLoc()), shape(op.getShape()),
        meshOp(meshOp), mesh(meshOp.getMesh()),
        global(op.getInput().getType().clone(op.getGlobalShape())) {}

  /// The local value `input`, which lies as `from` says, as `to` says.
  Value move(Value input, PlacementAttrInterface from,
             PlacementAttrInterface to) {
    search::Axes toPartial = resolvePartial(to, mesh);
    for (const search::ReshardStep &step : plan(from, to)) {
      // The boxes of all steps are those of `to`.
      PlacementAttrInterface next = to;
      if (step.partial != toPartial)
        next = cast<PlacementAttrInterface>(
            to.withPartial(from.getPartialAxes(), from.getCombiner()));
      input = emit(step.kind, input, from, next);
      from = next;
    }
    return input;
  }

  int64_t numCollectives = 0, numSlices = 0;

private:
  SmallVector<Box> boxes(PlacementAttrInterface placement) {
    return getBoxes(placement, shape.sizes, meshOp);
  }

  using Steps = SmallVector<search::ReshardStep, 2>;

  /// The steps from `from` to `to`. With unknown sizes they are planned for
  /// some, and taken only if they are right for all.
  Steps plan(PlacementAttrInterface from, PlacementAttrInterface to) {
    SmallVector<Box> have = boxes(from), want = boxes(to);
    search::Axes fromPartial = resolvePartial(from, mesh),
                 toPartial = resolvePartial(to, mesh);
    Steps steps =
        search::planReshard({have, fromPartial}, {want, toPartial}, mesh);
    if (haveSameBoxes(from, to, shape.sizes, mesh) || areRight(steps, from, to))
      return steps;
    return {{search::StepKind::Fetch, toPartial, 0}};
  }

  /// True if `steps` need no more than what is certain of boxes that may
  /// differ.
  bool areRight(const Steps &steps, PlacementAttrInterface from,
                PlacementAttrInterface to) {
    if (steps.empty())
      return false;
    switch (steps.front().kind) {
    case search::StepKind::Slice:
    case search::StepKind::ReduceScatter:
      return areBoxesWithin(to, from, shape.sizes, mesh);
    case search::StepKind::AllGather:
      return areBoxesWithin(from, to, shape.sizes, mesh);
    case search::StepKind::AllToAll:
    case search::StepKind::Fetch:
      return true;
    case search::StepKind::AllReduce:
      return false;
    }
    llvm_unreachable("unknown kind of step");
  }

  Value emit(search::StepKind kind, Value input, PlacementAttrInterface from,
             PlacementAttrInterface to) {
    switch (kind) {
    case search::StepKind::Slice:
      return slice(input, from, to);
    case search::StepKind::AllGather:
      return create<AllGatherOp>(input, from, to);
    case search::StepKind::AllToAll:
      return create<AllToAllOp>(input, from, to);
    case search::StepKind::AllReduce:
      return create<AllReduceOp>(input, from, to);
    case search::StepKind::ReduceScatter:
      return create<ReduceScatterOp>(input, from, to);
    case search::StepKind::Fetch:
      return create<FetchOp>(input, from, to);
    }
    llvm_unreachable("unknown kind of step");
  }

  template <typename Collective>
  Value create(Value input, PlacementAttrInterface from,
               PlacementAttrInterface to) {
    ++numCollectives;
    return Collective::create(builder, loc, getLocalType(global, to, mesh),
                              input, shape, from, to);
  }

  /// What a device holds already.
  Value slice(Value input, PlacementAttrInterface from,
              PlacementAttrInterface to) {
    ++numSlices;
    RankedTensorType type = getLocalType(global, to, mesh);
    // An empty dim has no index at which a slice could start.
    if (llvm::is_contained(type.getShape(), 0))
      return createLocalEmpty(builder, loc, global.getElementType(), shape, to,
                              mesh);
    SmallVector<OpFoldResult> offsets, sizes, strides;
    for (int64_t dim = 0; dim < global.getRank(); ++dim) {
      offsets.push_back(offsetWithin(dim, from, to));
      sizes.push_back(getShardSize(builder, loc, dim, to, shape, mesh));
      strides.push_back(builder.getIndexAttr(1));
    }
    return tensor::ExtractSliceOp::create(builder, loc, type, input, offsets,
                                          sizes, strides);
  }

  /// How far into the boxes of `from` those of `to` begin, if that is the same
  /// on all devices, for all sizes.
  std::optional<int64_t> getUniformDistance(unsigned dim,
                                            PlacementAttrInterface from,
                                            PlacementAttrInterface to) {
    if (!shape.isStatic())
      return haveSameBoxes(from, to, shape.sizes, mesh)
                 ? std::optional<int64_t>(0)
                 : std::nullopt;
    std::optional<int64_t> uniform;
    for (auto [have, want] : llvm::zip_equal(boxes(from), boxes(to))) {
      int64_t offset = want[dim].lo - have[dim].lo;
      if (uniform && *uniform != offset)
        return std::nullopt;
      uniform = offset;
    }
    return uniform;
  }

  OpFoldResult offsetWithin(unsigned dim, PlacementAttrInterface from,
                            PlacementAttrInterface to) {
    if (std::optional<int64_t> uniform = getUniformDistance(dim, from, to))
      return builder.getIndexAttr(*uniform);
    OpFoldResult have = getShardOffset(builder, loc, dim, from, shape, mesh);
    OpFoldResult want = getShardOffset(builder, loc, dim, to, shape, mesh);
    if (isConstantIntValue(have, 0))
      return want;
    return arith::SubIOp::create(
               builder, loc,
               getValueOrCreateConstantIndexOp(builder, loc, want),
               getValueOrCreateConstantIndexOp(builder, loc, have))
        .getResult();
  }

  OpBuilder &builder;
  Location loc;
  GlobalShape shape;
  MeshOp meshOp;
  search::Mesh mesh;
  RankedTensorType global;
};

struct LowerReshardsPass
    : public tofu::impl::LowerReshardsPassBase<LowerReshardsPass> {
  void runOnOperation() override {
    SmallVector<ReshardOp> reshards;
    getOperation()->walk([&](ReshardOp op) { reshards.push_back(op); });
    for (ReshardOp op : reshards)
      if (failed(lower(op)))
        return signalPassFailure();
  }

  LogicalResult lower(ReshardOp op) {
    OpBuilder builder(op);
    MeshOp mesh = lookupMesh(op, op.getFrom().getMesh());
    RankedTensorType global =
        op.getInput().getType().clone(op.getGlobalShape());
    RankedTensorType local = getLocalType(global, op.getFrom(), mesh.getMesh());
    if (failed(verifyCompatibleShape(op.getInput().getType(), local)))
      return op.emitOpError() << "is on global types; run tofu-localize";
    Lowering lowering(builder, op, mesh);
    Value result = lowering.move(op.getInput(), op.getFrom(), op.getTo());
    if (result.getType() != op.getType())
      result =
          tensor::CastOp::create(builder, op.getLoc(), op.getType(), result);
    op.replaceAllUsesWith(result);
    op.erase();
    numCollectives += lowering.numCollectives;
    numSlices += lowering.numSlices;
    return success();
  }
};
} // namespace
