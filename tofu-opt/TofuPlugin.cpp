//===- TofuPlugin.cpp - Tofu in a stock mlir-opt --------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: mlir-opt --load-dialect-plugin=TofuPlugin.so
//   --load-pass-plugin=TofuPlugin.so --pass-pipeline='builtin.module(…)'
// The passes have no flags of their own there: mlir-opt builds its flags before
// it loads plugins.
//
//===----------------------------------------------------------------------===//

#include "Tofu/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Tofu", LLVM_VERSION_STRING,
          [](DialectRegistry *registry) {
            tofu::registerAllTofuDialects(*registry);
            tofu::registerAllTofuExtensions(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Tofu", LLVM_VERSION_STRING,
          tofu::registerAllTofuPasses};
}
