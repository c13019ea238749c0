//===- Localize.cpp - What one device computes ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalSizes.h"
#include "PlanGraph.h"
#include "Tofu/Dialect/Models.h"
#include "Tofu/Dialect/Signature.h"
#include "Tofu/Transforms/Passes.h"
#include "Tofu/Transforms/Remade.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_LOCALIZEPASS
#include "Tofu/Transforms/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

namespace {
/// Rewrites one function to local types.
class Localizer {
public:
  Localizer(func::FuncOp function, MeshOp meshOp)
      : function(function),
        meshName(FlatSymbolRefAttr::get(meshOp.getSymNameAttr())),
        meshOp(meshOp), mesh(meshOp.getMesh()), builder(function.getContext()) {
  }

  LogicalResult run() {
    Block *old = &function.getBody().front();
    Block *fresh = new Block();
    function.getBody().push_back(fresh);
    builder.setInsertionPointToStart(fresh);
    if (failed(addArguments(fresh)))
      return failure();
    isDynamic = findSizes(*old);
    if (failed(visit(*old)) || failed(visitReturn(old->getTerminator())))
      return failure();
    old->dropAllReferences();
    for (Operation &op : *old)
      op.dropAllUses();
    old->erase();
    function.setType(builder.getFunctionType(
        fresh->getArgumentTypes(), fresh->getTerminator()->getOperandTypes()));
    SmallVector<Attribute> sizes(function.getNumArguments());
    for (auto [number, of] : sizeArguments)
      sizes[number] = builder.getDenseI64ArrayAttr({of.first, of.second});
    setArgAttrs(function, TofuDialect::kSizeOf, sizes);
    if (isDynamic)
      eraseUnusedSizes();
    return success();
  }

  int64_t numLocal = 0, numWhole = 0;
  /// Globals that the function loads or stores.
  SetVector<ml_program::GlobalOp> globals;

private:
  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }

  LayoutAttr wholeOf(Value value) {
    return LayoutAttr::getWhole(meshName, typeOf(value).getRank());
  }

  LogicalResult addArguments(Block *fresh) {
    SmallVector<Attribute> globalTypes(function.getNumArguments());
    for (BlockArgument arg : function.getArguments()) {
      Type type = arg.getType();
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (tensor) {
        auto layout = function.getArgAttrOfType<LayoutAttr>(
            arg.getArgNumber(), TofuDialect::kLayout);
        if (!layout)
          return function.emitError() << "argument " << arg.getArgNumber()
                                      << " has no tofu.layout; run tofu-plan";
        type = getLocalType(tensor, layout, mesh);
        placements[arg] = layout;
        globalTypes[arg.getArgNumber()] = TypeAttr::get(tensor);
      }
      mapping.map(arg, fresh->addArgument(type, arg.getLoc()));
    }
    setArgAttrs(function, TofuDialect::kGlobalType, globalTypes);
    for (BlockArgument arg : function.getArguments())
      if (auto tensor = dyn_cast<RankedTensorType>(arg.getType()))
        addSizeArguments(arg, tensor, fresh);
    return success();
  }

  /// Adds an argument for every size of `arg` that can't be read off a part.
  void addSizeArguments(BlockArgument arg, RankedTensorType global,
                        Block *fresh) {
    for (int64_t dim = 0; dim < global.getRank(); ++dim) {
      if (!global.isDynamicDim(dim) ||
          isWholeDim(placements[arg], global.getShape(), dim, mesh))
        continue;
      Value size = fresh->addArgument(builder.getIndexType(), arg.getLoc());
      std::pair<unsigned, unsigned> of(arg.getArgNumber(), dim);
      sizeOfArgument[of] = size;
      sizeArguments.push_back({cast<BlockArgument>(size).getArgNumber(), of});
    }
  }

  /// Makes the unknown sizes of all tensors values of the global program, so
  /// that they become ones of the local program like all others. True if there
  /// are any.
  bool findSizes(Block &block) {
    SmallVector<Value> tensors;
    auto collect = [&](ValueRange values) {
      for (Value value : values)
        if (auto type = dyn_cast<RankedTensorType>(value.getType()))
          if (!type.hasStaticShape())
            tensors.push_back(value);
    };
    collect(block.getArguments());
    block.walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        if (!region.empty())
          collect(region.getArguments());
      collect(op->getResults());
    });
    sizes.resolve(*block.getParent());
    for (Value tensor : tensors)
      sizes.get(tensor);
    return !tensors.empty();
  }

  /// The shape of a tensor of the global program, in values of the local one.
  GlobalShape shapeOf(Value global) {
    GlobalShape shape = sizes.get(global);
    for (Value &size : shape.values)
      size = mapping.lookup(size);
    return shape;
  }

  /// Sizes that nothing has asked for.
  void eraseUnusedSizes() {
    function->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (llvm::all_of(op->getResultTypes(), llvm::IsaPred<IndexType>) &&
          isOpTriviallyDead(op))
        op->erase();
    });
  }

  LogicalResult visit(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(isPlannedBranch(&op) ? visitBranch(&op) : visit(&op)))
        return failure();
    return success();
  }

  /// The local form of `op`, a branch or a terminator in one, without regions;
  /// null after an error. What it hands on lies as what that becomes.
  Operation *cloneHandingOn(Operation *op, ArrayRef<Handover> handovers) {
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      const Handover *handover =
          llvm::find_if(handovers, [&](const Handover &handover) {
            return handover.operand == &operand;
          });
      if (handover == handovers.end()) {
        operands.push_back(mapping.lookup(operand.get()));
        continue;
      }
      FailureOr<Value> local =
          take(op, operand.getOperandNumber(), operand.get(),
               getPlannedLayout(handover->inputs.front()));
      if (failed(local))
        return nullptr;
      // A type that says less is the one that the branch goes by.
      RankedTensorType type =
          getLocalType(typeOf(operand.get()),
                       getPlannedLayout(handover->inputs.front()), mesh);
      if (local->getType() != type)
        local = tensor::CastOp::create(builder, op->getLoc(), type, *local)
                    .getResult();
      operands.push_back(*local);
    }
    Operation *clone = op->cloneWithoutRegions(mapping);
    clone->setOperands(operands);
    for (StringRef name : {TofuDialect::kLayouts, TofuDialect::kArgLayouts})
      clone->removeAttr(name);
    builder.insert(clone);
    return clone;
  }

  LogicalResult visitBranch(Operation *op) {
    SmallVector<Handover> handovers = getHandovers(op);
    for (const Handover &handover : handovers) {
      FailureOr<LayoutAttr> layout = getHandoverLayout(op, handover);
      if (failed(layout))
        return failure();
      for (Value input : handover.inputs)
        placements[input] = *layout;
    }
    auto localType = [&](Value value) {
      PlacementAttrInterface placement = placements.lookup(value);
      return placement ? Type(getLocalType(typeOf(value), placement, mesh))
                       : value.getType();
    };
    Operation *clone = cloneHandingOn(op, handovers);
    if (!clone)
      return failure();
    for (auto [from, to] :
         llvm::zip_equal(op->getRegions(), clone->getRegions())) {
      if (from.empty())
        continue;
      OpBuilder::InsertionGuard guard(builder);
      Block *block = builder.createBlock(&to);
      for (BlockArgument arg : from.getArguments())
        mapping.map(arg, block->addArgument(localType(arg), arg.getLoc()));
      if (failed(visit(from.front())) ||
          !cloneHandingOn(from.front().getTerminator(), handovers))
        return failure();
    }
    for (auto [global, local] :
         llvm::zip_equal(op->getResults(), clone->getResults())) {
      local.setType(localType(global));
      mapping.map(global, local);
    }
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (op->getNumResults() == 1 && isRemade(op->getResult(0)))
      return success();
    if (std::optional<TensorDim> read = getReadDim(op))
      return visitSize(op, *read);
    if (auto reshard = dyn_cast<ReshardOp>(op))
      return visitReshard(reshard);
    if (auto stack = dyn_cast<StackOp>(op))
      return visitStack(stack);
    if (GlobalAccess access(op); access)
      return visitAccess(op, access);
    if (op->hasAttr(TofuDialect::kStrategy))
      return visitPart(op);
    return visitWhole(op);
  }

  /// The size of a dim of the whole tensor. Known are those of arguments, and
  /// those of tensors that are whole; all others have been made of these.
  LogicalResult visitSize(Operation *op, TensorDim of) {
    auto arg = dyn_cast<BlockArgument>(of.tensor);
    if (arg && arg.getOwner()->getParentOp() == function.getOperation())
      if (Value size = sizeOfArgument.lookup({arg.getArgNumber(), of.dim})) {
        mapping.map(op->getResult(0), size);
        return success();
      }
    PlacementAttrInterface placement = placements.lookup(of.tensor);
    RankedTensorType type = typeOf(of.tensor);
    if (placement && !isWholeDim(placement, type.getShape(), of.dim, mesh))
      return op->emitOpError()
             << "nothing but the tensor tells the size of its dim " << of.dim
             << ", which is cut";
    mapping.map(op->getResult(0), builder.clone(*op, mapping)->getResult(0));
    return success();
  }

  /// The local form of `value`, which must lie as `need` says.
  FailureOr<Value> take(Operation *user, unsigned i, Value value,
                        PlacementAttrInterface need) {
    if (isRemade(value))
      return remake(builder, user->getLoc(), value, shapeOf(value), need, mesh,
                    mapping);
    PlacementAttrInterface have = placements.lookup(value);
    if (!have)
      have = wholeOf(value);
    if (!isSamePlacement(have, need, typeOf(value), meshOp))
      return user->emitOpError()
             << "operand " << i << " lies as " << have << ", is needed as "
             << need << "; run tofu-insert-reshards";
    return mapping.lookup(value);
  }

  /// Maps a result to its local value, of the type that its placement gives.
  void define(Value global, Value local, PlacementAttrInterface placement) {
    RankedTensorType type = getLocalType(typeOf(global), placement, mesh);
    if (local.getType() != type)
      local = tensor::CastOp::create(builder, global.getLoc(), type, local);
    mapping.map(global, local);
    placements[global] = placement;
  }

  LogicalResult visitReshard(ReshardOp op) {
    Value input = op.getInput();
    if (isRemade(input)) {
      define(op,
             remake(builder, op.getLoc(), input, shapeOf(input), op.getTo(),
                    mesh, mapping),
             op.getTo());
      return success();
    }
    FailureOr<Value> local = take(op, 0, input, op.getFrom());
    if (failed(local))
      return failure();
    auto moved = ReshardOp::create(
        builder, op.getLoc(), getLocalType(typeOf(op), op.getTo(), mesh),
        *local, shapeOf(input), op.getFrom(), op.getTo());
    define(op, moved, op.getTo());
    return success();
  }

  LogicalResult visitAccess(Operation *op, GlobalAccess access) {
    FailureOr<LayoutAttr> layout = requireGlobalLayout(op, access.global);
    if (failed(layout))
      return failure();
    globals.insert(access.global);
    if (access.loaded) {
      Operation *load = builder.clone(*op);
      load->getResult(0).setType(
          getLocalType(typeOf(access.loaded), *layout, mesh));
      define(access.loaded, load->getResult(0), *layout);
      return success();
    }
    Value value = access.stored->get();
    FailureOr<Value> local = take(op, 0, value, *layout);
    if (failed(local))
      return failure();
    RankedTensorType type = getLocalType(typeOf(value), *layout, mesh);
    if (local->getType() != type)
      local = tensor::CastOp::create(builder, op->getLoc(), type, *local)
                  .getResult();
    builder.clone(*op)->setOperands(*local);
    return success();
  }

  /// This device's part becomes the one index of the new dim that it has.
  LogicalResult visitStack(StackOp op) {
    FailureOr<Value> local = take(op, 0, op.getInput(), op.getFrom());
    if (failed(local))
      return failure();
    unsigned dim = op.getDim();
    int64_t rank = typeOf(*local).getRank();
    SmallVector<int64_t> shape(typeOf(*local).getShape());
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, op.getLoc(), *local);
    shape.insert(shape.begin() + dim, 1);
    sizes.insert(sizes.begin() + dim, builder.getIndexAttr(1));
    // The new dim goes with the one behind it, or the last one.
    SmallVector<ReassociationIndices> groups(rank);
    for (int64_t i = 0; i <= rank && rank; ++i)
      groups[std::min<int64_t>(i - (i > int64_t(dim)), rank - 1)].push_back(i);
    define(op,
           tensor::ExpandShapeOp::create(builder, op.getLoc(),
                                         typeOf(*local).clone(shape), *local,
                                         groups, sizes),
           op.getTo());
    return success();
  }

  /// A tensor for an operand that isn't read: cut as a result if it has the
  /// type of one.
  Value createUnread(LocalPiece &piece, Value operand) {
    RankedTensorType type = typeOf(operand);
    PlacementAttrInterface placement = wholeOf(operand);
    for (OpResult result : piece.op->getOpResults())
      if (result.getType() == type) {
        placement =
            getResultPlacement(piece.semantics, piece.strategy,
                               result.getResultNumber(), type.getShape(), mesh);
        break;
      }
    return createLocalEmpty(builder, piece.op->getLoc(), type.getElementType(),
                            shapeOf(operand), placement, mesh);
  }

  /// The local form of an operation that is described by an attribute only: the
  /// same operation, on its part.
  FailureOr<SmallVector<Value>> createDescribed(LocalPiece &piece) {
    if (isa<CallOpInterface>(piece.op))
      return piece.op->emitOpError()
             << "can't be cut: its callee takes whole tensors";
    SmallVector<Value> operands;
    SmallVector<Type> types;
    auto *next = piece.operands.begin();
    for (Value operand : piece.op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType())) {
        operands.push_back(mapping.lookup(operand));
        continue;
      }
      Value local = *next++;
      operands.push_back(local ? local : createUnread(piece, operand));
    }
    for (OpResult result : piece.op->getOpResults())
      types.push_back(isa<RankedTensorType>(result.getType())
                          ? piece.resultType(result.getResultNumber())
                          : result.getType());
    return SmallVector<Value>(cloneLocal(piece, operands, types)->getResults());
  }

  /// An operation that makes its part has to know how large its results are.
  LogicalResult requireResultSizes(Operation *op) {
    for (OpResult result : op->getOpResults())
      for (Value size : sizes.get(result).values)
        if (!mapping.contains(size))
          return op->emitOpError() << "nothing tells the sizes of result "
                                   << result.getResultNumber();
    return success();
  }

  LogicalResult visitPart(Operation *op) {
    auto strategy = op->getAttrOfType<StrategyAttr>(TofuDialect::kStrategy);
    auto semantics = op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics);
    LocalPiece piece(builder, op, semantics, strategy, mesh, mapping,
                     [&](Value value) { return shapeOf(value); });
    for (auto [i, value] : llvm::enumerate(getTensorOperands(op))) {
      Value &operand = piece.operands.emplace_back();
      if (!semantics.getOperands()[i].getRead())
        continue;
      FailureOr<Value> local =
          take(op, i, value,
               getOperandPlacement(semantics, strategy, i,
                                   typeOf(value).getShape(), mesh));
      if (failed(local))
        return failure();
      operand = *local;
    }
    if (hasModel(op) && failed(requireResultSizes(op)))
      return failure();
    FailureOr<SmallVector<Value>> results =
        hasModel(op) ? createLocal(piece) : createDescribed(piece);
    if (failed(results))
      return failure();
    for (auto [i, global, local] :
         llvm::enumerate(op->getResults(), *results)) {
      if (!isa<RankedTensorType>(global.getType())) {
        mapping.map(global, local);
        continue;
      }
      define(global, local,
             getResultPlacement(semantics, strategy, i,
                                typeOf(global).getShape(), mesh));
    }
    ++numLocal;
    return success();
  }

  LogicalResult visitWhole(Operation *op) {
    IRMapping whole = mapping;
    for (auto [i, value] : llvm::enumerate(getTensorOperands(op))) {
      FailureOr<Value> local = take(op, i, value, wholeOf(value));
      if (failed(local))
        return failure();
      whole.map(value, *local);
    }
    Operation *clone = builder.clone(*op, whole);
    for (StringRef name : {TofuDialect::kSemantics, TofuDialect::kLayouts})
      clone->removeAttr(name);
    for (auto [global, local] :
         llvm::zip_equal(op->getResults(), clone->getResults())) {
      mapping.map(global, local);
      if (isa<RankedTensorType>(global.getType()))
        placements[global] = wholeOf(global);
    }
    numWhole += op->getNumResults() && isa<TensorType>(op->getResultTypes()[0]);
    return success();
  }

  LogicalResult visitReturn(Operation *op) {
    SmallVector<Value> results;
    SmallVector<Attribute> globalTypes(op->getNumOperands());
    for (auto [i, value] : llvm::enumerate(op->getOperands())) {
      if (!isa<RankedTensorType>(value.getType())) {
        results.push_back(mapping.lookup(value));
        continue;
      }
      auto layout =
          function.getResultAttrOfType<LayoutAttr>(i, TofuDialect::kLayout);
      if (!layout)
        return function.emitError()
               << "result " << i << " has no tofu.layout; run tofu-plan";
      FailureOr<Value> local = take(op, i, value, layout);
      if (failed(local))
        return failure();
      results.push_back(*local);
      globalTypes[i] = TypeAttr::get(value.getType());
    }
    setResultAttrs(function, TofuDialect::kGlobalType, globalTypes);
    builder.create(op->getLoc(), op->getName().getIdentifier(), results);
    return success();
  }

  func::FuncOp function;
  FlatSymbolRefAttr meshName;
  MeshOp meshOp;
  search::Mesh mesh;
  OpBuilder builder;
  IRMapping mapping;
  DenseMap<Value, PlacementAttrInterface> placements;

  GlobalSizes sizes;
  bool isDynamic = false;
  /// Arguments of the local function that are sizes of others: which ones, of
  /// which argument and dim.
  SmallVector<std::pair<unsigned, std::pair<unsigned, unsigned>>> sizeArguments;
  DenseMap<std::pair<unsigned, unsigned>, Value> sizeOfArgument;
};

struct LocalizePass : public tofu::impl::LocalizePassBase<LocalizePass> {
  void runOnOperation() override {
    SetVector<ml_program::GlobalOp> globals;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!isPlanned(function))
        continue;
      FailureOr<MeshOp> mesh = getPlanMesh(function);
      if (failed(mesh))
        return signalPassFailure();
      if (!*mesh)
        continue;
      Localizer localizer(function, *mesh);
      if (failed(localizer.run()))
        return signalPassFailure();
      numLocal += localizer.numLocal;
      numWhole += localizer.numWhole;
      globals.insert_range(localizer.globals);
    }
    for (ml_program::GlobalOp global : globals)
      localize(global);
    if (failed(verifyAccesses()))
      signalPassFailure();
  }

private:
  static void localize(ml_program::GlobalOp global) {
    LayoutAttr layout = getGlobalLayout(global);
    auto type = cast<RankedTensorType>(global.getType());
    search::Mesh mesh = lookupMesh(global, layout.getMesh()).getMesh();
    global->setAttr(TofuDialect::kGlobalType, TypeAttr::get(type));
    global.setType(getLocalType(type, layout, mesh));
  }

  /// Every load and store of a global that is cut must be of a part.
  LogicalResult verifyAccesses() {
    WalkResult result = getOperation().walk([](Operation *op) {
      GlobalAccess access(op);
      if (!access)
        return WalkResult::advance();
      Type type = access.loaded ? access.loaded.getType()
                                : access.stored->get().getType();
      if (type == access.global.getType())
        return WalkResult::advance();
      op->emitOpError() << "is in a region or function that is not cut, but "
                           "global @"
                        << access.global.getSymName() << " is";
      return WalkResult::interrupt();
    });
    return success(!result.wasInterrupted());
  }
};
} // namespace
