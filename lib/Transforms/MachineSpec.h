//===- MachineSpec.h - The machine that a module is for ---------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_TRANSFORMS_MACHINESPEC_H
#define TOFU_LIB_TRANSFORMS_MACHINESPEC_H

#include "Tofu/Search/Machine.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::tofu {

/// Reads `dlti.target_system_spec` of `module`. Fails, with an error, if it is
/// not that of a machine of equal devices.
FailureOr<search::Machine> readMachine(ModuleOp module);

/// Whether the module has one.
bool hasMachine(ModuleOp module);

} // namespace mlir::tofu

#endif // TOFU_LIB_TRANSFORMS_MACHINESPEC_H
