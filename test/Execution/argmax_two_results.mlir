// A reduction of two results that belong together, cut by rows and by columns.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check
// RUN: tofu-run %s --devices=5 --check
// RUN: tofu-run %s --devices=6 --check
// RUN: tofu-run %s --devices=7 --check
// RUN: tofu-run %s --devices=8 --check

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Of one row, only the columns can be cut. Equal elements, NaN and both zeros.
func.func private @one_row() -> (tensor<1xf32>, tensor<1xi32>) {
  %x = arith.constant dense<[[-2.0, -0.0, 3.0, 0x7FC00000, 3.0, 0.0, 0xFFC00000, 1.0, 3.0]]> : tensor<1x9xf32>
  %least = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<1xf32>
  %e1 = tensor.empty() : tensor<1xi32>
  %i0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<1xf32>) -> tensor<1xf32>
  %i1 = linalg.fill ins(%c0 : i32) outs(%e1 : tensor<1xi32>) -> tensor<1xi32>
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x9xf32>) outs(%i0, %i1 : tensor<1xf32>, tensor<1xi32>) {
    ^bb0(%in: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %n = arith.index_cast %j : index to i32
      %more = arith.cmpf ogt, %best, %in : f32
      %nan = arith.cmpf une, %best, %best : f32
      %keep = arith.ori %more, %nan : i1
      %same = arith.cmpf oeq, %best, %in : f32
      %before = arith.cmpi slt, %at, %n : i32
      %first = arith.andi %same, %before : i1
      %stay = arith.ori %keep, %first : i1
      %r0 = arith.select %keep, %best, %in : f32
      %r1 = arith.select %stay, %at, %n : i32
      linalg.yield %r0, %r1 : f32, i32
  } -> (tensor<1xf32>, tensor<1xi32>)
  return %0#0, %0#1 : tensor<1xf32>, tensor<1xi32>
}

func.func @main(%x: tensor<21x9xf32>) -> (tensor<21xf32>, tensor<21xi32>, tensor<1xf32>, tensor<1xi32>) {
  %one:2 = call @one_row() : () -> (tensor<1xf32>, tensor<1xi32>)
  %least = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<21xf32>
  %e1 = tensor.empty() : tensor<21xi32>
  %i0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<21xf32>) -> tensor<21xf32>
  %i1 = linalg.fill ins(%c0 : i32) outs(%e1 : tensor<21xi32>) -> tensor<21xi32>
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<21x9xf32>) outs(%i0, %i1 : tensor<21xf32>, tensor<21xi32>) {
    ^bb0(%in: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %n = arith.index_cast %j : index to i32
      %more = arith.cmpf ogt, %in, %best : f32
      %r0 = arith.select %more, %in, %best : f32
      %r1 = arith.select %more, %n, %at : i32
      linalg.yield %r0, %r1 : f32, i32
  } -> (tensor<21xf32>, tensor<21xi32>)
  return %0#0, %0#1, %one#0, %one#1 : tensor<21xf32>, tensor<21xi32>, tensor<1xf32>, tensor<1xi32>
}
