// Functions that say of their operations that they go row by row, but don't.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-lower-kernels-to-gpu -split-input-file -verify-diagnostics -allow-unregistered-dialect

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// expected-error@below {{has tofu.row_loops, but its operations can't be done row by row}}
func.func @crossed(%a: memref<8x8xf32>, %s: memref<8xf32>) attributes {tofu.row_loops = array<i64: 0>} {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x8xf32>) outs(%s : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<8xf32>) outs(%a : memref<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// expected-error@below {{has tofu.row_loops, but its operations can't be done row by row}}
func.func @no_such_loop(%a: memref<8x8xf32>, %s: memref<8xf32>) attributes {tofu.row_loops = array<i64: 2>} {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x8xf32>) outs(%s : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// -----

// expected-error@below {{'func.func' op tofu.row_loops must be an array<i64: ...>}}
func.func private @no_array() attributes {tofu.row_loops = 0}

// -----

func.func @no_function() {
  // expected-error@below {{'test.op' op tofu.row_loops stands on functions only}}
  "test.op"() {tofu.row_loops = array<i64: 0>} : () -> ()
  return
}
