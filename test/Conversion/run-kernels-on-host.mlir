// Kernels as loops over threads.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-run-kernels-on-host -allow-unregistered-dialect -split-input-file -verify-diagnostics | FileCheck %s

// What all threads have in common is computed once; what a thread hands past a
// barrier has a place of its own.
// The record is defined.
// CHECK-NOT:   gpu
// CHECK:       llvm.mlir.global internal constant @{{[a-z_0-9]+}}(dense<[8, 1, 8, 0]>
// CHECK:       llvm.mlir.global internal constant @k_record()
// CHECK:         llvm.mlir.addressof @k_on_host
// CHECK:         llvm.mlir.constant(2 : i64)
// CHECK:         llvm.mlir.addressof @[[$TAKES:[a-z_0-9]+]]
// CHECK:       llvm.func internal @k_on_host(%[[ARGS:.*]]: !llvm.ptr, %[[SHAPE:.*]]: !llvm.ptr)
// CHECK:         %[[HANDED:.*]] = memref.alloca() : memref<64xf32>
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[ARGS]][1]
// CHECK:         %[[ADDRESS:.*]] = llvm.load %[[AT]]
// CHECK:         %[[N:.*]] = llvm.load %[[ADDRESS]] : !llvm.ptr -> i64
// CHECK:         %[[WORKGROUP:.*]] = memref.alloca() : memref<64xf32>
// CHECK:         %[[FIELD:.*]] = llvm.getelementptr %[[SHAPE]][0]
// CHECK:         %[[X:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> i64
// CHECK:         %[[BLOCKS:.*]] = arith.index_cast %[[X]]
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.for %[[BX:.*]] = %{{.*}} to %[[BLOCKS]]
// CHECK:               %[[DOUBLE:.*]] = arith.addi %[[BX]], %[[BX]]
// CHECK:               scf.for %[[TY:.*]] = %{{.*}} to %c2
// CHECK:                 scf.for %[[TX:.*]] = %{{.*}} to %c32
// CHECK:                   %[[ROW:.*]] = arith.muli %[[TY]], %c32
// CHECK:                   %[[PLACE:.*]] = arith.addi %[[ROW]], %[[TX]]
// CHECK:                   %[[V:.*]] = memref.load %{{.*}}[%[[DOUBLE]]]
// CHECK:                   memref.store %[[V]], %[[HANDED]][%[[PLACE]]]
// CHECK:                   memref.store %[[V]], %[[WORKGROUP]][%[[TX]]]
// CHECK:               scf.for %[[TY:.*]] = %{{.*}} to %c2
// CHECK:                 scf.for %[[TX:.*]] = %{{.*}} to %c32
// CHECK:                   %[[ROW:.*]] = arith.muli %[[TY]], %c32
// CHECK:                   %[[PLACE:.*]] = arith.addi %[[ROW]], %[[TX]]
// CHECK:                   %[[V:.*]] = memref.load %[[HANDED]][%[[PLACE]]]
// CHECK:                   "test.use"(%[[V]], %[[N]])
gpu.module @kernels {
  gpu.func @k(%a: !llvm.ptr, %n: i64) workgroup(%w : memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 32, 2, 1>, record = @k_record,
                  record_arguments = array<i64: 8, 1, 8, 0>} {
    %b = builtin.unrealized_conversion_cast %a : !llvm.ptr to memref<64xf32>
    %x = gpu.thread_id x
    %bx = gpu.block_id x
    %twice = arith.addi %bx, %bx : index
    %v = memref.load %b[%twice] : memref<64xf32>
    memref.store %v, %w[%x] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    "test.use"(%v, %n) : (f32, i64) -> ()
    gpu.return
  }
}
llvm.mlir.global external constant @k_record() : !llvm.struct<(i64, ptr, ptr, i64, ptr, i64, ptr)>

// -----

gpu.module @kernels {
  // expected-error@+1 {{hands a value past a barrier: '!llvm.struct<(i32)>'}}
  gpu.func @handed() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %v = "test.make"(%x) : (index) -> !llvm.struct<(i32)>
    gpu.barrier
    "test.use"(%v) : (!llvm.struct<(i32)>) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{has no known block size}}
  gpu.func @unknown() kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @nested(%c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    scf.if %c {
      // expected-error@+1 {{is within control flow}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{has an argument of type 'memref<4xf32>'}}
  gpu.func @buffer(%a: memref<4xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{has private memory}}
  gpu.func @private() private(%p : memref<4xf32, #gpu.address_space<private>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{has several blocks}}
  gpu.func @blocks() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    cf.br ^bb1
  ^bb1:
    gpu.return
  }
}
