//===- Pipelines.cpp - From the partitioned form to LLVM ------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Conversion/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tofu;

/// What computes scales and biases is fused with what they are made of.
static void addEpiloguePasses(OpPassManager &functions,
                              const FuseElementwiseOptions &fusion) {
  if (fusion.reassociate) {
    functions.addPass(createFoldScales());
    functions.addPass(createMoveReshapes());
    functions.addPass(createFuseElementwise(fusion));
    functions.addPass(createCanonicalizerPass());
  }
  functions.addPass(createFuseEpilogues());
}

/// What kernels of rows would compute again may be an epilogue, and so comes
/// after those.
static void addRowPasses(OpPassManager &functions,
                         FuseElementwiseOptions fusion) {
  fusion.rows = true;
  functions.addPass(createFuseElementwise(fusion));
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

/// On tensors: one function, few and large operations, contractions set apart.
/// Contractions come before fusion, which would hide them; for GPUs their
/// epilogues after it, which makes one operation of each, and then what kernels
/// of rows compute again.
///
/// The options say what kernels and the library are good at.
static void addTensorPasses(OpPassManager &pm,
                            const RaiseContractionsOptions &raising,
                            const FuseElementwiseOptions &fusion,
                            bool isForGpu) {
  // Canonicalizing would take padding that shifts for nothing.
  pm.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createAddDestinations());
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createProtectArguments());
  functions.addPass(createConvertElementwiseToLinalgPass());
  functions.addPass(createGeneralizeOps());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createRaiseContractions(raising));
  functions.addPass(createMoveReshapes());
  functions.addPass(createFuseElementwise(fusion));
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  if (isForGpu) {
    addEpiloguePasses(functions, fusion);
    addRowPasses(functions, fusion);
  }
  functions.addPass(createUnshareEmpties());
}

/// To buffers, and their lifetimes. Reuse comes before freeing: it needs the
/// last uses that the frees would add to.
static void addBufferPasses(OpPassManager &pm) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.allowReturnAllocsFromLoops = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(createLowerGlobals());
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(createGeneralizeCopies());
  functions.addPass(createReuseBuffers());
  functions.addPass(createFreeBuffers());
  functions.addPass(createExpandWindows());
}

/// Loop nests in functions of their own.
static void addOutliningPasses(OpPassManager &pm,
                               const OutlineKernelsOptions &options) {
  pm.addNestedPass<func::FuncOp>(createGuardDivisions());
  pm.addPass(createOutlineKernels(options));
}

/// To calls of the runtime. With memory of its own, a device has streams too.
static void addRuntimePasses(OpPassManager &pm, bool deviceMemory) {
  pm.addPass(createAddContext({deviceMemory}));
  if (deviceMemory)
    pm.addPass(createConvertToNccl());
  pm.addPass(createConvertToRuntime({deviceMemory}));
  pm.addPass(createConvertCalls());
  pm.addPass(createLowerEntryPoints());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Complex numbers become pairs of floats here; what is left of their dialect
/// makes pairs and takes them apart.
///
/// Floats that the processor can't compute with are computed as f32 and rounded
/// when they are stored. The expansion of functions comes after: it has f32
/// only, and makes arithmetic of the roundings.
static void addFloatPasses(OpPassManager &pm) {
  pm.addPass(createConvertComplexToStandardPass());
  math::MathExtendToSupportedTypesOptions extend;
  extend.extraTypeStrs = {"f16"};
  extend.targetTypeStr = "f32";
  pm.addPass(math::createMathExtendToSupportedTypes(extend));
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16", "f16"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  pm.addPass(createExpandMath());
}

/// To the LLVM dialect.
static void addLLVMPasses(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createExpandReshapes());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  // What LLVM has no intrinsic for calls the C library.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createVerifyLowered());
  pm.addPass(createSplitFunctions());
}

void tofu::buildTofuToHostPipeline(OpPassManager &pm,
                                   const TofuToHostOptions &options) {
  RaiseContractionsOptions raising;
  raising.minWork = options.minContractionWork;
  addTensorPasses(pm, raising, {}, /*isForGpu=*/false);
  addBufferPasses(pm);
  addOutliningPasses(pm, {});
  pm.addNestedPass<func::FuncOp>(createLowerKernels({options.reassociate}));
  addRuntimePasses(pm, /*deviceMemory=*/false);
  addFloatPasses(pm);
  addLLVMPasses(pm);
}

/// Kernels to PTX or machine code.
static void addDevicePasses(OpPassManager &pm,
                            const TofuToGpuOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createSCFToControlFlowPass());
  ConvertGpuOpsToNVVMOpsOptions convert;
  convert.indexBitwidth = 64;
  kernels.addPass(createConvertGpuOpsToNVVMOps(convert));
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  SerializeKernelsOptions serialize;
  serialize.chip.assign(options.chip.begin(), options.chip.end());
  serialize.format = options.kernels;
  pm.addPass(createSerializeKernels(serialize));
}

void tofu::buildTofuToGpuPipeline(OpPassManager &pm,
                                  const TofuToGpuOptions &options) {
  RaiseContractionsOptions raising;
  raising.minWork = options.minContractionWork;
  raising.depthwise = true;
  FuseElementwiseOptions fusion;
  fusion.reassociate = options.reassociate;
  OutlineKernelsOptions outlining;
  outlining.rows = true;
  outlining.reassociate = options.reassociate;
  addTensorPasses(pm, raising, fusion, /*isForGpu=*/true);
  addBufferPasses(pm);
  addOutliningPasses(pm, outlining);
  pm.addPass(createLowerKernelsToGpu({options.reassociate}));
  addRuntimePasses(pm, /*deviceMemory=*/true);
  addFloatPasses(pm);
  if (options.kernels == "host")
    pm.addPass(createRunKernelsOnHost());
  else
    addDevicePasses(pm, options);
  addLLVMPasses(pm);
}

void tofu::registerTofuToHostPipeline() {
  PassPipelineRegistration<TofuToHostOptions>(
      "tofu-to-host",
      "Lower a partitioned program to LLVM with calls of the host runtime",
      buildTofuToHostPipeline);
}

void tofu::registerTofuToGpuPipeline() {
  PassPipelineRegistration<TofuToGpuOptions>(
      "tofu-to-gpu",
      "Lower a partitioned program to LLVM with launches of GPU kernels",
      buildTofuToGpuPipeline);
}
