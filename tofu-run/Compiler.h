//===- Compiler.h - From a program to machine code --------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_COMPILER_H
#define TOFU_RUN_COMPILER_H

#include "Program.h"

#include "Tofu/Runtime/DeviceCall.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/DynamicLibrary.h"

namespace mlir::tofu {

/// Shared libraries with functions that programs call. They stay loaded.
class Libraries {
public:
  /// The error names the first file that can't be loaded.
  static llvm::Expected<Libraries> load(ArrayRef<std::string> files);

  /// The address of a function in the first library that has it, or else in
  /// this process; null if there is none.
  void *lookup(const std::string &symbol) const;

private:
  std::vector<llvm::sys::DynamicLibrary> libraries;
};

/// What the loop nests of a program become.
enum class KernelKind {
  Loops,     ///< functions of the host
  GpuOnHost, ///< kernels of a GPU, whose threads the host goes through
  Gpu        ///< PTX, which the driver compiles, or machine code
};

/// A backend, and how programs are lowered for it.
struct ChosenBackend {
  const TofuBackend *backend = nullptr;
  KernelKind kernels = KernelKind::Loops;
  /// What kernels of a GPU are for, or later ones: one as PTX, several as
  /// machine code.
  std::vector<std::string> chips = {"sm_80"};
};

/// The backend of a library in `folder`, or gpu-on-host: the host backend with
/// kernels.
llvm::Expected<ChosenBackend> chooseBackend(StringRef name, StringRef folder);

/// Failures of the runtime as LLVM has them.
llvm::Error toError(const Failure &failure);
template <typename T>
llvm::Expected<T> toExpected(OrFailure<T> value) {
  if (value)
    return std::move(*value);
  return toError(value.failure());
}

/// Lowers the module, which is changed by it, to the LLVM dialect.
LogicalResult lower(ModuleOp module, const ChosenBackend &backend);

/// Machine code of a program, shared by all devices of the process.
class Compiled {
public:
  /// Lowers the program's module, which is changed by it, and compiles it once.
  static llvm::Expected<Compiled> create(const Program &program,
                                         const ChosenBackend &backend,
                                         const Libraries &libraries,
                                         unsigned optimizationLevel);

  ProgramEntry getEntry() const { return entry; }

private:
  std::unique_ptr<ExecutionEngine> engine;
  ProgramEntry entry = nullptr;
};

} // namespace mlir::tofu

#endif // TOFU_RUN_COMPILER_H
