//===- LinalgModels.cpp - Semantics of linalg operations ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One model for every linalg::LinalgOp. Indexing maps are TDL's index
// expressions, and a piece of the operation is the same operation on its local
// operands, with the offsets of its part added to linalg.index.
//
//===----------------------------------------------------------------------===//

#include "AttributeSyntax.h"
#include "Gather.h"
#include "RegionReduction.h"
#include "Tofu/Dialect/Combiners.h"
#include "Tofu/Dialect/Linearity.h"
#include "Tofu/Dialect/Models.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// True if `value` is one number everywhere, and no NaN.
static bool isKnownNumber(Value value) {
  APFloat number(0.0);
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  return matchPattern(value, m_ConstantFloat(&number)) && !number.isNaN();
}

/// Of a body that takes `value` instead of `best` where a comparison holds: the
/// greatest or least. Comparisons of floats must be false for NaN, so that NaN
/// is never taken; other ones give what depends on the order.
static Combiner matchSelection(arith::SelectOp select, Value best) {
  Operation *compare = select.getCondition().getDefiningOp();
  if (!compare || !compare->hasOneUse() || !best.hasNUses(2))
    return Combiner::None;
  bool keepsFirst = select.getTrueValue() == best;
  Value value = keepsFirst ? select.getFalseValue() : select.getTrueValue();
  if (!keepsFirst && select.getFalseValue() != best)
    return Combiner::None;
  auto compares = [&](Value a, Value b) {
    return compare->getOperand(0) == a && compare->getOperand(1) == b;
  };
  bool reversed = compares(best, value);
  if (!reversed && !compares(value, best))
    return Combiner::None;
  if (auto ints = dyn_cast<arith::CmpIOp>(compare)) {
    auto greatest = [&](Combiner most, Combiner least, bool greater) {
      return greater != (reversed != keepsFirst) ? most : least;
    };
    switch (ints.getPredicate()) {
    case arith::CmpIPredicate::sgt:
    case arith::CmpIPredicate::sge:
      return greatest(Combiner::Max, Combiner::Min, true);
    case arith::CmpIPredicate::slt:
    case arith::CmpIPredicate::sle:
      return greatest(Combiner::Max, Combiner::Min, false);
    case arith::CmpIPredicate::ugt:
    case arith::CmpIPredicate::uge:
      return greatest(Combiner::MaxUI, Combiner::MinUI, true);
    case arith::CmpIPredicate::ult:
    case arith::CmpIPredicate::ule:
      return greatest(Combiner::MaxUI, Combiner::MinUI, false);
    default:
      return Combiner::None;
    }
  }
  auto floats = dyn_cast<arith::CmpFOp>(compare);
  if (!floats || keepsFirst)
    return Combiner::None;
  switch (floats.getPredicate()) {
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::OGE:
    return reversed ? Combiner::MinNum : Combiner::MaxNum;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::OLE:
    return reversed ? Combiner::MaxNum : Combiner::MinNum;
  default:
    return Combiner::None;
  }
}

/// The combiner of result `i`, or none if the body has another form.
static Combiner matchCombiner(linalg::LinalgOp op, unsigned i) {
  BlockArgument sofar = op.getRegionOutputArgs()[i];
  SmallVector<Operation *, 4> combiners;
  if (matchReduction(op.getRegionOutputArgs(), i, combiners) &&
      combiners.size() == 1 && getCombiner(combiners.front()) != Combiner::None)
    return getCombiner(combiners.front());
  Value yielded = op.getBlock()->getTerminator()->getOperand(i);
  Operation *last = yielded.getDefiningOp();
  if (!last || !yielded.hasOneUse())
    return Combiner::None;
  // What is taken away from nothing adds up.
  if (isa<arith::SubFOp, arith::SubIOp, complex::SubOp>(last) &&
      last->getOperand(0) == sofar && sofar.hasOneUse() &&
      !yielded.getType().isInteger(1))
    return Combiner::Sum;
  auto select = dyn_cast<arith::SelectOp>(last);
  if (!select || (isa<FloatType>(yielded.getType()) &&
                  !isKnownNumber(op.getDpsInitOperand(i)->get())))
    return Combiner::None;
  return matchSelection(select, sofar);
}

/// One combiner for all results, one for each, or none at all.
using Combiners = SmallVector<Combiner, 2>;

/// The combiners of the operation's results; none if the body has another form.
/// What is combined then depends on no result: of these, the body has no use
/// but to combine them.
static Combiners matchCombiners(linalg::LinalgOp op) {
  Combiners combiners;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
    combiners.push_back(matchCombiner(op, i));
  if (combiners.empty() || llvm::is_contained(combiners, Combiner::None))
    return {};
  if (llvm::all_equal(combiners))
    combiners.truncate(1);
  return combiners;
}

//===----------------------------------------------------------------------===//
// Which dims can be cut
//===----------------------------------------------------------------------===//

/// True if a window over one loop of unknown size is known to take all of a
/// tensor dim that it can: the dim ends before the window could go one step
/// farther. What a part of the loop reads then follows from the dim's size.
static bool fillsDim(linalg::LinalgOp op, TensorDim of, AffineExpr expr,
                     ArrayRef<int64_t> sizes) {
  auto linear = toLinear(expr, sizes);
  if (failed(linear))
    return false;
  int64_t end = linear->front().constant;
  const search::LinearExpr::Term *moving = nullptr;
  for (const search::LinearExpr::Term &term : linear->front().terms) {
    int64_t size = sizes[term.dim];
    if (ShapedType::isDynamic(size) && moving)
      return false;
    if (ShapedType::isDynamic(size))
      moving = &term;
    else
      end += term.coefficient * (size - 1);
  }
  std::optional<TensorDim> loop =
      moving ? findIndexed(op, moving->dim) : std::nullopt;
  if (!loop || !isa<RankedTensorType>(loop->tensor.getType()))
    return false;
  // After n steps the window would end at factor * n + end.
  using Bounds = ValueBoundsConstraintSet;
  Bounds::Variable count(loop->tensor, loop->dim), size(of.tensor, of.dim);
  AffineExpr steps = getAffineDimExpr(0, op.getContext());
  auto most = AffineMap::get(1, 0, steps * moving->coefficient + end);
  return Bounds::compare(size, Bounds::ComparisonOperator::LE,
                         Bounds::Variable(most, ArrayRef(count)));
}

/// True if a dim of unknown size is a part of an index of a tensor dim, and how
/// many of the tensor's indices it takes is not known. By itself, it takes all.
static bool isUnknownPart(linalg::LinalgOp op, TensorDim of, AffineExpr expr,
                          ArrayRef<int64_t> sizes) {
  if (isa<AffineDimExpr>(expr))
    return false;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (ShapedType::isDynamic(size) && expr.isFunctionOfDim(dim))
      return !fillsDim(op, of, expr, sizes);
  return false;
}

/// True if a part of the loops reads of `operand` what `expr`, the index of its
/// dim `dim`, says.
static bool isKnownIndex(linalg::LinalgOp op, OpOperand &operand, unsigned dim,
                         AffineExpr expr, ArrayRef<int64_t> sizes) {
  return isRelative(expr) &&
         !isUnknownPart(op, {operand.get(), dim}, expr, sizes);
}

/// Marks the dims of index expressions that no part can be rebased for, or
/// whose parts are not known to be within the tensor.
static void markUnsplittable(linalg::LinalgOp op, OpOperand &operand,
                             ArrayRef<int64_t> sizes,
                             llvm::SmallBitVector &unsplittable) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (isa<AffineConstantExpr>(expr) ||
        isKnownIndex(op, operand, dim, expr, sizes))
      continue;
    expr.walk([&](AffineExpr sub) {
      if (auto dim = dyn_cast<AffineDimExpr>(sub))
        unsplittable.set(dim.getPosition());
    });
  }
}

/// A dim can be cut only if every result is written in parts of it: one index
/// is just this dim.
static bool indexesAllResults(linalg::LinalgOp op, unsigned dim) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (!llvm::is_contained(map.getResults(),
                            getAffineDimExpr(dim, op.getContext())))
      return false;
  }
  return true;
}

/// True if some result is written in parts of a dim.
static bool indexesSomeResult(linalg::LinalgOp op, unsigned dim) {
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return op.getMatchingIndexingMap(&init).isFunctionOfDim(dim);
  });
}

/// True if no reduction before `dim` has several iterations, so that the parts
/// of `dim` follow each other.
static bool isOutermostReduction(linalg::LinalgOp op, unsigned dim) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (unsigned outer = 0; outer < dim; ++outer)
    if (op.getIteratorTypesArray()[outer] == utils::IteratorType::reduction &&
        sizes[outer] != 1)
      return false;
  return true;
}

/// True if the parts of reduction `dim` combine by the body, which has no
/// combiner.
static bool combinesByRegion(linalg::LinalgOp op, unsigned dim,
                             const RegionReduction &reduction) {
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::parallel && !indexesAllResults(op, loop))
      return false;
  return reduction.commutes || isOutermostReduction(op, dim);
}

static bool isUnsplittable(linalg::LinalgOp op, unsigned dim,
                           const Combiners &combiners) {
  if (op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction)
    return combiners.empty() || indexesSomeResult(op, dim);
  return !indexesAllResults(op, dim);
}

//===----------------------------------------------------------------------===//
// Semantics
//===----------------------------------------------------------------------===//

static bool isDescribable(linalg::LinalgOp op, std::string &why) {
  if (!op.hasPureTensorSemantics()) {
    why = "not on tensors only";
    return false;
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    llvm::SmallBitVector seen(op.getNumLoops());
    for (auto [expr, size] :
         llvm::zip_equal(map.getResults(), op.getShape(&init))) {
      if (isa<AffineConstantExpr>(expr) && size == 1)
        continue;
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || seen.test(dim.getPosition())) {
        why = "a result is not indexed by dims, each once";
        return false;
      }
      seen.set(dim.getPosition());
    }
  }
  return true;
}

/// Sizes of the loops; unknown where no operand that a loop indexes by itself
/// has a known one.
static SmallVector<int64_t> getLoopSizes(linalg::LinalgOp op) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands())
    for (auto [expr, size] :
         llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(),
                         op.getShape(&operand)))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (ShapedType::isDynamic(sizes[dim.getPosition()]))
          sizes[dim.getPosition()] = size;
  return sizes;
}

/// The combiners of each dim that is a reduction whose parts combine; `why`
/// says why others don't.
static SmallVector<Combiners> getCombiners(linalg::LinalgOp op,
                                           std::string &why) {
  SmallVector<Combiners> combiners(op.getNumLoops(), matchCombiners(op));
  if (op.getNumReductionLoops() == 0 || !combiners[0].empty())
    return combiners;
  if (op.getNumDpsInits() == 0) {
    why = "it has no results";
    return combiners;
  }
  std::optional<RegionReduction> reduction = matchRegionReduction(op, why);
  if (!reduction)
    return combiners;
  why = "its parts must follow each other";
  for (auto [dim, ofDim] : llvm::enumerate(combiners))
    if (combinesByRegion(op, dim, *reduction))
      ofDim = {Combiner::Region};
  return combiners;
}

/// Says of the first dim that stays whole why it does, if it could be else: not
/// of one that some result isn't written in parts of.
static void explainWhole(linalg::LinalgOp op, ArrayRef<int64_t> sizes,
                         ArrayRef<Combiners> combiners,
                         const llvm::SmallBitVector &unsplittable,
                         std::string &why) {
  std::string reduces = std::exchange(why, "");
  for (auto [dim, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (sizes[dim] == 1)
      continue;
    bool isReduction = type == utils::IteratorType::reduction;
    if (unsplittable[dim])
      why = ShapedType::isDynamic(sizes[dim])
                ? "a window may not move over all of a dim of unknown size"
                : "an index has more than sums of dims with positive factors";
    else if (isReduction && combiners[dim].empty())
      why = reduces;
    if (!why.empty()) {
      why = ("keeps dim d" + Twine(dim) + " whole: " + why).str();
      return;
    }
  }
}

static void addDims(linalg::LinalgOp op, ArrayRef<int64_t> sizes,
                    ArrayRef<Combiners> combiners, SemanticsBuilder &builder,
                    std::string &why) {
  llvm::SmallBitVector unsplittable(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands())
    markUnsplittable(op, operand, sizes, unsplittable);
  explainWhole(op, sizes, combiners, unsplittable, why);
  for (auto [dim, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (unsplittable[dim] || isUnsplittable(op, dim, combiners[dim]))
      builder.addDim(sizes[dim], DimKind::Unsplittable);
    else if (type == utils::IteratorType::reduction)
      builder.addDim(sizes[dim], DimKind::Reduction, combiners[dim]);
    else
      builder.addDim(sizes[dim]);
  }
}

/// Index of an operand. An expression that can't be rebased reads the whole
/// dim, since the local operation keeps its maps.
static SmallVector<AffineExpr> getIndex(linalg::LinalgOp op, OpOperand &operand,
                                        ArrayRef<int64_t> sizes) {
  SmallVector<AffineExpr> index;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    bool keep = constant ? constant.getValue() == 0
                         : isKnownIndex(op, operand, dim, expr, sizes);
    index.push_back(keep ? expr : AffineExpr());
  }
  return index;
}

/// Where the region combines, every part begins with the initial value.
static void addOperands(linalg::LinalgOp op, ArrayRef<int64_t> sizes,
                        ArrayRef<Combiners> combiners,
                        SemanticsBuilder &builder) {
  bool reduces = op.getNumReductionLoops() > 0 &&
                 !llvm::is_contained(combiners, Combiners{Combiner::Region});
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    SmallVector<AffineExpr> index = getIndex(op, operand, sizes);
    if (!op.isDpsInit(&operand)) {
      builder.addOperand(index);
      continue;
    }
    if (!op.payloadUsesValueFromOperand(&operand))
      builder.addUnread();
    else if (reduces)
      builder.addInit(index, operand.getOperandNumber() - op.getNumDpsInputs());
    else
      builder.addOperand(index);
  }
}

static SemanticsAttr computeLinalg(Operation *operation, std::string &why) {
  auto op = cast<linalg::LinalgOp>(operation);
  if (!isDescribable(op, why))
    return {};
  SemanticsBuilder builder(op.getContext());
  SmallVector<int64_t> sizes = getLoopSizes(op);
  SmallVector<Combiners> combiners = getCombiners(op, why);
  addDims(op, sizes, combiners, builder, why);
  addOperands(op, sizes, combiners, builder);
  SmallVector<Value> tensors = getTensorOperands(op);
  size_t own =
      llvm::count_if(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  std::optional<GatheredDim> gathered = findGatheredDim(op);
  AffineExpr part = gathered ? builder.addDim(gathered->size,
                                              DimKind::Reduction, Combiner::Sum)
                             : AffineExpr();
  for (Value captured : llvm::drop_begin(tensors, own)) {
    SmallVector<AffineExpr> index = getCapturedIndex(op, captured);
    if (gathered && gathered->table == captured)
      index[gathered->dim] = part;
    builder.addOperand(index);
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    builder.addResult(
        llvm::to_vector(op.getMatchingIndexingMap(&init).getResults()));
  for (int64_t set : getLinearOperands(op))
    builder.addLinear(set);
  return builder.build();
}

//===----------------------------------------------------------------------===//
// Local pieces
//===----------------------------------------------------------------------===//

/// Makes linalg.index give global indices: adds the first index of the part.
static void offsetIndices(LocalPiece &piece, Operation *local,
                          ArrayRef<OpFoldResult> offsets) {
  local->walk([&](linalg::IndexOp index) {
    if (index->getParentOp() != local)
      return;
    OpFoldResult offset = offsets[index.getDim()];
    if (isConstantIntValue(offset, 0))
      return;
    OpBuilder builder(index->getContext());
    builder.setInsertionPointAfter(index);
    Value global = arith::AddIOp::create(builder, index.getLoc(), index,
                                         cast<Value>(offset));
    index.getResult().replaceAllUsesExcept(global, global.getDefiningOp());
  });
}

static bool readsIndices(linalg::LinalgOp op) {
  return !op->getRegion(0).front().getOps<linalg::IndexOp>().empty();
}

static FailureOr<SmallVector<Value>> createLocalLinalg(LocalPiece &piece) {
  auto op = cast<linalg::LinalgOp>(piece.op);
  std::optional<GatheredDim> gathered = findGatheredDim(op);
  unsigned numDims = op.getNumLoops() + (gathered ? 1 : 0);
  if (piece.semantics.getDims().size() != numDims)
    return op.emitOpError()
           << "semantics has " << piece.semantics.getDims().size()
           << " dims, operation has " << numDims;
  SmallVector<Value> operands;
  SmallVector<Type> types;
  unsigned tensor = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType())) {
      operands.push_back(piece.mapping.lookupOrDefault(operand.get()));
      continue;
    }
    Value local = piece.operands[tensor++];
    if (!local && !op.isDpsInit(&operand))
      return op.emitOpError() << "operand " << tensor - 1
                              << " is not read by its semantics, but by the "
                                 "operation";
    if (!local)
      local =
          piece.emptyResult(operand.getOperandNumber() - op.getNumDpsInputs());
    operands.push_back(local);
    if (op.isDpsInit(&operand))
      types.push_back(local.getType());
  }
  SmallVector<OpFoldResult> offsets;
  if (readsIndices(op))
    for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
      offsets.push_back(piece.iterationOffset(dim));
  for (OpFoldResult &offset : offsets)
    if (!isConstantIntValue(offset, 0))
      offset =
          getValueOrCreateConstantIndexOp(piece.builder, op.getLoc(), offset);
  Operation *local = cloneLocal(piece, operands, types);
  if (!offsets.empty())
    offsetIndices(piece, local, offsets);
  rebaseExtracts(piece, local, gathered);
  return SmallVector<Value>(local->getResults());
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
template <typename OpTy>
struct LinalgModel
    : public PartitionableOpInterface::ExternalModel<LinalgModel<OpTy>, OpTy> {
  SemanticsAttr computeSemantics(Operation *op, std::string &why) const {
    return computeLinalg(op, why);
  }
  FailureOr<SmallVector<Value>> createLocal(Operation *,
                                            LocalPiece &piece) const {
    return createLocalLinalg(piece);
  }
  FailureOr<SmallVector<Value>> createMerge(Operation *op, OpBuilder &builder,
                                            ValueRange parts) const {
    return createLinalgMerge(builder, cast<linalg::LinalgOp>(op), parts);
  }
};
} // namespace

template <typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<LinalgModel<Ops>>(*context), ...);
}

void mlir::tofu::registerLinalgModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attach<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
  });
}
