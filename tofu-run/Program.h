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
#include "Tofu/Runtime/HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::tofu {

/// How far a program has come.
enum class Stage { Source, Planned, Partitioned };

/// An argument or a result.
struct Port {
  HostTensorType type;      ///< of the whole tensor
  HostTensorType localType; ///< of a device's part; kDynamic where they differ
  bool isTensor = true;
  bool isDonated = false;           ///< the program may overwrite it
  PlacementAttrInterface placement; ///< null: whole on every device
  /// An argument and a dim of it: this one is its size, and no input.
  std::optional<std::pair<unsigned, unsigned>> sizeOf;
};

/// A program that devices can run, with what is needed to feed it.
struct Program {
  OwningOpRef<ModuleOp> module;
  std::string function;
  search::Mesh mesh; ///< no axes: one device
  SmallVector<Port> arguments, results;
  bool hasState = false; ///< a run leaves something for the next one

  int64_t numDevices() const { return mesh.numDevices(); }

  /// The arguments that inputs are for, in order.
  SmallVector<const Port *> inputs() const;

  /// The shape of a whole tensor of which the devices have parts of the given
  /// shapes.
  SmallVector<int64_t> findShape(const Port &port,
                                 ArrayRef<SmallVector<int64_t>> parts) const;

  /// The box of a tensor of `shape` that each device has of a port.
  SmallVector<search::Box> getBoxes(const Port &port,
                                    ArrayRef<int64_t> shape) const;
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

} // namespace mlir::tofu

#endif // TOFU_RUN_PROGRAM_H
