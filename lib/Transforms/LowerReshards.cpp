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
  Lowering(OpBuilder &builder, Location loc, RankedTensorType global,
           MeshOp meshOp)
      : builder(builder), loc(loc), shape(global.getShape()), meshOp(meshOp),
        mesh(meshOp.getMesh()), global(global) {}

  /// The local value `input`, which lies as `from` says, as `to` says.
  Value move(Value input, PlacementAttrInterface from,
             PlacementAttrInterface to) {
    bool sameAxes = llvm::equal(from.getPartialAxes(), to.getPartialAxes());
    if (sameAxes && (to.getPartialAxes().empty() || isWithin(to, from)))
      return moveBoxes(input, from, to);
    if (!to.getPartialAxes().empty())
      return movePartial(input, from, to);
    return combine(input, from, to);
  }

  int64_t numCollectives = 0, numSlices = 0;

private:
  SmallVector<Box> boxes(PlacementAttrInterface placement) {
    return getBoxes(placement, shape, meshOp);
  }

  /// True if every device's box of `inner` lies in its box of `outer`.
  bool isWithin(PlacementAttrInterface inner, PlacementAttrInterface outer) {
    return search::areWithin(boxes(inner), boxes(outer));
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

  /// Moves a value that stays partial over some axes. The addends are a tensor
  /// with one more dim per such axis, cut by it: that is moved.
  Value movePartial(Value input, PlacementAttrInterface from,
                    PlacementAttrInterface to) {
    ArrayRef<StringAttr> axes = to.getPartialAxes();
    SmallVector<int64_t> addends;
    for (unsigned axis : resolvePartial(to, mesh))
      addends.push_back(mesh.sizes[axis]);
    SmallVector<int64_t> allShape(addends);
    llvm::append_range(allShape, shape);
    PlacementAttrInterface allFrom = addAddendDims(from, axes, addends),
                           allTo = addAddendDims(to, axes, addends);
    Lowering all(builder, loc, global.clone(allShape), meshOp);
    Value moved =
        all.move(addUnitDims(input, from, axes.size()), allFrom, allTo);
    numCollectives += all.numCollectives;
    numSlices += all.numSlices;
    return tensor::CollapseShapeOp::create(
        builder, loc, getLocalType(global, to, mesh), moved,
        getUnitDimGroups(axes.size()));
  }

  /// Groups of dims that put `count` leading dims of size one to the first one.
  SmallVector<ReassociationIndices> getUnitDimGroups(int64_t count) {
    SmallVector<ReassociationIndices> groups;
    for (int64_t dim = 0; dim < global.getRank(); ++dim)
      groups.push_back({dim + count});
    if (!groups.empty())
      for (int64_t dim = count; dim-- > 0;)
        groups.front().insert(groups.front().begin(), dim);
    return groups;
  }

  Value addUnitDims(Value input, PlacementAttrInterface from, int64_t count) {
    RankedTensorType local = getLocalType(global, from, mesh);
    if (input.getType() != local)
      input = tensor::CastOp::create(builder, loc, local, input);
    SmallVector<int64_t> expanded(count, 1);
    SmallVector<OpFoldResult> sizes(count, builder.getIndexAttr(1));
    llvm::append_range(expanded, local.getShape());
    for (int64_t dim = 0; dim < global.getRank(); ++dim)
      sizes.push_back(getShardSize(builder, loc, dim, from, shape, mesh));
    return tensor::ExpandShapeOp::create(builder, loc, local.clone(expanded),
                                         input, getUnitDimGroups(count), sizes);
  }

  /// `placement` with a leading dim per axis of `axes`, cut by it, over which
  /// it is no longer partial.
  PlacementAttrInterface addAddendDims(PlacementAttrInterface placement,
                                       ArrayRef<StringAttr> axes,
                                       ArrayRef<int64_t> addends) {
    MLIRContext *context = placement.getContext();
    SmallVector<StringAttr> partial;
    for (StringAttr axis : placement.getPartialAxes())
      if (!llvm::is_contained(axes, axis))
        partial.push_back(axis);
    Combiner combiner =
        partial.empty() ? Combiner::None : placement.getCombiner();
    AxesAttr partialAttr = AxesAttr::get(context, partial);
    auto cuts = llvm::map_to_vector(axes, [&](StringAttr axis) {
      return AxesAttr::get(context, ArrayRef<StringAttr>(axis));
    });
    if (auto layout = dyn_cast<LayoutAttr>(placement)) {
      llvm::append_range(cuts, layout.getDims());
      return LayoutAttr::get(context, layout.getMesh(), cuts, partialAttr,
                             combiner);
    }
    auto boxes = cast<BoxesAttr>(placement);
    SmallVector<StringAttr> names(boxes.getDimNames());
    SmallVector<int64_t> sizes(boxes.getDimSizes());
    SmallVector<AxesAttr> dimAxes(boxes.getDimAxes());
    SmallVector<AffineExpr> index;
    for (auto [cut, size] : llvm::zip_equal(cuts, addends)) {
      index.push_back(builder.getAffineDimExpr(names.size()));
      names.push_back(getFreshName(names));
      sizes.push_back(size);
      dimAxes.push_back(cut);
    }
    llvm::append_range(index, boxes.getIndex());
    return BoxesAttr::get(context, boxes.getMesh(), names, sizes, dimAxes,
                          index, partialAttr, combiner);
  }

  StringAttr getFreshName(ArrayRef<StringAttr> names) {
    for (unsigned number = 0;; ++number)
      if (auto name = builder.getStringAttr("p" + Twine(number));
          !llvm::is_contained(names, name))
        return name;
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
