//===- SerializeKernels.cpp - Kernels as PTX or machine code --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FatBinary.h"
#include "KernelRecords.h"
#include "Tofu/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace mlir::tofu {
#define GEN_PASS_DEF_SERIALIZEKERNELS
#include "Tofu/Conversion/Passes.h.inc"
} // namespace mlir::tofu

using namespace mlir;
using namespace mlir::tofu;

/// The first version of PTX that has the chip; empty for other chips. A pair
/// that doesn't fit would end the process.
static StringRef getFeatures(StringRef chip) {
  return llvm::StringSwitch<StringRef>(chip)
      .Case("sm_80", "+ptx70")
      .Case("sm_90", "+ptx78")
      .Case("sm_100", "+ptx86")
      .Default("");
}

/// True if the toolkit that the environment names has the device's library of
/// mathematical functions.
static bool hasLibdevice() {
  SmallString<128> path = NVVM::getCUDAToolkitPath();
  if (path.empty())
    return false;
  llvm::sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
  return llvm::sys::fs::exists(path);
}

/// Without libdevice its functions would stay undefined, and nobody would say
/// so.
static LogicalResult verifyFunctions(gpu::GPUModuleOp module) {
  if (hasLibdevice())
    return success();
  WalkResult result = module.walk([&](LLVM::CallOp call) {
    StringRef callee = call.getCallee().value_or("");
    if (!callee.starts_with("__nv_"))
      return WalkResult::advance();
    call.emitError() << "kernel calls " << callee
                     << " of libdevice, which was not found: CUDA_HOME must "
                        "name a CUDA toolkit";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Lets kernels have as many registers as leave a multiprocessor room for so
/// many blocks of them. Without a bound, ptxas aims at more threads, and spills
/// registers for that.
static void boundRegisters(gpu::GPUModuleOp module) {
  constexpr int32_t kMinBlocks = 4;
  Builder builder(module.getContext());
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
    if (kernel->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      builder.getI32IntegerAttr(kMinBlocks));
}

/// The chips in order, each once; by default sm_90.
static SmallVector<StringRef> sortChips(ArrayRef<std::string> given) {
  SmallVector<StringRef> chips(given.begin(), given.end());
  if (chips.empty())
    chips.push_back("sm_90");
  llvm::sort(chips, [](StringRef a, StringRef b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  });
  chips.erase(llvm::unique(chips), chips.end());
  return chips;
}

namespace {

/// A module of kernels as compiled for a chip.
struct Code {
  std::string ptx, machineCode;
};

struct SerializeKernels
    : public tofu::impl::SerializeKernelsBase<SerializeKernels> {
  using SerializeKernelsBase::SerializeKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SerializeKernelsBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
    NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    chips = sortChips(chip);
    if (failed(verifyOptions()))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    RuntimeCalls calls(getOperation());
    KernelRecords records(getOperation());
    auto define = [&](gpu::GPUModuleOp module) -> LogicalResult {
      std::optional<std::string> image = serialize(module);
      if (!image)
        return failure();
      LLVM::GlobalOp global = addImage(module, *image, symbols);
      for (auto kernel : module.getOps<LLVM::LLVMFuncOp>()) {
        records.define(calls, kernel, global, image->size(),
                       /*onHost=*/{});
        numKernels += kernel->hasAttr(gpu::GPUDialect::getKernelFuncAttrName());
      }
      return success();
    };
    if (failed(replaceKernelModules(getOperation(), define)))
      signalPassFailure();
  }

private:
  LogicalResult verifyOptions() {
    for (StringRef each : chips)
      if (getFeatures(each).empty())
        return getOperation().emitError()
               << "chip=" << each << ": must be sm_80, sm_90 or sm_100";
    if (format != "ptx" && format != "cubin")
      return getOperation().emitError()
             << "format=" << format << ": must be ptx or cubin";
    if (format == "ptx" && chips.size() > 1)
      return getOperation().emitError() << "format=ptx is for one chip, and "
                                           "later ones run it too; several "
                                           "take format=cubin";
    return success();
  }

  /// The image of the kernels for all chips.
  std::optional<std::string> serialize(gpu::GPUModuleOp module) {
    if (failed(verifyFunctions(module)))
      return std::nullopt;
    boundRegisters(module);
    SmallVector<Code> codes;
    for (StringRef each : chips) {
      std::optional<Code> code = compile(module, each);
      if (!code)
        return std::nullopt;
      codes.push_back(std::move(*code));
    }
    // The driver takes PTX as text that ends in zero.
    if (format == "ptx")
      return codes.front().ptx + '\0';
    if (codes.size() == 1)
      return codes.front().machineCode;
    SmallVector<ChipImage> images;
    for (auto [each, code] : llvm::zip_equal(chips, codes))
      images.push_back({each, /*isPtx=*/false, code.machineCode});
    // What later chips run.
    images.push_back({chips.back(), /*isPtx=*/true, codes.back().ptx});
    llvm::Expected<std::string> image = makeFatBinary(images);
    if (image)
      return std::move(*image);
    module.emitError() << llvm::toString(image.takeError());
    return std::nullopt;
  }

  std::optional<Code> compile(gpu::GPUModuleOp module, StringRef chip) {
    bool isPtx = format == "ptx";
    auto target = NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/3,
                                            "nvptx64-nvidia-cuda", chip,
                                            getFeatures(chip));
    Code code;
    auto takePtx = [&](StringRef ptx) { code.ptx = ptx; };
    gpu::TargetOptions options(
        /*toolkitPath=*/{}, /*librariesToLink=*/{}, /*cmdOptions=*/{},
        /*elfSection=*/{},
        isPtx ? gpu::CompilationTarget::Assembly
              : gpu::CompilationTarget::Binary,
        /*getSymbolTableCallback=*/{}, /*initialLlvmIRCallback=*/{},
        /*linkedLlvmIRCallback=*/{}, /*optimizedLlvmIRCallback=*/{}, takePtx);
    auto object = cast<gpu::TargetAttrInterface>(Attribute(target))
                      .serializeToObject(module, options);
    auto [before, after] = StringRef(code.ptx).split(".extern .func");
    if (!after.empty()) {
      module.emitError()
          << "kernels call a function that is nowhere: "
          << after.take_until([](char c) { return c == ';'; }).trim();
      return std::nullopt;
    }
    if (!object) {
      module.emitError() << "kernels can't be compiled for " << chip;
      return std::nullopt;
    }
    if (!isPtx)
      code.machineCode.assign(object->begin(), object->end());
    return code;
  }

  LLVM::GlobalOp addImage(gpu::GPUModuleOp module, StringRef image,
                          SymbolTable &symbols) {
    OpBuilder builder(&getContext());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), image.size());
    auto global = LLVM::GlobalOp::create(
        builder, module.getLoc(), type, /*isConstant=*/true,
        LLVM::Linkage::Internal, (module.getName() + "_image").str(),
        builder.getStringAttr(image), /*alignment=*/16);
    symbols.insert(global, getOperation().getBody()->begin());
    return global;
  }

  SmallVector<StringRef> chips;
};

} // namespace
