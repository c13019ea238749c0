//===- Compiler.cpp - From a program to machine code ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"

#include "Tofu/Conversion/Passes.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::tofu;

static LogicalResult lower(ModuleOp module) {
  PassManager pm(module.getContext());
  if (failed(applyPassManagerCLOptions(pm)))
    return failure();
  buildTofuToHostPipeline(pm, TofuToHostOptions());
  return pm.run(module);
}

static llvm::orc::SymbolMap getSymbols(const TofuBackend &backend,
                                       llvm::orc::MangleAndInterner mangle) {
  llvm::orc::SymbolMap symbols;
  for (int64_t i = 0; i < backend.numSymbols; ++i)
    symbols[mangle(backend.symbols[i].name)] = {
        llvm::orc::ExecutorAddr::fromPtr(backend.symbols[i].address),
        llvm::JITSymbolFlags::Exported};
  return symbols;
}

llvm::Expected<Compiled> Compiled::create(ModuleOp module, StringRef function,
                                          const TofuBackend &backend,
                                          unsigned optimizationLevel) {
  if (failed(lower(module)))
    return llvm::createStringError(
        "the program can't be lowered for this backend");
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());

  auto level = *llvm::CodeGenOpt::getLevel(optimizationLevel);
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(level);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  // The options keep only references to both.
  auto transformer = makeOptimizingTransformer(optimizationLevel,
                                               /*sizeLevel=*/0, machine->get());
  ExecutionEngineOptions options;
  options.transformer = transformer;
  options.jitCodeGenOptLevel = level;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto engineMachine = builder->createTargetMachine();
  if (!engineMachine)
    return engineMachine.takeError();
  auto engine =
      ExecutionEngine::create(module, options, std::move(*engineMachine));
  if (!engine)
    return engine.takeError();
  (*engine)->registerSymbols([&](llvm::orc::MangleAndInterner mangle) {
    return getSymbols(backend, mangle);
  });

  // Code is generated now, while the transformer is there.
  Compiled compiled;
  auto entry = (*engine)->lookupPacked(("_mlir_ciface_" + function).str());
  if (!entry)
    return entry.takeError();
  compiled.engine = std::move(*engine);
  compiled.entry = *entry;
  return compiled;
}
