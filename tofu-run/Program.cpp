//===- Program.cpp - The program that tofu-run runs -----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "Tofu/Conversion/PortGeometry.h"
#include "Tofu/Conversion/RuntimeTypes.h"
#include "Tofu/Dialect/Placement.h"
#include "Tofu/Runtime/Bundle.h"
#include "Tofu/Transforms/Passes.h"

#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Function and stage
//===----------------------------------------------------------------------===//

func::FuncOp tofu::findFunction(ModuleOp module, StringRef name) {
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() &&
        (name.empty() ? function.isPublic() : function.getSymName() == name))
      candidates.push_back(function);
  if (candidates.size() == 1 && candidates.front().isPublic())
    return candidates.front();

  if (!name.empty()) {
    module.emitError() << "no public function @" << name << " with a body";
    return nullptr;
  }
  InFlightDiagnostic error = module.emitError()
                             << candidates.size()
                             << " public functions with a body, expected one";
  if (!candidates.empty())
    error << "; choose with --function=";
  for (func::FuncOp function : candidates)
    error.attachNote(function.getLoc())
        << "candidate @" << function.getSymName();
  return nullptr;
}

/// True if an argument or a result has the attribute.
static bool hasPortAttr(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, name))
      return true;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (function.getResultAttr(i, name))
      return true;
  return false;
}

/// Whether all arguments and results that are tensors have a layout.
static bool hasAllLayouts(func::FuncOp function) {
  auto isLaidOut = [](Type type, Attribute layout) {
    return !isa<RankedTensorType>(type) || layout;
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!isLaidOut(type, function.getArgAttr(i, TofuDialect::kLayout)))
      return false;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (!isLaidOut(type, function.getResultAttr(i, TofuDialect::kLayout)))
      return false;
  return true;
}

Stage tofu::findStage(ModuleOp module, func::FuncOp function) {
  if (hasPortAttr(function, TofuDialect::kGlobalType))
    return Stage::Partitioned;
  for (auto global : module.getOps<ml_program::GlobalOp>())
    if (global->hasAttr(TofuDialect::kGlobalType))
      return Stage::Partitioned;
  bool isPartitioned = false, hasReshards = false;
  bool makesTensors = false, isLaidOut = false;
  function.walk([&](Operation *op) {
    isPartitioned |= isa<DeviceIdOp, ShardOffsetOp, ShardSizeOp, AllReduceOp,
                         AllGatherOp, ReduceScatterOp, AllToAllOp, FetchOp>(op);
    hasReshards |= isa<ReshardOp>(op);
    makesTensors |=
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    isLaidOut |= op->hasAttr(TofuDialect::kLayouts);
  });
  if (isPartitioned)
    return Stage::Partitioned;
  // What has a layout here and there only asks for these: it is yet to be
  // planned.
  bool hasAll = hasAllLayouts(function) && (isLaidOut || !makesTensors);
  bool hasAny = isLaidOut || hasPortAttr(function, TofuDialect::kLayout);
  return hasReshards || (hasAll && hasAny) ? Stage::Planned : Stage::Source;
}

/// The only mesh of the program, or none.
static FailureOr<MeshOp> findMesh(ModuleOp module) {
  MeshOp found;
  for (auto mesh : module.getOps<MeshOp>()) {
    if (found)
      return mesh.emitError("program has more than one mesh");
    found = mesh;
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

namespace {

/// An argument or result as the function has it.
struct PortSource {
  std::string name; ///< "argument 0"
  Type type;
  Attribute globalType, layout;
};

} // namespace

/// The type as runners have it, if they do.
static std::optional<HostTensorType> getHostType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto element = getRuntimeType(tensor ? tensor.getElementType() : type);
  if (!element)
    return std::nullopt;
  HostTensorType result;
  result.type = *element;
  if (tensor)
    for (int64_t size : tensor.getShape())
      result.shape.push_back(
          ShapedType::isDynamic(size) ? HostTensorType::kDynamic : size);
  return result;
}

/// The dialect has verified the attributes.
static FailureOr<Port> readPort(func::FuncOp function, const PortSource &source,
                                MeshOp mesh) {
  auto global = dyn_cast_or_null<TypeAttr>(source.globalType);
  Type wholeType = global ? global.getValue() : source.type;
  auto type = getHostType(wholeType);
  auto localType = getHostType(source.type);
  if (!type || !localType)
    return function.emitError()
           << source.name << ": tofu-run has no values of type " << source.type;
  Port port;
  port.type = *type;
  port.localType = *localType;
  port.isTensor = isa<RankedTensorType>(source.type);
  auto placement = dyn_cast_or_null<PlacementAttrInterface>(source.layout);
  auto tensor = dyn_cast<RankedTensorType>(wholeType);
  if (placement && tensor && mesh)
    port.geometry =
        makePortGeometry(placement, tensor.getShape(), mesh.getMesh());
  return port;
}

static LogicalResult readSignature(func::FuncOp function, Program &program) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    FailureOr<Port> port = readPort(
        function,
        {"argument " + std::to_string(i), function.getArgument(i).getType(),
         function.getArgAttr(i, TofuDialect::kGlobalType),
         function.getArgAttr(i, TofuDialect::kLayout)},
        program.mesh);
    if (failed(port))
      return failure();
    auto writable =
        function.getArgAttrOfType<BoolAttr>(i, "bufferization.writable");
    if (auto sizeOf = function.getArgAttrOfType<DenseI64ArrayAttr>(
            i, TofuDialect::kSizeOf))
      port->sizeOf = {unsigned(sizeOf[0]), unsigned(sizeOf[1])};
    port->isDonated =
        port->isTensor && (function.getArgAttr(i, "tf.aliasing_output") ||
                           (writable && writable.getValue()));
    program.arguments.push_back(*port);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    FailureOr<Port> port =
        readPort(function,
                 {"result " + std::to_string(i), function.getResultTypes()[i],
                  function.getResultAttr(i, TofuDialect::kGlobalType),
                  function.getResultAttr(i, TofuDialect::kLayout)},
                 program.mesh);
    if (failed(port))
      return failure();
    program.results.push_back(*port);
  }
  function->getParentOfType<ModuleOp>().walk(
      [&](ml_program::GlobalStoreOp) { program.hasState = true; });
  return success();
}

//===----------------------------------------------------------------------===//
// Partitioning
//===----------------------------------------------------------------------===//

/// The options of the partition pipeline that the command line says.
static std::unique_ptr<TofuPartitionOptions>
getPartitionOptions(const RunOptions &options, bool hasMesh) {
  auto result =
      TofuPartitionOptions::createFromString(options.partitionOptions);
  if (!result)
    return nullptr;
  // That of the program may only be confirmed.
  if (options.devices && !hasMesh)
    result->devices = *options.devices;
  if (!options.mesh.empty())
    result->mesh = options.mesh;
  if (!options.plan.empty())
    result->load = options.plan;
  if (options.printPlan)
    result->print = true;
  if (!options.bundle.empty() && result->json.empty())
    result->json = options.bundle + "/" + kPlanFile;
  return result;
}

static LogicalResult partition(ModuleOp module, Stage stage, bool hasMesh,
                               const RunOptions &options) {
  PassManager pm(module.getContext());
  if (failed(applyPassManagerCLOptions(pm)))
    return failure();
  if (stage == Stage::Planned) {
    addTofuLowerPlanPipeline(pm);
    return pm.run(module);
  }
  auto partitionOptions = getPartitionOptions(options, hasMesh);
  if (!partitionOptions)
    return module.emitError("--partition-options: not understood: ")
           << options.partitionOptions;
  addTofuPartitionPipeline(pm, *partitionOptions);
  return pm.run(module);
}

/// The option that asks for something that only planning does, if one was
/// given.
static StringRef getPlanOption(const RunOptions &options) {
  return !options.plan.empty()               ? "--plan"
         : !options.mesh.empty()             ? "--mesh"
         : !options.partitionOptions.empty() ? "--partition-options"
         : options.printPlan                 ? "--print-plan"
                                             : "";
}

FailureOr<Program> tofu::makeProgram(OwningOpRef<ModuleOp> module,
                                     const RunOptions &options) {
  func::FuncOp function = findFunction(*module, options.function);
  if (!function)
    return failure();
  Program program;
  program.function = function.getSymName().str();
  FailureOr<MeshOp> mesh = findMesh(*module);
  if (failed(mesh))
    return failure();

  Stage stage = findStage(*module, function);
  StringRef planOption = getPlanOption(options);
  if (stage != Stage::Source && !planOption.empty())
    return function.emitError()
           << planOption << ": the program is planned already";
  bool wantsPlan =
      *mesh || !planOption.empty() || options.devices.value_or(1) > 1;
  bool partitions =
      stage == Stage::Planned || (stage == Stage::Source && wantsPlan);
  if (partitions) {
    if (failed(partition(*module, stage, bool(*mesh), options)))
      return failure();
    function = findFunction(*module, program.function);
    mesh = findMesh(*module);
    if (!function || failed(mesh))
      return failure();
  }
  program.mesh = *mesh;
  if (*mesh)
    program.numDevices = mesh->getMesh().numDevices();
  int64_t devices = program.numDevices;
  if (options.devices && *options.devices != devices)
    return function.emitError()
           << "program is for " << devices << " devices, --devices says "
           << *options.devices;
  if (failed(readSignature(function, program)))
    return failure();
  program.module = std::move(module);
  return program;
}

//===----------------------------------------------------------------------===//
// The unpartitioned program
//===----------------------------------------------------------------------===//

/// Takes the plan off a planned program, or what is asked of it off another.
static void removePlan(ModuleOp module) {
  module.walk([](ReshardOp reshard) {
    reshard.getResult().replaceAllUsesWith(reshard.getInput());
    reshard.erase();
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    for (StringRef name : {TofuDialect::kLayout, TofuDialect::kForbid,
                           TofuDialect::kTie, TofuDialect::kPriority}) {
      auto attr = StringAttr::get(module.getContext(), name);
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.removeArgAttr(i, attr);
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        function.removeResultAttr(i, attr);
    }
  }
  module.walk([](Operation *op) {
    // What declarations say is not of the plan.
    if (isa<func::FuncOp>(op))
      return;
    for (StringRef name :
         {TofuDialect::kSemantics, TofuDialect::kStrategy,
          TofuDialect::kLayouts, TofuDialect::kLayout, TofuDialect::kForbid,
          TofuDialect::kTie, TofuDialect::kPriority})
      op->removeDiscardableAttr(name);
  });
  for (auto mesh : llvm::make_early_inc_range(module.getOps<MeshOp>()))
    mesh.erase();
}

FailureOr<Program> tofu::makeUnpartitioned(OwningOpRef<ModuleOp> module,
                                           const RunOptions &options) {
  func::FuncOp function = findFunction(*module, options.function);
  if (!function)
    return failure();
  if (findStage(*module, function) == Stage::Partitioned)
    return function.emitError(
        "--check needs the program as it was before partitioning");
  removePlan(*module);
  Program program;
  program.function = function.getSymName().str();
  if (failed(readSignature(function, program)))
    return failure();
  program.module = std::move(module);
  return program;
}

FailureOr<Program> tofu::widen(const Program &program) {
  OwningOpRef<ModuleOp> module(program.module.get().clone());
  ScopedDiagnosticHandler silence(module->getContext(),
                                  [](Diagnostic &) { return success(); });
  PassManager pm(module->getContext());
  pm.addPass(createWidenFloatsPass());
  if (failed(pm.run(*module)))
    return failure();
  Program wide;
  wide.function = program.function;
  if (failed(readSignature(findFunction(*module, program.function), wide)))
    return failure();
  wide.module = std::move(module);
  return wide;
}
