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

/// Registers how tofu's operations on tensors become operations on buffers.
void registerBufferizableOpInterfaceModels(DialectRegistry &registry);

} // namespace mlir::tofu

#endif // TOFU_CONVERSION_PASSES_H
