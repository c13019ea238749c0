//===- Tiling.cpp - Semantics of operations that can be tiled -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiling.h"

#include "AffineIndex.h"
#include "AttributeSyntax.h"
#include "Tofu/Dialect/Models.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Scratch copies
//===----------------------------------------------------------------------===//

namespace {

/// Where the box of a tile lies along one dim of a tensor: it begins at the sum
/// of `offset` and of `factors` times the first indices of the loops, and is
/// `window` long for a tile of one iteration.
struct TileDim {
  SmallVector<int64_t> factors;
  int64_t offset = 0, window = 0;

  bool operator==(const TileDim &o) const {
    return factors == o.factors && offset == o.offset && window == o.window;
  }
};

/// One entry per dim of a tensor; nothing where the tile has all of it.
using TileBox = SmallVector<std::optional<TileDim>>;

/// What a tile reads and writes.
struct TileBoxes {
  SmallVector<std::optional<TileBox>> operands; ///< nothing: not read
  SmallVector<TileBox> results;
};

/// How the loops of an operation are cut.
struct Cut {
  llvm::SmallBitVector parallel;
  std::optional<unsigned> reduction;

  bool contains(unsigned loop) const {
    return parallel[loop] || loop == reduction;
  }
};

/// A copy of an operation on block arguments, beside one argument for the
/// offset and one for the size of a tile along each loop.
class Scratch {
public:
  explicit Scratch(Operation *op);

  /// Sizes of the loops, if they begin at zero and go in steps of one. Some may
  /// be unknown.
  FailureOr<SmallVector<int64_t>> getRanges();

  /// The dim of result `i`'s partial results that numbers the parts of a loop.
  FailureOr<unsigned> getPartsDim(unsigned i, unsigned loop);

  /// What a tile reads and writes. On failure, `blamed` has the loops that do
  /// not go. To be called once, after `getRanges`.
  FailureOr<TileBoxes> read(const Cut &cut, llvm::SmallBitVector &blamed);

private:
  LogicalResult tile(const Cut &cut);
  std::optional<TileBox> readOperand(Value operand);
  TileBox readSlice(tensor::ExtractSliceOp slice);
  FailureOr<TileBox> readResult(unsigned i, llvm::SmallBitVector &blamed);
  std::optional<TileDim> readDim(OpFoldResult offset, OpFoldResult size,
                                 int64_t bound);
  bool hasUnknownLoop(const TileDim &dim) const;
  std::optional<unsigned> getUnknownLoop(const TileDim &dim) const;
  bool isAsLarge(unsigned loop, Value tensor, unsigned dim,
                 ArrayRef<TileBox> results) const;
  void dropUnknownDims(TileBoxes &boxes) const;
  FailureOr<search::LinearExpr> toLinearExpr(AffineExpr expr);
  /// The expression of an offset or size of a loop; null for other values.
  AffineExpr getBound(Value value);
  SmallVector<AffineExpr> getBounds(OpFoldResult size);
  llvm::SmallBitVector getLoops(OpFoldResult value);
  unsigned numLoops() { return ranges.size(); }

  OwningOpRef<ModuleOp> module;
  OpBuilder builder;
  Operation *copy;
  SmallVector<Value> tensors; ///< in the order of the operation's semantics
  SmallVector<int64_t> ranges;
  SmallVector<OpFoldResult> rangeSizes; ///< values where they are unknown
  /// Offsets, then sizes, of the loops.
  SmallVector<Value> bounds;
  SmallVector<OpFoldResult> offsets, sizes;
};

} // namespace

/// True for what a scratch copy has a copy of, so that it stays known.
static bool isScalarConstant(Value value) {
  return matchPattern(value, m_Constant()) && !isa<ShapedType>(value.getType());
}

Scratch::Scratch(Operation *op)
    : module(ModuleOp::create(op->getLoc())), builder(module->getBodyRegion()) {
  Block *body = module->getBody();
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  IRMapping mapping;
  auto add = [&](Value value) -> Value {
    if (isScalarConstant(value))
      return builder.clone(*value.getDefiningOp())
          ->getResult(cast<OpResult>(value).getResultNumber());
    Value argument = body->addArgument(value.getType(), op->getLoc());
    if (isa<RankedTensorType>(value.getType()))
      tensors.push_back(argument);
    return argument;
  };
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), add);
  for (Value value : captured)
    mapping.map(value, add(value));
  copy = builder.clone(*op, mapping);
  copy->setOperands(operands);
}

FailureOr<SmallVector<int64_t>> Scratch::getRanges() {
  builder.setInsertionPoint(copy);
  auto tiling = cast<TilingInterface>(copy);
  SmallVector<Range> domain = tiling.getIterationDomain(builder);
  for (Range range : domain) {
    if (!isConstantIntValue(range.offset, 0) ||
        !isConstantIntValue(range.stride, 1))
      return failure();
    ranges.push_back(
        getConstantIntValue(range.size).value_or(ShapedType::kDynamic));
    rangeSizes.push_back(range.size);
  }
  if (tiling.getLoopIteratorTypes().size() != ranges.size())
    return failure();
  for (unsigned i = 0; i < 2 * ranges.size(); ++i)
    bounds.push_back(
        module->getBody()->addArgument(builder.getIndexType(), copy->getLoc()));
  return ranges;
}

//===----------------------------------------------------------------------===//
// Expressions: the offset of loop i is dim i, its size dim numLoops + i
//===----------------------------------------------------------------------===//

AffineExpr Scratch::getBound(Value value) {
  auto *bound = llvm::find(bounds, value);
  return bound == bounds.end()
             ? AffineExpr()
             : builder.getAffineDimExpr(bound - bounds.begin());
}

FailureOr<search::LinearExpr> Scratch::toLinearExpr(AffineExpr expr) {
  if (!expr)
    return failure();
  SmallVector<int64_t> most(ranges);
  most.append(ranges);
  auto linear = toLinear(expr, most);
  if (failed(linear))
    return failure();
  return linear->front();
}

/// The expressions of which `size` is the least; nothing if one is unknown.
SmallVector<AffineExpr> Scratch::getBounds(OpFoldResult size) {
  MLIRContext *context = builder.getContext();
  auto leaf = [&](Value value) { return getBound(value); };
  SmallVector<AffineExpr> exprs;
  Operation *def =
      isa<Value>(size) ? cast<Value>(size).getDefiningOp() : nullptr;
  if (auto min = dyn_cast_or_null<affine::AffineMinOp>(def))
    for (AffineExpr expr : min.getMap().getResults())
      exprs.push_back(toAffine(expr, min.getMap(), min.getOperands(), leaf));
  else if (auto min = dyn_cast_or_null<arith::MinSIOp>(def))
    exprs = {toAffine(min.getLhs(), context, leaf),
             toAffine(min.getRhs(), context, leaf)};
  else
    exprs = {toAffine(size, context, leaf)};
  return llvm::is_contained(exprs, AffineExpr()) ? SmallVector<AffineExpr>()
                                                 : exprs;
}

/// A box that begins at `offset` and has `size` indices of a dim of `bound`;
/// nothing if that is not affine in the tile. A box that would go beyond the
/// dim may be cut off there.
std::optional<TileDim> Scratch::readDim(OpFoldResult offset, OpFoldResult size,
                                        int64_t bound) {
  AffineExpr first = toAffine(offset, builder.getContext(),
                              [&](Value value) { return getBound(value); });
  FailureOr<search::LinearExpr> begin = toLinearExpr(first);
  if (failed(begin))
    return std::nullopt;
  SmallVector<AffineExpr> exprs = getBounds(size);
  llvm::erase_if(exprs, [&](AffineExpr expr) {
    return exprs.size() > 1 &&
           simplifyAffineExpr(expr + first, bounds.size(), 0) == bound;
  });
  if (exprs.size() != 1)
    return std::nullopt;
  FailureOr<search::LinearExpr> extent = toLinearExpr(exprs.front());
  if (failed(extent))
    return std::nullopt;
  TileDim result;
  result.factors.assign(numLoops(), 0);
  result.offset = begin->constant;
  result.window = extent->constant;
  for (search::LinearExpr::Term term : begin->terms) {
    if (term.dim >= numLoops() || term.coefficient < 0)
      return std::nullopt;
    result.factors[term.dim] = term.coefficient;
    result.window += term.coefficient;
  }
  // A tile of n iterations spans n - 1 steps and the window.
  SmallVector<int64_t> spans(numLoops(), 0);
  for (search::LinearExpr::Term term : extent->terms) {
    if (term.dim < numLoops())
      return std::nullopt;
    spans[term.dim - numLoops()] = term.coefficient;
  }
  if (spans != result.factors || result.window < 1)
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Has the interface make a tile before the copy.
LogicalResult Scratch::tile(const Cut &cut) {
  builder.setInsertionPoint(copy);
  for (auto [i, range] : llvm::enumerate(rangeSizes)) {
    bool isCut = cut.contains(i);
    offsets.push_back(isCut ? OpFoldResult(bounds[i])
                            : builder.getIndexAttr(0));
    sizes.push_back(isCut ? OpFoldResult(bounds[numLoops() + i]) : range);
  }
  if (!cut.reduction)
    return cast<TilingInterface>(copy).getTiledImplementation(builder, offsets,
                                                              sizes);
  FailureOr<SmallVector<Value>> init =
      createPartialInit(builder, copy, *cut.reduction, rangeSizes);
  if (failed(init))
    return failure();
  return tilePartially(builder, copy, *cut.reduction, *init, offsets, sizes);
}

/// It is told by its offset, the number of the part.
FailureOr<unsigned> Scratch::getPartsDim(unsigned i, unsigned loop) {
  builder.setInsertionPoint(copy);
  llvm::SetVector<unsigned> dims;
  dims.insert(loop);
  SmallVector<OpFoldResult> zeros(numLoops(), builder.getIndexAttr(0)), first,
      count;
  OpFoldResult number = bounds.front();
  if (failed(
          cast<PartialReductionOpInterface>(copy).getPartialResultTilePosition(
              builder, i,
              ReductionTilingStrategy::PartialReductionOuterParallel, zeros,
              rangeSizes, dims, number, first, count)))
    return failure();
  auto *it = llvm::find(first, number);
  int64_t rank = cast<RankedTensorType>(copy->getResult(i).getType()).getRank();
  if (it == first.end() || int64_t(first.size()) != rank + 1)
    return failure();
  return it - first.begin();
}

TileBox Scratch::readSlice(tensor::ExtractSliceOp slice) {
  TileBox box;
  for (auto [offset, size, stride, bound] : llvm::zip_equal(
           slice.getMixedOffsets(), slice.getMixedSizes(),
           slice.getMixedStrides(), slice.getSourceType().getShape())) {
    std::optional<TileDim> dim;
    if (isConstantIntValue(stride, 1))
      dim = readDim(offset, size, bound);
    // What does not depend on the tile is no reason to have less.
    if (dim && llvm::all_of(dim->factors, [](int64_t f) { return f == 0; }))
      dim = std::nullopt;
    box.push_back(dim);
  }
  return box;
}

/// The box of the slices that the tile takes of an operand, whole where they
/// are not alike or not known.
std::optional<TileBox> Scratch::readOperand(Value operand) {
  std::optional<TileBox> box;
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  for (Operation *user : operand.getUsers()) {
    if (copy->isAncestor(user) || isa<tensor::DimOp>(user))
      continue;
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice)
      return TileBox(rank);
    TileBox read = readSlice(slice);
    if (!box)
      box = read;
    for (auto [dim, other] : llvm::zip_equal(*box, read))
      if (!(dim == other))
        dim = std::nullopt;
  }
  return box;
}

/// The loops that `value` depends on.
llvm::SmallBitVector Scratch::getLoops(OpFoldResult value) {
  llvm::SmallBitVector loops(numLoops());
  if (isa<Attribute>(value))
    return loops;
  SmallVector<Value> todo = {cast<Value>(value)};
  DenseSet<Value> seen;
  while (!todo.empty()) {
    Value next = todo.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    auto *bound = llvm::find(bounds, next);
    if (bound != bounds.end())
      loops.set((bound - bounds.begin()) % numLoops());
    else if (Operation *def = next.getDefiningOp())
      llvm::append_range(todo, def->getOperands());
  }
  return loops;
}

/// True if the boxes of the tiles along one loop are disjoint, and together all
/// of a dim of `bound` indices. All tiles together are all of a result.
static bool tilesDim(const TileDim &dim, ArrayRef<int64_t> ranges,
                     int64_t bound) {
  unsigned numFactors = 0;
  int64_t end = dim.offset;
  for (auto [factor, range] : llvm::zip_equal(dim.factors, ranges)) {
    numFactors += factor != 0;
    end += ShapedType::isDynamic(range) ? 0 : factor * range;
  }
  return numFactors == 1 && dim.offset == 0 &&
         (ShapedType::isDynamic(bound) || end >= bound) &&
         llvm::is_contained(dim.factors, dim.window);
}

//===----------------------------------------------------------------------===//
// Loops of unknown size
//===----------------------------------------------------------------------===//

bool Scratch::hasUnknownLoop(const TileDim &dim) const {
  return llvm::any_of(llvm::zip_equal(dim.factors, ranges), [](auto pair) {
    auto [factor, range] = pair;
    return factor && ShapedType::isDynamic(range);
  });
}

/// The loop of unknown size that indexes a dim by itself.
std::optional<unsigned> Scratch::getUnknownLoop(const TileDim &dim) const {
  if (dim.offset != 0 || dim.window != 1)
    return std::nullopt;
  std::optional<unsigned> found;
  for (auto [loop, factor] : llvm::enumerate(dim.factors)) {
    if (factor == 0)
      continue;
    if (found || factor != 1 || !ShapedType::isDynamic(ranges[loop]))
      return std::nullopt;
    found = loop;
  }
  return found;
}

/// True if dim `dim` of `tensor`, which a loop indexes, is as large as the
/// loop: the interface has the loop's size from there, or it is the destination
/// of a result, the tiles of which it has.
bool Scratch::isAsLarge(unsigned loop, Value tensor, unsigned dim,
                        ArrayRef<TileBox> results) const {
  auto size = dyn_cast<Value>(rangeSizes[loop]);
  auto read = size ? size.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  if (read && read.getSource() == tensor &&
      read.getConstantIndex() == int64_t(dim))
    return true;
  auto destination = dyn_cast<DestinationStyleOpInterface>(copy);
  for (OpOperand &operand : copy->getOpOperands())
    if (destination && operand.get() == tensor &&
        destination.isDpsInit(&operand)) {
      const std::optional<TileDim> &tile =
          results[destination.getTiedOpResult(&operand).getResultNumber()][dim];
      return tile && getUnknownLoop(*tile) == loop;
    }
  return false;
}

/// Takes as whole the dims of operands that a loop of unknown size indexes,
/// unless it does so by itself, from the first to the last index.
void Scratch::dropUnknownDims(TileBoxes &boxes) const {
  for (auto [tensor, box] : llvm::zip_equal(tensors, boxes.operands)) {
    if (!box)
      continue;
    for (auto [i, dim] : llvm::enumerate(*box)) {
      if (!dim || !hasUnknownLoop(*dim))
        continue;
      std::optional<unsigned> loop = getUnknownLoop(*dim);
      bool isDynamic = cast<RankedTensorType>(tensor.getType()).isDynamicDim(i);
      if (!loop || !isDynamic || !isAsLarge(*loop, tensor, i, boxes.results))
        dim = std::nullopt;
    }
  }
}

FailureOr<TileBox> Scratch::readResult(unsigned i,
                                       llvm::SmallBitVector &blamed) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(copy->getResult(i).getType()).getShape();
  SmallVector<OpFoldResult> first, count;
  if (failed(cast<TilingInterface>(copy).getResultTilePosition(
          builder, i, offsets, sizes, first, count)) ||
      first.size() != shape.size() || count.size() != shape.size())
    return failure();
  TileBox box;
  for (auto [offset, size, bound] : llvm::zip_equal(first, count, shape)) {
    llvm::SmallBitVector loops = getLoops(offset);
    loops |= getLoops(size);
    std::optional<TileDim> dim;
    if (loops.any()) {
      dim = readDim(offset, size, bound);
      bool isUnknown = dim && hasUnknownLoop(*dim);
      if (!dim || !tilesDim(*dim, ranges, bound) ||
          (isUnknown && !getUnknownLoop(*dim)))
        blamed |= loops;
    } else if (!isConstantIntValue(offset, 0) ||
               (!ShapedType::isDynamic(bound) &&
                getConstantIntValue(size).value_or(bound) != bound)) {
      return failure();
    }
    box.push_back(dim);
  }
  return box;
}

FailureOr<TileBoxes> Scratch::read(const Cut &cut,
                                   llvm::SmallBitVector &blamed) {
  // What the interface says of a copy is nothing to the user.
  ScopedDiagnosticHandler silence(copy->getContext(),
                                  [](Diagnostic &) { return success(); });
  if (failed(tile(cut)))
    return failure();
  TileBoxes boxes;
  for (Value tensor : tensors)
    boxes.operands.push_back(readOperand(tensor));
  for (unsigned i = 0; i < copy->getNumResults(); ++i) {
    FailureOr<TileBox> box = readResult(i, blamed);
    if (failed(box))
      return failure();
    boxes.results.push_back(*box);
  }
  // A part of a loop is a part of every result.
  for (unsigned loop : cut.parallel.set_bits())
    for (const TileBox &box : boxes.results)
      if (llvm::none_of(box, [&](const std::optional<TileDim> &dim) {
            return dim && dim->factors[loop];
          }))
        blamed.set(loop);
  if (blamed.any())
    return failure();
  dropUnknownDims(boxes);
  return boxes;
}

/// What a tile of `op` reads and writes that is cut along `cut`.
static FailureOr<TileBoxes> readTile(Operation *op, const Cut &cut,
                                     llvm::SmallBitVector &blamed) {
  Scratch scratch(op);
  if (failed(scratch.getRanges()))
    return failure();
  return scratch.read(cut, blamed);
}

/// Takes loops off `cut` until it can be read.
static FailureOr<TileBoxes> readLargestTile(Operation *op, Cut &cut) {
  while (true) {
    llvm::SmallBitVector blamed(cut.parallel.size());
    FailureOr<TileBoxes> boxes = readTile(op, cut, blamed);
    if (succeeded(boxes))
      return boxes;
    blamed &= cut.parallel;
    // The interface does not say which loop it can't tile.
    if (blamed.none())
      for (unsigned loop : cut.parallel.set_bits()) {
        Cut alone{llvm::SmallBitVector(cut.parallel.size()), {}};
        alone.parallel.set(loop);
        llvm::SmallBitVector ignored(cut.parallel.size());
        if (failed(readTile(op, alone, ignored)))
          blamed.set(loop);
      }
    if (blamed.none())
      return failure();
    cut.parallel.reset(blamed);
  }
}

//===----------------------------------------------------------------------===//
// Semantics
//===----------------------------------------------------------------------===//

static bool isPlainDim(const std::optional<TileDim> &dim) {
  return !dim || (dim->offset == 0 && dim->window == 1);
}

/// True if some operand has a dim of which a loop takes one index after the
/// other: that is then as large as the loop.
static bool indexesByItself(const TileBoxes &boxes, unsigned loop) {
  auto isIndexed = [&](const std::optional<TileDim> &dim) {
    return dim && dim->offset == 0 && dim->window == 1 &&
           dim->factors[loop] == 1 &&
           llvm::count(dim->factors, 0) + 1 == int64_t(dim->factors.size());
  };
  return llvm::any_of(boxes.operands, [&](const std::optional<TileBox> &box) {
    return box && llvm::any_of(*box, isIndexed);
  });
}

/// Adds a loop that makes partial results to `cut`, if there is one that the
/// interface can cut; what a tile reads then.
static std::optional<TileBoxes> addReduction(Operation *op,
                                             ArrayRef<int64_t> ranges,
                                             const TileBoxes &whole, Cut &cut) {
  auto partial = dyn_cast<PartialReductionOpInterface>(op);
  bool isPlain = llvm::all_of(whole.results, [](const TileBox &box) {
    return llvm::all_of(box, isPlainDim);
  });
  if (!partial || !isPlain)
    return std::nullopt;
  SmallVector<utils::IteratorType> kinds = partial.getLoopIteratorTypes();
  for (auto [loop, kind] : llvm::enumerate(kinds)) {
    bool isUnknown = ShapedType::isDynamic(ranges[loop]);
    if (kind != utils::IteratorType::reduction ||
        (!isUnknown && ranges[loop] < 2))
      continue;
    Cut with{cut.parallel, loop};
    llvm::SmallBitVector blamed(ranges.size());
    FailureOr<TileBoxes> boxes = readTile(op, with, blamed);
    if (failed(boxes) || failed(getPartsDim(partial, 0, loop)) ||
        (isUnknown && !indexesByItself(*boxes, loop)))
      continue;
    cut = with;
    return *boxes;
  }
  return std::nullopt;
}

static SmallVector<AffineExpr>
toIndex(const TileBox &box, SemanticsBuilder &builder, MLIRContext *context) {
  SmallVector<AffineExpr> index;
  for (const std::optional<TileDim> &dim : box) {
    if (!dim) {
      index.push_back({});
      continue;
    }
    AffineExpr expr = getAffineConstantExpr(dim->offset, context);
    for (auto [loop, factor] : llvm::enumerate(dim->factors))
      expr = expr + getAffineDimExpr(loop, context) * factor;
    if (dim->window > 1)
      expr = expr + builder.addDim(dim->window, DimKind::Unsplittable);
    index.push_back(expr);
  }
  return index;
}

/// The result of which tensor operand `i` is the initial value; nothing if it
/// is none.
static std::optional<unsigned> getInitOf(Operation *op, unsigned i) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  unsigned tensor = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    if (tensor++ == i && destination && destination.isDpsInit(&operand))
      return destination.getTiedOpResult(&operand).getResultNumber();
  }
  return std::nullopt;
}

static SemanticsAttr build(Operation *op, ArrayRef<int64_t> ranges,
                           const Cut &cut, const TileBoxes &whole,
                           const TileBoxes &parts) {
  MLIRContext *context = op->getContext();
  SemanticsBuilder builder(context);
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    if (loop == cut.reduction)
      builder.addDim(range, DimKind::Reduction, Combiner::Region);
    else
      builder.addDim(range, cut.parallel[loop] ? DimKind::Parallel
                                               : DimKind::Unsplittable);
  }
  for (unsigned i = 0; i < whole.operands.size(); ++i) {
    std::optional<unsigned> initOf =
        cut.reduction ? getInitOf(op, i) : std::nullopt;
    const auto &box = initOf ? whole.operands[i] : parts.operands[i];
    if (!box)
      builder.addUnread();
    else if (initOf)
      builder.addInit(toIndex(*box, builder, context), *initOf);
    else
      builder.addOperand(toIndex(*box, builder, context));
  }
  for (const TileBox &box : whole.results)
    builder.addResult(toIndex(box, builder, context));
  return builder.build();
}

SemanticsAttr mlir::tofu::computeTilingSemantics(TilingInterface op,
                                                 std::string &why) {
  if (op->getNumResults() == 0 ||
      !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>)) {
    why = "not on tensors only";
    return {};
  }
  FailureOr<SmallVector<int64_t>> ranges = Scratch(op).getRanges();
  if (failed(ranges)) {
    why = "its loops don't begin at zero and go in steps of one";
    return {};
  }
  auto isLong = [&](unsigned loop) {
    return (*ranges)[loop] > 1 || ShapedType::isDynamic((*ranges)[loop]);
  };
  Cut cut{llvm::SmallBitVector(ranges->size()), {}};
  SmallVector<utils::IteratorType> kinds = op.getLoopIteratorTypes();
  for (auto [loop, kind] : llvm::enumerate(kinds))
    if (kind == utils::IteratorType::parallel && isLong(loop))
      cut.parallel.set(loop);
  FailureOr<TileBoxes> whole = readLargestTile(op, cut);
  if (failed(whole)) {
    why = "its tiles are not known";
    return {};
  }
  for (auto [loop, kind] : llvm::enumerate(kinds))
    if (why.empty() && kind == utils::IteratorType::parallel && isLong(loop) &&
        !cut.parallel[loop])
      why = ("keeps dim d" + Twine(loop) +
             " whole: its tiles are not affine, or no tiles of a result")
                .str();
  std::optional<TileBoxes> parts = addReduction(op, *ranges, *whole, cut);
  return build(op, *ranges, cut, *whole, parts ? *parts : *whole);
}

FailureOr<unsigned> mlir::tofu::getPartsDim(PartialReductionOpInterface op,
                                            unsigned i, unsigned loop) {
  Scratch scratch(op);
  if (failed(scratch.getRanges()))
    return failure();
  return scratch.getPartsDim(i, loop);
}
