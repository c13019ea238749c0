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
  Lowering(OpBuilder &builder, Location loc, RankedTensorType global,
           MeshOp meshOp)
      : builder(builder), loc(loc), shape(global.getShape()), meshOp(meshOp),
        mesh(meshOp.getMesh()), global(global) {}

  /// The local value `input`, which lies as `from` says, as `to` says.
  Value move(Value input, PlacementAttrInterface from,
             PlacementAttrInterface to) {
    SmallVector<Box> have = boxes(from), want = boxes(to);
    search::Axes fromPartial = resolvePartial(from, mesh),
                 toPartial = resolvePartial(to, mesh);
    auto steps =
        search::planReshard({have, fromPartial}, {want, toPartial}, mesh);
    for (const search::ReshardStep &step : steps) {
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
    return getBoxes(placement, shape, meshOp);
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
      return createLocalEmpty(builder, loc, global, to, mesh);
    SmallVector<OpFoldResult> offsets, sizes, strides;
    for (int64_t dim = 0; dim < global.getRank(); ++dim) {
      offsets.push_back(offsetWithin(dim, from, to));
      sizes.push_back(getShardSize(builder, loc, dim, to, shape, mesh));
      strides.push_back(builder.getIndexAttr(1));
    }
    return tensor::ExtractSliceOp::create(builder, loc, type, input, offsets,
                                          sizes, strides);
  }

  OpFoldResult offsetWithin(unsigned dim, PlacementAttrInterface from,
                            PlacementAttrInterface to) {
    std::optional<int64_t> uniform;
    bool same = true;
    for (auto [have, want] : llvm::zip_equal(boxes(from), boxes(to))) {
      int64_t offset = want[dim].lo - have[dim].lo;
      same &= !uniform || *uniform == offset;
      uniform = offset;
    }
    if (same)
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
  ArrayRef<int64_t> shape;
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
    Lowering lowering(builder, op.getLoc(), global, mesh);
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
