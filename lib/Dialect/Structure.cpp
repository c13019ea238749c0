//===- Structure.cpp - Tensor operations in structured form ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Dialect/Structure.h"

#include "Gather.h"
#include "Tofu/Dialect/Models.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tofu;

/// A generic operation without operands that makes each element of a tensor of
/// the given sizes on its own; `body` yields.
static Value
createElements(OpBuilder &builder, Location loc, RankedTensorType type,
               ArrayRef<OpFoldResult> sizes, ValueRange inputs,
               function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineMap> maps(inputs.size() + 1, map);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  Value made = linalg::GenericOp::create(builder, loc, empty.getType(), inputs,
                                         empty, maps, iterators, body)
                   .getResult(0);
  if (made.getType() == type)
    return made;
  return tensor::CastOp::create(builder, loc, type, made);
}

static Value toIndex(OpBuilder &builder, Location loc, Value value) {
  if (isa<IndexType>(value.getType()))
    return value;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// For each dim of the source the dim of the result that runs along it; of the
/// dims that are gathered, those that the result has with size one, or nothing.
static SmallVector<std::optional<unsigned>>
getResultDims(tensor::GatherOp op, unsigned numBatchDims) {
  int64_t rank = op.getSourceType().getRank();
  bool keepsAll = op.getResultType().getRank() == numBatchDims + rank;
  SmallVector<std::optional<unsigned>> dims;
  unsigned next = numBatchDims;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isGathered = llvm::is_contained(op.getGatherDims(), dim);
    dims.push_back(isGathered && !keepsAll ? std::optional<unsigned>()
                                           : std::optional<unsigned>(next++));
  }
  return dims;
}

/// The indices' last dim has the coordinates of one element or slice.
static Value structure(RewriterBase &rewriter, tensor::GatherOp op) {
  Location loc = op.getLoc();
  unsigned numBatchDims = op.getIndicesType().getRank() - 1;
  SmallVector<std::optional<unsigned>> dims = getResultDims(op, numBatchDims);
  RankedTensorType type = op.getResultType();
  SmallVector<OpFoldResult> sizes(type.getRank(), rewriter.getIndexAttr(1));
  for (unsigned dim = 0; dim < numBatchDims; ++dim)
    sizes[dim] = tensor::getMixedSize(rewriter, loc, op.getIndices(), dim);
  for (auto [dim, resultDim] : llvm::enumerate(dims))
    if (resultDim && !llvm::is_contained(op.getGatherDims(), int64_t(dim)))
      sizes[*resultDim] =
          tensor::getMixedSize(rewriter, loc, op.getSource(), dim);
  return createElements(
      rewriter, loc, type, sizes, {},
      [&](OpBuilder &b, Location loc, ValueRange) {
        SmallVector<Value> batch;
        for (unsigned dim = 0; dim < numBatchDims; ++dim)
          batch.push_back(linalg::IndexOp::create(b, loc, dim));
        SmallVector<Value> coordinates;
        for (auto [dim, resultDim] : llvm::enumerate(dims)) {
          const int64_t *it =
              llvm::find(op.getGatherDims(), static_cast<int64_t>(dim));
          if (it == op.getGatherDims().end()) {
            coordinates.push_back(linalg::IndexOp::create(b, loc, *resultDim));
            continue;
          }
          SmallVector<Value> at(batch);
          at.push_back(arith::ConstantIndexOp::create(
              b, loc, it - op.getGatherDims().begin()));
          coordinates.push_back(toIndex(
              b, loc, tensor::ExtractOp::create(b, loc, op.getIndices(), at)));
        }
        Value element =
            tensor::ExtractOp::create(b, loc, op.getSource(), coordinates);
        linalg::YieldOp::create(b, loc, element);
      });
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static Value structure(RewriterBase &rewriter, tensor::GenerateOp op) {
  FailureOr<Operation *> generic =
      linalg::rewriteInDestinationPassingStyle(rewriter, op);
  // It replaces the operation itself.
  (void)generic;
  return {};
}

static Value structure(RewriterBase &rewriter, tensor::BitcastOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type || !isa<RankedTensorType>(op.getSource().getType()))
    return {};
  return createElements(
      rewriter, op.getLoc(), type,
      tensor::getMixedSizes(rewriter, op.getLoc(), op.getSource()),
      op.getSource(), [&](OpBuilder &b, Location loc, ValueRange args) {
        Value cast =
            arith::BitcastOp::create(b, loc, type.getElementType(), args[0]);
        linalg::YieldOp::create(b, loc, cast);
      });
}

static Value structure(RewriterBase &rewriter, tensor::InsertOp op) {
  auto type = op.getDest().getType();
  SmallVector<int64_t> ones(type.getRank(), 1);
  Value slice = tensor::FromElementsOp::create(
      rewriter, op.getLoc(), type.clone(ones), op.getScalar());
  SmallVector<OpFoldResult> unit(type.getRank(), rewriter.getIndexAttr(1));
  return tensor::InsertSliceOp::create(
      rewriter, op.getLoc(), slice, op.getDest(),
      getAsOpFoldResult(op.getIndices()), unit, unit);
}

/// All of `type` in one dim, or none if it has rank zero.
static SmallVector<ReassociationIndices> getOneGroup(RankedTensorType type) {
  if (type.getRank() == 0)
    return {};
  return {llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))};
}

static Value structure(RewriterBase &rewriter, tensor::ReshapeOp op) {
  auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto result = dyn_cast<RankedTensorType>(op.getType());
  if (!source || !result || !source.hasStaticShape() ||
      !result.hasStaticShape())
    return {};
  Location loc = op.getLoc();
  if (source == result)
    return op.getSource();
  if (auto groups = getReassociationIndicesForReshape(source, result)) {
    if (source.getRank() > result.getRank())
      return tensor::CollapseShapeOp::create(rewriter, loc, result,
                                             op.getSource(), *groups);
    return tensor::ExpandShapeOp::create(rewriter, loc, result, op.getSource(),
                                         *groups);
  }
  Value flat = op.getSource();
  if (source.getRank() > 1)
    flat = tensor::CollapseShapeOp::create(rewriter, loc, flat,
                                           getOneGroup(source));
  if (result.getRank() == 1)
    return flat;
  return tensor::ExpandShapeOp::create(rewriter, loc, result, flat,
                                       getOneGroup(result));
}

void mlir::tofu::structureTensorOps(RewriterBase &rewriter, Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa<tensor::GatherOp, tensor::GenerateOp, tensor::BitcastOp,
            tensor::InsertOp, tensor::ReshapeOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    Value structured =
        llvm::TypeSwitch<Operation *, Value>(op)
            .Case<tensor::GatherOp, tensor::GenerateOp, tensor::BitcastOp,
                  tensor::InsertOp, tensor::ReshapeOp>(
                [&](auto op) { return structure(rewriter, op); });
    if (structured)
      rewriter.replaceOp(op, structured);
  }
}

/// Drops unused operands and results of `ops`.
static LogicalResult dropUnused(MLIRContext *context,
                                ArrayRef<Operation *> ops) {
  RewritePatternSet patterns(context);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return applyOpPatternsGreedily(ops, std::move(patterns));
}

LogicalResult mlir::tofu::dropUnusedResults(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](linalg::GenericOp op) {
    if (llvm::any_of(op->getResults(),
                     [](Value result) { return result.use_empty(); }))
      ops.push_back(op);
  });
  return dropUnused(root->getContext(), ops);
}

//===----------------------------------------------------------------------===//
// Reductions of their own
//===----------------------------------------------------------------------===//

/// The number of reductions of `op` that can't be cut.
static unsigned countWhole(linalg::GenericOp op) {
  std::string why;
  SemanticsAttr semantics = computeSemantics(op, why);
  unsigned count = 0;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    bool isWhole = !semantics ||
                   semantics.getDims()[loop].getKind() == DimKind::Unsplittable;
    count +=
        isWhole && (!semantics || semantics.getDims()[loop].getSize() != 1);
  }
  return count;
}

namespace {
/// What a result of a body is made of.
struct Makings {
  DenseSet<Operation *> ops;
  llvm::SmallBitVector results; ///< what those so far are needed of
};
} // namespace

static Makings getMakings(linalg::GenericOp op, unsigned result) {
  Makings makings;
  makings.results.resize(op->getNumResults());
  makings.results.set(result);
  SmallVector<Value> todo = {op.getBody()->getTerminator()->getOperand(result)};
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    const auto *sofar = llvm::find(op.getRegionOutputArgs(), value);
    if (sofar != op.getRegionOutputArgs().end())
      makings.results.set(sofar - op.getRegionOutputArgs().begin());
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != op.getBody() ||
        !makings.ops.insert(def).second)
      continue;
    def->walk([&](Operation *inner) {
      llvm::append_range(todo, inner->getOperands());
    });
  }
  return makings;
}

/// Sets of results that depend on each other.
static SmallVector<Makings> getGroups(linalg::GenericOp op) {
  SmallVector<Makings> groups;
  for (unsigned result = 0; result < op->getNumResults(); ++result) {
    Makings makings = getMakings(op, result);
    for (auto *it = groups.begin(); it != groups.end();) {
      if (!it->results.anyCommon(makings.results)) {
        ++it;
        continue;
      }
      makings.results |= it->results;
      makings.ops.insert(it->ops.begin(), it->ops.end());
      it = groups.erase(it);
    }
    groups.push_back(std::move(makings));
  }
  llvm::sort(groups, [](const Makings &a, const Makings &b) {
    return a.results.find_first() < b.results.find_first();
  });
  return groups;
}

/// An operation that computes some results of `op`.
static linalg::GenericOp createGroup(RewriterBase &rewriter,
                                     linalg::GenericOp op,
                                     const Makings &makings) {
  SmallVector<Value> outputs;
  SmallVector<AffineMap> maps(op.getIndexingMapsArray());
  maps.truncate(op.getNumDpsInputs());
  for (unsigned result : makings.results.set_bits()) {
    OpOperand *init = op.getDpsInitOperand(result);
    outputs.push_back(init->get());
    maps.push_back(op.getMatchingIndexingMap(init));
  }
  auto group = linalg::GenericOp::create(
      rewriter, op.getLoc(), TypeRange(ValueRange(outputs)), op.getInputs(),
      outputs, maps, op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange args) {
        IRMapping mapping;
        mapping.map(op.getRegionInputArgs(),
                    args.take_front(op.getNumDpsInputs()));
        ValueRange sofar = args.drop_front(op.getNumDpsInputs());
        for (auto [result, arg] :
             llvm::zip_equal(makings.results.set_bits(), sofar))
          mapping.map(op.getRegionOutputArgs()[result], arg);
        for (Operation &inner : op.getBody()->without_terminator())
          if (makings.ops.contains(&inner))
            b.clone(inner, mapping);
        SmallVector<Value> yielded;
        for (unsigned result : makings.results.set_bits())
          yielded.push_back(mapping.lookupOrDefault(
              op.getBody()->getTerminator()->getOperand(result)));
        linalg::YieldOp::create(b, loc, yielded);
      });
  group->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return group;
}

/// Replaces `op` by one operation per group, if one of these can be cut where
/// `op` can't.
static void splitReduction(RewriterBase &rewriter, linalg::GenericOp op,
                           SmallVectorImpl<Operation *> &made) {
  unsigned numWhole = countWhole(op);
  if (numWhole == 0)
    return;
  SmallVector<Makings> groups = getGroups(op);
  if (groups.size() < 2)
    return;
  rewriter.setInsertionPoint(op);
  SmallVector<Value> results(op->getNumResults());
  SmallVector<Operation *> split;
  for (const Makings &makings : groups) {
    linalg::GenericOp group = createGroup(rewriter, op, makings);
    split.push_back(group);
    for (auto [result, value] :
         llvm::zip_equal(makings.results.set_bits(), group->getResults()))
      results[result] = value;
  }
  bool gains = llvm::any_of(split, [&](Operation *group) {
    return countWhole(cast<linalg::GenericOp>(group)) < numWhole;
  });
  if (gains) {
    rewriter.replaceOp(op, results);
    llvm::append_range(made, split);
    return;
  }
  for (Operation *group : split)
    rewriter.eraseOp(group);
}

LogicalResult mlir::tofu::splitReductions(RewriterBase &rewriter,
                                          Operation *root) {
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) {
    bool isPure = llvm::all_of(*op.getBody(), [](Operation &inner) {
      return isMemoryEffectFree(&inner);
    });
    if (op.hasPureTensorSemantics() && op->getNumResults() > 1 &&
        op.getNumReductionLoops() > 0 && isPure &&
        !op->hasAttr(TofuDialect::kSemantics))
      ops.push_back(op);
  });
  SmallVector<Operation *> made;
  for (linalg::GenericOp op : ops)
    splitReduction(rewriter, op, made);
  return dropUnused(root->getContext(), made);
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

/// True if the parts of a loop can't be rebased in an indexing map.
static bool isIrregular(AffineMap map) {
  return llvm::any_of(map.getResults(), [](AffineExpr expr) {
    return !isa<AffineConstantExpr>(expr) && !isRelative(expr);
  });
}

/// The inputs of `op` that its body is to extract from, as bits; none if the
/// other operands don't tell the sizes of all loops.
static llvm::SmallBitVector findIrregular(linalg::GenericOp op) {
  llvm::SmallBitVector irregular(op.getNumDpsInputs());
  SmallVector<AffineMap> rest;
  for (auto [i, map] : llvm::enumerate(op.getIndexingMapsArray())) {
    if (i < irregular.size() && isIrregular(map))
      irregular.set(i);
    else
      rest.push_back(map);
  }
  AffineMap all = concatAffineMaps(rest, op.getContext());
  if (!inversePermutation(all))
    irregular.reset();
  return irregular;
}

static void extractInBody(RewriterBase &rewriter, linalg::GenericOp op,
                          const llvm::SmallBitVector &irregular) {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps, all = op.getIndexingMapsArray();
  for (auto [i, map] : llvm::enumerate(all)) {
    if (i < irregular.size() && irregular[i])
      continue;
    maps.push_back(map);
    if (i < irregular.size())
      inputs.push_back(op.getInputs()[i]);
  }
  auto regular = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange args) {
        IRMapping mapping;
        SmallVector<Value> loops;
        for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
          loops.push_back(linalg::IndexOp::create(b, loc, dim));
        unsigned next = 0;
        for (BlockArgument arg : op.getBody()->getArguments()) {
          unsigned i = arg.getArgNumber();
          if (i >= irregular.size() || !irregular[i]) {
            mapping.map(arg, args[next++]);
            continue;
          }
          SmallVector<Value> index;
          for (AffineExpr expr : all[i].getResults())
            index.push_back(affine::expandAffineExpr(b, loc, expr, loops, {}));
          mapping.map(
              arg, tensor::ExtractOp::create(b, loc, op.getInputs()[i], index));
        }
        for (Operation &inner : *op.getBody())
          b.clone(inner, mapping);
      });
  regular->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, regular.getResults());
}

void mlir::tofu::structureIndexing(RewriterBase &rewriter, Operation *root) {
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() &&
        llvm::any_of(op.getIndexingMapsArray(), isIrregular))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops)
    if (llvm::SmallBitVector irregular = findIrregular(op); irregular.any())
      extractInBody(rewriter, op, irregular);
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

namespace {
/// Builds the loop over the slices that a scatter puts into a tensor.
class ScatterLoop {
public:
  ScatterLoop(OpBuilder &builder, tensor::ScatterOp op, Value source,
              Value indices, ArrayRef<std::optional<PartBounds>> bounds,
              bool hasOneSlice)
      : builder(builder), op(op), loc(op.getLoc()), source(source),
        indices(indices), bounds(bounds), hasOneSlice(hasOneSlice) {}

  /// `dest` with the slices at `batch` and at what is after that.
  Value create(Value dest, SmallVector<Value> batch);

private:
  Value insert(Value dest, ArrayRef<Value> batch);
  Value insertAt(Value dest, ArrayRef<Value> batch,
                 ArrayRef<OpFoldResult> offsets);

  OpBuilder &builder;
  tensor::ScatterOp op;
  Location loc;
  Value source, indices;
  ArrayRef<std::optional<PartBounds>> bounds;
  /// The source is a slice, the same everywhere.
  bool hasOneSlice;
};
} // namespace

Value ScatterLoop::create(Value dest, SmallVector<Value> batch) {
  int64_t numBatchDims =
      cast<RankedTensorType>(indices.getType()).getRank() - 1;
  int64_t dim = batch.size();
  if (dim == numBatchDims)
    return insert(dest, batch);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value end = getValueOrCreateConstantIndexOp(
      builder, loc, tensor::getMixedSize(builder, loc, indices, dim));
  auto loop = scf::ForOp::create(builder, loc, zero, end, one, dest);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  batch.push_back(loop.getInductionVar());
  Value inserted = create(loop.getRegionIterArgs()[0], batch);
  scf::YieldOp::create(builder, loc, inserted);
  return loop.getResult(0);
}

Value ScatterLoop::insert(Value dest, ArrayRef<Value> batch) {
  int64_t rank = cast<RankedTensorType>(dest.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0));
  Value inside;
  for (auto [i, dim] : llvm::enumerate(op.getScatterDims())) {
    SmallVector<Value> at(batch);
    at.push_back(arith::ConstantIndexOp::create(builder, loc, i));
    Value coordinate = toIndex(
        builder, loc, tensor::ExtractOp::create(builder, loc, indices, at));
    offsets[dim] = coordinate;
    if (!bounds[i])
      continue;
    auto value = [&](OpFoldResult bound) {
      return getValueOrCreateConstantIndexOp(builder, loc, bound);
    };
    // Before the part, the difference is a large number.
    Value relative = arith::SubIOp::create(builder, loc, coordinate,
                                           value(bounds[i]->offset));
    Value isIn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       relative, value(bounds[i]->size));
    offsets[dim] = relative;
    inside = inside ? arith::AndIOp::create(builder, loc, inside, isIn) : isIn;
  }
  if (!inside)
    return insertAt(dest, batch, offsets);
  auto choice = scf::IfOp::create(builder, loc, dest.getType(), inside,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  Value inserted = insertAt(dest, batch, offsets);
  scf::YieldOp::create(builder, loc, inserted);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, dest);
  return choice.getResult(0);
}

Value ScatterLoop::insertAt(Value dest, ArrayRef<Value> batch,
                            ArrayRef<OpFoldResult> offsets) {
  if (hasOneSlice)
    batch = {};
  auto type = cast<RankedTensorType>(dest.getType());
  auto sourceType = cast<RankedTensorType>(source.getType());
  OpFoldResult one = builder.getIndexAttr(1), zero = builder.getIndexAttr(0);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, dest);
  for (int64_t dim : op.getScatterDims())
    sizes[dim] = one;
  bool keepsAll =
      sourceType.getRank() == int64_t(batch.size()) + type.getRank();
  SmallVector<OpFoldResult> first(batch.begin(), batch.end()),
      count(batch.size(), one);
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!keepsAll && llvm::is_contained(op.getScatterDims(), dim))
      continue;
    first.push_back(zero);
    count.push_back(sizes[dim]);
  }
  // Without the dims of the loop.
  for (OpFoldResult size : ArrayRef(count).drop_front(batch.size()))
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  SmallVector<OpFoldResult> steps(count.size(), one), ones(type.getRank(), one);
  Value slice = tensor::ExtractSliceOp::create(
      builder, loc, sourceType.clone(shape), source, first, count, steps);
  return tensor::InsertSliceOp::create(builder, loc, slice, dest, offsets,
                                       sizes, ones);
}

Value mlir::tofu::createScatter(OpBuilder &builder, tensor::ScatterOp op,
                                Value source, Value dest, Value indices,
                                ArrayRef<std::optional<PartBounds>> bounds) {
  return ScatterLoop(builder, op, source, indices, bounds,
                     /*hasOneSlice=*/false)
      .create(dest, {});
}

Value mlir::tofu::createScatterOfOne(
    OpBuilder &builder, tensor::ScatterOp op, Value slice, Value dest,
    Value indices, ArrayRef<std::optional<PartBounds>> bounds) {
  return ScatterLoop(builder, op, slice, indices, bounds, /*hasOneSlice=*/true)
      .create(dest, {});
}
