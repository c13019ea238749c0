//===- LowerReshards.cpp - Reshards as collectives ------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Placement.h"
#include "Tofu/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

#include <map>

namespace mlir::tofu {
#define GEN_PASS_DEF_LOWERRESHARDSPASS
#include "Tofu/Transforms/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;
using search::Box;

namespace {
/// Lowers one reshard, in one or two steps.
class Lowering {
public:
  Lowering(OpBuilder &builder, ReshardOp op, MeshOp meshOp)
      : builder(builder), loc(op.getLoc()), shape(op.getGlobalShape()),
        meshOp(meshOp), mesh(meshOp.getMesh()),
        global(RankedTensorType::get(shape, op.getType().getElementType())) {}

  /// The local value `input`, which lies as `from` says, as `to` says. Null if
  /// there is no way: a result partial over other axes than it can be.
  Value move(Value input, PlacementAttrInterface from,
             PlacementAttrInterface to) {
    if (llvm::equal(from.getPartialAxes(), to.getPartialAxes()))
      return from.getPartialAxes().empty() || isWithin(to, from)
                 ? moveBoxes(input, from, to)
                 : Value();
    if (!to.getPartialAxes().empty())
      return {};
    return combine(input, from, to);
  }

  int64_t numCollectives = 0, numSlices = 0;

private:
  SmallVector<Box> boxes(PlacementAttrInterface placement) {
    return getBoxes(placement, shape, meshOp);
  }

  /// True if every device's box of `inner` lies in its box of `outer`.
  bool isWithin(PlacementAttrInterface inner, PlacementAttrInterface outer) {
    return llvm::all_of(llvm::zip_equal(boxes(inner), boxes(outer)),
                        [](auto pair) {
                          auto &[in, out] = pair;
                          return search::overlap(in, out) == search::volume(in);
                        });
  }

  template <typename Collective>
  Value create(Value input, PlacementAttrInterface from,
               PlacementAttrInterface to) {
    ++numCollectives;
    return Collective::create(builder, loc, getLocalType(global, to, mesh),
                              input, shape, from, to);
  }

  Value moveBoxes(Value input, PlacementAttrInterface from,
                  PlacementAttrInterface to) {
    if (isWithin(to, from))
      return slice(input, from, to);
    if (isWithin(from, to))
      return create<AllGatherOp>(input, from, to);
    if (isPermutation(from, to))
      return create<AllToAllOp>(input, from, to);
    return create<FetchOp>(input, from, to);
  }

  /// True if both are layouts over the same axes, on other dims.
  static bool isPermutation(PlacementAttrInterface from,
                            PlacementAttrInterface to) {
    auto a = dyn_cast<LayoutAttr>(from), b = dyn_cast<LayoutAttr>(to);
    if (!a || !b)
      return false;
    auto axesOf = [](LayoutAttr layout) {
      llvm::SmallPtrSet<Attribute, 4> axes;
      for (AxesAttr dim : layout.getDims())
        axes.insert(dim.getNames().begin(), dim.getNames().end());
      return axes;
    };
    llvm::SmallPtrSet<Attribute, 4> axes = axesOf(a), others = axesOf(b);
    return axes.size() == others.size() &&
           llvm::all_of(axes,
                        [&](Attribute axis) { return others.contains(axis); });
  }

  /// What a device holds already.
  Value slice(Value input, PlacementAttrInterface from,
              PlacementAttrInterface to) {
    ++numSlices;
    RankedTensorType type = getLocalType(global, to, mesh);
    if (boxes(from) == boxes(to))
      return input.getType() == type
                 ? input
                 : tensor::CastOp::create(builder, loc, type, input)
                       .getResult();
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

  static PlacementAttrInterface withoutPartial(PlacementAttrInterface from) {
    return cast<PlacementAttrInterface>(from.withPartial({}, Combiner::None));
  }

  /// Combines partial results: by way of the layout from which the least is
  /// left to move.
  Value combine(Value input, PlacementAttrInterface from,
                PlacementAttrInterface to) {
    PlacementAttrInterface combined = withoutPartial(from);
    if (boxes(from) == boxes(to)) {
      Value all = create<AllReduceOp>(input, from, combined);
      return moveBoxes(all, combined, to);
    }
    SmallVector<PlacementAttrInterface> ways;
    if (isWithin(to, from))
      ways.push_back(to);
    addScattered(from, ways);
    PlacementAttrInterface best;
    int64_t least = 0;
    search::Axes partial = resolvePartial(from, mesh);
    for (PlacementAttrInterface via : ways) {
      int64_t cost = search::combinedElements(boxes(from), boxes(via),
                                              boxes(to), mesh, partial);
      if (!best || cost < least) {
        best = via;
        least = cost;
      }
    }
    // A part that all members of a group need is combined as a part.
    if (isWithin(to, from) && isWhole(to, partial)) {
      auto part = cast<PlacementAttrInterface>(
          to.withPartial(from.getPartialAxes(), from.getCombiner()));
      return create<AllReduceOp>(slice(input, from, part), part, to);
    }
    if (!best)
      return moveBoxes(create<AllReduceOp>(input, from, combined), combined,
                       to);
    Value scattered = create<ReduceScatterOp>(input, from, best);
    return moveBoxes(scattered, best, to);
  }

  /// True if devices that differ in the coordinates of `axes` have the same
  /// box.
  bool isWhole(PlacementAttrInterface placement, const search::Axes &axes) {
    SmallVector<Box> all = boxes(placement);
    std::map<SmallVector<int64_t>, Box> known;
    for (auto [device, box] : llvm::enumerate(all)) {
      SmallVector<int64_t> coords = mesh.coordinates(device);
      for (unsigned axis : axes)
        coords[axis] = 0;
      auto [it, isNew] = known.try_emplace(coords, box);
      if (!isNew && it->second != box)
        return false;
    }
    return true;
  }

  /// The layouts that cut the partial axes over one dim each.
  void addScattered(PlacementAttrInterface from,
                    SmallVectorImpl<PlacementAttrInterface> &ways) {
    auto layout = dyn_cast<LayoutAttr>(from);
    if (!layout || shape.empty())
      return;
    ArrayRef<StringAttr> axes = layout.getPartial().getNames();
    int64_t combinations = 1;
    for (size_t i = 0; i < axes.size(); ++i)
      combinations *= shape.size();
    for (int64_t number = 0; number < combinations; ++number) {
      SmallVector<SmallVector<StringAttr>> dims;
      for (AxesAttr dim : layout.getDims())
        dims.emplace_back(dim.getNames());
      int64_t rest = number;
      for (StringAttr axis : axes) {
        dims[rest % shape.size()].push_back(axis);
        rest /= shape.size();
      }
      SmallVector<AxesAttr> attrs;
      for (ArrayRef<StringAttr> names : dims)
        attrs.push_back(AxesAttr::get(builder.getContext(), names));
      ways.push_back(LayoutAttr::get(
          builder.getContext(), layout.getMesh(), attrs,
          AxesAttr::get(builder.getContext(), ArrayRef<StringAttr>()),
          Combiner::None));
    }
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
    RankedTensorType local =
        getLocalType(op.getInput().getType().clone(op.getGlobalShape()),
                     op.getFrom(), mesh.getMesh());
    if (failed(verifyCompatibleShape(op.getInput().getType(), local)))
      return op.emitOpError() << "is on global types; run tofu-localize";
    Lowering lowering(builder, op, mesh);
    Value result = lowering.move(op.getInput(), op.getFrom(), op.getTo());
    if (!result)
      return op.emitOpError() << "no way from a partial result over "
                              << op.getFrom() << " to " << op.getTo();
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
