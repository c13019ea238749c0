//===- FuzzProgram.cpp - Any text as a program
//------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/InitAll.h"
#include "Tofu/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

/// Searching programs of this size and less takes no time.
static constexpr size_t kMostText = 4096;

/// Takes a program at any stage to the partitioned one.
static void partition(ModuleOp module) {
  PassManager pm(module.getContext());
  bool isPlanned = false;
  module.walk([&](Operation *op) {
    isPlanned |= op->hasAttr("tofu.strategy") || op->hasAttr("tofu.layouts");
  });
  if (isPlanned) {
    tofu::addTofuLowerPlanPipeline(pm);
  } else {
    tofu::TofuPartitionOptions options;
    options.devices = 6;
    tofu::addTofuPartitionPipeline(pm, options);
  }
  (void)pm.run(module);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static DialectRegistry *registry = [] {
    auto *made = new DialectRegistry;
    tofu::registerAllDialectsAndExtensions(*made);
    return made;
  }();
  if (size > kMostText)
    return -1;
  MLIRContext context(*registry, MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler(
      [](Diagnostic &) { return success(); });
  std::string text(reinterpret_cast<const char *>(data), size);
  context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (module)
    partition(*module);
  return 0;
}
