//===- KernelPasses.td - Passes to kernels -----------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loop nests of their own, as loops of the host or grids of threads of a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_CONVERSION_KERNELPASSES_TD
#define TOFU_CONVERSION_KERNELPASSES_TD

include "mlir/Pass/PassBase.td"

def GuardDivisions : Pass<"tofu-guard-divisions", "::mlir::func::FuncOp"> {
  let summary = "Assert that integers can be divided";
  let description = [{
    Before a division of integers whose divisor isn't a constant comes an
    assertion that it is not zero, and that the least number is not divided by -1:
    a program that does that fails with the place where it did.

    Before: any function. After: the same with assertions.

    ```mlir
    %0 = arith.divui %a, %b : i32
    // becomes
    %1 = arith.cmpi ne, %b, %c0_i32 : i32
    cf.assert %1, "integer division by zero"
    %0 = arith.divui %a, %b : i32
    ```
  }];
  let statistics = [
    Statistic<"numGuarded", "num-guarded", "Number of divisions guarded">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect"
  ];
}

def OutlineKernels : Pass<"tofu-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Move loop nests to functions, equal ones to the same";
  let description = [{
    Each linalg operation on buffers, together with the fill that it starts
    from, becomes a call of a private function. Arguments that share no memory
    with others are marked `llvm.noalias`. A function whose arguments are all of
    static shape takes bare pointers.

    Before: linalg on buffers. After: linalg only in private functions.

    ```mlir
    linalg.generic ... ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    // becomes
    call @kernel(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
    func.func private @kernel(%0: memref<4xf32> {llvm.noalias},
                              %1: memref<4xf32> {llvm.noalias})
    ```

    With `rows`, operations over the same rows become one function: a row is one
    point of parallel loops that all of them have, and what one makes of a row
    the others read of the same row only, so that it can be done row by row. At
    least one is a reduction that threads can share; the others are reductions,
    element-wise operations on the elements of a row, or such on one value per row.
    All this is found from indexing maps and iterator types, also through reshapes
    that add or drop dims of size 1. The function says in `tofu.row_loops` which
    loops of its first operation go over the rows. Memory with one value per row
    that nothing else uses is allocated in it: it stands for values that are never
    written. Rows are left alone where so few are so long that threads of several
    blocks had better share them.

    ```mlir
    %m = memref.alloc() : memref<64xf32>
    linalg.fill ins(%least : f32) outs(%m : memref<64xf32>)
    linalg.generic ... ins(%a : memref<64x100xf32>) outs(%m : memref<64xf32>)      // max
    linalg.generic ... ins(%a, %m) outs(%b : memref<64x100xf32>)                   // a - max
    memref.dealloc %m : memref<64xf32>
    // becomes
    call @kernel(%a, %b) : (memref<64x100xf32>, memref<64x100xf32>) -> ()
    func.func private @kernel(%a: memref<64x100xf32>, %b: memref<64x100xf32>)
        attributes {tofu.row_loops = array<i64: 0>} {
      %m = memref.alloc() : memref<64xf32>
      linalg.fill ins(%least : f32) outs(%m : memref<64xf32>)
      linalg.generic ... ins(%a : memref<64x100xf32>) outs(%m : memref<64xf32>)
      linalg.generic ... ins(%a, %m) outs(%b : memref<64x100xf32>)
      return
    }
    ```
  }];
  let options = [
    Option<"rows", "rows", "bool", "false",
           "Make one function of operations over the same rows, as "
           "tofu-lower-kernels-to-gpu takes them">,
    Option<"reassociate", "reassociate", "bool", "true",
           "As for tofu-lower-kernels-to-gpu">
  ];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Number of functions made">,
    Statistic<"numRowKernels", "num-row-kernels",
              "Number of groups of operations that became one">,
    Statistic<"numShared", "num-shared",
              "Number of operations that use a function made before">
  ];
  let dependentDialects = [
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def LowerKernels : Pass<"tofu-lower-kernels", "::mlir::func::FuncOp"> {
  let summary = "Lower linalg on buffers to loops that LLVM vectorizes";
  let description = [{
    The innermost loop walks through contiguous memory or sums up; loops over
    contiguous memory, of whatever sizes, become one; results that stay in place over the innermost
    loops are kept in registers; a fill becomes their first value; booleans are
    accessed as bytes.

    Before: linalg on buffers. After: scf loops with loads and stores.

    ```mlir
    linalg.generic ... ins(%a : memref<4x8xf32>) outs(%b : memref<4xf32>)  // sum
    // becomes
    scf.for %i = %c0 to %c4 step %c1 {
      %0 = memref.load %b[%i]
      %1 = scf.for %j = %c0 to %c8 step %c1 iter_args(%s = %0) -> (f32) {
        %2 = memref.load %a_flat[%i * 8 + %j]
        %3 = arith.addf %s, %2 fastmath<reassoc, contract>
        scf.yield %3
      }
      memref.store %1, %b[%i]
    }
    ```
  }];
  let options = [
    Option<"reassociate", "reassociate", "bool", "true",
           "Let sums and products in registers be computed in vector lanes: "
           "several times faster, and other roundings than in program order">
  ];
  let statistics = [
    Statistic<"numLowered", "num-lowered", "Number of loop nests made">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def LowerKernelsToGpu
    : Pass<"tofu-lower-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower linalg on buffers to launches of kernels";
  let description = [{
    Each element of the outputs gets a thread, in blocks of 256; neighbouring
    threads have neighbouring elements. Where elements are many and lie side by
    side in all operands, a thread gets as many as 16 bytes hold, or half of these, or
    a quarter, where sizes are multiples of that only, and loads all of them before it
    computes and stores any. Where that depends on sizes, strides or offsets that
    aren't known, there are two kernels, and the host looks at these and launches one:
    of as many as 16 bytes hold for each thread, or of one. Long reductions whose parts may be combined
    in any order are shared by several threads of a block, which combine in
    workgroup memory, always in the same order: all of a block where the
    reduction runs through contiguous memory, else 8. Those of few elements
    are shared by several blocks, each of which leaves a partial result in memory
    that another kernel combines. Other loops, such as
    reductions that no combiner describes, stay loops of a thread. The number of
    blocks is computed by the host, from sizes that only the program knows too.

    A function with `tofu.row_loops` becomes one kernel (`tofu-outline-kernels`). The
    threads of a row, up to all of a block, do one operation after the other. A
    value per row stays in registers; each thread of the row has it. Shares of f32 and
    i32 are combined by shuffles within warps, and then in workgroup memory if there
    are several of these. Elements of
    rows are read again by each operation that needs them: the block has read them
    just before, so they mostly come from the caches, and rows may have any length.
    Where eight threads or more have a row whose elements lie side by side, each gets
    as many of them at a time as above, but never so many that threads go without. A
    failed assertion leaves its number in memory, which the host looks at.

    Before: linalg on buffers. After: `gpu.launch_func` in their place, a
    `gpu.module` with the kernels.

    ```mlir
    linalg.generic ... ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
    // becomes
    %size = memref.dim %a, %c0 : memref<?xf32>
    %blocks = ceildiv(%size, 256)
    gpu.launch_func @kernels::@kernel blocks in (%blocks, %c1, %c1)
        threads in (%c256, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>, %size : index)
    // and
    gpu.func @kernel(%a: memref<?xf32>, %b: memref<?xf32>, %size: index) kernel {
      %i = block_id * 256 + thread_id
      scf.if %i < %size {
        %0 = memref.load %a[%i]
        ...
        memref.store %1, %b[%i]
      }
      gpu.return
    }
    ```
  }];
  let options = [
    Option<"reassociate", "reassociate", "bool", "true",
           "Let threads share sums and products of floats; results differ by "
           "rounding, not between runs">
  ];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Number of kernels made">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::complex::ComplexDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def RunKernelsOnHost
    : Pass<"tofu-run-kernels-on-host", "::mlir::ModuleOp"> {
  let summary = "Turn kernels into functions that loop over threads";
  let description = [{
    Block after block; within a block, all threads up to a barrier before any goes
    on, and to a `gpu.shuffle` before any looks at what another thread has. So the
    arithmetic of kernels can be checked without a device.

    Before: kernels as `tofu-convert-to-runtime` leaves them, with barriers outside
    of control flow only, and shuffles likewise, of whole warps of 32 and the modes down
    and idx. After: functions of the host that their records name,
    no `gpu.module`.

    ```mlir
    gpu.func @kernel(%a: !llvm.ptr) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %i = gpu.thread_id x
      "before"(%i) : (index) -> ()
      gpu.barrier
      "after"(%i) : (index) -> ()
      gpu.return
    }
    // becomes
    llvm.func internal @kernel_on_host(%arguments: !llvm.ptr, %shape: !llvm.ptr) {
      ... loads %a, and %blocks along x, y and z
      scf.for %block = %c0 to %blocks step %c1 {
        scf.for %i = %c0 to %c256 step %c1 { "before"(%i) }
        scf.for %i = %c0 to %c256 step %c1 { "after"(%i) }
      }
      llvm.return
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Number of functions made">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def SerializeKernels
    : Pass<"tofu-serialize-kernels", "::mlir::ModuleOp"> {
  let summary = "Compile kernels to PTX or machine code";
  let description = [{
    By LLVM's NVPTX backend, and for machine code by `ptxas` of the CUDA toolkit
    that CUDA_ROOT, CUDA_HOME or CUDA_PATH names. Mathematical functions come from
    the toolkit's libdevice: it is an error if kernels need one and there is none.
    A multiprocessor must have room for four blocks of a kernel, and a thread may
    have as many registers as that leaves: more than `ptxas` gives it otherwise,
    which for some kernels wouldn't do.

    Machine code for several chips is one image, by the toolkit's `fatbinary`, with
    PTX of the latest for those that are later. The driver takes what fits.

    Before: kernels in the LLVM and NVVM dialects. After: constants with the images,
    which the kernels' records name, no `gpu.module`.

    ```mlir
    gpu.module @kernels {
      llvm.func @kernel(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, record = @kernel_record}
    }
    // becomes
    llvm.mlir.global internal constant @kernels_image("... .visible .entry kernel( ...")
    llvm.mlir.global internal constant @kernel_record() : !llvm.struct<(i64, ptr, ptr, i64, ptr, i64, ptr)> {
      ... version, "kernel", @kernels_image, its size, null, what it takes
    }
    ```
  }];
  let options = [
    ListOption<"chip", "chip", "std::string",
           "sm_80, sm_90 (the default) or sm_100; several for machine code. The version of "
           "PTX is the first that has it">,
    Option<"format", "format", "std::string", [{"ptx"}],
           "ptx, which the driver compiles, or cubin, which needs the toolkit">
  ];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "Number of kernels compiled">
  ];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"
  ];
}

#endif // TOFU_CONVERSION_KERNELPASSES_TD
