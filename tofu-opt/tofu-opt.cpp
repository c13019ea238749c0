//===- tofu-opt.cpp - Optimizer driver ------------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with Tofu's dialect, extensions and passes beside upstream's.
//
//===----------------------------------------------------------------------===//

#include "Tofu/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

/// Runs the pipeline of the command line on one file. MlirOptMain builds the
/// pipeline after it has parsed, which is how a parse error is told from
/// others.
static LogicalResult optimize(StringRef inputFile, StringRef outputFile,
                              DialectRegistry &registry,
                              const MlirOptMainConfig &config) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputFile, &error);
  if (!input) {
    llvm::errs() << error << "\n";
    return failure();
  }
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(outputFile, &error);
  if (!output) {
    llvm::errs() << error << "\n";
    return failure();
  }

  bool parsed = false;
  MlirOptMainConfig observed = config;
  observed.setPassPipelineSetupFn([&](PassManager &pm) {
    parsed = true;
    return config.setupPassPipeline(pm);
  });
  if (failed(MlirOptMain(output->os(), std::move(input), registry, observed))) {
    if (!parsed && !config.shouldVerifyDiagnostics())
      tofu::printInputFormatHint(llvm::errs());
    return failure();
  }
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  registerAllPasses();
  tofu::registerAllTofuPasses();
  DialectRegistry registry;
  tofu::registerAllDialectsAndExtensions(registry);

  auto [inputFile, outputFile] = registerAndParseCLIOptions(
      argc, argv, "Tofu tensor partitioner driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(
        MlirOptMain(argc, argv, inputFile, outputFile, registry));

  llvm::InitLLVM initLLVM(argc, argv);
  return asMainReturnCode(optimize(inputFile, outputFile, registry, config));
}
