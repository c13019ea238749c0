//===- client.cpp - Partitions a module from C++ --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What another MLIR compiler does to use Tofu: register, parse or build a
// module, and add the partitioning pipeline to a pass manager.
//
//===----------------------------------------------------------------------===//

#include "Tofu/InitAll.h"
#include "Tofu/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: client FILE.mlir\n";
    return 2;
  }
  DialectRegistry registry;
  tofu::registerAllDialectsAndExtensions(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  tofu::TofuPartitionOptions options;
  options.devices = 2;
  PassManager pm(&context);
  tofu::addTofuPartitionPipeline(pm, options);
  if (failed(pm.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
