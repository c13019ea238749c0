//===- Program.cpp - A program, lowered and compiled ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/Placement.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"

#include <chrono>

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Functions and stages
//===----------------------------------------------------------------------===//

static bool hasBoundaryAttr(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, name))
      return true;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (function.getResultAttr(i, name))
      return true;
  return false;
}

Stage mlir::tofu::getStage(func::FuncOp function) {
  if (hasBoundaryAttr(function, TofuDialect::kGlobalType))
    return Stage::Partitioned;
  return hasBoundaryAttr(function, TofuDialect::kLayout) ? Stage::Planned
                                                         : Stage::Source;
}

func::FuncOp mlir::tofu::findFunction(ModuleOp module, llvm::StringRef name) {
  SmallVector<func::FuncOp> candidates;
  std::string names;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (!name.empty() ? function.getName() == name : function.isPublic())
      candidates.push_back(function);
    if (function.isPublic())
      names += " @" + function.getName().str();
  }
  if (candidates.size() == 1)
    return candidates.front();
  InFlightDiagnostic error = module.emitError();
  if (!name.empty())
    error << "no function @" << name << "; public ones:" << names;
  else if (candidates.empty())
    error << "no public function";
  else
    error << "several public functions; choose with --function:" << names;
  return {};
}

int64_t mlir::tofu::getMeshDevices(ModuleOp module) {
  for (MeshOp mesh : module.getOps<MeshOp>())
    return mesh.getMesh().numDevices();
  return 0;
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

static LogicalResult readBoundary(func::FuncOp function, const Twine &what,
                                  Type type, TypeAttr global, LayoutAttr layout,
                                  Boundary &boundary) {
  if (global)
    type = global.getValue();
  auto tensor = dyn_cast<RankedTensorType>(type);
  boundary.isScalar = !tensor;
  std::optional<TofuElementType> element =
      getElementType(tensor ? tensor.getElementType() : type);
  if (!element)
    return function.emitError()
           << what << " has type " << type << ", which can't be given or taken";
  boundary.type = *element;
  if (!tensor)
    return success();
  for (int64_t size : tensor.getShape())
    boundary.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  if (!layout || !tensor.hasStaticShape())
    return success();
  if (!layout.getPartialAxes().empty())
    return function.emitError() << what << " is a partial result";
  MeshOp mesh = lookupMesh(function, layout.getMesh());
  boundary.boxes = getBoxes(layout, tensor.getShape(), mesh);
  return success();
}

static LogicalResult readSignature(func::FuncOp function,
                                   Signature &signature) {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    Boundary &boundary = signature.arguments.emplace_back();
    boundary.isDonated = !!function.getArgAttr(i, "tf.aliasing_output");
    if (failed(readBoundary(
            function, "argument " + Twine(i), type,
            function.getArgAttrOfType<TypeAttr>(i, TofuDialect::kGlobalType),
            function.getArgAttrOfType<LayoutAttr>(i, TofuDialect::kLayout),
            boundary)))
      return failure();
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(readBoundary(
            function, "result " + Twine(i), type,
            function.getResultAttrOfType<TypeAttr>(i, TofuDialect::kGlobalType),
            function.getResultAttrOfType<LayoutAttr>(i, TofuDialect::kLayout),
            signature.results.emplace_back())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// Leaves the function that runs as the only public one.
static void hideOthers(ModuleOp module, func::FuncOp function) {
  for (auto other : module.getOps<func::FuncOp>())
    if (other != function)
      other.setPrivate();
  function.setPublic();
}

static LogicalResult partition(ModuleOp module, Stage stage,
                               const TofuPartitionOptions &options) {
  PassManager pm(module.getContext());
  if (stage == Stage::Source)
    addTofuPartitionPipeline(pm, options);
  else if (stage == Stage::Planned)
    addTofuLowerPlanPipeline(pm);
  return pm.run(module);
}

static LogicalResult lower(ModuleOp module) {
  PassManager pm(module.getContext());
  TofuToHostOptions options;
  buildTofuToHostPipeline(pm, options);
  return pm.run(module);
}

std::unique_ptr<Program>
Program::compile(ModuleOp source, llvm::StringRef name, bool serial,
                 const TofuPartitionOptions &options,
                 const TofuBackend &backend) {
  auto start = std::chrono::steady_clock::now();
  auto program = std::make_unique<Program>();
  program->module = source.clone();
  ModuleOp module = *program->module;
  func::FuncOp function = findFunction(module, name);
  if (!function)
    return nullptr;
  std::string entry = function.getName().str();
  hideOthers(module, function);
  if (!serial && failed(partition(module, getStage(function), options)))
    return nullptr;
  function = module.lookupSymbol<func::FuncOp>(entry);
  if (failed(readSignature(function, program->signature)) ||
      failed(lower(module)))
    return nullptr;

  ExecutionEngineOptions engineOptions;
  // The engine calls the transformer while it is created, no later.
  auto transformer = makeOptimizingTransformer(
      /*optLevel=*/2, /*sizeLevel=*/0, /*targetMachine=*/nullptr);
  engineOptions.transformer = transformer;
  auto engine = ExecutionEngine::create(module, engineOptions);
  if (!engine) {
    module.emitError() << "no machine code: "
                       << llvm::toString(engine.takeError());
    return nullptr;
  }
  program->engine = std::move(*engine);
  program->engine->registerSymbols(
      [&](llvm::orc::MangleAndInterner interner) {
        llvm::orc::SymbolMap map;
        for (int64_t i = 0; i < backend.numSymbols; ++i)
          map[interner(backend.symbols[i].name)] = {
              llvm::orc::ExecutorAddr::fromPtr(backend.symbols[i].address),
              llvm::JITSymbolFlags::Exported};
        return map;
      });
  auto address = program->engine->lookupPacked("_mlir_ciface_" + entry);
  if (!address) {
    module.emitError() << "no machine code of @" << entry << ": "
                       << llvm::toString(address.takeError());
    return nullptr;
  }
  program->function = *address;
  program->seconds = std::chrono::duration<double>(
                         std::chrono::steady_clock::now() - start)
                         .count();
  return program;
}
