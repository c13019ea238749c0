//===- Compiler.cpp - From a program to machine code ----------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"

#include "Tofu/Conversion/Passes.h"
#include "Tofu/Runtime/LoadBackend.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::tofu;

llvm::Expected<ChosenBackend> tofu::chooseBackend(StringRef name,
                                                  StringRef folder) {
  bool isGpuOnHost = name == "gpu-on-host";
  OrFailure<const TofuBackend *> backend =
      loadBackend(isGpuOnHost ? "host" : name.str(), folder.str());
  if (!backend)
    return toError(backend.failure());
  if ((*backend)->form == TOFU_DEVICE_KERNELS)
    return ChosenBackend{*backend, KernelKind::Gpu};
  bool hasKernels = isGpuOnHost || (*backend)->form == TOFU_HOST_KERNELS;
  return ChosenBackend{*backend,
                       hasKernels ? KernelKind::GpuOnHost : KernelKind::Loops};
}

llvm::Error tofu::toError(const Failure &failure) {
  return llvm::createStringError(Twine(failure.reason));
}

LogicalResult tofu::lower(ModuleOp module, const ChosenBackend &backend) {
  PassManager pm(module.getContext());
  if (failed(applyPassManagerCLOptions(pm)))
    return failure();
  if (backend.kernels == KernelKind::Loops) {
    buildTofuToHostPipeline(pm, TofuToHostOptions());
  } else {
    TofuToGpuOptions options;
    for (const std::string &chip : backend.chips)
      options.chip.push_back(chip);
    options.kernels = backend.kernels != KernelKind::Gpu ? "host"
                      : backend.chips.size() > 1         ? "cubin"
                                                         : "ptx";
    buildTofuToGpuPipeline(pm, options);
  }
  return pm.run(module);
}

//===----------------------------------------------------------------------===//
// Functions outside of the program
//===----------------------------------------------------------------------===//

llvm::Expected<Libraries> Libraries::load(ArrayRef<std::string> files) {
  // Else nothing is searched: this process, where the C library is.
  llvm::sys::DynamicLibrary::LoadLibraryPermanently(nullptr);
  Libraries libraries;
  for (const std::string &file : files) {
    // A bare name is one in this folder, and else one that the system knows.
    SmallString<128> path = StringRef(file);
    if (llvm::sys::fs::exists(path))
      llvm::sys::fs::make_absolute(path);
    std::string error;
    auto library =
        llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &error);
    if (!library.isValid())
      return llvm::createStringError("--shared-libs: can't load " +
                                     Twine(file) + ": " + error);
    libraries.libraries.push_back(library);
  }
  return libraries;
}

void *Libraries::lookup(const std::string &symbol) const {
  for (llvm::sys::DynamicLibrary library : libraries)
    if (void *address = library.getAddressOfSymbol(symbol.c_str()))
      return address;
  return llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(symbol);
}

/// Addresses by name.
using Addresses = llvm::StringMap<void *>;

static Addresses getAddresses(const TofuBackend &backend) {
  Addresses addresses;
  for (int64_t i = 0; i < backend.numSymbols; ++i)
    addresses[backend.symbols[i].name] = backend.symbols[i].address;
  return addresses;
}

/// Adds the functions that the lowered program declares and calls.
static LogicalResult addFunctions(ModuleOp module, const Libraries &libraries,
                                  Addresses &addresses) {
  constexpr StringLiteral kInterface = "_mlir_ciface_";
  bool good = true;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    std::string symbol = function.getName().str();
    if (!function.isExternal() || function.getName().starts_with("llvm.") ||
        addresses.contains(symbol))
      continue;
    if (void *address = libraries.lookup(symbol)) {
      addresses[symbol] = address;
      continue;
    }
    if (SymbolTable::symbolKnownUseEmpty(function, module))
      continue;
    StringRef name = function.getName();
    name.consume_front(kInterface);
    function.emitError() << "function @" << name
                         << " is nowhere: no library of --shared-libs defines "
                         << symbol;
    good = false;
  }
  return success(good);
}

static llvm::orc::SymbolMap getSymbols(const Addresses &addresses,
                                       llvm::orc::MangleAndInterner mangle) {
  llvm::orc::SymbolMap symbols;
  for (const auto &[name, address] : addresses)
    symbols[mangle(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                             llvm::JITSymbolFlags::Exported};
  return symbols;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

llvm::Expected<Compiled> Compiled::create(const Program &program,
                                          const ChosenBackend &backend,
                                          const Libraries &libraries,
                                          unsigned optimizationLevel) {
  ModuleOp module = *program.module;
  if (failed(lower(module, backend)))
    return llvm::createStringError(
        "the program can't be lowered for this backend");
  Addresses addresses = getAddresses(*backend.backend);
  if (failed(addFunctions(module, libraries, addresses)))
    return llvm::createStringError(
        "the program calls functions that are not there");
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
    return getSymbols(addresses, mangle);
  });

  // Code is generated now, while the transformer is there.
  Compiled compiled;
  auto entry = (*engine)->lookupPacked("_mlir_ciface_" + program.function);
  if (!entry)
    return entry.takeError();
  compiled.engine = std::move(*engine);
  compiled.entry = *entry;
  return compiled;
}
