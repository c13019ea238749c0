//===- Bundle.cpp - Writing a compiled program ----------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle.h"

#include "Tofu/Runtime/Bundle.h"
#include "Tofu/Runtime/Program.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::tofu;

//===----------------------------------------------------------------------===//
// Manifest
//===----------------------------------------------------------------------===//

static std::string toText(Attribute attribute) {
  std::string text;
  if (attribute)
    llvm::raw_string_ostream(text) << attribute;
  return text;
}

static std::vector<std::string> getLayouts(func::FuncOp function) {
  std::vector<std::string> layouts;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    layouts.push_back(toText(function.getArgAttr(i, TofuDialect::kLayout)));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    layouts.push_back(toText(function.getResultAttr(i, TofuDialect::kLayout)));
  return layouts;
}

/// "x=2,y=4"
static std::string getMeshText(MeshOp mesh) {
  std::string text;
  if (!mesh)
    return text;
  llvm::raw_string_ostream os(text);
  for (auto [name, size] :
       llvm::zip_equal(mesh.getAxisNames(), mesh.getMesh().sizes))
    os << (text.empty() ? "" : ",") << cast<StringAttr>(name).getValue() << "="
       << size;
  return text;
}

/// Made before the program is lowered.
static Manifest makeManifest(Program &program, const ChosenBackend &backend,
                             const RunOptions &options) {
  Manifest manifest;
  manifest.program = program;
  manifest.file = options.file;
  manifest.backend = backend.backend->name;
  manifest.form = backend.kernels == KernelKind::Loops ? TOFU_HOST_LOOPS
                  : backend.kernels == KernelKind::Gpu ? TOFU_DEVICE_KERNELS
                                                       : TOFU_HOST_KERNELS;
  manifest.cpu = kBundleCpu;
  manifest.mesh = getMeshText(program.mesh);
  func::FuncOp function = findFunction(*program.module, program.function);
  manifest.layouts = getLayouts(function);
  manifest.hasPlan =
      llvm::sys::fs::exists(Twine(options.bundle) + "/" + kPlanFile);
  return manifest;
}

//===----------------------------------------------------------------------===//
// What the library exports
//===----------------------------------------------------------------------===//

/// Defines a function that the program declares: it goes on to the address in
/// the returned variable.
static llvm::GlobalVariable *defineByAddress(llvm::Function &function) {
  llvm::LLVMContext &context = function.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *slot = new llvm::GlobalVariable(
      *function.getParent(), pointer, /*isConstant=*/false,
      llvm::GlobalValue::InternalLinkage,
      llvm::ConstantPointerNull::get(pointer), function.getName() + ".address");
  // It reads memory now, whatever the declaration said.
  function.removeFnAttr(llvm::Attribute::Memory);
  function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context, "entry", &function));
  SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &argument : function.args())
    arguments.push_back(&argument);
  llvm::CallInst *call = builder.CreateCall(
      function.getFunctionType(), builder.CreateLoad(pointer, slot), arguments);
  if (call->getType()->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
  return slot;
}

/// Functions of the runtime and of the user. Others are those of the C
/// library, which the linker finds.
static bool isImport(const llvm::Function &function,
                     const TofuBackend &backend) {
  if (!function.isDeclaration() || function.isIntrinsic())
    return false;
  if (function.getName().starts_with("_mlir_ciface_"))
    return true;
  return llvm::any_of(ArrayRef(backend.symbols, backend.numSymbols),
                      [&](const TofuSymbol &symbol) {
                        return function.getName() == symbol.name;
                      });
}

/// The functions of the runtime and of the user that the module calls, and
/// those that only machine code will call.
static std::vector<llvm::Function *> findImports(llvm::Module &module,
                                                 const TofuBackend &backend) {
  std::vector<llvm::Function *> imports;
  for (llvm::Function &function : module)
    if (isImport(function, backend) && !function.use_empty())
      imports.push_back(&function);
  llvm::LLVMContext &context = module.getContext();
  for (auto [name, from] :
       {std::pair("__truncsfbf2", llvm::Type::getFloatTy(context)),
        std::pair("__truncdfbf2", llvm::Type::getDoubleTy(context))}) {
    auto callee = module.getOrInsertFunction(
        name, llvm::Type::getBFloatTy(context), from);
    imports.push_back(cast<llvm::Function>(callee.getCallee()));
  }
  return imports;
}

/// A function from the addresses of arguments, as ProgramEntry says.
static llvm::Function *makeEntry(llvm::Module &module,
                                 llvm::Function *function) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *entry = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false),
      llvm::GlobalValue::InternalLinkage, "tofu.entry", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", entry));
  auto getAddress = [&](unsigned i) {
    return builder.CreateLoad(
        pointer, builder.CreateConstGEP1_64(pointer, entry->getArg(0), i));
  };
  SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &argument : function->args())
    arguments.push_back(
        builder.CreateLoad(argument.getType(), getAddress(arguments.size())));
  llvm::Value *result = builder.CreateCall(function, arguments);
  if (!result->getType()->isVoidTy())
    builder.CreateStore(result, getAddress(arguments.size()));
  builder.CreateRetVoid();
  return entry;
}

/// Adds what Program.h says, and hides all else.
static llvm::Error addExports(llvm::Module &module, StringRef name,
                              const TofuBackend &backend, uint64_t hash) {
  llvm::Function *function = module.getFunction(("_mlir_ciface_" + name).str());
  if (!function || function->isDeclaration())
    return llvm::createStringError("the lowered program has no @" + name);
  for (llvm::GlobalValue &value : module.global_values())
    if (!value.isDeclaration())
      value.setLinkage(llvm::GlobalValue::InternalLinkage);

  llvm::IRBuilder<> builder(module.getContext());
  auto *pointer = builder.getPtrTy();
  auto *word = builder.getInt64Ty();
  auto *importType = llvm::StructType::get(pointer, pointer);
  SmallVector<llvm::Constant *> imports;
  for (llvm::Function *callee : findImports(module, backend)) {
    llvm::Constant *symbol = builder.CreateGlobalString(
        callee->getName(), callee->getName() + ".name", 0, &module);
    imports.push_back(llvm::ConstantStruct::get(
        importType, {symbol, defineByAddress(*callee)}));
  }
  auto *importsType = llvm::ArrayType::get(importType, imports.size());
  auto *table = new llvm::GlobalVariable(
      module, importsType, /*isConstant=*/true,
      llvm::GlobalValue::InternalLinkage,
      llvm::ConstantArray::get(importsType, imports), "tofu.imports");
  auto *type = llvm::StructType::get(word, word, pointer, word, pointer);
  new llvm::GlobalVariable(
      module, type, /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
      llvm::ConstantStruct::get(
          type, {builder.getInt64(TOFU_PROGRAM_VERSION), builder.getInt64(hash),
                 makeEntry(module, function), builder.getInt64(imports.size()),
                 table}),
      "tofuProgram");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(unsigned optimizationLevel) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::orc::JITTargetMachineBuilder builder{
      llvm::Triple(llvm::sys::getProcessTriple())};
  builder.setCPU(kBundleCpu);
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.setCodeGenOptLevel(*llvm::CodeGenOpt::getLevel(optimizationLevel));
  return builder.createTargetMachine();
}

static llvm::Error writeObject(llvm::Module &module,
                               llvm::TargetMachine &machine,
                               const std::string &path) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return llvm::createStringError(path + ": " + code.message());
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("no objects for this machine");
  passes.run(module);
  os.close();
  if (!os.has_error())
    return llvm::Error::success();
  code = os.error();
  os.clear_error();
  return llvm::createStringError(path + ": " + code.message());
}

/// Links with a C compiler, which knows where the C library is.
static llvm::Error link(StringRef object, StringRef library) {
  for (StringRef name : {"cc", "clang-22", "clang", "gcc"}) {
    llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName(name);
    if (!linker)
      continue;
    std::string message;
    int code = llvm::sys::ExecuteAndWait(
        *linker,
        {*linker, "-shared", "-Wl,-z,defs", "-o", library, object, "-lm"},
        std::nullopt, {}, 0, 0, &message);
    if (code == 0)
      return llvm::Error::success();
    return llvm::createStringError(*linker + " can't link the program " +
                                   message);
  }
  return llvm::createStringError("no C compiler in PATH to link the program");
}

static llvm::Expected<std::unique_ptr<llvm::Module>>
translate(ModuleOp module, llvm::LLVMContext &context) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context);
  if (!translated)
    return llvm::createStringError("the program has no form in LLVM");
  return translated;
}

static llvm::Error writeProgram(Program &program, const ChosenBackend &backend,
                                uint64_t hash, const RunOptions &options) {
  if (failed(lower(*program.module, backend)))
    return llvm::createStringError(
        "the program can't be lowered for this backend");
  llvm::LLVMContext context;
  auto module = translate(*program.module, context);
  if (!module)
    return module.takeError();
  auto machine = createMachine(options.optimizationLevel);
  if (!machine)
    return machine.takeError();
  (*module)->setDataLayout((*machine)->createDataLayout());
  (*module)->setTargetTriple((*machine)->getTargetTriple());
  if (llvm::Error error =
          addExports(**module, program.function, *backend.backend, hash))
    return error;
  auto optimize = makeOptimizingTransformer(options.optimizationLevel,
                                            /*sizeLevel=*/0, machine->get());
  if (llvm::Error error = optimize(module->get()))
    return error;

  std::string library = options.bundle + "/" + kProgramFile;
  std::string object = library + ".o";
  llvm::FileRemover remover(object);
  if (llvm::Error error = writeObject(**module, **machine, object))
    return error;
  return link(object, library);
}

std::error_code tofu::makeBundleFolder(StringRef folder) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return code;
  return llvm::sys::fs::remove(folder + "/" + kPlanFile);
}

llvm::Error tofu::writeBundle(Program &program, const ChosenBackend &backend,
                              const RunOptions &options) {
  std::string manifest = toJson(makeManifest(program, backend, options));
  if (llvm::Error error =
          writeProgram(program, backend, hashManifest(manifest), options))
    return error;
  std::string path = options.bundle + "/" + kManifestFile;
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return llvm::createStringError(path + ": " + code.message());
  os << manifest;
  return llvm::Error::success();
}
