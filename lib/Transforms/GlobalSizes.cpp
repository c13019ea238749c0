//===- GlobalSizes.cpp - Sizes that the program computes ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalSizes.h"

#include "Branches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Tracing
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

/// The iteration dim that indexes dim `dim` of a result by itself.
static std::optional<unsigned>
findIterationDim(OpResult result, SemanticsAttr semantics, unsigned dim) {
  auto index = dyn_cast_or_null<AffineDimExpr>(
      semantics.getResults()[result.getResultNumber()].getIndex()[dim]);
  return index ? std::optional<unsigned>(index.getPosition()) : std::nullopt;
}

static SemanticsAttr getSemantics(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  return op ? op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics)
            : SemanticsAttr();
}

/// The size of a dim, if it is known: from the type, or from the semantics of
/// the operation that makes the tensor, all of which it writes.
static std::optional<int64_t> getKnownSize(TensorDim of) {
  int64_t size = typeOf(of.tensor).getDimSize(of.dim);
  if (ShapedType::isDynamic(size))
    if (SemanticsAttr semantics = getSemantics(of.tensor))
      if (auto dim =
              findIterationDim(cast<OpResult>(of.tensor), semantics, of.dim))
        size = semantics.getDims()[*dim].getSize();
  return ShapedType::isDynamic(size) ? std::nullopt
                                     : std::optional<int64_t>(size);
}

/// The dim of an operand that a result's dim of unknown size is as large as, by
/// the semantics of its operation.
static std::optional<TensorDim> findLikeOperand(OpResult result, unsigned dim) {
  Operation *op = result.getOwner();
  SemanticsAttr semantics = getSemantics(result);
  std::optional<unsigned> index =
      semantics ? findIterationDim(result, semantics, dim) : std::nullopt;
  std::optional<TensorDim> like =
      index ? findDimOfSize(op, semantics, *index) : std::nullopt;
  return like && like->tensor.getDefiningOp() != op ? like : std::nullopt;
}

static TensorDim findRoot(TensorDim of, SmallVectorImpl<Value> &open);

/// The tensor dim that all tensors which a branch or loop may hand on to `of`
/// have their size from, but for those that have it from `of` itself. Nothing
/// if there is none outside of the branch. `open` are the values that are being
/// asked about.
static std::optional<TensorDim> findHandedOn(TensorDim of,
                                             SmallVectorImpl<Value> &open) {
  auto arg = dyn_cast<BlockArgument>(of.tensor);
  Operation *op =
      arg ? arg.getOwner()->getParentOp() : of.tensor.getDefiningOp();
  if (!isPlannedBranch(op) || llvm::is_contained(open, of.tensor))
    return std::nullopt;
  open.push_back(of.tensor);
  llvm::scope_exit isOpen([&] { open.pop_back(); });
  std::optional<TensorDim> common;
  for (const Handover &handover : getHandovers(op)) {
    if (!llvm::is_contained(handover.inputs, of.tensor))
      continue;
    TensorDim root = findRoot({handover.operand->get(), of.dim}, open);
    if (root == of)
      continue;
    if (common && !(*common == root))
      return std::nullopt;
    common = root;
  }
  if (common && op->isAncestor(common->tensor.getParentRegion()->getParentOp()))
    return std::nullopt;
  return common;
}

/// A tensor dim from before that is as large; nothing if there is none.
static std::optional<TensorDim> findBefore(TensorDim of,
                                           SmallVectorImpl<Value> &open) {
  if (getKnownSize(of))
    return std::nullopt;
  auto result = dyn_cast<OpResult>(of.tensor);
  if (!result || isPlannedBranch(result.getOwner()))
    return findHandedOn(of, open);
  if (auto reshard = of.tensor.getDefiningOp<ReshardOp>())
    return TensorDim{reshard.getInput(), of.dim};
  if (auto stack = of.tensor.getDefiningOp<StackOp>())
    return TensorDim{stack.getInput(), of.dim - (of.dim > stack.getDim())};
  if (auto empty = of.tensor.getDefiningOp<tensor::EmptyOp>()) {
    Operation *size = empty.getDynamicSize(of.dim).getDefiningOp();
    return size ? getReadDim(size) : std::nullopt;
  }
  auto dps = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
  if (OpOperand *init = dps ? dps.getTiedOpOperand(result) : nullptr)
    return TensorDim{init->get(), of.dim};
  return findLikeOperand(result, of.dim);
}

static TensorDim findRoot(TensorDim of, SmallVectorImpl<Value> &open) {
  while (std::optional<TensorDim> before = findBefore(of, open))
    of = *before;
  return of;
}

TensorDim mlir::tofu::findRoot(TensorDim of) {
  SmallVector<Value> open;
  return ::findRoot(of, open);
}

static bool isFunctionArgument(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  return arg && arg.getOwner()->isEntryBlock() &&
         isa<FunctionOpInterface>(arg.getOwner()->getParentOp());
}

/// True if the size of a root is that of an argument or computed by its
/// operation.
static bool isDecided(TensorDim root) {
  return getKnownSize(root) || isFunctionArgument(root.tensor) ||
         root.tensor.getDefiningOp<ReifyRankedShapedTypeOpInterface>();
}

bool mlir::tofu::hasTraceableSizes(Value tensor) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return true;
  for (int64_t dim = 0; dim < typeOf(tensor).getRank(); ++dim) {
    TensorDim of{tensor, unsigned(dim)}, root = findRoot(of);
    if (root == of && !isDecided(root))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const GlobalShape &GlobalSizes::get(Value tensor) {
  auto it = shapes.find(tensor);
  if (it != shapes.end())
    return it->second;
  GlobalShape shape;
  if (auto type = dyn_cast<RankedTensorType>(tensor.getType()))
    shape = GlobalShape(type.getShape());
  for (unsigned dim = 0; dim < shape.sizes.size(); ++dim)
    if (ShapedType::isDynamic(shape.sizes[dim]))
      shape.values.push_back(getSize({tensor, dim}));
  return shapes[tensor] = std::move(shape);
}

Value GlobalSizes::getSize(TensorDim of) {
  TensorDim root = findRoot(of);
  std::pair<Value, unsigned> key(root.tensor, root.dim);
  if (Value known = sizes.lookup(key))
    return known;
  Value size = createSize(root);
  sizes[key] = size;
  return size;
}

/// The size of a root, as its operation computes it, or read off the tensor.
Value GlobalSizes::createSize(TensorDim root) {
  Location loc = root.tensor.getLoc();
  Operation *op = root.tensor.getDefiningOp();
  OpBuilder builder(root.tensor.getContext());
  if (op)
    builder.setInsertionPoint(op);
  else
    builder.setInsertionPointToStart(root.tensor.getParentBlock());
  if (std::optional<int64_t> known = getKnownSize(root))
    return arith::ConstantIndexOp::create(builder, loc, *known);
  if (!isFinal(root)) {
    reify(op);
    if (!isFinal(root)) {
      unsigned i = cast<OpResult>(root.tensor).getResultNumber();
      return getValueOrCreateConstantIndexOp(builder, loc,
                                             reified[op][i][root.dim]);
    }
  }
  if (op)
    builder.setInsertionPointAfter(op);
  return tensor::DimOp::create(builder, loc, root.tensor, root.dim);
}

bool GlobalSizes::isFinal(TensorDim of) const {
  TensorDim root = findRoot(of);
  if (!(root == of) || getKnownSize(of))
    return false;
  Operation *op = of.tensor.getDefiningOp();
  if (!isa_and_nonnull<ReifyRankedShapedTypeOpInterface>(op))
    return true;
  auto it = reified.find(op);
  return it != reified.end() && it->second.empty();
}

/// Lets `op` compute the sizes of its results, in front of it, from what has
/// none to compute them from.
void GlobalSizes::reify(Operation *op) {
  if (reified.contains(op))
    return;
  Operation *before = op->getPrevNode();
  OpBuilder builder(op);
  ReifiedRankedShapedTypeDims dims;
  if (failed(reifyResultShapes(builder, op, dims)))
    dims.clear();
  SmallVector<Operation *> reads;
  for (Operation *made = before ? before->getNextNode()
                                : &op->getBlock()->front();
       made != op; made = made->getNextNode())
    if (isForeignRead(made))
      reads.push_back(made);
  for (Operation *read : reads) {
    Value size = getSize(*getReadDim(read));
    for (SmallVector<OpFoldResult> &shape : dims)
      for (OpFoldResult &dim : shape)
        if (dim == OpFoldResult(read->getResult(0)))
          dim = size;
    read->getResult(0).replaceAllUsesWith(size);
    read->erase();
  }
  reified[op] = std::move(dims);
}

bool GlobalSizes::isForeignRead(Operation *op) const {
  std::optional<TensorDim> read = getReadDim(op);
  return read && !isFinal(*read);
}

void GlobalSizes::resolve(Region &region) {
  SmallVector<Operation *> reads;
  region.walk([&](Operation *op) {
    if (isForeignRead(op))
      reads.push_back(op);
  });
  for (Operation *read : reads) {
    // Whether an operation can compute its sizes shows when it is to do so.
    Value size = getSize(*getReadDim(read));
    if (!isForeignRead(read))
      continue;
    read->getResult(0).replaceAllUsesWith(size);
    read->erase();
  }
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Sizes and scalars that a size follows from by affine expressions, as far as
/// these go; fails if there is none.
static LogicalResult computeBound(TensorDim root, AffineMap &map,
                                  ValueDimList &operands) {
  auto stops = [&](Value value, std::optional<int64_t>,
                   ValueBoundsConstraintSet &) {
    Operation *op = value.getDefiningOp();
    // MLIR looks for a dim that isn't there.
    if (isa_and_nonnull<ShapedDimOpInterface>(op) && !getReadDim(op))
      return true;
    return !isa_and_nonnull<ValueBoundsOpInterface,
                            DestinationStyleOpInterface>(op);
  };
  if (!isa_and_nonnull<ValueBoundsOpInterface>(root.tensor.getDefiningOp()))
    return failure();
  return ValueBoundsConstraintSet::computeBound(
      map, operands, presburger::BoundType::EQ,
      ValueBoundsConstraintSet::Variable(root.tensor, root.dim), stops);
}

/// How many indices an index takes of which no dim is of unknown size; nothing
/// if one is.
static std::optional<int64_t> getExtent(const search::LinearExpr &expr,
                                        ArrayRef<search::IterationDim> dims) {
  int64_t last = expr.constant;
  for (auto [dim, coefficient] : expr.terms) {
    if (ShapedType::isDynamic(dims[dim].size))
      return std::nullopt;
    last += std::max<int64_t>(coefficient, 0) * (dims[dim].size - 1);
  }
  return std::max<int64_t>(last + 1, 0);
}

/// Finds what the sizes of results, all of which `op` writes, tell of each
/// other where an index is a sum.
void SizeHints::relateSizes(Operation *op, SemanticsAttr semantics) {
  FailureOr<search::Operator> described = semantics.getOperator();
  if (failed(described))
    return;
  for (auto [value, result] :
       llvm::zip_equal(op->getResults(), described->results))
    for (auto [i, expr] : llvm::enumerate(result.index)) {
      if (expr.terms.size() < 2 || !typeOf(value).isDynamicDim(i))
        continue;
      TensorDim root = findRoot({value, unsigned(i)});
      if (auto extent = getExtent(expr, described->dims))
        extents[{root.tensor, root.dim}] = *extent;
      for (auto [dim, coefficient] : expr.terms) {
        if (!semantics.getDims()[dim].getCovering())
          continue;
        std::optional<TensorDim> like = findDimOfSize(op, semantics, dim);
        if (!like || coefficient <= 0)
          continue;
        TensorDim tiles = findRoot(*like);
        covered[{tiles.tensor, tiles.dim}] = {root, expr.constant, coefficient};
      }
    }
}

/// The size of a root about which its own operation tells nothing, from what
/// others take it for; nothing if none does.
std::optional<int64_t> SizeHints::getRelatedSize(TensorDim root) {
  Operation *function =
      root.tensor.getParentRegion()->getParentOfType<FunctionOpInterface>();
  if (function && related.insert(function).second)
    function->walk([&](Operation *op) {
      auto semantics =
          op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics);
      if (semantics && hasDynamicTensors(op))
        relateSizes(op, semantics);
    });
  std::pair<Value, unsigned> key(root.tensor, root.dim);
  if (auto it = extents.find(key); it != extents.end())
    return it->second;
  auto it = covered.find(key);
  if (it == covered.end())
    return std::nullopt;
  Covered by = it->second;
  int64_t last = getSize(by.of) - 1 - by.constant;
  return last < 0 ? 0 : last / by.coefficient + 1;
}

int64_t SizeHints::getSize(TensorDim of) {
  TensorDim root = findRoot(of);
  if (std::optional<int64_t> known = getKnownSize(root))
    return *known;
  std::pair<Value, unsigned> key(root.tensor, root.dim);
  if (auto it = sizes.find(key); it != sizes.end())
    return it->second;
  sizes[key] = hint;
  AffineMap map;
  ValueDimList operands;
  bool isComputed = succeeded(computeBound(root, map, operands));
  // A scalar may be any number.
  if (!isComputed ||
      llvm::any_of(operands, [](auto &operand) { return !operand.second; }))
    if (std::optional<int64_t> size = getRelatedSize(root)) {
      sizes[key] = *size;
      return *size;
    }
  if (!isComputed)
    return hint;
  SmallVector<Attribute> numbers, folded;
  Builder builder(root.tensor.getContext());
  for (auto [value, dim] : operands)
    numbers.push_back(
        builder.getIndexAttr(dim ? getSize({value, unsigned(*dim)}) : hint));
  if (failed(map.constantFold(numbers, folded)))
    return hint;
  int64_t size = std::max<int64_t>(cast<IntegerAttr>(folded[0]).getInt(), 0);
  sizes[key] = size;
  return size;
}

SmallVector<int64_t> SizeHints::getShape(Value tensor) {
  SmallVector<int64_t> shape(typeOf(tensor).getShape());
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (ShapedType::isDynamic(shape[dim]))
      shape[dim] = getSize({tensor, dim});
  return shape;
}

FailureOr<search::Operator> SizeHints::getOperator(Operation *op,
                                                   SemanticsAttr semantics) {
  FailureOr<search::Operator> described = semantics.getOperator();
  if (failed(described))
    return failure();
  for (auto [i, dim] : llvm::enumerate(described->dims)) {
    if (!ShapedType::isDynamic(dim.size))
      continue;
    std::optional<TensorDim> like = findDimOfSize(op, semantics, i);
    if (like && hasTraceableSizes(like->tensor))
      dim.size = getSize(*like);
    else
      dim = {like ? getSize(*like) : 1, search::DimKind::Unsplittable, false};
  }
  return described;
}
