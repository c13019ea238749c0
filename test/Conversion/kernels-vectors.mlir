// Neighbours of one thread are loaded and stored at once, whatever comes between:
// four f32 and eight bf16 are 16 bytes.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: sed s/TYPE/f32/g %s | tofu-opt --tofu-to-gpu | FileCheck %s
// RUN: sed s/TYPE/bf16/g %s | tofu-opt --tofu-to-gpu | FileCheck %s

// Rows of an even number of f32 are no multiple of four, but of two.
// RUN: sed 's/TYPE/f32/g; s/1024/1026/g' %s | tofu-opt --tofu-to-gpu | FileCheck %s --check-prefix=HALF
// HALF:       .visible .entry kernel(
// HALF-SAME:  ld.global.nc.v2.b32
// HALF-SAME:  ld.global.nc.v2.b32
// HALF-SAME:  st.global.v2.b32

// CHECK:      .visible .entry kernel(
// CHECK-SAME: ld.global.nc.v4.b32
// CHECK-SAME: ld.global.nc.v4.b32
// CHECK-SAME: st.global.v4.b32
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%a: tensor<2048x1024xTYPE>, %b: tensor<2048x1024xTYPE>, %r: tensor<2048xTYPE>) -> tensor<2048x1024xTYPE> {
  %e = tensor.empty() : tensor<2048x1024xTYPE>
  %0 = linalg.generic {indexing_maps = [#id, #id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %r : tensor<2048x1024xTYPE>, tensor<2048x1024xTYPE>, tensor<2048xTYPE>) outs(%e : tensor<2048x1024xTYPE>) {
  ^bb0(%x: TYPE, %y: TYPE, %z: TYPE, %o: TYPE):
    %1 = arith.mulf %x, %y : TYPE
    %2 = arith.addf %1, %z : TYPE
    linalg.yield %2 : TYPE
  } -> tensor<2048x1024xTYPE>
  return %0 : tensor<2048x1024xTYPE>
}
