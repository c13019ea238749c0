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

// What an iteration makes, the next one frees; what came in is copied if others
// use it, and the last one is freed after its last use.
// CHECK-LABEL: func.func @carried
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<8xf32>,
// CHECK:         %[[OWN:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    linalg.generic {{.*}} ins(%[[X]] : memref<8xf32>) outs(%[[OWN]] : memref<8xf32>)
// CHECK:         %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[OWN]])
// CHECK:           %[[B:.*]] = memref.alloc()
// CHECK-NEXT:      linalg.exp ins(%[[A]] : memref<8xf32>) outs(%[[B]] : memref<8xf32>)
// CHECK-NEXT:      memref.dealloc %[[A]] :
// CHECK-NEXT:      scf.yield %[[B]]
// CHECK-NEXT:    }
// CHECK-NEXT:    linalg.exp ins(%[[R]]
// CHECK-NEXT:    memref.dealloc %[[R]] :
// CHECK-NEXT:    return
func.func @carried(%x: memref<8xf32>, %out: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> memref<8xf32> {
    %b = memref.alloc() : memref<8xf32>
    linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
    scf.yield %b : memref<8xf32>
  }
  linalg.exp ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  return
}

// A buffer that only the loop uses goes in as it is, and changes places. The one
// that is handed on twice is copied.
// CHECK-LABEL: func.func @places
// CHECK:         %[[X:.*]] = memref.alloc()
// CHECK:         %[[Y:.*]] = memref.alloc()
// CHECK:         %[[W:.*]] = memref.alloc()
// CHECK-NOT:     memref.alloc
// CHECK:         %[[R:.*]]:3 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[Y]], %[[C:.*]] = %[[W]])
// CHECK-NEXT:      memref.dealloc %[[C]]
// CHECK-NEXT:      %[[NEW:.*]] = memref.alloc()
// CHECK-NEXT:      linalg.add ins(%[[A]], %[[B]]
// CHECK-NEXT:      memref.dealloc %[[B]] :
// CHECK-NEXT:      %[[COPY:.*]] = memref.alloc()
// CHECK-NEXT:      linalg.generic {{.*}} ins(%[[NEW]] : memref<8xf32>) outs(%[[COPY]] : memref<8xf32>)
// CHECK:           scf.yield %[[COPY]], %[[A]], %[[NEW]]
// CHECK:         return %[[R]]#0
func.func @places(%n: index, %z: f32) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%x : memref<8xf32>)
  %y = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%y : memref<8xf32>)
  %w = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%w : memref<8xf32>)
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %w) -> (memref<8xf32>, memref<8xf32>, memref<8xf32>) {
    %new = memref.alloc() : memref<8xf32>
    linalg.add ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%new : memref<8xf32>)
    scf.yield %new, %a, %new : memref<8xf32>, memref<8xf32>, memref<8xf32>
  }
  return %r#0 : memref<8xf32>
}

// Nothing is made in the loop: what it hands on stays with whoever made it.
// CHECK-LABEL: func.func @swapped
// CHECK:         scf.for
// CHECK-NOT:       memref.dealloc
// CHECK:           scf.yield
// CHECK:         }
// CHECK-NEXT:    linalg.exp
// CHECK-DAG:     memref.dealloc
// CHECK-DAG:     memref.dealloc
// CHECK-NEXT:    return
func.func @swapped(%out: memref<8xf32>, %n: index, %z: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%x : memref<8xf32>)
  %y = memref.alloc() : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%y : memref<8xf32>)
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (memref<8xf32>, memref<8xf32>) {
    scf.yield %b, %a : memref<8xf32>, memref<8xf32>
  }
  linalg.exp ins(%r#0 : memref<8xf32>) outs(%out : memref<8xf32>)
  return
}

// One way makes a buffer, the other one has it from outside.
// CHECK-LABEL: func.func @one_way
// CHECK:         %[[R:.*]] = scf.if
// CHECK:           %[[NEW:.*]] = memref.alloc()
// CHECK:           scf.yield %[[NEW]]
// CHECK:         } else {
// CHECK:           %[[COPY:.*]] = memref.alloc()
// CHECK:           scf.yield %[[COPY]]
// CHECK:         }
// CHECK-NEXT:    linalg.exp
// CHECK-NEXT:    memref.dealloc %[[R]]
// CHECK-NEXT:    return
func.func @one_way(%x: memref<8xf32>, %out: memref<8xf32>, %c: i1) {
  %r = scf.if %c -> memref<8xf32> {
    %new = memref.alloc() : memref<8xf32>
    linalg.exp ins(%x : memref<8xf32>) outs(%new : memref<8xf32>)
    scf.yield %new : memref<8xf32>
  } else {
    scf.yield %x : memref<8xf32>
  }
  linalg.exp ins(%r : memref<8xf32>) outs(%out : memref<8xf32>)
  return
}

// Strides that a copy can't have: nothing is freed, as nobody owns it.
// CHECK-LABEL: func.func @strided
// CHECK-NOT:     memref.dealloc
func.func @strided(%x: memref<8xf32, strided<[2]>>, %n: index) -> memref<8xf32, strided<[2]>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> memref<8xf32, strided<[2]>> {
    %b = memref.alloc() : memref<16xf32>
    %v = memref.subview %b[0] [8] [2] : memref<16xf32> to memref<8xf32, strided<[2]>>
    linalg.exp ins(%a : memref<8xf32, strided<[2]>>) outs(%v : memref<8xf32, strided<[2]>>)
    scf.yield %v : memref<8xf32, strided<[2]>>
  }
  return %r : memref<8xf32, strided<[2]>>
}
