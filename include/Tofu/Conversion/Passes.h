//===- Passes.h - Conversion passes and pipelines ---------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_CONVERSION_PASSES_H
#define TOFU_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace mlir::tofu {

#define GEN_PASS_DECL
#include "Tofu/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Tofu/Conversion/Passes.h.inc"

/// Options of the pipeline `tofu-to-host`.
struct TofuToHostOptions : public PassPipelineOptions<TofuToHostOptions> {
  Option<int64_t> minContractionWork{
      *this, "min-contraction-work",
      llvm::cl::desc("Multiply-adds below which a contraction stays loops; a "
                     "library call costs about as much as some thousands"),
      llvm::cl::init(4096)};
  Option<bool> reassociate{
      *this, "reassociate",
      llvm::cl::desc("Let sums over an innermost loop be computed in vector "
                     "lanes; results differ by rounding, not between runs"),
      llvm::cl::init(true)};
};

/// Adds the passes that take a partitioned program (linalg, tensor, arith,
/// math, scf, cf and tofu collectives on local tensor types; also any program
/// that was never partitioned) to the LLVM dialect with calls of the runtime's
/// C ABI (Tofu/Runtime/Runtime.h). Runs on a module.
void buildTofuToHostPipeline(OpPassManager &pm,
                             const TofuToHostOptions &options);

/// Registers the pipeline as `tofu-to-host`.
void registerTofuToHostPipeline();

/// Options of the pipeline `tofu-to-gpu`.
struct TofuToGpuOptions : public PassPipelineOptions<TofuToGpuOptions> {
  ListOption<std::string> chip{
      *this, "chip",
      llvm::cl::desc("What kernels are compiled for: sm_80, sm_90 (the "
                     "default) or sm_100; several with kernels=cubin")};
  Option<std::string> kernels{
      *this, "kernels",
      llvm::cl::desc("What kernels become: ptx, which the driver compiles; "
                     "cubin, which needs the CUDA toolkit; or host, functions "
                     "that go through all threads"),
      llvm::cl::init("ptx")};
  Option<int64_t> minContractionWork{
      *this, "min-contraction-work",
      llvm::cl::desc("Multiply-adds below which a contraction becomes a kernel "
                     "of its own instead of a library call"),
      llvm::cl::init(4096)};
  Option<bool> reassociate{
      *this, "reassociate",
      llvm::cl::desc("Let threads share sums and products of floats; results "
                     "differ by rounding, not between runs"),
      llvm::cl::init(true)};
};

/// As buildTofuToHostPipeline, but loop nests become kernels on grids of
/// threads, and only the runtime accesses the device's memory.
void buildTofuToGpuPipeline(OpPassManager &pm, const TofuToGpuOptions &options);

/// Registers the pipeline as `tofu-to-gpu`.
void registerTofuToGpuPipeline();

/// Registers how tofu's operations on tensors become operations on buffers.
void registerBufferizableOpInterfaceModels(DialectRegistry &registry);

} // namespace mlir::tofu

#endif // TOFU_CONVERSION_PASSES_H
