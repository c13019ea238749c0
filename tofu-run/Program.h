//===- Program.h - A program, lowered and compiled --------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_PROGRAM_H
#define TOFU_RUN_PROGRAM_H

#include "Array.h"
#include "Tofu/Runtime/Backend.h"
#include "Tofu/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::tofu {

/// An argument or a result: its whole type, and the box that each device has.
struct Boundary {
  TofuElementType type = TOFU_F32;
  bool isScalar = false; ///< no tensor: the same on all devices
  bool isDonated = false;
  /// Sizes of the whole tensor; negative where the inputs say.
  llvm::SmallVector<int64_t> shape;
  /// The box of each device; empty for what every device has whole.
  llvm::SmallVector<search::Box> boxes;
};

struct Signature {
  std::vector<Boundary> arguments, results;
};

/// How far a program has come.
enum class Stage { Source, Planned, Partitioned };

Stage getStage(func::FuncOp function);

/// The function that `name` says, or the only public one. Emits an error and
/// gives null if there is none, or several.
func::FuncOp findFunction(ModuleOp module, llvm::StringRef name);

/// The number of devices of the program's mesh; 0 without one.
int64_t getMeshDevices(ModuleOp module);

/// A program in machine code.
class Program {
public:
  /// Takes the module from its stage to partitioned, unless `serial`, then to
  /// machine code that calls `backend`. Emits errors.
  static std::unique_ptr<Program>
  compile(ModuleOp module, llvm::StringRef function, bool serial,
          const TofuPartitionOptions &options, const TofuBackend &backend);

  Signature signature;
  double seconds = 0; ///< it took to compile

  /// Calls the function with the addresses of its arguments: the memory for
  /// results if any, the context, then an address per argument.
  using Function = void (*)(void **);
  Function function = nullptr;

private:
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<ExecutionEngine> engine;
};

} // namespace mlir::tofu

#endif // TOFU_RUN_PROGRAM_H
