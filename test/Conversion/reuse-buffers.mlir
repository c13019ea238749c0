// Results in the memory of inputs that are done with.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-reuse-buffers | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: func.func @last_use
// CHECK:         %[[A:.*]] = memref.alloc()
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[A]] :
// CHECK:         return %[[A]]
func.func @last_use(%z: f32) -> memref<4x4xf32> {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<4x4xf32>)
  %b = memref.alloc() : memref<4x4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  }
  return %b : memref<4x4xf32>
}

// Another element is read after it was overwritten.
// CHECK-LABEL: func.func @transposed
// CHECK-COUNT-2: memref.alloc
func.func @transposed(%z: f32) -> memref<4x4xf32> {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<4x4xf32>)
  %b = memref.alloc() : memref<4x4xf32>
  linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return %b : memref<4x4xf32>
}

// A view of the input is used later.
// CHECK-LABEL: func.func @used_later
// CHECK-COUNT-2: memref.alloc
func.func @used_later(%z: f32) -> (memref<4x4xf32>, memref<16xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<4x4xf32>)
  %v = memref.collapse_shape %a [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  %b = memref.alloc() : memref<4x4xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return %b, %v : memref<4x4xf32>, memref<16xf32>
}

// Only what the caller gave up.
// CHECK-LABEL: func.func @arguments
// CHECK-SAME:    %[[KEPT:[a-z0-9]+]]: memref<4x4xf32>, %[[DONATED:[a-z0-9]+]]: memref<4x4xf32> {tf
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} ins(%[[KEPT]], %[[DONATED]] : {{.*}}) outs(%[[DONATED]] :
func.func @arguments(%kept: memref<4x4xf32>, %donated: memref<4x4xf32> {tf.aliasing_output = 0 : i32}) -> memref<4x4xf32> {
  %b = memref.alloc() : memref<4x4xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%kept, %donated : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  return %b : memref<4x4xf32>
}

// The next iteration reads the argument again.
// CHECK-LABEL: func.func @in_a_loop
// CHECK-SAME:    %[[DONATED:.*]]: memref<4x4xf32> {tf
// CHECK:         scf.for
// CHECK:           %[[B:.*]] = memref.alloc()
// CHECK:           linalg.generic {{.*}} ins(%[[DONATED]] : {{.*}}) outs(%[[B]] :
func.func @in_a_loop(%donated: memref<4x4xf32> {tf.aliasing_output = 0 : i32}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<4x4xf32>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%donated : memref<4x4xf32>) outs(%b : memref<4x4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
    }
  }
  return
}
