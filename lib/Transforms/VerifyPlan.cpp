//===- VerifyPlan.cpp - Whether a plan computes the program ---------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The boxes that later passes will use are claims here, and the semantics are
// the truth: each claim is proved with integer sets, see Proof.h. Which axes a
// value is partial over is worked out anew, from semantics and strategies.
//
//===----------------------------------------------------------------------===//

#include "GlobalSizes.h"
#include "PlanGraph.h"
#include "Tofu/Dialect/Linearity.h"
#include "Tofu/Search/Proof.h"
#include "Tofu/Transforms/Passes.h"
#include "Tofu/Transforms/Remade.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_VERIFYPLANPASS
#include "Tofu/Transforms/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// An error of an operation; of a call, the callee says which operator it is.
static InFlightDiagnostic complain(Operation *op) {
  InFlightDiagnostic error = op->emitOpError();
  if (auto call = dyn_cast<CallOpInterface>(op))
    if (auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))
      error << callee << ": ";
  return error;
}

static std::string toString(ArrayRef<int64_t> point) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(';
  llvm::interleaveComma(point, os);
  os << ')';
  return text;
}

static std::string toString(ArrayRef<StringAttr> axes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '{';
  llvm::interleaveComma(axes, os,
                        [&](StringAttr axis) { os << axis.getValue(); });
  os << '}';
  return text;
}

/// A flaw as a sentence: what devices do to elements is to `verb` them, and
/// `wanted` says why a missing one is wanted, `unwanted` why one is too many.
static std::string explain(const search::Flaw &flaw, StringRef verb,
                           StringRef wanted = "", StringRef unwanted = "") {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string point = toString(flaw.point);
  switch (flaw.kind) {
  case search::Flaw::Kind::Doubled:
    os << "devices " << flaw.device << " and " << flaw.other << " both " << verb
       << ' ' << point;
    break;
  case search::Flaw::Kind::Extra:
    os << "device " << flaw.device << ' ' << verb << "s " << point << unwanted;
    break;
  case search::Flaw::Kind::Missing:
    if (flaw.device >= 0)
      os << "device " << flaw.device << " doesn't " << verb << ' ' << point
         << wanted;
    else
      os << "no device " << verb << "s " << point;
    if (flaw.other >= 0)
      os << ", which device " << flaw.other << " needs";
    break;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// What combiners allow
//===----------------------------------------------------------------------===//

/// True if combining a value with itself leaves it as it is.
static bool isIdempotent(Combiner combiner) {
  switch (combiner) {
  case Combiner::Min:
  case Combiner::Max:
  case Combiner::And:
  case Combiner::Or:
  case Combiner::MinNum:
  case Combiner::MaxNum:
  case Combiner::MinUI:
  case Combiner::MaxUI:
  case Combiner::Region:
    return true;
  case Combiner::None:
  case Combiner::Sum:
  case Combiner::Prod:
  case Combiner::Xor:
    return false;
  }
  return false;
}

/// True if the combination of many copies of `value` is `value`.
static bool mayRepeat(Value value, Combiner combiner) {
  return isIdempotent(combiner) || isNeutral(value, combiner);
}

static bool isSameSet(ArrayRef<StringAttr> a, ArrayRef<StringAttr> b) {
  return a.size() == b.size() && llvm::all_of(a, [&](StringAttr axis) {
           return llvm::is_contained(b, axis);
         });
}

/// True if `condition` holds on just the devices that are first along `axes`:
/// where a line of as many elements has its first one.
static bool isFirstAlong(Value condition, ArrayRef<StringAttr> axes,
                         const search::Mesh &mesh) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !matchPattern(compare.getRhs(), m_Zero()))
    return false;
  auto offset = compare.getLhs().getDefiningOp<ShardOffsetOp>();
  auto line =
      offset ? dyn_cast<LayoutAttr>(offset.getPlacement()) : LayoutAttr();
  if (!line || line.getDims().size() != 1 ||
      !isSameSet(line.getDims()[0].getNames(), axes))
    return false;
  int64_t count = 1;
  for (unsigned axis : line.getDims()[0].resolve(mesh))
    count *= mesh.sizes[axis];
  return offset.getGlobalShape()[0] == count;
}

/// True if `op` takes operand `i` on the devices that are first along `axes`
/// only, and zero on the others: the operand, the same on all of them, is then
/// as good as a partial sum.
static bool countsOnFirst(Operation *op, unsigned i, ArrayRef<StringAttr> axes,
                          const search::Mesh &mesh) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || i >= op->getNumOperands() ||
      !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
    return false;
  BlockArgument scalar = generic.getMatchingBlockArgument(&op->getOpOperand(i));
  if (!scalar.hasOneUse())
    return false;
  auto select = dyn_cast<arith::SelectOp>(*scalar.user_begin());
  return select && select.getTrueValue() == scalar &&
         isZeros(select.getFalseValue()) &&
         isFirstAlong(select.getCondition(), axes, mesh);
}

namespace {

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

/// An operation of which each device computes a part.
struct Part {
  Operation *op;
  SemanticsAttr semantics;
  StrategyAttr strategy;
  search::Operator described;
  SmallVector<int64_t> shape;      ///< of the iteration space
  SmallVector<search::Box> parts;  ///< of it, per device
  search::Axes cutting;            ///< axes that cut a dim
  search::Axes sharing;            ///< those that cut no reduction
  SmallVector<StringAttr> partial; ///< axes over which the results are partial
  bool cutsReduction = false;

  Part(Operation *op, StrategyAttr strategy, MeshOp mesh, SizeHints &hints)
      : op(op),
        semantics(op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics)),
        strategy(strategy), described(*hints.getOperator(op, semantics)),
        partial(strategy.getPartial().getNames()) {
    for (const search::IterationDim &dim : described.dims)
      shape.push_back(dim.size);
    for (auto [dim, axes] :
         llvm::zip_equal(semantics.getDims(), strategy.getDims())) {
      search::Axes resolved = axes.resolve(mesh.getMesh());
      cutting.append(resolved);
      if (dim.getKind() != DimKind::Reduction) {
        sharing.append(resolved);
        continue;
      }
      partial.append(axes.getNames().begin(), axes.getNames().end());
      cutsReduction |= !axes.empty();
    }
  }

  /// Fills `parts`. Localization takes them from the same layout.
  void cut(MeshOp mesh) {
    MLIRContext *context = op->getContext();
    auto space = LayoutAttr::get(
        context, strategy.getMesh(), strategy.getDims(),
        AxesAttr::get(context, ArrayRef<StringAttr>()), Combiner::None);
    parts = getBoxes(space, shape, mesh);
  }

  /// True if operand `i` comes in as the partial sum that passes through.
  bool passes(unsigned i) const {
    return llvm::is_contained(strategy.getPartialOperands(), int64_t(i));
  }

  /// How the parts of result `i` combine.
  Combiner getCombiner(unsigned i, const search::Mesh &mesh) const {
    return semantics.getCombiner(strategy.resolve(mesh), i);
  }

  /// What the devices make of result `i`, as the later passes have it, but
  /// partial over the axes found here.
  PlacementAttrInterface getProduced(unsigned i, const search::Mesh &mesh) {
    auto type = cast<RankedTensorType>(op->getResult(i).getType());
    return cast<PlacementAttrInterface>(
        getResultPlacement(semantics, strategy, i, type.getShape(), mesh)
            .withPartial(partial, getCombiner(i, mesh)));
  }
};

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

/// What functions share. Operations and moves that look alike are proved once.
struct Proofs {
  search::Prover prover;
  std::set<std::vector<const void *>> known;
};

/// Verifies one function. Every operation is verified, whatever was wrong with
/// earlier ones.
class Verifier {
public:
  Verifier(func::FuncOp function, MeshOp meshOp, bool resharded,
           int64_t sizeHint, Proofs &proofs)
      : function(function),
        meshName(FlatSymbolRefAttr::get(meshOp.getSymNameAttr())),
        meshOp(meshOp), mesh(meshOp.getMesh()), resharded(resharded),
        hints(sizeHint), prover(proofs.prover), known(proofs.known) {}

  LogicalResult run() {
    if (failed(visitArguments()))
      return failure();
    Block &body = function.getBody().front();
    bool good = succeeded(visit(body));
    good &= succeeded(visitReturn(body.getTerminator()));
    return success(good);
  }

  int64_t numProved = 0, numAlike = 0;

private:
  using Boxes = SmallVector<search::Box>;

  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }

  /// With a number for each unknown size.
  SmallVector<int64_t> shapeOf(Value value) { return hints.getShape(value); }

  /// True if the sizes of all that `op` uses and makes are in the types.
  static bool isStatic(Operation *op) {
    auto isKnown = [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return !type || type.hasStaticShape();
    };
    return llvm::all_of(getTensorOperands(op), isKnown) &&
           llvm::all_of(op->getResults(), isKnown);
  }

  LayoutAttr wholeOf(Value value) {
    return LayoutAttr::getWhole(meshName, typeOf(value).getRank());
  }

  PlacementAttrInterface placementOf(Value value) {
    auto it = placements.find(value);
    return it == placements.end() ? PlacementAttrInterface(wholeOf(value))
                                  : it->second;
  }

  Boxes boxesOf(PlacementAttrInterface placement, ArrayRef<int64_t> shape) {
    return getBoxes(placement, shape, meshOp);
  }

  //===--------------------------------------------------------------------===//
  // Moves
  //===--------------------------------------------------------------------===//

  /// Checks that a value that lies as `from` says can be brought to where `to`
  /// says.
  LogicalResult checkMove(Operation *op, const Twine &what,
                          PlacementAttrInterface from,
                          PlacementAttrInterface to, Value value) {
    // A whole value may become partial: it then counts on one device only.
    if (!from.getPartialAxes().empty() && !to.getPartialAxes().empty() &&
        from.getCombiner() != to.getCombiner())
      return complain(op) << what << " is a partial "
                          << stringifyCombiner(from.getCombiner())
                          << ", is to be a partial "
                          << stringifyCombiner(to.getCombiner());
    std::vector<const void *> key{Attribute(from).getAsOpaquePointer(),
                                  Attribute(to).getAsOpaquePointer(),
                                  typeOf(value).getAsOpaquePointer()};
    bool isKeyed = typeOf(value).hasStaticShape();
    if (from == to || (isKeyed && known.count(key)))
      return success();
    SmallVector<int64_t> shape = shapeOf(value);
    if (auto flaw = prover.withinUnion(boxesOf(to, shape), boxesOf(from, shape),
                                       shape, mesh))
      return complain(op) << what << ": " << explain(*flaw, "hold");
    if (isKeyed)
      known.insert(std::move(key));
    return success();
  }

  /// Checks that a value which lies as `have` says is partial as wanted.
  LogicalResult checkPartial(Operation *op, const Twine &what,
                             PlacementAttrInterface have,
                             ArrayRef<StringAttr> axes, Combiner combiner) {
    if (!isSameSet(have.getPartialAxes(), axes))
      return complain(op) << what << " is partial over "
                          << toString(have.getPartialAxes())
                          << ", is taken as partial over " << toString(axes);
    if (!axes.empty() && have.getCombiner() != combiner)
      return complain(op) << what << " is a partial "
                          << stringifyCombiner(have.getCombiner())
                          << ", is taken as a partial "
                          << stringifyCombiner(combiner);
    return success();
  }

  /// Checks a use that needs `value` as `need` says: that it lies so, or can be
  /// brought there by the reshard that is yet to come.
  LogicalResult checkNeed(Operation *op, const Twine &what, Value value,
                          PlacementAttrInterface need) {
    PlacementAttrInterface have = placementOf(value);
    SmallVector<int64_t> shape = shapeOf(value);
    if (have == need)
      return success();
    if (!resharded)
      return checkMove(op, what, have, need, value);
    if (failed(checkPartial(op, what, have, need.getPartialAxes(),
                            need.getCombiner())))
      return failure();
    if (auto flaw = prover.within(boxesOf(need, shape), boxesOf(have, shape)))
      return complain(op) << what << ": "
                          << explain(*flaw, "hold", ", which it needs");
    return success();
  }

  LogicalResult visitReshard(ReshardOp op) {
    placements[op] = op.getTo();
    if (op.getFrom().getMesh() != meshName)
      return op.emitOpError() << "is on " << op.getFrom().getMesh()
                              << ", the plan on " << meshName;
    Value input = op.getInput();
    SmallVector<int64_t> shape = shapeOf(input);
    if (typeOf(input).getShape() != op.getGlobalShape() ||
        typeOf(op).getShape() != op.getGlobalShape())
      return op.emitOpError() << "has local types; verify before tofu-localize";
    if (isRemade(input))
      return checkRemade(op, "input", input, op.getFrom().getPartialAxes(),
                         op.getFrom().getCombiner());
    if (failed(checkNeed(op, "input", input, op.getFrom())))
      return failure();
    // Localization takes the input's local value for what `from` says.
    if (resharded)
      if (auto flaw = prover.within(boxesOf(placementOf(input), shape),
                                    boxesOf(op.getFrom(), shape)))
        return op.emitOpError()
               << "input: device " << flaw->device << " holds "
               << toString(flaw->point) << ", by from it doesn't";
    return checkMove(op, "input", op.getFrom(), op.getTo(), input);
  }

  /// Checks that a value that all devices make alike may be taken as partial.
  LogicalResult checkRemade(Operation *op, const Twine &what, Value value,
                            ArrayRef<StringAttr> axes, Combiner combiner) {
    if (axes.empty() || mayRepeat(value, combiner))
      return success();
    return complain(op) << what
                        << " is the same on all devices, is taken as a partial "
                        << stringifyCombiner(combiner) << " over "
                        << toString(axes);
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  LogicalResult visit(Block &block) {
    bool good = true;
    for (Operation &op : block.without_terminator())
      good &= succeeded(isPlannedBranch(&op) ? visitBranch(&op) : visit(&op));
    return success(good);
  }

  /// A branch or loop: what it hands on lies as what that becomes, and all that
  /// one operand may become lies alike.
  LogicalResult visitBranch(Operation *op) {
    SmallVector<Handover> handovers = getHandovers(op);
    for (const Handover &handover : handovers) {
      FailureOr<LayoutAttr> layout = getHandoverLayout(op, handover);
      if (failed(layout) || failed(checkPartial(op, "what it hands on", *layout,
                                                {}, Combiner::Sum)))
        return failure();
      for (Value input : handover.inputs) {
        if (auto flaw = prover.cover(boxesOf(*layout, shapeOf(input)),
                                     shapeOf(input), mesh))
          return complain(op) << "what it hands on: " << explain(*flaw, "hold");
        placements[input] = *layout;
      }
    }
    bool good = true;
    auto handOn = [&](Operation *from) {
      for (const Handover &handover : handovers) {
        OpOperand *operand = handover.operand;
        if (operand->getOwner() == from && !isRemade(operand->get()))
          good &= succeeded(
              checkNeed(from, "operand " + Twine(operand->getOperandNumber()),
                        operand->get(), placementOf(handover.inputs.front())));
      }
    };
    handOn(op);
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      good &= succeeded(visit(region.front()));
      handOn(region.front().getTerminator());
    }
    return success(good);
  }

  LogicalResult visit(Operation *op) {
    if ((op->getNumResults() == 1 && isConstantTensor(op->getResult(0))) ||
        getReadDim(op))
      return success();
    if (auto reshard = dyn_cast<ReshardOp>(op))
      return visitReshard(reshard);
    if (auto stack = dyn_cast<StackOp>(op)) {
      placements[stack] = stack.getTo();
      return checkNeed(op, "input", stack.getInput(), stack.getFrom());
    }
    if (GlobalAccess access(op); access)
      return visitAccess(op, access);
    if (auto strategy = op->getAttrOfType<StrategyAttr>(TofuDialect::kStrategy))
      return visitPart(op, strategy);
    return visitWhole(op);
  }

  /// A load or store of a global: all of the global has a place on the devices,
  /// and what is stored can get there.
  LogicalResult visitAccess(Operation *op, GlobalAccess access) {
    FailureOr<LayoutAttr> layout = requireGlobalLayout(op, access.global);
    if (failed(layout))
      return failure();
    if (access.global->hasAttr(TofuDialect::kGlobalType))
      return op->emitOpError() << "global @" << access.global.getSymName()
                               << " has a local type; verify before "
                                  "tofu-localize";
    Value value = access.loaded ? access.loaded : access.stored->get();
    SmallVector<int64_t> shape = shapeOf(value);
    if (auto flaw = prover.cover(boxesOf(*layout, shape), shape, mesh))
      return complain(op) << "global @" << access.global.getSymName() << ": "
                          << explain(*flaw, "hold");
    if (access.loaded)
      placements[value] = *layout;
    else if (!isRemade(value))
      return checkNeed(op, "operand 0", value, *layout);
    return success();
  }

  /// An operation that every device does in full.
  LogicalResult visitWhole(Operation *op) {
    bool good = true;
    for (auto [i, value] : llvm::enumerate(getTensorOperands(op)))
      if (!isRemade(value))
        good &= succeeded(
            checkNeed(op, "operand " + Twine(i), value, wholeOf(value)));
    for (OpResult result : op->getOpResults())
      if (isa<RankedTensorType>(result.getType()))
        good &= succeeded(define(result, wholeOf(result)));
    return success(good);
  }

  LogicalResult visitPart(Operation *op, StrategyAttr strategy) {
    Part part(op, strategy, meshOp, hints);
    std::vector<const void *> key{part.semantics.getAsOpaquePointer(),
                                  strategy.getAsOpaquePointer(),
                                  meshOp.getAsOpaquePointer()};
    bool good = succeeded(checkStrategy(part));
    SmallVector<Value> tensors = getTensorOperands(op);
    for (auto [i, value] : llvm::enumerate(tensors)) {
      good &= succeeded(checkOperand(part, i, value));
      key.push_back(value.getType().getAsOpaquePointer());
      key.push_back(Attribute(getHeld(part, i, value)).getAsOpaquePointer());
    }
    for (OpResult result : op->getOpResults()) {
      key.push_back(result.getType().getAsOpaquePointer());
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      good &= succeeded(
          define(result, part.getProduced(result.getResultNumber(), mesh)));
    }
    bool isKeyed = isStatic(op);
    if (isKeyed && known.count(key)) {
      ++numAlike;
      return success(good);
    }
    part.cut(meshOp);
    if (!good || failed(proveWork(part)) || failed(proveReads(part, tensors)) ||
        failed(proveResults(part)))
      return failure();
    ++numProved;
    if (isKeyed)
      known.insert(std::move(key));
    return success();
  }

  /// A partial sum passes only where the semantics say so.
  LogicalResult checkStrategy(const Part &part) {
    int64_t mask = 0;
    for (int64_t operand : part.strategy.getPartialOperands())
      mask |= int64_t(1) << operand;
    if (!mask)
      return success();
    for (unsigned i = 0, e = part.semantics.getOperands().size(); i < e; ++i)
      if (i < 63 && countsOnFirst(part.op, i,
                                  part.strategy.getPartial().getNames(), mesh))
        mask |= int64_t(1) << i;
    if (llvm::is_contained(part.semantics.getLinear(), mask))
      return success();
    return complain(part.op)
           << "is not linear in the operands that are partial over "
           << toString(part.strategy.getPartial().getNames());
  }

  /// True if operand `i`, which is `value`, starts a reduction that is cut, and
  /// may start one of its parts only.
  bool countsOnce(const Part &part, unsigned i, Value value) const {
    int64_t result = part.semantics.getOperands()[i].getInitOf();
    return part.cutsReduction && result >= 0 &&
           !mayRepeat(value, part.getCombiner(result, mesh));
  }

  /// Checks how operand `i` comes: in planned programs, that it can.
  LogicalResult checkOperand(const Part &part, unsigned i, Value value) {
    if (!part.semantics.getOperands()[i].getRead())
      return success();
    std::string what = ("operand " + Twine(i)).str();
    if (countsOnce(part, i, value)) {
      if (resharded)
        return complain(part.op)
               << what << " would be combined by every part of the reduction, "
               << "not once";
      // It is combined where the result lies: if that stays partial, as an
      // addend that may be partial itself.
      LayoutAttr layout = getLayout(
          part.op->getResult(part.semantics.getOperands()[i].getInitOf()));
      if (!layout || isRemade(value))
        return success();
      bool passes = part.passes(i) &&
                    llvm::all_of(layout.getPartialAxes(), [&](StringAttr axis) {
                      return llvm::is_contained(
                          part.strategy.getPartial().getNames(), axis);
                    });
      if (!passes)
        layout = cast<LayoutAttr>(layout.withPartial({}, Combiner::None));
      return checkMove(part.op, what, placementOf(value), layout, value);
    }
    ArrayRef<StringAttr> axes;
    if (part.passes(i))
      axes = part.strategy.getPartial().getNames();
    if (isRemade(value))
      return checkRemade(part.op, what, value, axes, Combiner::Sum);
    if (!resharded)
      return checkMove(part.op, what, placementOf(value),
                       getNeed(part, i, value), value);
    return checkPartial(part.op, what, placementOf(value), axes, Combiner::Sum);
  }

  PlacementAttrInterface getNeed(const Part &part, unsigned i, Value value) {
    return getOperandPlacement(part.semantics, part.strategy, i,
                               typeOf(value).getShape(), mesh);
  }

  /// Where a device reads operand `i` from when it runs; null if it isn't read
  /// or made on the spot.
  PlacementAttrInterface getHeld(const Part &part, unsigned i, Value value) {
    if (!part.semantics.getOperands()[i].getRead() || isRemade(value))
      return {};
    return resharded ? placementOf(value) : getNeed(part, i, value);
  }

  LogicalResult proveWork(const Part &part) {
    auto flaw = prover.coverOnce(part.parts, part.shape, mesh, part.cutting);
    if (!flaw)
      return success();
    return complain(part.op)
           << explain(*flaw, "compute", ", as its replicas do",
                      ", which its replicas don't");
  }

  LogicalResult proveReads(const Part &part, ArrayRef<Value> tensors) {
    for (auto [i, value] : llvm::enumerate(tensors)) {
      PlacementAttrInterface held = getHeld(part, i, value);
      if (!held)
        continue;
      auto flaw =
          prover.readsWithin(part.parts, part.described.operands[i].index,
                             shapeOf(value), boxesOf(held, shapeOf(value)));
      if (flaw)
        return complain(part.op) << "operand " << i << ": "
                                 << explain(*flaw, "hold", ", which it reads");
    }
    return success();
  }

  LogicalResult proveResults(Part &part) {
    for (auto [i, result] : llvm::enumerate(part.op->getOpResults())) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      SmallVector<int64_t> shape = shapeOf(result);
      Boxes made = boxesOf(part.getProduced(i, mesh), shape);
      auto flaw = prover.makes(part.described.dims, part.parts,
                               part.described.results[i].index, shape, made);
      if (!flaw)
        flaw = prover.coverOnce(made, shape, mesh, part.sharing);
      if (flaw)
        return complain(part.op)
               << "result " << i << ": "
               << explain(*flaw, "make", ", which it is to hold",
                          ", which it is not to hold");
    }
    return success();
  }

  /// The layout that the plan gives to a result; null if it gives none.
  static LayoutAttr getLayout(OpResult result) {
    auto layouts =
        result.getOwner()->getAttrOfType<ArrayAttr>(TofuDialect::kLayouts);
    if (!layouts || layouts.size() <= result.getResultNumber())
      return {};
    return dyn_cast<LayoutAttr>(layouts[result.getResultNumber()]);
  }

  /// Notes where a result is made, and checks that it can get to its layout.
  LogicalResult define(OpResult result, PlacementAttrInterface produced) {
    placements[result] = produced;
    std::string what = ("result " + Twine(result.getResultNumber())).str();
    LayoutAttr layout = getLayout(result);
    if (!layout)
      return complain(result.getOwner())
             << what << " has no layout; run tofu-plan";
    // Until there are reshards, uses find the value in its layout.
    if (!resharded)
      placements[result] = layout;
    return checkMove(result.getOwner(), what, produced, layout, result);
  }

  //===--------------------------------------------------------------------===//
  // The function's boundary
  //===--------------------------------------------------------------------===//

  LogicalResult visitArguments() {
    for (BlockArgument arg : function.getArguments()) {
      unsigned i = arg.getArgNumber();
      if (function.getArgAttr(i, TofuDialect::kGlobalType))
        return function.emitOpError()
               << "argument " << i
               << " has a local type; verify before tofu-localize";
      if (!isa<RankedTensorType>(arg.getType()))
        continue;
      auto layout =
          function.getArgAttrOfType<LayoutAttr>(i, TofuDialect::kLayout);
      if (failed(checkBoundary("argument " + Twine(i), arg, layout)))
        return failure();
      placements[arg] = layout;
    }
    return success();
  }

  /// Checks that all of a value has a place on the devices.
  LogicalResult checkBoundary(const Twine &what, Value value,
                              LayoutAttr layout) {
    if (!layout)
      return function.emitOpError()
             << what << " has no tofu.layout; run tofu-plan";
    SmallVector<int64_t> shape = shapeOf(value);
    if (auto flaw = prover.cover(boxesOf(layout, shape), shape, mesh))
      return function.emitOpError() << what << ": " << explain(*flaw, "hold");
    return success();
  }

  LogicalResult visitReturn(Operation *op) {
    bool good = true;
    DenseMap<unsigned, unsigned> carried = getCarried(function);
    for (auto [i, value] : llvm::enumerate(op->getOperands())) {
      if (!isa<RankedTensorType>(value.getType()))
        continue;
      auto layout =
          function.getResultAttrOfType<LayoutAttr>(i, TofuDialect::kLayout);
      if (failed(checkBoundary("result " + Twine(i), value, layout))) {
        good = false;
        continue;
      }
      if (!isRemade(value))
        good &= succeeded(checkNeed(op, "operand " + Twine(i), value, layout));
      if (auto it = carried.find(i); it != carried.end())
        good &= succeeded(checkCarried(i, value, layout, it->second));
    }
    return success(good);
  }

  /// A result that takes an argument's place must lie as it does.
  LogicalResult checkCarried(unsigned i, Value value, LayoutAttr layout,
                             unsigned arg) {
    PlacementAttrInterface like = placementOf(function.getArgument(arg));
    if (isSamePlacement(layout, like, cast<RankedTensorType>(value.getType()),
                        meshOp))
      return success();
    return function.emitOpError()
           << "result " << i << " lies as " << layout << ", argument " << arg
           << ", which it replaces, as " << like;
  }

  func::FuncOp function;
  FlatSymbolRefAttr meshName;
  MeshOp meshOp;
  search::Mesh mesh;
  bool resharded;
  SizeHints hints;
  search::Prover &prover;
  std::set<std::vector<const void *>> &known;
  DenseMap<Value, PlacementAttrInterface> placements;
};

struct VerifyPlanPass : public tofu::impl::VerifyPlanPassBase<VerifyPlanPass> {
  using VerifyPlanPassBase::VerifyPlanPassBase;

  void runOnOperation() override {
    Proofs proofs;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!isPlanned(function))
        continue;
      FailureOr<MeshOp> mesh = getPlanMesh(function);
      if (failed(mesh))
        return signalPassFailure();
      if (!*mesh)
        continue;
      Verifier verifier(function, *mesh, resharded, sizeHint, proofs);
      if (failed(verifier.run()))
        signalPassFailure();
      numProved += verifier.numProved;
      numAlike += verifier.numAlike;
    }
    if (failed(verifyGlobals()))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  /// Functions agree on a global, as its layout is on the global itself; but
  /// what is not planned takes it whole.
  LogicalResult verifyGlobals() {
    bool good = true;
    forEachUnplannedAccess(getOperation(), [&](Operation *op,
                                               ml_program::GlobalOp global) {
      LayoutAttr layout = getGlobalLayout(global);
      if (!layout || layout == LayoutAttr::getWhole(layout.getMesh(),
                                                    layout.getDims().size()))
        return;
      op->emitOpError() << "is in a region or function that is not "
                           "planned, but global @"
                        << global.getSymName() << " is cut: " << layout;
      good = false;
    });
    return success(good);
  }
};
} // namespace
