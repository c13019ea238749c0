//===- BufferPasses.td - Passes to buffers -----------------*- tablegen -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of globals and reshapes, lifetimes of buffers.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_CONVERSION_BUFFERPASSES_TD
#define TOFU_CONVERSION_BUFFERPASSES_TD

include "mlir/Pass/PassBase.td"

def LowerGlobals : Pass<"tofu-lower-globals", "::mlir::ModuleOp"> {
  let summary = "Keep globals in the memory of the device";
  let description = [{
    The memory is taken where a function begins, and filled the first time: with
    this device's part of the initial value, which stands once in the module. A
    global without one begins with zeros. What is loaded from a global that is
    stored to is a copy.

    Before: tensors and scalars in `ml_program.global`. After: no operations of
    that dialect.

    ```mlir
    ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = ml_program.global_load @state : tensor<4xf32>
      ml_program.global_store @state = %a : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // becomes
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %memory, %is_new = tofu.global_memory "state" : memref<4xf32>
      scf.if %is_new { linalg.fill ins(%one : f32) outs(%memory : memref<4xf32>) }
      %copy = memref.alloc() : memref<4xf32>
      memref.copy %memory, %copy : memref<4xf32> to memref<4xf32>
      %0 = bufferization.to_tensor %copy restrict writable : memref<4xf32> to tensor<4xf32>
      bufferization.materialize_in_destination %a in restrict writable %memory
          : (tensor<4xf32>, memref<4xf32>) -> ()
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let statistics = [
    Statistic<"numGlobals", "num-globals", "Number of globals lowered">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tofu::TofuDialect"
  ];
}

def ExpandReshapes : Pass<"tofu-expand-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Rewrite expansions to several dims of unknown size";
  let description = [{
    Upstream's lowering of `memref.expand_shape` finds the one unknown size of a
    group by division. Where a group has several, as a reshape that is cut along
    two of its dims, the sizes that the operation says are taken.

    Before: buffers. After: the same; each `memref.expand_shape` has at most one
    dim of unknown size in a group.

    ```mlir
    %1 = memref.expand_shape %0 [[0, 1]] output_shape [%m, %n]
        : memref<?xf32> into memref<?x?xf32>
    // becomes
    %base, %offset, %size, %stride = memref.extract_strided_metadata %0
        : memref<?xf32> -> memref<f32>, index, index, index
    %1 = memref.reinterpret_cast %base to offset: [0], sizes: [%m, %n],
        strides: [%n, 1] : memref<f32> to memref<?x?xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"
  ];
}

def GeneralizeCopies : Pass<"tofu-generalize-copies", "::mlir::func::FuncOp"> {
  let summary = "Rewrite copies of buffers to generics";
  let description = [{
    So that they are lowered, shared and vectorized like other loop nests; LLVM
    makes memcpy of those that are contiguous.

    Before: buffers. After: the same, without `memref.copy`.

    ```mlir
    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
    // becomes
    linalg.generic ... ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) { ... yield %in }
    ```
  }];
  let statistics = [
    Statistic<"numCopies", "num-copies", "Number of copies rewritten">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def ReuseBuffers : Pass<"tofu-reuse-buffers", "::mlir::func::FuncOp"> {
  let summary = "Compute results into inputs that are used for the last time";
  let description = [{
    A generic that reads an element of an input only where it writes the same
    element of a new buffer can write into the input's memory, if that is an
    allocation or a donated argument, of the same type, and nobody needs it
    later.

    Before: buffers, nothing freed. After: the same with fewer allocations.

    ```mlir
    %b = memref.alloc() : memref<4xf32>
    linalg.generic ... ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)  // last use of %a
    // becomes
    linalg.generic ... ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
    ```
  }];
  let statistics = [
    Statistic<"numReused", "num-reused", "Number of allocations saved">
  ];
}

def FreeBuffers : Pass<"tofu-free-buffers", "::mlir::func::FuncOp"> {
  let summary = "Free each buffer after its last use";
  let description = [{
    The last use in the block of the allocation, by any view of it. What the
    function returns is not freed: the device context frees it at the end of the
    run.

    Where a loop or branch hands on a buffer that was made in it, whoever gets the
    buffer frees it: the next iteration when it is done with it, or what comes
    after. What is handed on must then have no other user; what has (an argument
    of the function, a constant, a buffer that is handed on twice) is copied
    before.

    Before: buffers, nothing freed. After: the same with `memref.dealloc`.

    ```mlir
    %a = memref.alloc() : memref<4xf32>
    %last = scf.for ... iter_args(%b = %a) -> memref<4xf32> {
      %c = memref.alloc() : memref<4xf32>
      linalg.generic ... ins(%b) outs(%c)
      memref.dealloc %b : memref<4xf32>     // added
      scf.yield %c : memref<4xf32>
    }
    linalg.generic ... ins(%last) outs(%d)
    memref.dealloc %last : memref<4xf32>    // added
    ```
  }];
  let statistics = [
    Statistic<"numFreed", "num-freed", "Number of buffers freed">,
    Statistic<"numCopied", "num-copied",
              "Number of buffers copied to be handed on">,
    Statistic<"numEscaping", "num-escaping",
              "Number of buffers that leave their block">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ExpandWindows : Pass<"tofu-expand-windows", "::mlir::func::FuncOp"> {
  let summary = "View the windows of a convolution as dims of their own";
  let description = [{
    An input that is indexed by a sum of dims becomes a view of the same memory
    with a dim for each of them, whose elements overlap: then a convolution is a
    contraction like any other. The leading dim of the output becomes a batch
    dim, by a view of the other input with stride 0 along it.

    Before: `tofu.contract` on buffers. After: the same with maps of dims only.

    ```mlir
    tofu.contract %in, %w into %out
        maps [affine_map<(x, f, i) -> (x * 2 + i)>, affine_map<(x, f, i) -> (i, f)>,
              affine_map<(x, f, i) -> (x, f)>]
        : memref<9xf32>, memref<3x8xf32>, memref<4x8xf32>
    // becomes
    %windows = memref.reinterpret_cast %in to offset: [0], sizes: [4, 3], strides: [2, 1]
        : memref<9xf32> to memref<4x3xf32, strided<[2, 1]>>
    tofu.contract %windows, %w into %out
        maps [affine_map<(x, f, i) -> (x, i)>, affine_map<(x, f, i) -> (i, f)>,
              affine_map<(x, f, i) -> (x, f)>]
        : memref<4x3xf32, strided<[2, 1]>>, memref<3x8xf32>, memref<4x8xf32>
    ```
  }];
  let options = [
    Option<"minBatchWork", "min-batch-work", "int64_t", "262144",
           "Multiply-adds of one product from which the leading dim becomes a "
           "batch dim; smaller products leave the library's speed unused">
  ];
  let statistics = [
    Statistic<"numExpanded", "num-expanded", "Number of contractions rewritten">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"
  ];
}

#endif // TOFU_CONVERSION_BUFFERPASSES_TD
