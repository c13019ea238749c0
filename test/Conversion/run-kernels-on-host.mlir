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

// What a thread has from another one: a value that all threads have come to, of the
// thread of its warp that is four further on, or of the first one.
// CHECK-LABEL: llvm.func internal @shuffles_on_host(
// CHECK-DAG:     %[[V:.*]] = memref.alloca() : memref<64xf32>
// CHECK-DAG:     %[[W:.*]] = memref.alloca() : memref<64xf32>
// CHECK:         scf.for %[[X:.*]] = %{{.*}} to %c64
// CHECK:           %[[LOADED:.*]] = memref.load
// CHECK:           memref.store %[[LOADED]], %[[V]][%[[X]]]
// CHECK:         scf.for %[[X:.*]] = %{{.*}} to %c64
// CHECK:           %[[LANE:.*]] = arith.remui %[[X]], %c32
// CHECK:           %[[FURTHER:.*]] = arith.addi %[[LANE]], %[[FOUR:.*]] :
// CHECK:           %[[THERE:.*]] = arith.cmpi ult, %[[FURTHER]], %c32
// CHECK:           %[[NEXT:.*]] = arith.addi %[[X]], %[[FOUR]]
// CHECK:           %[[OTHER:.*]] = arith.select %[[THERE]], %[[NEXT]], %[[X]]
// CHECK:           %[[GOT:.*]] = memref.load %[[V]][%[[OTHER]]]
// CHECK:           memref.store %[[GOT]], %[[W]][%[[X]]]
// CHECK:         scf.for %[[X:.*]] = %{{.*}} to %c64
// CHECK:           %[[LANE:.*]] = arith.remui %[[X]], %c32
// CHECK:           %[[BEGIN:.*]] = arith.subi %[[X]], %[[LANE]]
// CHECK:           %[[FIRST:.*]] = arith.addi %[[BEGIN]], %{{.*}} :
// CHECK:           %[[GOT:.*]] = memref.load %[[W]][%[[FIRST]]]
// CHECK:           "test.use"(%[[GOT]])
gpu.module @kernels {
  gpu.func @shuffles(%a: !llvm.ptr) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, record = @s_record, record_arguments = array<i64: 8, 1>} {
    %b = builtin.unrealized_conversion_cast %a : !llvm.ptr to memref<64xf32>
    %x = gpu.thread_id x
    %v = memref.load %b[%x] : memref<64xf32>
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c32 = arith.constant 32 : i32
    %w, %0 = gpu.shuffle down %v, %c4, %c32 : f32
    %u, %1 = gpu.shuffle idx %w, %c0, %c32 : f32
    "test.use"(%u) : (f32) -> ()
    gpu.return
  }
}
llvm.mlir.global external constant @s_record() : !llvm.struct<(i64, ptr, ptr, i64, ptr, i64, ptr)>

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
  gpu.func @shuffle_nested(%c: i1, %v: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    scf.if %c {
      // expected-error@+1 {{is within control flow}}
      %0, %valid = gpu.shuffle down %v, %c1, %c32 : f32
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @shuffle_width(%v: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    // expected-error@+1 {{isn't of all threads of a warp of 32, is of another mode than down and idx, or says}}
    %0, %valid = gpu.shuffle down %v, %c1, %c16 : f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @shuffle_mode(%v: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    // expected-error@+1 {{isn't of all threads of a warp of 32, is of another mode than down and idx, or says}}
    %0, %valid = gpu.shuffle xor %v, %c1, %c32 : f32
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
