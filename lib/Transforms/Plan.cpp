//===- Plan.cpp - The search, as a pass -----------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "MachineSpec.h"
#include "PlanGraph.h"
#include "PlanJson.h"
#include "PlanPins.h"
#include "Tofu/Transforms/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

#include <chrono>

namespace mlir::tofu {
#define GEN_PASS_DEF_PLANPASS
#include "Tofu/Transforms/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

static constexpr StringLiteral kMeshName = "mesh";
/// The largest size that makes sense for a tensor dim.
static constexpr int64_t kMostHint = int64_t(1) << 31;
/// Picoseconds of a plan, at most: what rules a plan out is more.
static constexpr double kMostTime = double(int64_t(1) << 51);
/// Of the files with plans.
static constexpr int64_t kFormat = 1;

/// True if no cost of a plan overflows: over every use of a value, each device
/// receives it at most twice, and it holds each value and copy at most once.
static bool isCountable(const search::PartitionGraph &graph, double devices) {
  auto bytesOf = [&](unsigned number) {
    const search::Value &value = graph.values[number];
    double bytes = value.elementBytes;
    for (int64_t size : value.shape)
      bytes *= size;
    return bytes;
  };
  double bytes = 0;
  for (unsigned i = 0; i < graph.values.size(); ++i)
    bytes += bytesOf(i);
  for (const search::Operator &op : graph.operators) {
    for (const search::Operand &operand : op.operands)
      bytes += bytesOf(operand.value);
    for (const search::Result &result : op.results)
      bytes += bytesOf(result.value);
  }
  constexpr double kMostBytes = 9e18;
  return 2 * devices * bytes < kMostBytes;
}

static StringRef getSymbol(Operation *op) {
  return cast<SymbolOpInterface>(op).getName();
}

namespace {
/// What the functions of a module have in common.
struct Totals {
  int64_t bytes = 0, time = 0, workTime = 0;
  int64_t peakBytes = 0; ///< the most of any function
  /// Of the bytes, or of the time; nothing if an algorithm gave none.
  std::optional<int64_t> lowerBound = 0;
  int64_t variables = 0, classes = 0;
  double seconds = 0;
  bool exact = true;
  bool explained = false;
  std::string dot;
  /// A copy of the program with the plan to compare with.
  OwningOpRef<ModuleOp> other;
  llvm::json::Array functions;
  bool dumped = false;
  SharedGlobals globals;
};

struct PlanPass : public tofu::impl::PlanPassBase<PlanPass> {
  using PlanPassBase::PlanPassBase;

  void runOnOperation() override {
    meshInfo = {};
    loaded.reset();
    machineInfo.reset();
    options = {};
    if (failed(readOptions()) || failed(readMachine()))
      return signalPassFailure();
    Totals totals;
    // The other plan may be on another mesh.
    if (!diff.empty() && failed(loadOther(totals)))
      return signalPassFailure();
    if (failed(setUpMesh()))
      return signalPassFailure();
    if (!loaded && failed(readGlobals(totals.globals)))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isPlanned(function) && failed(plan(function, totals)))
        return signalPassFailure();
    numBytes = totals.bytes;
    numVariables = totals.variables;
    numClasses = totals.classes;
    if (!explain.empty() && !totals.explained) {
      error() << "explain: no operation of the plan is at " << explain;
      return signalPassFailure();
    }
    if (!graphviz.empty() && failed(writeDot(totals.dot)))
      return signalPassFailure();
    if (!json.empty() && failed(writeJson(std::move(totals))))
      return signalPassFailure();
  }

private:
  // At locations rather than operations, for these would be printed as a whole.
  InFlightDiagnostic error() {
    return emitError(getOperation().getLoc(), "tofu-plan: ");
  }

  LogicalResult readOptions() {
    if (objective == "time")
      options.objective = search::Objective::Time;
    else if (objective != "bytes")
      return error() << "objective must be bytes or time, not " << objective;
    options.replication = replication;
    options.partials = partials;
    if (charge == "once")
      options.charge = search::Charge::Once;
    else if (charge == "per-use")
      options.charge = search::Charge::PerUse;
    else
      return error() << "charge must be once or per-use, not " << charge;
    options.seed = seed;
    options.timeBudget = timeBudget;
    if (getContext().isMultithreadingEnabled())
      options.threads = &getContext().getThreadPool();
    if (!(timeBudget >= 0))
      return error() << "time-budget must not be negative";
    // A search that takes longer than a second says where it is.
    if (llvm::errs().is_displayed())
      options.progress =
          [start = std::chrono::steady_clock::now()](StringRef where) {
            std::chrono::duration<double> elapsed =
                std::chrono::steady_clock::now() - start;
            if (elapsed.count() > 1)
              llvm::errs() << "tofu-plan: " << where << "\n";
          };
    auto named = llvm::find_if(search::getAlgorithms(),
                               [&](const search::Algorithm &known) {
                                 return known.name == algorithm.getValue();
                               });
    if (named == search::getAlgorithms().end())
      return error() << "algorithm must be one of "
                     << llvm::join(llvm::map_range(search::getAlgorithms(),
                                                   [](const auto &known) {
                                                     return known.name;
                                                   }),
                                   ", ")
                     << ", not " << algorithm.getValue();
    searchAlgorithm = named->search;
    if (devices < 0 || devices > MeshOp::kMostDevices)
      return error() << "devices must be between 1 and " << MeshOp::kMostDevices
                     << ", not " << devices.getValue();
    if (sizeHint < 1 || sizeHint > kMostHint)
      return error() << "size-hint must be between 1 and " << kMostHint
                     << ", not " << sizeHint.getValue();
    if (failed(readMemory()))
      return failure();
    return load.empty() ? success() : readJson();
  }

  /// Parses a number of bytes, or of KiB, MiB or GiB.
  LogicalResult readMemory() {
    options.memoryLimit.reset();
    if (memoryPerDevice.empty())
      return success();
    StringRef text = StringRef(memoryPerDevice).trim();
    unsigned shift = 0;
    for (auto [unit, its] : {std::pair(StringRef("KiB"), 10u),
                             {StringRef("MiB"), 20u},
                             {StringRef("GiB"), 30u}})
      if (text.consume_back(unit))
        shift = its;
    int64_t number;
    if (text.rtrim().getAsInteger(10, number) || number < 1 ||
        number > std::numeric_limits<int64_t>::max() >> shift)
      return error() << "memory-per-device must be a number of bytes, KiB, MiB "
                        "or GiB, such as 16GiB, not "
                     << memoryPerDevice;
    options.memoryLimit = number << shift;
    return success();
  }

  /// The machine that the options name, or else, if times are asked for, that
  /// of the module.
  LogicalResult readMachine() {
    ArrayRef<StringRef> names = search::Machine::getNames();
    if (!machine.empty()) {
      machineInfo = search::Machine::named(machine);
      if (!machineInfo)
        return error() << "machine must be one of " << llvm::join(names, ", ")
                       << ", not " << machine;
    } else if (options.objective == search::Objective::Time) {
      if (!hasMachine(getOperation()))
        return error() << "objective=time needs a machine: say machine= with "
                          "one of "
                       << llvm::join(names, ", ")
                       << ", or give the module a dlti.target_system_spec";
      FailureOr<search::Machine> read = tofu::readMachine(getOperation());
      if (failed(read))
        return failure();
      machineInfo = std::move(*read);
    }
    if (machineInfo && machineInfo->memoryBytes && memoryPerDevice.empty())
      options.memoryLimit = machineInfo->memoryBytes;
    return success();
  }

  LogicalResult readJson() {
    std::string message;
    auto file = openInputFile(load, &message);
    if (!file)
      return error() << message;
    llvm::Expected<llvm::json::Value> value = parseJson(file->getBuffer());
    if (!value)
      return error() << load << ": " << llvm::toString(value.takeError());
    if (!value->getAsObject())
      return error() << load << ": not a plan";
    loaded = std::move(*value->getAsObject());
    if (loaded->getInteger("format") != kFormat)
      return error() << load << ": format must be " << kFormat;
    const llvm::json::Array *axes = loaded->getArray("mesh");
    if (!axes)
      return error() << load << ": no mesh";
    return fromJson(meshInfo, *axes, [&](const Twine &what) {
      error() << load << ": " << what;
    });
  }

  /// Parses x=2,y=4.
  LogicalResult parseMesh(StringRef text) {
    SmallVector<StringRef> axes;
    text.split(axes, ',');
    for (StringRef axis : axes) {
      auto [name, size] = axis.split('=');
      int64_t number;
      if (name.trim().empty() || size.trim().getAsInteger(10, number) ||
          number < 1)
        return error() << "mesh must be like x=2,y=4, not " << text;
      meshInfo.names.push_back(name.trim().str());
      meshInfo.sizes.push_back(number);
    }
    return success();
  }

  LogicalResult chooseMesh() {
    if (loaded)
      return success();
    if (!mesh.empty())
      return parseMesh(mesh);
    auto meshes = getOperation().getOps<MeshOp>();
    if (!meshes.empty()) {
      meshInfo = (*meshes.begin()).getMesh();
      if (devices == 0 || devices == meshInfo.numDevices())
        return success();
    }
    if (devices == 0)
      return error()
             << "say devices= or mesh=, or give the program a tofu.mesh";
    return orderMesh();
  }

  /// Of the orders of the prime factors, those that the machine takes, the one
  /// whose plan is the cheapest.
  LogicalResult orderMesh() {
    constexpr unsigned kMostOrders = 1024, kMostTried = 6;
    std::vector<search::Mesh> meshes;
    std::string why, firstWhy;
    for (search::Mesh &order : search::orderFactors(devices, kMostOrders)) {
      if (!machineInfo || search::layOut(*machineInfo, order, why))
        meshes.push_back(std::move(order));
      if (firstWhy.empty())
        firstWhy = why;
      if (meshes.size() == kMostTried)
        break;
    }
    if (meshes.empty())
      return error() << firstWhy;
    meshInfo = meshes.size() == 1 ? std::move(meshes.front())
                                  : findCheapest(std::move(meshes));
    return success();
  }

  /// The mesh for which the recursive search, which is fast, finds the cheapest
  /// plan; the first of those that are equal, or if it is not to be searched
  /// for a good plan.
  search::Mesh findCheapest(std::vector<search::Mesh> meshes) {
    bool searches = llvm::is_contained({"kbest", "exact", "recursive"},
                                       StringRef(algorithm));
    // What the program says of layouts is of a mesh that is there.
    if (!searches || !getOperation().getOps<MeshOp>().empty())
      return std::move(meshes.front());
    // The search for the plan says what there is to say.
    ScopedDiagnosticHandler silence(&getContext(),
                                    [](Diagnostic &) { return success(); });
    std::optional<std::pair<int64_t, int64_t>> least;
    const search::Mesh *best = &meshes.front();
    auto start = std::chrono::steady_clock::now();
    for (const search::Mesh &each : meshes) {
      // Half of the time that there is, at most.
      std::chrono::duration<double> elapsed =
          std::chrono::steady_clock::now() - start;
      if (timeBudget > 0 && elapsed.count() > timeBudget / 2)
        break;
      std::optional<std::pair<int64_t, int64_t>> cost = estimateCost(each);
      if (!cost)
        break;
      if (least && *least <= *cost)
        continue;
      least = cost;
      best = &each;
    }
    return *best;
  }

  /// About how many bytes the plan of all functions on `mesh` exceeds the
  /// memory limit by, if there is one, and what it costs; nothing if there is
  /// none.
  std::optional<std::pair<int64_t, int64_t>>
  estimateCost(const search::Mesh &mesh) {
    search::SearchOptions quick = options;
    quick.tiedPlans = 1;
    std::string why;
    if (machineInfo)
      quick.rates = search::layOut(*machineInfo, mesh, why);
    int64_t excess = 0, sum = 0;
    auto symbol = FlatSymbolRefAttr::get(&getContext(), kMeshName);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!isPlanned(function))
        continue;
      PlanGraph graph(function, sizeHint);
      if (failed(readPins(graph, mesh, symbol, SharedGlobals())) ||
          failed(checkCountable(graph, mesh, quick.rates)))
        return std::nullopt;
      search::Plan plan =
          search::searchRecursive(graph.graph, mesh, quick).plan;
      sum += search::costOf(plan, quick.objective);
      if (!quick.memoryLimit)
        continue;
      int64_t peak =
          search::estimatePeak(graph.graph, plan, quick.charge).bytes;
      excess = std::max(excess, peak - *quick.memoryLimit);
    }
    return std::pair(excess, sum);
  }

  LogicalResult layOutMesh() {
    if (!machineInfo)
      return success();
    std::string why;
    options.rates = search::layOut(*machineInfo, meshInfo, why);
    if (!options.rates)
      return error() << why;
    return success();
  }

  /// Fails, with an error, if costs of a plan would overflow.
  LogicalResult checkCountable(PlanGraph &graph, const search::Mesh &mesh,
                               const std::optional<search::Rates> &rates) {
    if (!isCountable(graph.graph, mesh.numDevices()))
      return emitError(graph.function.getLoc())
             << "tensors are too large for the bytes of a plan to be counted";
    if (rates && search::mostTime(graph.graph, *rates) > kMostTime)
      return emitError(graph.function.getLoc())
             << "takes too long on this machine for the time of a plan to be "
                "counted";
    return success();
  }

  LogicalResult setUpMesh() {
    if (failed(chooseMesh()))
      return failure();
    if (devices != 0 && meshInfo.numDevices() != devices)
      return error() << "devices is " << devices.getValue() << ", the mesh has "
                     << meshInfo.numDevices();
    if (failed(layOutMesh()))
      return failure();
    ModuleOp module = getOperation();
    meshSymbol = FlatSymbolRefAttr::get(module.getContext(), kMeshName);
    for (MeshOp op : module.getOps<MeshOp>()) {
      search::Mesh known = op.getMesh();
      if (known.names == meshInfo.names && known.sizes == meshInfo.sizes) {
        meshSymbol = FlatSymbolRefAttr::get(op.getSymNameAttr());
        return success();
      }
    }
    if (Operation *other = SymbolTable::lookupSymbolIn(module, kMeshName))
      return other->emitError()
             << "the plan is on another mesh, which would be called @"
             << kMeshName << " too";
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    auto op = MeshOp::create(builder, module.getLoc(), kMeshName, meshInfo);
    return verify(op);
  }

  LogicalResult plan(func::FuncOp function, Totals &totals) {
    PlanGraph graph(function, sizeHint);
    if (failed(checkCountable(graph, meshInfo, options.rates)))
      return failure();
    search::Plan result;
    if (failed(loaded ? loadPlan(graph, result)
                      : searchPlan(graph, result, totals)) ||
        failed(settleGlobals(graph, totals.globals)))
      return failure();
    dropConstraints(function);
    search::PeakMemory peak =
        search::estimatePeak(graph.graph, result, options.charge);
    if (options.memoryLimit && peak.bytes > *options.memoryLimit)
      return emitError(function.getLoc())
             << "@" << function.getSymName()
             << (loaded ? " needs " : " needs at least ") << peak.bytes
             << " bytes per device with "
             << (loaded ? "this plan" : "the plans that were found") << ", "
             << (memoryPerDevice.empty() ? "the machine's devices have "
                                         : "memory-per-device is ")
             << *options.memoryLimit;
    if (options.rates)
      search::countTimes(graph.graph, result, options.charge, *options.rates);
    totals.bytes += result.totalBytes;
    totals.time += result.totalTime;
    totals.workTime += result.workTime;
    totals.peakBytes = std::max(totals.peakBytes, peak.bytes);
    if (!json.empty())
      totals.functions.push_back(
          toJson(graph, result, peak, options.rates.has_value()));
    if (!graphviz.empty())
      totals.dot += getDot(graph, result);
    remarkDearest(graph, result, options);
    return report(graph, result, peak, totals);
  }

  /// Notes what functions, and what is not planned, ask of globals.
  LogicalResult readGlobals(SharedGlobals &globals) {
    ModuleOp module = getOperation();
    if (module.getOps<ml_program::GlobalOp>().empty())
      return success();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!isPlanned(function))
        continue;
      PlanGraph graph(function, sizeHint);
      if (failed(readGlobalPins(graph, meshInfo, meshSymbol, globals)))
        return failure();
    }
    forEachUnplannedAccess(
        module, [&](Operation *op, ml_program::GlobalOp global) {
          search::Layout whole;
          whole.dims.resize(cast<RankedTensorType>(global.getType()).getRank());
          std::string what =
              (op->getName().getStringRef() + " of @" + global.getSymName() +
               " in a region or function that is not planned")
                  .str();
          globals.ask(global, {func::FuncOp(), {{{op, what, 0}, whole}}, {}});
        });
    return success();
  }

  /// Notes the layouts of the function's globals, which hold for the functions
  /// that follow. A loaded plan may have other ones than they have already.
  LogicalResult settleGlobals(PlanGraph &graph, SharedGlobals &globals) {
    for (const PlannedGlobal &global : graph.globals) {
      LayoutAttr layout = getGlobalLayout(global.op);
      bool isChosen = !graph.graph.values[global.value].pinned;
      const SharedGlobals::Settled *known = globals.getSettled(global.op);
      if (known && known->layout != layout)
        return emitError(graph.function.getLoc())
               << load << ": global @" << getSymbol(global.op) << " lies as "
               << layout << ", in the plan of @" << getSymbol(known->function)
               << " as " << known->layout;
      globals.settle(global.op, {layout, isChosen, graph.function});
    }
    return success();
  }

  LogicalResult writeIlp(PlanGraph &graph, Totals &totals) {
    if (dumpIlp.empty())
      return success();
    if (totals.dumped)
      return emitError(graph.function.getLoc())
             << "dump-ilp writes one function, and there are several";
    totals.dumped = true;
    std::string message;
    auto file = openOutputFile(dumpIlp, &message);
    if (!file)
      return error() << message;
    if (!search::writeIlp(graph.graph, meshInfo, options, file->os()))
      return emitError(graph.function.getLoc())
             << "has too many plans for dump-ilp to list";
    file->keep();
    return success();
  }

  LogicalResult searchPlan(PlanGraph &graph, search::Plan &result,
                           Totals &totals) {
    if (failed(readPins(graph, meshInfo, meshSymbol, totals.globals)) ||
        failed(writeIlp(graph, totals)))
      return failure();
    // The bound is then one of the plans that go with an earlier choice.
    for (const PlannedGlobal &global : graph.globals)
      if (const auto *known = totals.globals.getSettled(global.op);
          known && known->isChosen)
        totals.lowerBound.reset();
    search::SearchResult found =
        searchAlgorithm(graph.graph, meshInfo, options);
    for (const std::string &remark : found.remarks)
      // At the place alone: the whole function would be printed with it.
      emitRemark(graph.function.getLoc()) << remark;
    if (std::optional<std::string> wrong =
            search::checkPlan(graph.graph, found.plan))
      return emitError(graph.function.getLoc())
             << "no plan does what the program asks for: " << *wrong;
    totals.seconds += found.seconds;
    totals.exact &= found.exact;
    if (!found.lowerBound)
      totals.lowerBound.reset();
    else if (totals.lowerBound)
      *totals.lowerBound += *found.lowerBound;
    totals.variables += found.variables;
    totals.classes += found.classes;
    graph.write(found.plan, meshSymbol);
    result = std::move(found.plan);
    return success();
  }

  LogicalResult loadPlan(PlanGraph &graph, search::Plan &result) {
    const llvm::json::Array *functions = loaded->getArray("functions");
    StringRef name = graph.function.getName();
    auto complain = [&](const Twine &what) {
      emitError(graph.function.getLoc()) << load << ": " << what;
    };
    const llvm::json::Object *mine = nullptr;
    if (functions)
      for (const llvm::json::Value &value : *functions)
        if (const auto *object = value.getAsObject();
            object && object->getString("name") == llvm::StringRef(name))
          mine = object;
    if (!mine) {
      complain("no plan of @" + name);
      return failure();
    }
    if (failed(fromJson(graph, *mine, complain)) ||
        failed(verify(graph.function)))
      return failure();
    FailureOr<MeshOp> planMesh = getPlanMesh(graph.function);
    if (failed(planMesh))
      return failure();
    if (*planMesh && planMesh->getSymNameAttr() != meshSymbol.getAttr()) {
      complain("the plan is on @" + planMesh->getSymName() +
               ", its mesh is called @" + meshSymbol.getValue());
      return failure();
    }
    result = graph.read(meshInfo);
    if (std::optional<unsigned> other = graph.findUntied(result, meshSymbol)) {
      complain("results " + Twine(*other) +
               " lies otherwise than the value that it is");
      return failure();
    }
    if (std::optional<std::string> wrong =
            search::checkPlan(graph.graph, result)) {
      complain(*wrong);
      return failure();
    }
    search::countBytes(graph.graph, result, options.charge);
    return success();
  }

  /// Prints what was asked for.
  LogicalResult report(const PlanGraph &graph, const search::Plan &result,
                       const search::PeakMemory &peak, Totals &totals) {
    if (print)
      printPlan(llvm::errs(), graph, result, peak, options);
    if (!explain.empty())
      totals.explained |= succeeded(
          explainOperators(llvm::errs(), graph, result, options, explain));
    if (diff.empty())
      return success();
    return compare(graph, result, *totals.other);
  }

  /// Prints what differs from the plan of the function in `program`.
  LogicalResult compare(const PlanGraph &graph, const search::Plan &result,
                        ModuleOp program) {
    func::FuncOp function = graph.function;
    auto like = program.lookupSymbol<func::FuncOp>(function.getSymNameAttr());
    FailureOr<MeshOp> otherMesh = getPlanMesh(like);
    if (failed(otherMesh))
      return failure();
    PlanGraph other(like, sizeHint);
    // A function without tensors is on none.
    search::Plan plan =
        other.read(*otherMesh ? otherMesh->getMesh() : meshInfo);
    search::countBytes(other.graph, plan, options.charge);
    printDifference(llvm::errs(), graph, result, plan);
    return success();
  }

  /// Plans a copy of the program as `diff` says.
  LogicalResult loadOther(Totals &totals) {
    totals.other = getOperation().clone();
    PlanPassOptions loading;
    loading.load = diff;
    loading.charge = charge;
    loading.sizeHint = sizeHint;
    PassManager pm(&getContext());
    pm.addPass(createPlanPass(loading));
    return pm.run(*totals.other);
  }

  LogicalResult writeDot(StringRef text) {
    std::string message;
    auto file = openOutputFile(graphviz, &message);
    if (!file)
      return error() << message;
    file->os() << text;
    file->keep();
    return success();
  }

  LogicalResult writeJson(Totals totals) {
    std::string message;
    auto file = openOutputFile(json, &message);
    if (!file)
      return error() << message;
    llvm::json::Object object{
        {"format", kFormat},
        {"devices", meshInfo.numDevices()},
        {"mesh", toJson(meshInfo)},
        {"objective", objective.getValue()},
        {"options", llvm::json::Object{{"algorithm", algorithm.getValue()},
                                       {"replication", bool(replication)},
                                       {"partials", bool(partials)},
                                       {"charge", charge.getValue()},
                                       {"size_hint", sizeHint.getValue()}}},
        {"total_bytes", totals.bytes},
        {"peak_bytes_per_device", totals.peakBytes},
        {"search_seconds", totals.seconds},
        {"exact", totals.exact},
        {"functions", std::move(totals.functions)}};
    if (machineInfo) {
      object["machine"] = machineInfo->name;
      object["total_seconds"] = toSeconds(totals.time);
      object["compute_seconds"] = toSeconds(totals.workTime);
    }
    if (totals.lowerBound && !loaded) {
      bool isTimed = options.objective == search::Objective::Time;
      int64_t cost = isTimed ? totals.time : totals.bytes;
      if (isTimed)
        object["lower_bound_seconds"] = toSeconds(*totals.lowerBound);
      else
        object["lower_bound_bytes"] = *totals.lowerBound;
      object["gap"] =
          cost ? double(cost - *totals.lowerBound) / double(cost) : 0.0;
      object["variables"] = totals.variables;
      object["classes"] = totals.classes;
      // The plans that the bound is of.
      object["space"] = llvm::json::Object{{"objective", objective.getValue()},
                                           {"replication", bool(replication)},
                                           {"partials", bool(partials)},
                                           {"charge", charge.getValue()},
                                           {"mesh", toJson(meshInfo)}};
    }
    file->os() << llvm::formatv("{0:2}\n",
                                llvm::json::Value(std::move(object)));
    file->keep();
    return success();
  }

  search::SearchOptions options;
  decltype(search::Algorithm::search) searchAlgorithm = nullptr;
  search::Mesh meshInfo;
  std::optional<search::Machine> machineInfo;
  FlatSymbolRefAttr meshSymbol;
  std::optional<llvm::json::Object> loaded;
};
} // namespace
