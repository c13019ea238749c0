// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-lower-globals --split-input-file | FileCheck %s

// What is stored to is copied when it is loaded; what isn't is read in place.

ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
ml_program.global private @weight(dense<[1, 2]> : tensor<2xi64>) : tensor<2xi64>
ml_program.global private mutable @unused(dense<1.0> : tensor<4xf32>) : tensor<4xf32>

// CHECK-NOT: ml_program
// CHECK: memref.global "private" constant @weight_initial : memref<2xi64> = dense<[1, 2]>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>)
// CHECK: %[[WMEM:.*]], %[[WNEW:.*]] = tofu.global_memory "weight" : memref<2xi64>
// CHECK: scf.if %[[WNEW]]
// CHECK: %[[DATA:.*]] = memref.get_global @weight_initial
// CHECK: memref.copy %[[DATA]], %[[WMEM]]
// CHECK: %[[MEM:.*]], %[[NEW:.*]] = tofu.global_memory "state" : memref<4xf32>
// CHECK: scf.if %[[NEW]]
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[MEM]] : memref<4xf32>)
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<4xf32>
// CHECK: memref.copy %[[MEM]], %[[COPY]]
// CHECK: %[[OLD:.*]] = bufferization.to_tensor %[[COPY]] restrict writable
// CHECK: bufferization.materialize_in_destination %[[A]] in restrict writable %[[MEM]]
// CHECK: %[[W:.*]] = bufferization.to_tensor %[[WMEM]] restrict : memref<2xi64>
// CHECK: return %[[OLD]], %[[W]]
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi64>) {
  %0 = ml_program.global_load @state : tensor<4xf32>
  ml_program.global_store @state = %a : tensor<4xf32>
  %1 = ml_program.global_load_const @weight : tensor<2xi64>
  return %0, %1 : tensor<4xf32>, tensor<2xi64>
}

// -----

// A device's part of the initial value.

tofu.mesh @mesh[x = 2]
ml_program.global private @weight(dense<[1, 2, 3]> : tensor<3xi64>) : tensor<?xi64> {tofu.layout = #tofu.layout<@mesh, [{x}]>, tofu.global_type = tensor<3xi64>}

// CHECK-LABEL: func.func @main
// CHECK: %[[SIZE:.*]] = tofu.shard_size
// CHECK: %[[MEM:.*]], %[[NEW:.*]] = tofu.global_memory "weight"(%[[SIZE]]) : memref<?xi64>
// CHECK: scf.if %[[NEW]]
// CHECK: %[[DATA:.*]] = memref.get_global @weight_initial : memref<3xi64>
// CHECK: %[[AT:.*]] = tofu.shard_offset
// CHECK: %[[MY:.*]] = tofu.shard_size
// CHECK: %[[PART:.*]] = memref.subview %[[DATA]][%[[AT]]] [%[[MY]]] [1]
// CHECK: memref.copy %[[PART]], %[[MEM]]
func.func @main() -> tensor<?xi64> {
  %0 = ml_program.global_load_const @weight : tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----

// Numbers; what has no initial value begins with zero.

ml_program.global private mutable @number : complex<f32>

// CHECK-LABEL: func.func @main
// CHECK: %[[MEM:.*]], %[[NEW:.*]] = tofu.global_memory "number" : memref<complex<f32>>
// CHECK: %[[ZERO:.*]] = complex.constant [0.000000e+00 : f32, 0.000000e+00 : f32]
// CHECK: linalg.fill ins(%[[ZERO]] : complex<f32>) outs(%[[MEM]] : memref<complex<f32>>)
// CHECK: %[[OLD:.*]] = memref.load %[[MEM]][]
// CHECK: memref.store %{{.*}}, %[[MEM]][]
// CHECK: return %[[OLD]]
func.func @main(%x: complex<f32>) -> complex<f32> {
  %0 = ml_program.global_load @number : complex<f32>
  ml_program.global_store @number = %x : complex<f32>
  return %0 : complex<f32>
}
