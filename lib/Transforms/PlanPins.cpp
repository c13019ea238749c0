//===- PlanPins.cpp - What a program says of its plan beforehand ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanPins.h"

#include "PlanText.h"
#include "Tofu/Search/CostModel.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::tofu;

LogicalResult Ask::overrule(const Ask &other, const Twine &how) const {
  if (priority != other.priority) {
    other.op->emitRemark() << other.what << " gives way to " << what
                           << ", whose " << TofuDialect::kPriority
                           << " is higher: " << how;
    return success();
  }
  InFlightDiagnostic error = other.op->emitError()
                             << other.what << " contradicts " << what << ": "
                             << how << "; change one, or give one a higher "
                             << TofuDialect::kPriority;
  error.attachNote(op->getLoc()) << what << " is here";
  return failure();
}

ArrayRef<SharedGlobals::Asked> SharedGlobals::getAsks(Operation *global) const {
  auto it = asks.find(global);
  return it == asks.end() ? ArrayRef<Asked>() : ArrayRef<Asked>(it->second);
}

SmallVector<Operation *> SharedGlobals::getTied(Operation *global) const {
  auto it = globals.findLeader(global);
  if (it == globals.member_end())
    return {global};
  return {it, globals.member_end()};
}

const SharedGlobals::Settled *
SharedGlobals::getSettled(Operation *global) const {
  auto leader = globals.findLeader(global);
  if (leader == globals.member_end())
    return nullptr;
  auto it = settledGlobals.find(*leader);
  return it == settledGlobals.end() ? nullptr : &it->second;
}

namespace {
struct TiedValue {
  Ask ask;
  unsigned value;
};

class PinReader {
public:
  PinReader(PlanGraph &graph, const search::Mesh &mesh,
            FlatSymbolRefAttr meshSymbol)
      : graph(graph), mesh(mesh), meshSymbol(meshSymbol) {}

  LogicalResult read(const SharedGlobals &shared) {
    if (failed(readBoundary()) || failed(readOperations()) ||
        failed(readGlobals(shared)) || failed(readOperators()))
      return failure();
    if (failed(tie(shared)))
      return failure();
    for (const auto &values : graph.graph.tied)
      if (failed(resolve(values)))
        return failure();
    for (unsigned value = 0; value < graph.values.size(); ++value)
      if (!isTied.count(value) && failed(resolve(value)))
        return failure();
    return checkPartials();
  }

  /// Only what is asked of globals, without settling anything.
  LogicalResult readAsks(SharedGlobals &shared) {
    if (failed(readBoundary()) || failed(readOperations()) ||
        failed(tie(shared)))
      return failure();
    for (PlannedGlobal &global : graph.globals) {
      SharedGlobals::Asked asked{graph.function, {}, {}};
      SmallVector<unsigned> alike(1, global.value);
      for (const auto &values : graph.graph.tied)
        if (llvm::is_contained(values, global.value))
          alike.assign(values.begin(), values.end());
      for (unsigned value : alike) {
        asked.layouts.append(pins.lookup(value));
        asked.dims.append(forbidden.lookup(value));
        for (PlannedGlobal &other : graph.globals)
          if (other.value == value)
            shared.tie(global.op, other.op);
      }
      shared.ask(global.op, std::move(asked));
    }
    return success();
  }

private:
  static int64_t getPriority(Attribute attr) {
    auto number = dyn_cast_or_null<IntegerAttr>(attr);
    return number ? number.getInt() : 0;
  }

  //===--------------------------------------------------------------------===//
  // Reading
  //===--------------------------------------------------------------------===//

  /// Notes that `value` is pinned to the layout `attr`, if it is one.
  LogicalResult pin(Value value, Attribute attr, Ask ask) {
    auto layout = dyn_cast_or_null<LayoutAttr>(attr);
    if (!layout)
      return success();
    if (layout.getMesh() != meshSymbol)
      return ask.op->emitError()
             << ask.what << " is pinned on " << layout.getMesh()
             << ", the plan is on " << meshSymbol;
    if (std::optional<unsigned> number = graph.lookup(value)) {
      pins[*number].push_back(
          {std::move(ask), graph.readLayout(*number, layout, mesh)});
      return success();
    }
    if (layout == LayoutAttr::getWhole(meshSymbol, layout.getDims().size()))
      return success();
    return ask.op->emitError()
           << ask.what << " is pinned, but every device has all of it";
  }

  /// Notes what else `attrs` say of a value.
  void readValue(Value value, DictionaryAttr attrs, const Ask &ask) {
    std::optional<unsigned> number = graph.lookup(value);
    if (!number || !attrs)
      return;
    if (auto dims = attrs.getAs<ArrayAttr>(TofuDialect::kForbid))
      for (auto dim : dims.getAsRange<IntegerAttr>())
        forbidden[*number].push_back({ask, unsigned(dim.getInt())});
    if (auto name = attrs.getAs<StringAttr>(TofuDialect::kTie))
      ties[name].push_back({ask, *number});
  }

  LogicalResult readHeld(Value value, DictionaryAttr attrs, std::string what) {
    if (!attrs)
      return success();
    Ask ask{graph.function, std::move(what),
            getPriority(attrs.get(TofuDialect::kPriority))};
    readValue(value, attrs, ask);
    return pin(value, attrs.get(TofuDialect::kLayout), ask);
  }

  LogicalResult readBoundary() {
    func::FuncOp function = graph.function;
    for (BlockArgument arg : function.getArguments())
      if (failed(readHeld(arg, function.getArgAttrDict(arg.getArgNumber()),
                          "argument " + std::to_string(arg.getArgNumber()))))
        return failure();
    DenseMap<unsigned, unsigned> carried = graph.getCarried();
    Operation *end = function.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands())) {
      // What is carried lies as the argument that it is carried to.
      auto to = carried.find(i);
      Value held =
          to == carried.end() ? value : function.getArgument(to->second);
      if (failed(readHeld(held, function.getResultAttrDict(i),
                          "result " + std::to_string(i))))
        return failure();
    }
    return success();
  }

  LogicalResult pinAll(Operation *op, ValueRange values, Attribute attr,
                       StringRef kind) {
    auto layouts = dyn_cast_or_null<ArrayAttr>(attr);
    if (!layouts || layouts.size() != values.size())
      return success();
    int64_t priority = getPriority(op->getAttr(TofuDialect::kPriority));
    for (auto [i, value, layout] : llvm::enumerate(values, layouts))
      if (failed(pin(value, layout,
                     {op, (kind + " " + Twine(i)).str(), priority})))
        return failure();
    return success();
  }

  LogicalResult readOperation(Operation *op) {
    if (failed(pinAll(op, op->getResults(), op->getAttr(TofuDialect::kLayouts),
                      "result")))
      return failure();
    if (auto name = op->getAttrOfType<StringAttr>(TofuDialect::kTie))
      for (OpResult result : op->getResults())
        if (std::optional<unsigned> number = graph.lookup(result)) {
          // Of several results, each is tied to those of its number.
          auto key = StringAttr::get(
              op->getContext(),
              name.getValue() +
                  (result.getResultNumber()
                       ? "\n" + std::to_string(result.getResultNumber())
                       : ""));
          ties[key].push_back(
              {{op, "result " + std::to_string(result.getResultNumber()),
                getPriority(op->getAttr(TofuDialect::kPriority))},
               *number});
        }
    auto regions = op->getAttrOfType<ArrayAttr>(TofuDialect::kArgLayouts);
    if (!regions || regions.size() != op->getNumRegions())
      return success();
    for (auto [region, layouts] : llvm::zip_equal(op->getRegions(), regions))
      if (failed(pinAll(op, region.getArguments(), layouts, "argument")))
        return failure();
    return success();
  }

  LogicalResult readOperations() {
    func::FuncOp function = graph.function;
    return success(!function
                        .walk([&](Operation *op) {
                          return op != function && failed(readOperation(op))
                                     ? WalkResult::interrupt()
                                     : WalkResult::advance();
                        })
                        .wasInterrupted());
  }

  /// Notes the layout that is on `global`, as one of value `number`.
  LogicalResult readGlobal(ml_program::GlobalOp global, unsigned number) {
    LayoutAttr layout = getGlobalLayout(global);
    if (!layout)
      return success();
    if (layout.getMesh() != meshSymbol)
      return global->emitError() << "is pinned on " << layout.getMesh()
                                 << ", the plan is on " << meshSymbol;
    pins[number].push_back(
        {{global, ("global @" + global.getSymName()).str(), 0},
         graph.readLayout(number, layout, mesh)});
    return success();
  }

  /// Notes what is asked of the globals, here and in other functions.
  LogicalResult readGlobals(const SharedGlobals &shared) {
    for (PlannedGlobal &global : graph.globals) {
      unsigned number = global.value;
      if (const SharedGlobals::Settled *known = shared.getSettled(global.op)) {
        settled[number] = graph.readLayout(number, known->layout, mesh);
        continue;
      }
      for (Operation *tied : shared.getTied(global.op)) {
        if (failed(readGlobal(cast<ml_program::GlobalOp>(tied), number)))
          return failure();
        for (const SharedGlobals::Asked &asked : shared.getAsks(tied)) {
          if (asked.function == graph.function)
            continue;
          pins[number].append(asked.layouts);
          forbidden[number].append(asked.dims);
        }
      }
    }
    return success();
  }

  /// The iteration dim that an element of tofu.forbid means.
  static std::optional<unsigned> findDim(SemanticsAttr semantics,
                                         Attribute dim) {
    if (auto number = dyn_cast<IntegerAttr>(dim))
      return unsigned(number.getInt());
    for (auto [i, known] : llvm::enumerate(semantics.getDims()))
      if (known.getName() == dim)
        return i;
    return std::nullopt;
  }

  LogicalResult readOperators() {
    for (auto [i, planned] : llvm::enumerate(graph.operators)) {
      Operation *op = planned.op;
      search::Operator &added = graph.graph.operators[i];
      auto strategy = op->getAttrOfType<StrategyAttr>(TofuDialect::kStrategy);
      if (strategy && !planned.semantics)
        return op->emitError() << "has a strategy, but every device does all "
                                  "of it, since its sizes are not known";
      if (strategy && strategy.getMesh() != meshSymbol)
        return op->emitError() << "is pinned on " << strategy.getMesh()
                               << ", the plan is on " << meshSymbol;
      if (strategy) {
        added.pinned = graph.toGraph(i, strategy.resolve(mesh));
        added.priority = getPriority(op->getAttr(TofuDialect::kPriority));
      }
      auto dims = op->getAttrOfType<ArrayAttr>(TofuDialect::kForbid);
      if (!dims || !planned.semantics)
        continue;
      for (Attribute attr : dims) {
        std::optional<unsigned> dim = findDim(planned.semantics, attr);
        if (!dim || *dim >= added.dims.size())
          continue;
        if (added.pinned && !added.pinned->dims[*dim].empty())
          return op->emitError()
                 << "its strategy cuts dim " << *dim << ", which its "
                 << TofuDialect::kForbid << " forbids";
        added.dims[*dim].kind = search::DimKind::Unsplittable;
      }
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Contradictions
  //===--------------------------------------------------------------------===//

  /// Adds what is tied by name, here or in other functions, to the classes that
  /// the program itself ties.
  LogicalResult tie(const SharedGlobals &shared) {
    llvm::EquivalenceClasses<unsigned> classes;
    for (const auto &values : graph.graph.tied)
      for (unsigned value : values)
        classes.unionSets(values.front(), value);
    for (const PlannedGlobal &global : graph.globals)
      for (Operation *tied : shared.getTied(global.op))
        for (const PlannedGlobal &other : graph.globals)
          if (other.op == tied)
            classes.unionSets(global.value, other.value);
    for (auto &[name, values] : ties) {
      const TiedValue &first = values.front();
      for (const TiedValue &other : values) {
        const search::Value &a = graph.graph.values[first.value],
                            &b = graph.graph.values[other.value];
        if (a.shape != b.shape) {
          InFlightDiagnostic error = other.ask.op->emitError()
                                     << other.ask.what << " is tied to "
                                     << first.ask.what
                                     << ", which has another shape";
          error.attachNote(first.ask.op->getLoc())
              << first.ask.what << " is here";
          return failure();
        }
        classes.unionSets(first.value, other.value);
      }
    }
    graph.graph.tied.clear();
    for (const auto *each : classes) {
      if (!each->isLeader() ||
          std::next(classes.member_begin(*each)) == classes.member_end())
        continue;
      graph.graph.tied.emplace_back(classes.member_begin(*each),
                                    classes.member_end());
      for (unsigned value : graph.graph.tied.back()) {
        graph.graph.values[value].neverPartial = true;
        isTied.insert(value);
      }
    }
    return success();
  }

  /// Settles what is asked of values that have one layout.
  LogicalResult resolve(ArrayRef<unsigned> values) {
    for (unsigned value : values)
      if (auto it = settled.find(value); it != settled.end()) {
        for (unsigned alike : values)
          graph.graph.values[alike].pinned = it->second;
        return success();
      }
    SmallVector<PinnedLayout> asked;
    SmallVector<ForbiddenDim> dims;
    for (unsigned value : values) {
      asked.append(pins.lookup(value));
      dims.append(forbidden.lookup(value));
    }
    auto isFirmer = [](const auto &a, const auto &b) {
      return a.ask.priority > b.ask.priority;
    };
    // The first of the firmest, in program order.
    const PinnedLayout *firmest = nullptr;
    for (const PinnedLayout &pin : asked)
      if (!firmest || isFirmer(pin, *firmest))
        firmest = &pin;
    for (const PinnedLayout &pin : asked)
      if (!(pin.layout == firmest->layout) &&
          failed(firmest->ask.overrule(pin.ask, getText(firmest->layout, mesh) +
                                                    " and " +
                                                    getText(pin.layout, mesh))))
        return failure();
    uint64_t bits = 0;
    for (const ForbiddenDim &forbid : dims) {
      if (firmest && !firmest->layout.dims[forbid.dim].empty()) {
        std::string how = "dim " + std::to_string(forbid.dim) + " of " +
                          getText(firmest->layout, mesh) + " is forbidden";
        bool yields = isFirmer(forbid, *firmest);
        if (failed(yields ? forbid.ask.overrule(firmest->ask, how)
                          : firmest->ask.overrule(forbid.ask, how)))
          return failure();
        if (!yields)
          continue;
        firmest = nullptr;
      }
      if (forbid.dim < 64)
        bits |= uint64_t(1) << forbid.dim;
    }
    for (unsigned value : values) {
      graph.graph.values[value].forbidden = bits;
      if (firmest) {
        graph.graph.values[value].pinned = firmest->layout;
        graph.graph.values[value].priority = firmest->ask.priority;
      }
    }
    return success();
  }

  /// A value can be pinned partial only where its operator is.
  LogicalResult checkPartials() {
    for (auto [value, pinned] : pins) {
      const auto &layout = graph.graph.values[value].pinned;
      if (layout && !layout->partial.empty() &&
          !isLeftPartial(value, layout->partial))
        return pinned.front().ask.op->emitError()
               << pinned.front().ask.what
               << " is pinned to a partial result; pin the strategy that "
                  "leaves it partial, too";
    }
    return success();
  }

  bool isLeftPartial(unsigned value, const search::Axes &axes) const {
    for (const search::Operator &op : graph.graph.operators)
      for (const search::Result &result : op.results)
        if (result.value == value)
          return op.pinned &&
                 search::without(axes, search::sumPartialAxes(op, *op.pinned))
                     .empty();
    return false;
  }

  PlanGraph &graph;
  const search::Mesh &mesh;
  FlatSymbolRefAttr meshSymbol;
  /// By value.
  llvm::MapVector<unsigned, SmallVector<PinnedLayout, 1>> pins;
  llvm::MapVector<unsigned, SmallVector<ForbiddenDim, 1>> forbidden;
  llvm::MapVector<StringAttr, SmallVector<TiedValue>> ties;
  DenseSet<unsigned> isTied;
  /// Layouts of globals that the plan of another function has chosen, in the
  /// knowledge of all that is asked of them.
  DenseMap<unsigned, search::Layout> settled;
};
} // namespace

LogicalResult mlir::tofu::readPins(PlanGraph &graph, const search::Mesh &mesh,
                                   FlatSymbolRefAttr meshSymbol,
                                   const SharedGlobals &shared) {
  return PinReader(graph, mesh, meshSymbol).read(shared);
}

LogicalResult mlir::tofu::readGlobalPins(PlanGraph &graph,
                                         const search::Mesh &mesh,
                                         FlatSymbolRefAttr meshSymbol,
                                         SharedGlobals &shared) {
  return PinReader(graph, mesh, meshSymbol).readAsks(shared);
}

void mlir::tofu::dropConstraints(func::FuncOp function) {
  for (StringRef name :
       {TofuDialect::kForbid, TofuDialect::kTie, TofuDialect::kPriority}) {
    auto id = StringAttr::get(function.getContext(), name);
    function.walk([&](Operation *op) { op->removeAttr(id); });
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, id);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.removeResultAttr(i, id);
  }
}
