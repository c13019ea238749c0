//===- tofu-reduce.cpp - Test case reducer --------------------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

#include <cstdlib>

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::tofu::registerAllTofuPasses();
  mlir::DialectRegistry registry;
  mlir::tofu::registerAllDialectsAndExtensions(registry);
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context)) ? EXIT_FAILURE
                                                           : EXIT_SUCCESS;
}
