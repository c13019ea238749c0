//===- PlanGraph.cpp - Between a function and its graph -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanGraph.h"

#include "Tofu/Dialect/Signature.h"
#include "Tofu/Transforms/Remade.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/MD5.h"

using namespace mlir;
using namespace mlir::tofu;

std::string mlir::tofu::getOperatorName(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  auto call = dyn_cast<CallOpInterface>(op);
  auto callee = call ? dyn_cast<SymbolRefAttr>(call.getCallableForCallee())
                     : SymbolRefAttr();
  if (callee)
    name += " @" + callee.getLeafReference().str();
  return name;
}

bool mlir::tofu::isPlanned(func::FuncOp function) {
  // An unknown operation may end a block; what it does with what it takes isn't
  // known either.
  Region &body = function.getBody();
  return !function.isPrivate() && body.hasOneBlock() && !body.front().empty() &&
         isa<func::ReturnOp>(body.front().back());
}

/// True if `op` is planned: it is in a function that is, at its top or in
/// branches and loops that are planned too.
static bool isPartOfPlan(Operation *op) {
  Operation *parent = op->getParentOp();
  while (parent && isPlannedBranch(parent))
    parent = parent->getParentOp();
  auto function = dyn_cast_or_null<func::FuncOp>(parent);
  return function && isPlanned(function);
}

void mlir::tofu::forEachUnplannedAccess(
    ModuleOp module,
    function_ref<void(Operation *, ml_program::GlobalOp)> visit) {
  module.walk([&](Operation *op) {
    if (GlobalAccess access(op); access && !isPartOfPlan(op))
      visit(op, access.global);
  });
}

/// Calls `visit` with every mesh that the plan of `function` names, and where.
static LogicalResult
forEachMesh(func::FuncOp function,
            function_ref<LogicalResult(Operation *, FlatSymbolRefAttr)> visit) {
  auto visitLayout = [&](Operation *op, Attribute attr) {
    auto layout = dyn_cast_or_null<LayoutAttr>(attr);
    return layout ? visit(op, layout.getMesh()) : success();
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(visitLayout(function,
                           function.getArgAttr(i, TofuDialect::kLayout))))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(visitLayout(function,
                           function.getResultAttr(i, TofuDialect::kLayout))))
      return failure();
  auto visitLayouts = [&](Operation *op, Attribute attr) -> LogicalResult {
    if (auto layouts = dyn_cast_or_null<ArrayAttr>(attr))
      for (Attribute layout : layouts)
        if (failed(visitLayout(op, layout)))
          return failure();
    return success();
  };
  return success(
      !function
           .walk([&](Operation *op) {
             auto strategy =
                 op->getAttrOfType<StrategyAttr>(TofuDialect::kStrategy);
             if (strategy && failed(visit(op, strategy.getMesh())))
               return WalkResult::interrupt();
             if (failed(visitLayouts(op, op->getAttr(TofuDialect::kLayouts))))
               return WalkResult::interrupt();
             if (GlobalAccess access(op);
                 access &&
                 failed(visitLayout(op, getGlobalLayout(access.global))))
               return WalkResult::interrupt();
             if (auto regions =
                     op->getAttrOfType<ArrayAttr>(TofuDialect::kArgLayouts))
               for (Attribute layouts : regions)
                 if (failed(visitLayouts(op, layouts)))
                   return WalkResult::interrupt();
             return WalkResult::advance();
           })
           .wasInterrupted());
}

FailureOr<MeshOp> mlir::tofu::getPlanMesh(func::FuncOp function) {
  FlatSymbolRefAttr mesh;
  auto visit = [&](Operation *op, FlatSymbolRefAttr named) -> LogicalResult {
    if (mesh && mesh != named)
      return op->emitError()
             << "the plan is on " << mesh << " and on " << named;
    mesh = named;
    return success();
  };
  if (failed(forEachMesh(function, visit)))
    return failure();
  // That it exists is verified with the attributes.
  return mesh ? lookupMesh(function, mesh) : MeshOp();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static int64_t getElementBytes(Type type) {
  if (isa<IndexType>(type))
    return 8;
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * getElementBytes(complex.getElementType());
  return type.isIntOrFloat() ? (type.getIntOrFloatBitWidth() + 7) / 8 : 8;
}

static search::Value makeValue(ArrayRef<int64_t> shape, Type elementType) {
  search::Value value;
  value.shape.assign(shape.begin(), shape.end());
  value.elementBytes = getElementBytes(elementType);
  return value;
}

std::optional<unsigned> PlanGraph::addValue(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || isConstantTensor(value) || !hasTraceableSizes(value))
    return std::nullopt;
  auto [it, isNew] = numbers.try_emplace(value, values.size());
  if (!isNew)
    return it->second;
  SmallVector<int64_t> shape = hints.getShape(value);
  graph.values.push_back(makeValue(shape, type.getElementType()));
  hasUnknownSizes |= !type.hasStaticShape();
  // What lies in a loop moves each time around.
  graph.values.back().times = getTripCount(value.getParentBlock());
  graph.values.back().elementBytes *= graph.values.back().times;
  values.push_back(value);
  return it->second;
}

static SmallVector<search::LinearExpr, 4> getWholeIndex(Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  return SmallVector<search::LinearExpr, 4>(rank, search::LinearExpr::all());
}

/// An operator that every device does in full.
static search::Operator getWholeOperator(Operation *op) {
  search::Operator whole;
  for (Value operand : getTensorOperands(op))
    whole.operands.push_back({0, getWholeIndex(operand), -1});
  for (Value result : op->getResults()) {
    search::Result &produced = whole.results.emplace_back();
    if (isa<RankedTensorType>(result.getType()))
      produced.index = getWholeIndex(result);
  }
  return whole;
}

/// The sets of operands that a partial sum may pass through, over the operands
/// that the graph keeps; a set with another operand is no use.
static SmallVector<uint64_t, 2> keepLinear(ArrayRef<uint64_t> sets,
                                           ArrayRef<unsigned> kept) {
  SmallVector<uint64_t, 2> result;
  for (uint64_t set : sets) {
    uint64_t mapped = 0, found = 0;
    for (auto [i, operand] : llvm::enumerate(kept))
      if (operand < 64 && i < 64 && (set >> operand & 1)) {
        mapped |= uint64_t(1) << i;
        found |= uint64_t(1) << operand;
      }
    if (mapped && found == set)
      result.push_back(mapped);
  }
  return result;
}

/// Whether `op`, in the body of another, computes something of scalars; a cast
/// doesn't, and neither does what only says where something is.
static bool isArithmetic(Operation &op) {
  auto isIndex = llvm::IsaPred<IndexType>;
  return op.getNumOperands() > 0 && op.getNumResults() > 0 &&
         op.getNumRegions() == 0 && !isa<CastOpInterface>(op) &&
         llvm::none_of(op.getOperandTypes(), llvm::IsaPred<ShapedType>) &&
         !llvm::all_of(op.getResultTypes(), isIndex);
}

/// Arithmetic operations per point of the iteration space: those of the body,
/// so that a multiply-add is two. An operation of complex numbers counts as
/// four, the mean of an addition and a multiplication. Without a body, one, or
/// two if something is summed.
static int64_t countFlops(Operation *op, const search::Operator &described) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock()) {
    bool reduces =
        llvm::any_of(described.dims, [](const search::IterationDim &dim) {
          return dim.kind == search::DimKind::Reduction;
        });
    return reduces ? 2 : 1;
  }
  int64_t flops = 0;
  for (Operation &inner : op->getRegion(0).front())
    if (isArithmetic(inner))
      flops += isa<ComplexType>(inner.getResult(0).getType()) ? 4 : 1;
  return flops;
}

/// What operands of `type` are computed in; nothing if they are no floats.
static std::optional<search::Precision> getPrecision(Type type) {
  type = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(type))
    type = complex.getElementType();
  if (!isa<FloatType>(type))
    return std::nullopt;
  if (type.isF64())
    return search::Precision::Double;
  return type.isF16() || type.isBF16() ? search::Precision::Half
                                       : search::Precision::Single;
}

/// The widest of the types that `op` reads, but for initial values: devices
/// multiply narrow types fast even where they add up in a wide one. Of what it
/// makes, if it reads no floats.
static search::Precision getPrecision(Operation *op,
                                      const search::Operator &described) {
  std::optional<search::Precision> widest;
  auto take = [&](Type type) {
    if (std::optional<search::Precision> its = getPrecision(type))
      widest = widest ? std::min(*widest, *its) : *its;
  };
  for (auto [i, operand] : llvm::enumerate(getTensorOperands(op)))
    if (described.operands[i].initOf < 0)
      take(operand.getType());
  if (!widest)
    for (Type type : op->getResultTypes())
      take(type);
  return widest.value_or(search::Precision::Single);
}

void PlanGraph::addOperator(Operation *op) {
  // Every device makes what it needs of it, and knows all sizes.
  if ((op->getNumResults() == 1 && isConstantTensor(op->getResult(0))) ||
      getReadDim(op))
    return;
  auto semantics = op->getAttrOfType<SemanticsAttr>(TofuDialect::kSemantics);
  PlannedOperator planned{op, semantics, {}};
  search::Operator described;
  // What is made in parts must be known to fit together.
  bool isTraceable = llvm::all_of(op->getResults(), hasTraceableSizes);
  FailureOr<search::Operator> known = semantics && isTraceable
                                          ? hints.getOperator(op, semantics)
                                          : FailureOr<search::Operator>();
  if (succeeded(known))
    described = *known;
  else
    described = getWholeOperator(op);
  if (failed(known))
    planned.semantics = {};

  search::Operator added;
  added.name = getOperatorName(op);
  added.dims = described.dims;
  added.flops = countFlops(op, described);
  added.precision = getPrecision(op, described);
  added.times = getTripCount(op->getBlock());
  for (auto [i, value] : llvm::enumerate(getTensorOperands(op))) {
    if (semantics && !semantics.getOperands()[i].getRead())
      continue;
    std::optional<unsigned> number = addValue(value);
    if (!number)
      continue;
    search::Operand &operand =
        added.operands.emplace_back(described.operands[i]);
    operand.value = *number;
    planned.operands.push_back(i);
  }
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    search::Result produced = described.results[i];
    std::optional<unsigned> number = addValue(result);
    if (!number)
      continue;
    produced.value = *number;
    added.results.push_back(produced);
  }
  added.linear = keepLinear(described.linear, planned.operands);
  if (added.operands.empty() &&
      llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return;
  graph.operators.push_back(std::move(added));
  operators.push_back(std::move(planned));
}

void PlanGraph::addOperations(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (isPlannedBranch(&op))
      addBranch(&op);
    else if (GlobalAccess access(&op); access)
      addAccess(access);
    else
      addOperator(&op);
  }
}

/// Ties the values that one operand may become: a loop takes, keeps and gives
/// one type.
void PlanGraph::tieInputs(ArrayRef<Handover> handovers) {
  llvm::EquivalenceClasses<unsigned> classes;
  for (const Handover &handover : handovers) {
    std::optional<unsigned> first;
    for (Value input : handover.inputs) {
      std::optional<unsigned> number = addValue(input);
      if (!number)
        continue;
      graph.values[*number].neverPartial = true;
      first = first ? first : number;
      classes.unionSets(*first, *number);
    }
  }
  for (const auto *each : classes) {
    if (!each->isLeader() ||
        std::next(classes.member_begin(*each)) == classes.member_end())
      continue;
    graph.tied.emplace_back(classes.member_begin(*each), classes.member_end());
  }
}

void PlanGraph::addRegion(Region &region) {
  for (BlockArgument arg : region.getArguments())
    if (std::optional<unsigned> number = lookup(arg))
      graph.values[*number].heldFrom = graph.operators.size();
  if (!region.empty())
    addOperations(region.front());
}

/// Holds the values that were there before a loop, the first `count`, for as
/// long as it uses them: its operators, and what it hands on within, are all
/// from numbers `start` and `firstCarried` on.
void PlanGraph::holdForLoop(unsigned count, unsigned start,
                            unsigned firstCarried) {
  unsigned end = graph.operators.size();
  auto hold = [&](unsigned number) {
    if (number < count)
      graph.values[number].heldTo = std::max(graph.values[number].heldTo, end);
  };
  for (unsigned i = start; i < end; ++i)
    for (const search::Operand &operand : graph.operators[i].operands)
      hold(operand.value);
  for (const search::Carried &carried :
       ArrayRef(graph.carried).drop_front(firstCarried))
    hold(carried.from);
}

void PlanGraph::addBranch(Operation *op) {
  branches.push_back(op);
  unsigned numBefore = values.size(), start = graph.operators.size(),
           firstCarried = graph.carried.size();
  SmallVector<Handover> handovers = getHandovers(op);
  tieInputs(handovers);
  // Of the branch, then of the terminators: operators before they hand on.
  DenseMap<Operation *, unsigned> positions{{op, start}};
  for (Region &region : op->getRegions()) {
    addRegion(region);
    if (!region.empty())
      positions[region.front().getTerminator()] = graph.operators.size();
  }
  if (cast<RegionBranchOpInterface>(op).hasLoop())
    holdForLoop(numBefore, start, firstCarried);
  for (Value result : op->getResults())
    if (std::optional<unsigned> number = lookup(result))
      graph.values[*number].heldFrom = graph.operators.size();
  for (const Handover &handover : handovers) {
    std::optional<unsigned> from = lookup(handover.operand->get());
    std::optional<unsigned> to = lookup(handover.inputs.front());
    if (!from || !to || *from == *to)
      continue;
    graph.values[*from].neverPartial = true;
    graph.carried.push_back(
        {*from, *to, positions.lookup(handover.operand->getOwner())});
  }
}

PlannedGlobal &PlanGraph::getPlanned(ml_program::GlobalOp global) {
  for (PlannedGlobal &known : globals)
    if (known.op == global)
      return known;
  auto type = cast<RankedTensorType>(global.getType());
  search::Value value = makeValue(type.getShape(), type.getElementType());
  value.neverPartial = true;
  value.heldTo = search::kEnd;
  globals.push_back({global, unsigned(values.size()), {}, {}});
  graph.values.push_back(value);
  values.push_back(Value());
  return globals.back();
}

void PlanGraph::addAccess(const GlobalAccess &access) {
  PlannedGlobal &global = getPlanned(access.global);
  if (access.stored) {
    global.stored.push_back(
        {access.stored->get(), unsigned(graph.operators.size())});
    return;
  }
  unsigned number = *addValue(access.loaded);
  graph.values[number].neverPartial = true;
  graph.values[number].heldFrom = graph.operators.size();
  global.loads.push_back(number);
}

/// Ties what is loaded to the global, and has what is stored moved to where the
/// global lies.
void PlanGraph::addGlobals() {
  for (const PlannedGlobal &global : globals) {
    if (!global.loads.empty()) {
      auto &tied = graph.tied.emplace_back(1, global.value);
      tied.append(global.loads.begin(), global.loads.end());
    }
    for (auto [stored, position] : global.stored) {
      std::optional<unsigned> from = lookup(stored);
      if (!from || llvm::is_contained(global.loads, *from))
        continue;
      graph.values[*from].neverPartial = true;
      graph.carried.push_back({*from, global.value, position});
    }
  }
}

DenseMap<unsigned, unsigned> mlir::tofu::getCarried(func::FuncOp f) {
  DenseMap<unsigned, unsigned> carried;
  for (unsigned arg = 0; arg < f.getNumArguments(); ++arg)
    for (StringRef name : {StringRef("tf.aliasing_output"),
                           StringRef(TofuDialect::kCarriedTo)}) {
      auto result = f.getArgAttrOfType<IntegerAttr>(arg, name);
      if (result && result.getInt() >= 0 &&
          result.getInt() < int64_t(f.getNumResults()) &&
          f.getArgumentTypes()[arg] == f.getResultTypes()[result.getInt()])
        carried.try_emplace(result.getInt(), arg);
    }
  return carried;
}

void PlanGraph::addCarried() {
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [result, arg] : getCarried()) {
    std::optional<unsigned> from = lookup(terminator->getOperand(result));
    std::optional<unsigned> to = lookup(function.getArgument(arg));
    if (from && to && *from != *to)
      graph.carried.push_back({*from, *to});
  }
  llvm::sort(graph.carried, [](auto &a, auto &b) {
    return std::pair(a.to, a.from) < std::pair(b.to, b.from);
  });
}

PlanGraph::PlanGraph(func::FuncOp function, int64_t sizeHint)
    : function(function), sizeHint(sizeHint), hints(sizeHint) {
  for (BlockArgument arg : function.getArguments())
    if (std::optional<unsigned> number = addValue(arg))
      graph.values[*number].heldTo = search::kEnd; // it is the caller's
  addOperations(function.getBody().front());
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    if (std::optional<unsigned> number = lookup(value)) {
      graph.values[*number].neverPartial = true;
      graph.values[*number].heldTo = search::kEnd;
    }
  addGlobals();
  addCarried();
}

std::optional<unsigned> PlanGraph::lookup(Value value) const {
  auto it = numbers.find(value);
  if (it == numbers.end())
    return std::nullopt;
  return it->second;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static uint64_t mapBits(uint64_t bits, function_ref<int64_t(unsigned)> map) {
  uint64_t mapped = 0;
  for (unsigned i = 0; i < 64; ++i)
    if (bits >> i & 1)
      if (int64_t to = map(i); to >= 0)
        mapped |= uint64_t(1) << to;
  return mapped;
}

search::Strategy PlanGraph::toSemantics(unsigned i,
                                        search::Strategy strategy) const {
  ArrayRef<unsigned> operands = operators[i].operands;
  strategy.partialOperands = mapBits(
      strategy.partialOperands, [&](unsigned bit) { return operands[bit]; });
  return strategy;
}

search::Strategy PlanGraph::toGraph(unsigned i,
                                    search::Strategy strategy) const {
  ArrayRef<unsigned> operands = operators[i].operands;
  strategy.partialOperands =
      mapBits(strategy.partialOperands, [&](unsigned bit) -> int64_t {
        const unsigned *it = llvm::find(operands, bit);
        return it == operands.end() ? -1 : it - operands.begin();
      });
  return strategy;
}

LayoutAttr PlanGraph::getLayout(unsigned value, const search::Plan &plan,
                                FlatSymbolRefAttr mesh) const {
  return LayoutAttr::get(mesh, plan.layouts[value], Combiner::Sum, plan.mesh);
}

LayoutAttr PlanGraph::getLayout(Value value, const search::Plan &plan,
                                FlatSymbolRefAttr mesh) const {
  if (std::optional<unsigned> number = lookup(value))
    return getLayout(*number, plan, mesh);
  return LayoutAttr::getWhole(
      mesh, cast<RankedTensorType>(value.getType()).getRank());
}

SmallVector<LayoutAttr>
PlanGraph::getResultLayouts(const search::Plan &plan,
                            FlatSymbolRefAttr mesh) const {
  func::FuncOp f = function;
  DenseMap<unsigned, unsigned> carried = getCarried();
  SmallVector<LayoutAttr> layouts;
  for (auto [i, value] :
       llvm::enumerate(f.getBody().front().getTerminator()->getOperands())) {
    auto tied = carried.find(i);
    Value like = tied == carried.end() ? value : f.getArgument(tied->second);
    layouts.push_back(isa<RankedTensorType>(value.getType())
                          ? getLayout(like, plan, mesh)
                          : LayoutAttr());
  }
  return layouts;
}

std::optional<unsigned> PlanGraph::findUntied(const search::Plan &plan,
                                              FlatSymbolRefAttr mesh) const {
  func::FuncOp f = function;
  for (auto [i, layout] : llvm::enumerate(getResultLayouts(plan, mesh)))
    if (layout && layout != f.getResultAttr(i, TofuDialect::kLayout))
      return i;
  return std::nullopt;
}

void PlanGraph::write(const search::Plan &plan, FlatSymbolRefAttr mesh) {
  for (auto [i, planned] : llvm::enumerate(operators)) {
    if (planned.semantics)
      planned.op->setAttr(TofuDialect::kStrategy,
                          StrategyAttr::get(mesh,
                                            toSemantics(i, plan.strategies[i]),
                                            plan.mesh));
    SmallVector<Attribute> layouts;
    // What is no tensor has a unit in the place of its layout.
    for (Value result : planned.op->getResults())
      layouts.push_back(isa<RankedTensorType>(result.getType())
                            ? Attribute(getLayout(result, plan, mesh))
                            : UnitAttr::get(mesh.getContext()));
    planned.op->setAttr(TofuDialect::kLayouts,
                        ArrayAttr::get(mesh.getContext(), layouts));
  }
  for (Operation *op : branches) {
    auto layoutsOf = [&](ValueRange values) -> Attribute {
      SmallVector<Attribute> layouts;
      for (Value value : values)
        layouts.push_back(isa<RankedTensorType>(value.getType())
                              ? Attribute(getLayout(value, plan, mesh))
                              : UnitAttr::get(mesh.getContext()));
      return ArrayAttr::get(mesh.getContext(), layouts);
    };
    SmallVector<Attribute> regions;
    for (Region &region : op->getRegions())
      regions.push_back(layoutsOf(region.getArguments()));
    op->setAttr(TofuDialect::kLayouts, layoutsOf(op->getResults()));
    op->setAttr(TofuDialect::kArgLayouts,
                ArrayAttr::get(mesh.getContext(), regions));
  }
  SmallVector<Attribute> arguments;
  for (BlockArgument arg : function.getArguments())
    arguments.push_back(isa<RankedTensorType>(arg.getType())
                            ? getLayout(arg, plan, mesh)
                            : LayoutAttr());
  setArgAttrs(function, TofuDialect::kLayout, arguments);
  auto results = getResultLayouts(plan, mesh);
  setResultAttrs(function, TofuDialect::kLayout,
                 SmallVector<Attribute>(results.begin(), results.end()));
  for (PlannedGlobal &global : globals)
    global.op->setAttr(TofuDialect::kLayout,
                       getLayout(global.value, plan, mesh));
}

search::Layout PlanGraph::readLayout(unsigned value, LayoutAttr layout,
                                     const search::Mesh &mesh) const {
  search::Layout resolved;
  resolved.dims.resize(graph.values[value].shape.size());
  if (!layout)
    return resolved;
  for (auto [i, axes] : llvm::enumerate(layout.getDims()))
    resolved.dims[i] = axes.resolve(mesh);
  resolved.partial = layout.getPartial().resolve(mesh);
  return resolved;
}

search::Plan PlanGraph::read(const search::Mesh &mesh) const {
  search::Plan plan;
  plan.mesh = mesh;
  for (auto [i, planned] : llvm::enumerate(operators)) {
    search::Strategy &strategy = plan.strategies.emplace_back();
    strategy.dims.resize(graph.operators[i].dims.size());
    if (auto attr =
            planned.op->getAttrOfType<StrategyAttr>(TofuDialect::kStrategy))
      strategy = toGraph(i, attr.resolve(mesh));
  }
  for (auto [i, value] : llvm::enumerate(values))
    plan.layouts.push_back(
        readLayout(i, value ? getPlannedLayout(value) : LayoutAttr(), mesh));
  for (const PlannedGlobal &global : globals)
    plan.layouts[global.value] =
        readLayout(global.value, getGlobalLayout(global.op), mesh);
  return plan;
}

std::string PlanGraph::getHash() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  DenseMap<Value, unsigned> names;
  auto name = [&](Value value) {
    return names.try_emplace(value, names.size()).first->second;
  };
  // Programs have few different types and semantics: each is printed once.
  DenseMap<const void *, std::string> texts;
  auto print = [&](auto printed) -> StringRef {
    std::string &known = texts[printed.getAsOpaquePointer()];
    if (known.empty())
      llvm::raw_string_ostream(known) << printed;
    return known;
  };
  func::FuncOp f = function;
  f.walk<WalkOrder::PreOrder>([&](Operation *op) {
    os << getOperatorName(op) << '(';
    for (Value operand : op->getOperands())
      os << name(operand) << ':' << print(operand.getType()) << ' ';
    os << ")->(";
    for (Value result : op->getResults())
      os << name(result) << ':' << print(result.getType()) << ' ';
    os << ')';
    if (Attribute semantics = op->getAttr(TofuDialect::kSemantics))
      os << print(semantics);
    if (GlobalAccess access(op); access)
      os << access.global.getSymName();
    os << '\n';
  });
  llvm::MD5 hash;
  hash.update(text);
  llvm::MD5::MD5Result result;
  hash.final(result);
  return std::string(result.digest());
}
