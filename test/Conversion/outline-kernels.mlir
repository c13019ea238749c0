// Loop nests as functions.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-outline-kernels | FileCheck %s

#id = affine_map<(i) -> (i)>

// Equal nests share a function; a sum and its fill are one.
// CHECK-LABEL: func.func @shared
// CHECK:         call @[[$EXP:[a-z_0-9]+]](%{{.*}}, %{{.*}}) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK:         call @[[$EXP]](%{{.*}}, %{{.*}}) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT:    call @[[$SUM:[a-z_0-9]+]](
// CHECK-NEXT:    return
func.func @shared(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>, %s: memref<f32>) {
  %z = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : memref<4xf32>) outs(%c : memref<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  }
  linalg.fill ins(%z : f32) outs(%s : memref<f32>)
  linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%c : memref<4xf32>) outs(%s : memref<f32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// Two views of one buffer may overlap.
// CHECK-LABEL: func.func @overlapping
// CHECK:         call @[[$OVER:[a-z_0-9]+]](
func.func @overlapping(%a: memref<8xf32>) {
  %u = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %v = memref.subview %a[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%u : memref<4xf32, strided<[1]>>) outs(%v : memref<4xf32, strided<[1], offset: 2>>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// Sizes are passed along where they are not known.
// CHECK-LABEL: func.func @dynamic
// CHECK:         call @[[$DYN:[a-z_0-9]+]](
func.func @dynamic(%a: memref<?xf32>) {
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%a : memref<?xf32>)
  return
}

// CHECK:       func.func private @[[$EXP]](%{{.*}}: memref<4xf32> {llvm.noalias}, %{{.*}}: memref<4xf32> {llvm.noalias})
// CHECK-SAME:    llvm.bareptr
// CHECK:       func.func private @[[$SUM]]
// CHECK:         linalg.fill
// CHECK-NEXT:    linalg.generic
// CHECK:       func.func private @[[$OVER]]
// CHECK-NOT:     llvm.noalias
// CHECK-SAME:    llvm.bareptr
// CHECK:       func.func private @[[$DYN]](%{{.*}}: memref<?xf32> {llvm.noalias})
// CHECK-NOT:     llvm.bareptr
