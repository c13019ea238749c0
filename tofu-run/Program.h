//===- Program.h - The program that tofu-run runs ---------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_PROGRAM_H
#define TOFU_RUN_PROGRAM_H

#include "Options.h"

#include "Tofu/Dialect/Tofu.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::tofu {

/// How far a program has come.
enum class Stage { Source, Planned, Partitioned };

/// A program that devices can run, with what is needed to feed it.
struct Program : Signature {
  OwningOpRef<ModuleOp> module;
  MeshOp mesh; ///< null: one device
};

/// The function to run: the named one, or the only public one. Reports what is
/// wrong and returns null if there is none.
func::FuncOp findFunction(ModuleOp module, StringRef name);

/// Partitioned if the function has types from before partitioning or does what
/// only a partitioned one does; planned if any operation has a strategy or a
/// layout; else source.
Stage findStage(ModuleOp module, func::FuncOp function);

/// Takes a module at any stage to a partitioned program, or, if it is a source
/// program for one device, leaves it as it is.
FailureOr<Program> makeProgram(OwningOpRef<ModuleOp> module,
                               const RunOptions &options);

/// Turns a source or planned program into one for a single device, as if it had
/// never been planned.
FailureOr<Program> makeUnpartitioned(OwningOpRef<ModuleOp> module,
                                     const RunOptions &options);

/// An unpartitioned program with f64 in the place of shorter floats; fails,
/// silently, if it isn't the same program in f64.
FailureOr<Program> widen(const Program &program);

} // namespace mlir::tofu

#endif // TOFU_RUN_PROGRAM_H
