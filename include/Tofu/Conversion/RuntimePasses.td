//===- RuntimePasses.td - Passes to the runtime ------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of the runtime, and what is left on the way to the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_CONVERSION_RUNTIMEPASSES_TD
#define TOFU_CONVERSION_RUNTIMEPASSES_TD

include "mlir/Pass/PassBase.td"

def AddContext : Pass<"tofu-add-context", "::mlir::ModuleOp"> {
  let summary = "Add the device context to functions and calls";
  let description = [{
    Public functions, and private ones that call the runtime or a function that
    does, get it as a first argument. Attributes of arguments and results that
    mean nothing to LLVM go.

    Before: buffers. After: the same, with the context.

    ```mlir
    func.func @f(%a: memref<4xf32> {tofu.layout = ...})
    // becomes
    func.func @f(%context: !llvm.ptr, %a: memref<4xf32>)
    ```
  }];
  let options = [
    Option<"deviceMemory", "device-memory", "bool", "false",
           "As for tofu-convert-to-runtime">
  ];
  let statistics = [
    Statistic<"numFunctions", "num-functions", "Number of functions changed">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ConvertToNccl : Pass<"convert-tofu-to-nccl", "::mlir::ModuleOp"> {
  let summary = "Convert collectives to calls of NCCL's form on a stream of their own";
  let description = [{
    A collective whose devices form groups of the same size, in which parts of
    the same size lie without gaps one after the other, becomes
    `tofuEvenCollective`: all_reduce, all_gather, reduce_scatter or broadcast,
    whatever its kind was. All others become `tofuCollective`, which packs, sends,
    receives, unpacks and combines in a fixed order: uneven parts, halos, types and
    combiners that NCCL lacks or computes otherwise, and sums of floats whose
    replicas are in several groups, as two groups may add in different orders.

    They go to the communication stream. It waits for the last operation on the
    compute stream that a collective depends on; the compute stream waits for a
    collective before the first operation that depends on it. An event is recorded
    right after what is waited for, and one event serves all that it covers.
    Buffers are freed where the compute stream has waited for their last
    collective. Neighbouring collectives that don't depend on each other are
    grouped. Where a block ends, and before branches and loops with collectives,
    the compute stream waits for all collectives.

    Before: buffers, functions with a context. After: the same without
    `tofu.collective`.

    ```mlir
    gpu.launch_func @kernels::@a ... args(%a : memref<4xf32>)
    gpu.launch_func @kernels::@b ... args(%b : memref<4xf32>)
    tofu.collective all_gather %a, %c ...
    gpu.launch_func @kernels::@c ... args(%c : memref<8xf32>)
    // becomes
    gpu.launch_func @kernels::@a ... args(%a : memref<4xf32>)
    llvm.call @tofuRecord(%context, %compute, %0)
    gpu.launch_func @kernels::@b ... args(%b : memref<4xf32>)
    llvm.call @tofuWait(%context, %communication, %0)
    llvm.call @tofuEvenCollective(%context, %communication, %table, %location, %a_address, %c_address)
    llvm.call @tofuRecord(%context, %communication, %1)
    llvm.call @tofuWait(%context, %compute, %1)
    gpu.launch_func @kernels::@c ... args(%c : memref<8xf32>)
    ```
  }];
  let statistics = [
    Statistic<"numEven", "num-even", "Number of collectives of NCCL's form">,
    Statistic<"numUneven", "num-uneven", "Number of other collectives">,
    Statistic<"numGroups", "num-groups", "Number of groups of several">,
    Statistic<"numEvents", "num-events", "Number of events">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ConvertToRuntime : Pass<"tofu-convert-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Convert what the runtime does to calls of its C ABI";
  let description = [{
    Allocations, deallocations, memory of globals, contractions, collectives, the
    device number, failed assertions and launches of kernels (Tofu/Runtime/Runtime.h). Tables,
    messages and locations become constants of the module. Meshes go.

    Kernels get the address of a buffer, and of its offset, sizes and strides those
    that are not known.

    Before: buffers, functions with a context. After: the same with calls.

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    // becomes
    %0 = llvm.call @tofuAlloc(%context, %bytes) : (!llvm.ptr, i64) -> !llvm.ptr
    ... a descriptor made of %0
    %a = builtin.unrealized_conversion_cast %descriptor : !llvm.struct<...> to memref<4xf32>
    ```
  }];
  let options = [
    Option<"deviceMemory", "device-memory", "bool", "false",
           "Let the runtime read and write single elements, and copy constants: "
           "the host may have no access to the device's memory">
  ];
  let statistics = [
    Statistic<"numCalls", "num-calls", "Number of operations converted">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def ConvertCalls : Pass<"tofu-convert-calls", "::mlir::ModuleOp"> {
  let summary = "Convert calls of functions outside of the program to C";
  let description = [{
    The C interface of MLIR: the callee @f is the symbol `_mlir_ciface_f`, which
    takes the addresses of memref descriptors, and scalars by value. Results go
    to buffers whose descriptors come last.

    Before: buffers. After: the same, without `tofu.call`.

    ```mlir
    tofu.call @cholesky(%a : memref<4x8x8xf32>) into(%r : memref<4x8x8xf32>)
    // becomes
    llvm.store %a_descriptor, %0 : !llvm.struct<...>, !llvm.ptr
    llvm.store %r_descriptor, %1 : !llvm.struct<...>, !llvm.ptr
    llvm.call @_mlir_ciface_cholesky(%0, %1) : (!llvm.ptr, !llvm.ptr) -> ()
    ```
  }];
  let statistics = [
    Statistic<"numCalls", "num-calls", "Number of calls converted">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def LowerEntryPoints : Pass<"tofu-lower-entry-points", "::mlir::ModuleOp"> {
  let summary = "Give public functions the C interface that runners call";
  let description = [{
    That of `llvm.emit_c_interface`: buffers come as addresses of descriptors,
    results go to memory of the caller whose address is the first argument (a
    lone scalar is returned). The function itself gets the interface and the
    name of the wrapper; it is copied if the module calls it.

    Before: public functions on buffers. After: public functions on pointers and
    scalars.

    ```mlir
    func.func @f(%context: !llvm.ptr, %a: memref<4xf32>) -> memref<4xf32>
    // becomes
    func.func @_mlir_ciface_f(%results: !llvm.ptr, %context: !llvm.ptr, %a: !llvm.ptr)
    ```
  }];
  let statistics = [
    Statistic<"numEntryPoints", "num-entry-points", "Number of functions changed">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ExpandMath : Pass<"tofu-expand-math"> {
  let summary = "Expand functions of numbers to arithmetic";
  let description = [{
    Calls of the C library cannot be vectorized; polynomials can.

    Before: any form. After: no exp, log, tanh and erf of f32, no rsqrt.

    ```mlir
    %0 = math.rsqrt %a : f32
    // becomes
    %1 = math.sqrt %a : f32
    %0 = arith.divf %one, %1 : f32
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def VerifyLowered : Pass<"tofu-verify-lowered"> {
  let summary = "Verify that only the LLVM dialect is left";
  let description = [{
    One error for each operation that none of the passes before could lower.

    Before: any form. After: the LLVM dialect, or failure.
  }];
}

def SplitFunctions : Pass<"tofu-split-functions", "::mlir::ModuleOp"> {
  let summary = "Split long blocks into functions";
  let description = [{
    LLVM takes more than linear time for a block. A long one becomes calls of
    functions that share a frame in memory.

    Before: the LLVM dialect. After: the same, with shorter blocks.

    ```mlir
    llvm.func @f(%a: !llvm.ptr) { ... 10,000 operations ... llvm.return }
    // becomes
    llvm.func @f(%a: !llvm.ptr) {
      %frame = llvm.alloca ...
      llvm.store %a, %frame : !llvm.ptr, !llvm.ptr
      llvm.call @f_part(%frame) : (!llvm.ptr) -> ()
      llvm.call @f_part_0(%frame) : (!llvm.ptr) -> ()
      ...
      llvm.return
    }
    ```
  }];
  let options = [
    Option<"maxOps", "max-ops", "unsigned", "1000",
           "Operations of a part; blocks up to twice as long stay as they are. "
           "Larger parts cost LLVM more, smaller ones load more from the frame">
  ];
  let statistics = [
    Statistic<"numParts", "num-parts", "Number of functions made">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TOFU_CONVERSION_RUNTIMEPASSES_TD
