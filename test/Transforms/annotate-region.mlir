// Semantics of reductions that the operation's own region combines.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s

// A body that compares and selects takes the partial results of a part as it
// takes an element, if it doesn't matter how the elements are put in parentheses.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#middle = affine_map<(d0, d1, d2) -> (d1)>

// The index of the first greatest element, NaN before all, ties to the least
// index, as JAX has it.
// CHECK-LABEL: @argmax(
// CHECK: [d0 = 6, d1 = 29 : region], (in0[d0, d1], in1[d0, d1], in2[d0], in3[d0]) -> (out0[d0], out1[d0])
func.func @argmax(%x: tensor<6x29xf32>) -> (tensor<6xf32>, tensor<6xi32>) {
  %least = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6x29xi32>
  %iota = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<6x29xi32>) {
    ^bb0(%out: i32):
      %j = linalg.index 1 : index
      %n = arith.index_cast %j : index to i32
      linalg.yield %n : i32
  } -> tensor<6x29xi32>
  %e0 = tensor.empty() : tensor<6xf32>
  %e1 = tensor.empty() : tensor<6xi32>
  %i0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<6xf32>) -> tensor<6xf32>
  %i1 = linalg.fill ins(%c0 : i32) outs(%e1 : tensor<6xi32>) -> tensor<6xi32>
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %iota : tensor<6x29xf32>, tensor<6x29xi32>) outs(%i0, %i1 : tensor<6xf32>, tensor<6xi32>) {
    ^bb0(%in: f32, %n: i32, %best: f32, %at: i32):
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
  } -> (tensor<6xf32>, tensor<6xi32>)
  return %0#0, %0#1 : tensor<6xf32>, tensor<6xi32>
}

// Without a look at NaN: the first of what is greater than all before it.
// CHECK-LABEL: @argmin_index(
// CHECK: [d0 = 5 : region, d1 = 7, d2 = 3 : unsplittable]
func.func @argmin_index(%x: tensor<5x7x3xi32>) -> (tensor<7xi32>, tensor<7xi64>, tensor<7xindex>) {
  %most = arith.constant 2147483647 : i32
  %c0 = arith.constant 0 : i64
  %none = arith.constant 0 : index
  %e0 = tensor.empty() : tensor<7xi32>
  %e1 = tensor.empty() : tensor<7xi64>
  %e2 = tensor.empty() : tensor<7xindex>
  %i0 = linalg.fill ins(%most : i32) outs(%e0 : tensor<7xi32>) -> tensor<7xi32>
  %i1 = linalg.fill ins(%c0 : i64) outs(%e1 : tensor<7xi64>) -> tensor<7xi64>
  %i2 = linalg.fill ins(%none : index) outs(%e2 : tensor<7xindex>) -> tensor<7xindex>
  %0:3 = linalg.generic {indexing_maps = [#id3, #middle, #middle, #middle], iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x : tensor<5x7x3xi32>) outs(%i0, %i1, %i2 : tensor<7xi32>, tensor<7xi64>, tensor<7xindex>) {
    ^bb0(%in: i32, %best: i32, %at: i64, %to: index):
      %i = linalg.index 0 : index
      %n = arith.index_cast %i : index to i64
      %j = linalg.index 2 : index
      %less = arith.cmpi slt, %in, %best : i32
      %r0 = arith.select %less, %in, %best : i32
      %r1 = arith.select %less, %n, %at : i64
      %r2 = arith.select %less, %j, %to : index
      linalg.yield %r0, %r1, %r2 : i32, i64, index
  } -> (tensor<7xi32>, tensor<7xi64>, tensor<7xindex>)
  return %0#0, %0#1, %0#2 : tensor<7xi32>, tensor<7xi64>, tensor<7xindex>
}

// The least and the greatest at once have combiners, one each.
// CHECK-LABEL: @min_and_max(
// CHECK: [d0 = 6 : (min, max), d1 = 4 : (min, max)], (in0[d0, d1], init out0[], init out1[]) -> (out0[], out1[])
func.func @min_and_max(%x: tensor<6x4xf32>) -> (tensor<f32>, tensor<f32>) {
  %least = arith.constant 0xFF800000 : f32
  %most = arith.constant 0x7F800000 : f32
  %e0 = tensor.empty() : tensor<f32>
  %i0 = linalg.fill ins(%most : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %i1 = linalg.fill ins(%least : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %0:2 = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<6x4xf32>) outs(%i0, %i1 : tensor<f32>, tensor<f32>) {
    ^bb0(%in: f32, %min: f32, %max: f32):
      %r0 = arith.minimumf %in, %min : f32
      %r1 = arith.maximumf %in, %max : f32
      linalg.yield %r0, %r1 : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// A sum beside the index of the greatest element is a reduction of its own.
// CHECK-LABEL: @sum_and_argmax(
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<6xi32>, tensor<6xi64>)
// CHECK-SAME: [d0 = 6, d1 = 9 : region], (in0[d0, d1], in1[d0], in2[d0]) -> (out0[d0], out1[d0])
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<6xf32>)
// CHECK-SAME: [d0 = 6, d1 = 9 : sum], (in0[d0, d1], init out0[d0]) -> (out0[d0])
func.func @sum_and_argmax(%x: tensor<6x9xi32>, %y: tensor<6x9xf32>, %a: tensor<6xi32>, %s: tensor<6xf32>, %b: tensor<6xi64>)
    -> (tensor<6xi32>, tensor<6xf32>, tensor<6xi64>) {
  %0:3 = linalg.generic {indexing_maps = [#id, #id, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<6x9xi32>, tensor<6x9xf32>) outs(%a, %s, %b : tensor<6xi32>, tensor<6xf32>, tensor<6xi64>) {
    ^bb0(%in: i32, %addend: f32, %best: i32, %sum: f32, %at: i64):
      %j = linalg.index 1 : index
      %n = arith.index_cast %j : index to i64
      %more = arith.cmpi sgt, %in, %best : i32
      %r0 = arith.maxsi %in, %best : i32
      %r1 = arith.addf %sum, %addend : f32
      %r2 = arith.select %more, %n, %at : i64
      linalg.yield %r0, %r1, %r2 : i32, f32, i64
  } -> (tensor<6xi32>, tensor<6xf32>, tensor<6xi64>)
  return %0#0, %0#1, %0#2 : tensor<6xi32>, tensor<6xf32>, tensor<6xi64>
}

// It may begin with any elements.
// CHECK-LABEL: @begins_anywhere(
// CHECK: [d0 = 9, d1 = 8 : region], (in0[d0, d1], in1[d0], in2[d0]) -> (out0[d0], out1[d0])
func.func @begins_anywhere(%x: tensor<9x8xi16>, %a: tensor<9xi16>, %b: tensor<9xi32>) -> (tensor<9xi16>, tensor<9xi32>) {
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x8xi16>) outs(%a, %b : tensor<9xi16>, tensor<9xi32>) {
    ^bb0(%in: i16, %best: i16, %at: i32):
      %j = linalg.index 1 : index
      %n = arith.index_cast %j : index to i32
      %more = arith.cmpi sgt, %in, %best : i16
      %r0 = arith.maxsi %in, %best : i16
      %r1 = arith.select %more, %n, %at : i32
      linalg.yield %r0, %r1 : i16, i32
  } -> (tensor<9xi16>, tensor<9xi32>)
  return %0#0, %0#1 : tensor<9xi16>, tensor<9xi32>
}

// With NaN, parts of this one don't combine: the index is that of the greatest
// before the first NaN, which the last part doesn't know.
// CHECK-LABEL: @nan_loses_index(
// CHECK: [d0 = 6, d1 = 9 : unsplittable]
func.func @nan_loses_index(%x: tensor<6x9xf32>) -> (tensor<6xf32>, tensor<6xi64>) {
  %least = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : i64
  %e0 = tensor.empty() : tensor<6xf32>
  %e1 = tensor.empty() : tensor<6xi64>
  %i0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<6xf32>) -> tensor<6xf32>
  %i1 = linalg.fill ins(%c0 : i64) outs(%e1 : tensor<6xi64>) -> tensor<6xi64>
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x9xf32>) outs(%i0, %i1 : tensor<6xf32>, tensor<6xi64>) {
    ^bb0(%in: f32, %best: f32, %at: i64):
      %j = linalg.index 1 : index
      %n = arith.index_cast %j : index to i64
      %more = arith.cmpf ogt, %in, %best : f32
      %r0 = arith.maximumf %in, %best : f32
      %r1 = arith.select %more, %n, %at : i64
      linalg.yield %r0, %r1 : f32, i64
  } -> (tensor<6xf32>, tensor<6xi64>)
  return %0#0, %0#1 : tensor<6xf32>, tensor<6xi64>
}
