//===- tofu-lsp-server.cpp - Language server ------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include <cstdlib>

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::tofu::registerAllDialectsAndExtensions(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? EXIT_FAILURE
                                                               : EXIT_SUCCESS;
}
