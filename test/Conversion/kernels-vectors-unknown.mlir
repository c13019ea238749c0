// Neighbours of unknown number, strides and offset are loaded and stored at once
// where the host finds that they can be; the other kernel has one each.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: sed s/TYPE/f32/g %s | tofu-opt --tofu-to-gpu | FileCheck %s
// RUN: sed s/TYPE/bf16/g %s | tofu-opt --tofu-to-gpu | FileCheck %s

// Of one loop, beside a row and in a part of a larger tensor, and of a known length.
// CHECK:      .visible .entry kernel(
// CHECK-SAME: ld.global.nc.v4.b32
// CHECK-SAME: st.global.v4.b32
// CHECK-SAME: .visible .entry
// CHECK-SAME: ld.global.nc.b
// CHECK-SAME: st.global.b
// CHECK-SAME: .visible .entry
// CHECK-SAME: ld.global.nc.v4.b32
// CHECK-SAME: ld.global.nc.v4.b32
// CHECK-SAME: st.global.v4.b32
// CHECK-SAME: .visible .entry
// CHECK-SAME: ld.global.nc.b
// CHECK-SAME: ld.global.nc.b
// CHECK-SAME: st.global.b
// CHECK-SAME: .visible .entry
// CHECK-SAME: ld.global.nc.v4.b32
// CHECK-SAME: st.global.v4.b32
// CHECK-NOT:  .visible .entry
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @main(%a: tensor<?x?xTYPE>, %b: tensor<?xTYPE>, %c: tensor<?x1024xTYPE>, %m: index, %n: index, %i: index)
    -> (tensor<?x?xTYPE>, tensor<?x?xTYPE>, tensor<?x1024xTYPE>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = tensor.dim %a, %zero : tensor<?x?xTYPE>
  %columns = tensor.dim %a, %one : tensor<?x?xTYPE>
  %d = tensor.empty(%rows, %columns) : tensor<?x?xTYPE>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xTYPE>) outs(%d : tensor<?x?xTYPE>) {
  ^bb0(%x: TYPE, %o: TYPE):
    %4 = arith.mulf %x, %x : TYPE
    linalg.yield %4 : TYPE
  } -> tensor<?x?xTYPE>
  %part = tensor.extract_slice %0[0, %i] [%m, %n] [1, 1] : tensor<?x?xTYPE> to tensor<?x?xTYPE>
  %e = tensor.empty(%m, %n) : tensor<?x?xTYPE>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%part, %b : tensor<?x?xTYPE>, tensor<?xTYPE>) outs(%e : tensor<?x?xTYPE>) {
  ^bb0(%x: TYPE, %y: TYPE, %o: TYPE):
    %4 = arith.addf %x, %y : TYPE
    linalg.yield %4 : TYPE
  } -> tensor<?x?xTYPE>
  %f = tensor.empty(%m) : tensor<?x1024xTYPE>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x1024xTYPE>) outs(%f : tensor<?x1024xTYPE>) {
  ^bb0(%x: TYPE, %o: TYPE):
    %4 = arith.mulf %x, %x : TYPE
    linalg.yield %4 : TYPE
  } -> tensor<?x1024xTYPE>
  return %0, %1, %2 : tensor<?x?xTYPE>, tensor<?x?xTYPE>, tensor<?x1024xTYPE>
}
