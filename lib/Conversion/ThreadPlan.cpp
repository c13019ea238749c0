//===- ThreadPlan.cpp - Which thread does what ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPlan.h"

#include "GuardAssertions.h"
#include "RuntimeCalls.h"
#include "Tofu/Conversion/RuntimeTypes.h"
#include "Tofu/Dialect/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::tofu;

/// True if different values of loop `dim` give different indices.
static bool isInjective(AffineExpr expr, unsigned dim) {
  if (auto position = dyn_cast<AffineDimExpr>(expr))
    return position.getPosition() == dim;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool keeps = binary.getKind() == AffineExprKind::Add ||
               (binary.getKind() == AffineExprKind::Mul && constant &&
                constant.getValue() != 0);
  return constant && keeps && isInjective(binary.getLHS(), dim);
}

/// True if no two iterations of the loop write the same element of an output.
static bool isGridLoop(linalg::LinalgOp op, unsigned loop) {
  if (op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel)
    return false;
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return llvm::any_of(
        op.getMatchingIndexingMap(&init).getResults(),
        [&](AffineExpr expr) { return isInjective(expr, loop); });
  });
}

/// What it costs that neighbouring threads differ in `loop`: accesses that
/// aren't to neighbouring elements.
static int64_t getNeighbourCost(linalg::LinalgOp op, unsigned loop) {
  constexpr int64_t kStrided = 8;
  int64_t cost = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    int64_t stride = getLoopStrides(op, &operand)[loop];
    cost += stride == 0 ? 0 : stride == 1 ? 1 : kStrided;
  }
  return cost;
}

/// The loop that neighbouring threads should differ in, if there is one.
static std::optional<unsigned> chooseNeighbours(linalg::LinalgOp op,
                                                ArrayRef<unsigned> loops) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  std::optional<unsigned> best;
  for (unsigned loop : loops)
    if (sizes[loop] != 1 &&
        (!best || getNeighbourCost(op, loop) <= getNeighbourCost(op, *best)))
      best = loop;
  return best;
}

/// Moves `last` to the end, and loops of one iteration to the front.
static void arrange(linalg::LinalgOp op, SmallVectorImpl<unsigned> &loops,
                    std::optional<unsigned> last) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto rank = [&](unsigned loop) {
    return loop == last ? 2 : sizes[loop] == 1 ? 0 : 1;
  };
  llvm::stable_sort(loops,
                    [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
}

std::optional<int64_t> tofu::getKnownProduct(linalg::LinalgOp op,
                                             ArrayRef<unsigned> loops) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t product = 1;
  for (unsigned loop : loops)
    if (ShapedType::isDynamic(sizes[loop]) ||
        llvm::MulOverflow(product, sizes[loop], product))
      return std::nullopt;
  return product;
}

void tofu::arrangeForNeighbours(linalg::LinalgOp op,
                                SmallVectorImpl<unsigned> &loops) {
  arrange(op, loops, chooseNeighbours(op, loops));
}

/// What an assertion guards is combined only if it holds.
bool tofu::canShareReductions(linalg::LinalgOp op, bool reassociate) {
  if (!Assertions(op).empty())
    return false;
  return llvm::all_of(getFreeCombiners(op), [&](Operation *combiner) {
    return combiner &&
           (reassociate || !isa<arith::AddFOp, arith::MulFOp>(combiner)) &&
           getNeutral(combiner->getResult(0).getType(), getCombiner(combiner));
  });
}

/// How many blocks should share the reductions of an element: where elements
/// are few, as many as keep all of a device busy and have enough to do.
static int64_t chooseBlocksPerElement(linalg::LinalgOp op,
                                      ArrayRef<unsigned> grid,
                                      ArrayRef<unsigned> reductions,
                                      int64_t threadsPerElement) {
  // What a thread must have to do to be worth another kernel.
  constexpr int64_t kWorthIt = 256, kLeastShare = 16, kMost = kBlockSize;
  std::optional<int64_t> elements = getKnownProduct(op, grid);
  std::optional<int64_t> length = getKnownProduct(op, reductions);
  // Booleans are not stored as they are.
  bool areStored =
      llvm::none_of(op.getRegionOutputArgs(), [](BlockArgument arg) {
        return arg.getType().isInteger(1);
      });
  if (threadsPerElement == 1 || !elements || *elements == 0 || !length ||
      *length < kWorthIt * threadsPerElement || !areStored)
    return 1;
  int64_t blocks = 1;
  while (blocks < kMost &&
         2 * blocks * *elements * threadsPerElement <= kManyElements &&
         2 * blocks * threadsPerElement * kLeastShare <= *length)
    blocks *= 2;
  return blocks;
}

int64_t tofu::chooseSharers(std::optional<int64_t> reductions,
                            std::optional<int64_t> length, bool areNeighbours) {
  // What a sharing thread should have at least.
  constexpr int64_t kLeastShare = 4;
  int64_t threads = kBlockSize;
  if (!areNeighbours) {
    constexpr int64_t kSharers = 8;
    threads = reductions && *reductions >= kManyElements ? 1 : kSharers;
  }
  while (length && threads > 1 && *length < kLeastShare * threads)
    threads /= 2;
  return threads;
}

/// Lets several threads share the reductions of an element if they are long.
static void shareReductions(linalg::LinalgOp op, ArrayRef<unsigned> grid,
                            ArrayRef<unsigned> reductions, ThreadPlan &plan) {
  std::optional<unsigned> outer = chooseNeighbours(op, grid);
  std::optional<unsigned> inner = chooseNeighbours(op, reductions);
  plan.sharersAreNeighbours =
      inner &&
      (!outer || getNeighbourCost(op, *inner) < getNeighbourCost(op, *outer));
  int64_t threads =
      chooseSharers(getKnownProduct(op, grid), getKnownProduct(op, reductions),
                    plan.sharersAreNeighbours);
  plan.threadsPerElement = threads;
  plan.blocksPerElement = chooseBlocksPerElement(op, grid, reductions, threads);
}

/// Whether neighbours along `group` are next to each other in `operand`, and
/// each `width` of them begin at a multiple of their size; as far as is known,
/// if the rest is checked.
static bool isAligned(linalg::LinalgOp op, OpOperand &operand,
                      ArrayRef<unsigned> group, int64_t width, bool isChecked) {
  auto type = cast<MemRefType>(operand.get().getType());
  auto isMultiple = [&](int64_t number) {
    return ShapedType::isDynamic(number) ? isChecked : number % width == 0;
  };
  SmallVector<int64_t> memoryStrides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(memoryStrides, offset)) ||
      !isMultiple(offset))
    return false;
  SmallVector<int64_t> origin(op.getNumLoops(), 0);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (llvm::any_of(map.compose(origin), [](int64_t i) { return i != 0; }))
    return false;
  Strides strides = getLoopStrides(op, &operand);
  return llvm::all_of(llvm::enumerate(strides), [&](auto loop) {
    return llvm::is_contained(group, loop.index()) || isMultiple(loop.value());
  });
}

/// The product of the sizes of `loops` that are known, which divides that of
/// all.
static int64_t getKnownFactor(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t factor = 1;
  for (unsigned loop : loops)
    if (ShapedType::isStatic(sizes[loop]) &&
        llvm::MulOverflow(factor, sizes[loop], factor))
      return 1;
  return factor;
}

/// Operands that have neighbours along `group` next to each other.
static SmallVector<OpOperand *> getAccessed(linalg::LinalgOp op,
                                            ArrayRef<unsigned> group) {
  SmallVector<OpOperand *> accessed;
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MemRefType>(operand.get().getType()) &&
        getLoopStrides(op, &operand)[group.back()] != 0)
      accessed.push_back(&operand);
  return accessed;
}

int64_t tofu::chooseWidth(linalg::LinalgOp op, ArrayRef<unsigned> group,
                          bool isChecked) {
  constexpr int64_t kAccessBytes = 16, kMost = 8;
  int64_t most = 0;
  SmallVector<OpOperand *> accessed = getAccessed(op, group);
  for (OpOperand *operand : accessed) {
    Type element = getElementTypeOrSelf(operand->get());
    // Others have sizes that are no powers of two.
    if (getLoopStrides(op, operand)[group.back()] != 1 ||
        !getRuntimeType(element))
      return 1;
    most = std::max(most, getElementBytes(element));
  }
  if (most == 0)
    return 1;
  bool isKnown = getKnownProduct(op, group).has_value();
  int64_t factor = getKnownFactor(op, group);
  int64_t width = std::min(kAccessBytes / most, kMost);
  auto fits = [&](OpOperand *operand) {
    return isAligned(op, *operand, group, width, isChecked);
  };
  auto divides = [&] { return factor % width == 0 || (isChecked && !isKnown); };
  while (width > 1 && (!divides() || !llvm::all_of(accessed, fits)))
    width /= 2;
  return std::max<int64_t>(width, 1);
}

static SmallVector<unsigned> getAllLoops(linalg::LinalgOp op) {
  return llvm::to_vector(llvm::seq(0u, op.getNumLoops()));
}

/// Sets how many neighbours a thread should have: those that are accessed
/// together, where there are enough for all threads of a device, or where it
/// isn't known how many there are.
static void chooseElementsPerThread(linalg::LinalgOp op, ThreadPlan &plan) {
  if (plan.nest.groups.empty() || !Assertions(op).empty())
    return;
  ArrayRef<unsigned> group = plan.nest.groups.back();
  int64_t width = chooseWidth(op, group);
  if (width == 1) {
    width = chooseWidth(op, group, /*isChecked=*/true);
    plan.isChecked = width > 1;
  }
  std::optional<int64_t> all = getKnownProduct(op, getAllLoops(op));
  if (all && *all / width < kManyElements) {
    plan.isChecked = false;
    return;
  }
  plan.elementsPerThread = width;
}

//===----------------------------------------------------------------------===//
// Neighbours that only the launch knows of
//===----------------------------------------------------------------------===//

namespace {

/// Where an operand's memory begins and how it is laid out.
struct Metadata {
  Metadata(OpBuilder &builder, Location loc, Value memory)
      : op(memref::ExtractStridedMetadataOp::create(builder, loc, memory)),
        offset(op.getConstifiedMixedOffset()),
        sizes(op.getConstifiedMixedSizes()),
        strides(op.getConstifiedMixedStrides()) {}

  memref::ExtractStridedMetadataOp op;
  OpFoldResult offset;
  SmallVector<OpFoldResult> sizes, strides;
};

} // namespace

/// The dims of the operand that loops outside of `group` go along.
static SmallVector<unsigned> getOtherDims(linalg::LinalgOp op,
                                          OpOperand &operand,
                                          ArrayRef<unsigned> group) {
  SmallVector<unsigned> dims;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (llvm::any_of(getAllLoops(op), [&, expr = expr](unsigned loop) {
          return expr.isFunctionOfDim(loop) && !llvm::is_contained(group, loop);
        }))
      dims.push_back(dim);
  return dims;
}

/// True if the type doesn't say all that matters for accesses together.
static bool hasUnknowns(linalg::LinalgOp op, OpOperand &operand,
                        ArrayRef<unsigned> group) {
  auto type = cast<MemRefType>(operand.get().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return true;
  return ShapedType::isDynamic(offset) ||
         llvm::any_of(getOtherDims(op, operand, group), [&](unsigned dim) {
           return ShapedType::isDynamic(strides[dim]);
         });
}

Value tofu::createNeighbourCheck(OpBuilder &builder, linalg::LinalgOp op,
                                 ArrayRef<unsigned> group, int64_t width,
                                 ArrayRef<OpFoldResult> sizes) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto multiply = [&](ArrayRef<unsigned> loops) {
    Value product = constant(1);
    for (unsigned loop : loops)
      product = builder.createOrFold<arith::MulIOp>(
          loc, product,
          getValueOrCreateConstantIndexOp(builder, loc, sizes[loop]));
    return product;
  };
  // All of them are multiples if no bit below the width is set in any.
  Value bits = multiply(group);
  auto add = [&](OpFoldResult number) {
    if (auto value = dyn_cast<Value>(number))
      bits = arith::OrIOp::create(builder, loc, bits, value);
  };
  for (OpOperand *operand : getAccessed(op, group)) {
    if (!hasUnknowns(op, *operand, group))
      continue;
    Metadata metadata(builder, loc, operand->get());
    add(metadata.offset);
    for (unsigned dim : getOtherDims(op, *operand, group))
      add(metadata.strides[dim]);
  }
  Value rest = arith::AndIOp::create(builder, loc, bits, constant(width - 1));
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     rest, constant(0));
  Value areMany = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                        multiply(getAllLoops(op)),
                                        constant(width * kManyElements));
  return arith::AndIOp::create(builder, loc, fits, areMany);
}

OpFoldResult tofu::roundDown(OpBuilder &builder, Location loc,
                             OpFoldResult value, int64_t factor) {
  if (getConstantIntValue(value))
    return value;
  Value mask = arith::ConstantIndexOp::create(builder, loc, -factor);
  return arith::AndIOp::create(builder, loc, cast<Value>(value), mask)
      .getResult();
}

void tofu::assumeNeighbours(OpBuilder &builder, linalg::LinalgOp op,
                            ArrayRef<unsigned> group, int64_t width) {
  Location loc = op.getLoc();
  for (OpOperand *operand : getAccessed(op, group)) {
    if (!hasUnknowns(op, *operand, group))
      continue;
    Metadata metadata(builder, loc, operand->get());
    for (unsigned dim : getOtherDims(op, *operand, group))
      metadata.strides[dim] =
          roundDown(builder, loc, metadata.strides[dim], width);
    // LLVM keeps what it is told of arguments, but not of sums with them.
    int64_t bytes =
        width * getElementBytes(getElementTypeOrSelf(operand->get()));
    Value begin = memref::ReinterpretCastOp::create(
        builder, loc, operand->get(), builder.getIndexAttr(0), metadata.sizes,
        metadata.strides);
    operand->set(memref::ReinterpretCastOp::create(
        builder, loc,
        memref::AssumeAlignmentOp::create(builder, loc, begin, bytes),
        roundDown(builder, loc, metadata.offset, width), metadata.sizes,
        metadata.strides));
  }
}

void tofu::assumeAlignment(OpBuilder &builder, linalg::LinalgOp op,
                           unsigned loop, int64_t width) {
  llvm::SmallDenseMap<Value, Value> assumed;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || getLoopStrides(op, &operand)[loop] == 0)
      continue;
    Value &known = assumed[operand.get()];
    if (!known)
      known = memref::AssumeAlignmentOp::create(
          builder, op.getLoc(), operand.get(),
          width * getElementBytes(type.getElementType()));
    operand.set(known);
  }
}

ThreadPlan tofu::planThreads(linalg::LinalgOp op, bool reassociate) {
  SmallVector<unsigned> grid, inner;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    (isGridLoop(op, loop) ? grid : inner).push_back(loop);
  arrangeForNeighbours(op, grid);

  ThreadPlan plan;
  unsigned numAccumulating = countAccumulatingLoops(op, inner);
  if (!inner.empty() && numAccumulating == inner.size() &&
      canShareReductions(op, reassociate)) {
    arrangeForNeighbours(op, inner);
    shareReductions(op, grid, inner, plan);
  }
  ArrayRef<unsigned> outside = ArrayRef(inner).drop_back(numAccumulating);
  ArrayRef<unsigned> accumulating = ArrayRef(inner).take_back(numAccumulating);
  plan.nest.groups = collapseLoops(op, grid);
  plan.numGridGroups = plan.nest.groups.size();
  llvm::append_range(plan.nest.groups, collapseLoops(op, outside));
  auto last = collapseLoops(op, accumulating);
  plan.nest.numAccumulating = last.size();
  llvm::append_range(plan.nest.groups, last);
  if (inner.empty())
    chooseElementsPerThread(op, plan);
  return plan;
}
