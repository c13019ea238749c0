// Memory is freed after its last use, by any view.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-free-buffers | FileCheck %s

// CHECK-LABEL: func.func @view
// CHECK:         %[[A:.*]] = memref.alloc()
// CHECK:         memref.subview
// CHECK:         linalg.fill
// CHECK-NEXT:    memref.dealloc %[[A]] :
// CHECK-NEXT:    return
func.func @view(%z: f32) {
  %a = memref.alloc() : memref<8xf32>
  %v = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  linalg.fill ins(%z : f32) outs(%v : memref<4xf32, strided<[1]>>)
  return
}

// CHECK-LABEL: func.func @returned
// CHECK-NOT:     memref.dealloc
func.func @returned(%z: f32) -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  return %a : memref<8xf32>
}

// What a branch yields may be either buffer.
// CHECK-LABEL: func.func @branches
// CHECK:         %[[A:.*]] = memref.alloc()
// CHECK:         %[[B:.*]] = memref.alloc()
// CHECK:         scf.if
// CHECK:         linalg.fill
// CHECK-DAG:     memref.dealloc %[[A]] :
// CHECK-DAG:     memref.dealloc %[[B]] :
func.func @branches(%c: i1, %z: f32) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %r = scf.if %c -> memref<8xf32> {
    scf.yield %a : memref<8xf32>
  } else {
    scf.yield %b : memref<8xf32>
  }
  linalg.fill ins(%z : f32) outs(%r : memref<8xf32>)
  return
}

// CHECK-LABEL: func.func @in_a_loop
// CHECK:         scf.for
// CHECK:           %[[A:.*]] = memref.alloc()
// CHECK:           linalg.fill
// CHECK-NEXT:      memref.dealloc %[[A]] :
func.func @in_a_loop(%n: index, %z: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<8xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  }
  return
}

// The buffer is used in another block.
// CHECK-LABEL: func.func @with_branches
// CHECK-NOT:     memref.dealloc
func.func @with_branches(%c: i1, %z: f32) {
  %a = memref.alloc() : memref<8xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
  cf.br ^bb2
^bb2:
  return
}
