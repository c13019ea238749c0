//===- MergeParts.cpp - Plans of merges -----------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergeParts.h"

#include "Branches.h"
#include "GlobalSizes.h"
#include "Tofu/Dialect/Models.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tofu;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

namespace {
/// Creates the merge of one operation.
class MergePlanner {
public:
  MergePlanner(OpBuilder &builder, Operation *op, MeshOp meshOp)
      : builder(builder), op(op), meshOp(meshOp), mesh(meshOp.getMesh()),
        meshName(FlatSymbolRefAttr::get(meshOp.getSymNameAttr())),
        semantics(op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics)),
        strategy(op->getAttrOfType<StrategyAttr>(TofuDialect::kStrategy)),
        numbering(getNumberingAxes()) {
    // Any size will do for one that isn't known.
    SizeHints hints(1024);
    for (Value result : op->getResults())
      shapes.push_back(hints.getShape(result));
  }

  FailureOr<PlannedMerge> create();

private:
  AxesAttr getNumberingAxes() const;
  unsigned getCutReduction() const;
  LogicalResult stack(SmallVectorImpl<StackOp> &stacks);
  Value addUnitDim(StackOp part);

  int64_t countMoved(ArrayRef<AxesAttr> dims) const;
  SmallVector<AxesAttr> addMergeAxis(ArrayRef<AxesAttr> dims, StringAttr axis,
                                     bool optional) const;
  SmallVector<StringAttr> getAxesAlike() const;
  SmallVector<AxesAttr> getMergeDims() const;
  StrategyAttr getMergeStrategy(SemanticsAttr semantics,
                                ArrayRef<AxesAttr> dims) const;
  void plan(Operation *merge, ArrayRef<Value> merged,
            ArrayRef<AxesAttr> mergeDims) const;

  /// What this device makes of result `i`.
  PlacementAttrInterface getProduced(unsigned i) const {
    return getResultPlacement(semantics, strategy, i, shapeOf(op->getResult(i)),
                              mesh);
  }

  AxesAttr noAxes() const { return AxesAttr::get(builder.getContext(), {}); }

  LayoutAttr getPlainLayout(ArrayRef<AxesAttr> dims) const {
    return LayoutAttr::get(builder.getContext(), meshName, dims, noAxes(),
                           Combiner::None);
  }

  int64_t countParts() const {
    return mesh.numCoordinates(numbering.resolve(mesh));
  }

  OpBuilder &builder;
  Operation *op;
  MeshOp meshOp;
  search::Mesh mesh;
  FlatSymbolRefAttr meshName;
  SemanticsAttr semantics;
  StrategyAttr strategy;
  /// The axes that cut reductions, in the order of the parts.
  AxesAttr numbering;
  /// The sizes of the results, to count with.
  SmallVector<SmallVector<int64_t>> shapes;
};
} // namespace

//===----------------------------------------------------------------------===//
// Numbering
//===----------------------------------------------------------------------===//

AxesAttr MergePlanner::getNumberingAxes() const {
  SmallVector<StringAttr> axes;
  for (auto [dim, cut] :
       llvm::zip_equal(semantics.getDims(), strategy.getDims()))
    if (dim.getKind() == DimKind::Reduction)
      llvm::append_range(axes, cut.getNames());
  return AxesAttr::get(builder.getContext(), axes);
}

unsigned MergePlanner::getCutReduction() const {
  for (auto [i, dim] : llvm::enumerate(semantics.getDims()))
    if (dim.getKind() == DimKind::Reduction && !strategy.getDims()[i].empty())
      return i;
  llvm_unreachable("no reduction is cut");
}

LogicalResult MergePlanner::stack(SmallVectorImpl<StackOp> &stacks) {
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    FailureOr<unsigned> dim = getPartsDim(op, i, getCutReduction());
    if (failed(dim))
      return failure();
    auto from = dyn_cast<LayoutAttr>(getProduced(i));
    if (!from)
      return op->emitOpError() << "result " << i
                               << " has parts that are no layout; they can't "
                                  "be merged";
    SmallVector<AxesAttr> dims(from.getDims());
    dims.insert(dims.begin() + *dim, numbering);
    SmallVector<int64_t> shape(shapeOf(result));
    shape.insert(shape.begin() + *dim, countParts());
    stacks.push_back(
        StackOp::create(builder, op->getLoc(),
                        cast<RankedTensorType>(result.getType()).clone(shape),
                        result, *dim, from, getPlainLayout(dims)));
  }
  return success();
}

/// A number has no dim along which it could be on some devices only: gives its
/// partial results, numbered by their only dim, another one.
Value MergePlanner::addUnitDim(StackOp part) {
  auto type = cast<RankedTensorType>(part.getType());
  Operation *expanded = tensor::ExpandShapeOp::create(
      builder, part.getLoc(), type.clone({type.getDimSize(0), 1}), part,
      ArrayRef<ReassociationIndices>{{0, 1}});
  std::string why;
  SemanticsAttr ofExpanded = computeSemantics(expanded, why);
  // The numbers of the parts are its only dim; that of one part is none.
  SmallVector<AxesAttr> cut(ofExpanded.getDims().size(), numbering);
  expanded->setAttr(TofuDialect::kSemantics, ofExpanded);
  expanded->setAttr(
      TofuDialect::kStrategy,
      StrategyAttr::get(builder.getContext(), meshName, cut, noAxes(), {}));
  expanded->setAttr(
      TofuDialect::kLayouts,
      builder.getArrayAttr({getPlainLayout({numbering, noAxes()})}));
  return expanded->getResult(0);
}

//===----------------------------------------------------------------------===//
// Where the parts are merged
//===----------------------------------------------------------------------===//

/// Elements that move if the partial results are merged as `dims` says and are
/// then to lie as planned.
int64_t MergePlanner::countMoved(ArrayRef<AxesAttr> dims) const {
  int64_t moved = 0;
  for (auto [result, shape] : llvm::zip_equal(op->getResults(), shapes)) {
    if (shape.size() != dims.size())
      continue;
    SmallVector<search::Box> merged =
        getBoxes(getPlainLayout(dims), shape, meshOp);
    for (const search::Box &box : merged)
      moved += (countParts() - 1) * search::volume(box);
    moved += search::movedElements(
        merged, getBoxes(getPlannedLayout(result), shape, meshOp));
  }
  return moved;
}

/// `dims` with `axis` cutting the dim along which the fewest elements move;
/// none, if that is `optional` and moves fewer.
SmallVector<AxesAttr> MergePlanner::addMergeAxis(ArrayRef<AxesAttr> dims,
                                                 StringAttr axis,
                                                 bool optional) const {
  SmallVector<AxesAttr> best;
  if (optional)
    best = SmallVector<AxesAttr>(dims);
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    SmallVector<AxesAttr> tried(dims);
    SmallVector<StringAttr> axes(dims[dim].getNames());
    axes.push_back(axis);
    tried[dim] = AxesAttr::get(builder.getContext(), axes);
    if (best.empty() || countMoved(tried) < countMoved(best))
      best = tried;
  }
  return best;
}

/// The axes that cut no dim: along these, the partial results are alike.
SmallVector<StringAttr> MergePlanner::getAxesAlike() const {
  SmallVector<StringAttr> alike;
  for (const std::string &name : mesh.names) {
    auto axis = StringAttr::get(builder.getContext(), name);
    bool cuts = llvm::any_of(strategy.getDims(), [&](AxesAttr dim) {
      return llvm::is_contained(dim.getNames(), axis);
    });
    if (!cuts)
      alike.push_back(axis);
  }
  return alike;
}

/// Where the partial results are merged: each device merges a part of what it
/// has of the results, where the fewest elements move. Axes along which the
/// partial results are alike may share the work too.
SmallVector<AxesAttr> MergePlanner::getMergeDims() const {
  auto produced = cast<LayoutAttr>(getProduced(0));
  SmallVector<StringAttr> axes(numbering.getNames()), alike = getAxesAlike();
  if (produced.getDims().empty()) {
    // A single part is there already.
    if (countParts() > 1)
      axes.append(alike);
    return {AxesAttr::get(builder.getContext(), axes)};
  }
  auto isLess = [](StringAttr a, StringAttr b) {
    return a.getValue() < b.getValue();
  };
  llvm::sort(axes, isLess);
  SmallVector<AxesAttr> best;
  // One axis after the other, in every order of a few.
  constexpr size_t kMostPermuted = 4;
  do {
    SmallVector<AxesAttr> dims(produced.getDims());
    for (StringAttr axis : axes)
      dims = addMergeAxis(dims, axis, /*optional=*/false);
    for (StringAttr axis : alike)
      dims = addMergeAxis(dims, axis, /*optional=*/true);
    if (best.empty() || countMoved(dims) < countMoved(best))
      best = dims;
  } while (axes.size() <= kMostPermuted &&
           std::next_permutation(axes.begin(), axes.end(), isLess));
  return best;
}

/// Cuts each dim of the result as `dims` says.
StrategyAttr MergePlanner::getMergeStrategy(SemanticsAttr semantics,
                                            ArrayRef<AxesAttr> dims) const {
  SmallVector<AxesAttr> cut(semantics.getDims().size(), noAxes());
  for (auto [axes, expr] :
       llvm::zip(dims, semantics.getResults()[0].getIndex())) {
    auto dim = dyn_cast_or_null<AffineDimExpr>(expr);
    if (dim &&
        semantics.getDims()[dim.getPosition()].getKind() == DimKind::Parallel)
      cut[dim.getPosition()] = axes;
  }
  return StrategyAttr::get(builder.getContext(), meshName, cut, noAxes(), {});
}

/// Plans one of the operations that merge the partial results to `merged`.
void MergePlanner::plan(Operation *merge, ArrayRef<Value> merged,
                        ArrayRef<AxesAttr> mergeDims) const {
  std::string why;
  SemanticsAttr ofMerge = computeSemantics(merge, why);
  if (!ofMerge || merge->getNumResults() == 0)
    return;
  StrategyAttr cut = getMergeStrategy(ofMerge, mergeDims);
  SmallVector<Attribute> layouts;
  for (auto [i, result] : llvm::enumerate(merge->getResults())) {
    const Value *it = llvm::find(merged, result);
    Attribute layout = LayoutAttr::getWhole(meshName, shapeOf(result).size());
    if (it != merged.end())
      layout = getPlannedLayout(op->getResult(it - merged.begin()));
    else if (auto made = dyn_cast<LayoutAttr>(
                 getResultPlacement(ofMerge, cut, i, shapeOf(result), mesh)))
      layout = made;
    layouts.push_back(layout);
  }
  merge->setAttr(TofuDialect::kSemantics, ofMerge);
  merge->setAttr(TofuDialect::kStrategy, cut);
  merge->setAttr(TofuDialect::kLayouts, builder.getArrayAttr(layouts));
}

FailureOr<PlannedMerge> MergePlanner::create() {
  for (OpResult result : op->getResults())
    if (!getPlannedLayout(result))
      return op->emitOpError() << "result " << result.getResultNumber()
                               << " has no layout; run tofu-plan";
  PlannedMerge merge;
  if (failed(stack(merge.stacks)))
    return failure();
  SmallVector<Value> parts(merge.stacks.begin(), merge.stacks.end());
  bool areNumbers = llvm::all_of(
      op->getResults(), [](Value value) { return shapeOf(value).empty(); });
  if (areNumbers && isa<linalg::LinalgOp>(op))
    for (auto [part, stack] : llvm::zip_equal(parts, merge.stacks))
      part = addUnitDim(stack);
  Operation *last = parts.back().getDefiningOp();
  FailureOr<SmallVector<Value>> merged =
      createMerge(builder, op, parts, getCutReduction());
  if (failed(merged))
    return failure();
  merge.merged = *merged;
  SmallVector<AxesAttr> mergeDims = getMergeDims();
  Operation *end = &*builder.getInsertionPoint();
  for (Operation *next = last->getNextNode(); next != end;
       next = next->getNextNode())
    plan(next, merge.merged, mergeDims);
  return merge;
}

FailureOr<PlannedMerge> mlir::tofu::createPlannedMerge(OpBuilder &builder,
                                                       Operation *op,
                                                       MeshOp meshOp) {
  return MergePlanner(builder, op, meshOp).create();
}
