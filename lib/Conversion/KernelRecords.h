//===- KernelRecords.h - How programs refer to kernels ----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch refers to a kernel by a constant of the program, TofuKernel of
// Tofu/Runtime/Runtime.h. It is declared when launches are lowered, and defined
// when it is known how the kernel is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_CONVERSION_KERNELRECORDS_H
#define TOFU_LIB_CONVERSION_KERNELRECORDS_H

#include "RuntimeCalls.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::tofu {

/// The kernels of a module and their records.
class KernelRecords {
public:
  explicit KernelRecords(ModuleOp module) : module(module), symbols(module) {}

  /// The kernel that is launched; null if there is none of that name.
  gpu::GPUFuncOp lookup(gpu::LaunchFuncOp launch);

  /// The address of the kernel's record, which is declared if it isn't yet.
  Value getRecord(OpBuilder &builder, Location loc, gpu::GPUFuncOp kernel);

  /// Says what the kernel takes, as TofuKernel has it; the same for all
  /// launches.
  void setArguments(gpu::GPUFuncOp kernel, ArrayRef<int64_t> words);

  /// Defines the record of a kernel, in whatever dialect it is, if it has one.
  /// `image` is a global, or null; `onHost` is the name of a function, or null.
  void define(RuntimeCalls &calls, SymbolOpInterface kernel,
              LLVM::GlobalOp image, int64_t imageBytes,
              FlatSymbolRefAttr onHost);

private:
  ModuleOp module;
  SymbolTable symbols;
};

/// Erases the modules of kernels, each after `define` defined the records of
/// its kernels.
LogicalResult
replaceKernelModules(ModuleOp module,
                     function_ref<LogicalResult(gpu::GPUModuleOp)> define);

/// Gives the kernel an address, and what isn't known of the offset, sizes and
/// strides, in the place of each buffer.
void flattenKernelArguments(gpu::GPUFuncOp kernel);

/// Where a flattened kernel's parameters are in the descriptor of a buffer.
SmallVector<SmallVector<int32_t, 2>> getPassedFields(MemRefType type);

} // namespace mlir::tofu

#endif // TOFU_LIB_CONVERSION_KERNELRECORDS_H
