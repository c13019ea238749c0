//===- InitAll.cpp - Registration of everything in Tofu -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/InitAll.h"
#include "Tofu/Conversion/Passes.h"
#include "Tofu/Dialect/Models.h"
#include "Tofu/Dialect/Tofu.h"
#include "Tofu/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

void tofu::registerAllTofuDialects(DialectRegistry &registry) {
  registry.insert<TofuDialect>();
}

void tofu::registerAllTofuExtensions(DialectRegistry &registry) {
  registerLinalgModels(registry);
  registerTensorModels(registry);
  registerUnpackModel(registry);
  registerElementwiseModels(registry);
  registerFuncModels(registry);
  registerBufferizationModels(registry);
  registerBufferizableOpInterfaceModels(registry);
}

void tofu::registerAllTofuPasses() {
  registerTofuTransformsPasses();
  registerTofuPartitionPipeline();
  registerTofuConversionPasses();
  registerTofuToHostPipeline();
  registerTofuToGpuPipeline();
}

void tofu::registerAllDialectsAndExtensions(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllTofuDialects(registry);
  registerAllTofuExtensions(registry);
}

void tofu::printInputFormatHint(llvm::raw_ostream &os) {
  os << "note: the input must be MLIR " << LLVM_VERSION_MAJOR
     << "; a file from another release may need to be exported again\n";
}
