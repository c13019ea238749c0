// Reductions to several results at once, each combined in its own way, with initial values that
// change the result, NaN and zeros of both signs.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check
// RUN: tofu-run %s --devices=7 --check
// RUN: tofu-run %s --devices=8 --check
// RUN: tofu-run %s --devices=4 --check --partition-options=partials=true
// RUN: tofu-run %s --devices=6 --check --partition-options=algorithm=any

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#none = affine_map<(d0, d1) -> ()>

// Sum, sum of squares, greatest and least of each row; of one row, only the columns can be cut.
func.func private @moments(%x: tensor<1x101xf32>, %sum: tensor<1xf32>, %square: tensor<1xf32>, %max: tensor<1xf32>, %min: tensor<1xf32>)
    -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {
  %0:4 = linalg.generic {indexing_maps = [#id, #row, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x101xf32>) outs(%sum, %square, %max, %min : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {
    ^bb0(%in: f32, %s: f32, %q: f32, %g: f32, %l: f32):
      %r0 = arith.addf %s, %in : f32
      %y = arith.mulf %in, %in : f32
      %r1 = arith.addf %q, %y : f32
      %r2 = arith.maximumf %g, %in : f32
      %r3 = arith.minnumf %l, %in : f32
      linalg.yield %r0, %r1, %r2, %r3 : f32, f32, f32, f32
  } -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
}

// Fewer columns than devices, of NaN and zeros, to numbers.
func.func private @odd_numbers() -> (tensor<f32>, tensor<f32>, tensor<i1>) {
  %x = arith.constant dense<[[-0.0, 0x7FC00000, 3.0], [-0.0, 0.0, -2.0]]> : tensor<2x3xf32>
  %nothing = arith.constant -0.0 : f32
  %most = arith.constant 0x7F800000 : f32
  %yes = arith.constant true
  %e = tensor.empty() : tensor<f32>
  %b = tensor.empty() : tensor<i1>
  %i0 = linalg.fill ins(%nothing : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %i1 = linalg.fill ins(%most : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %i2 = linalg.fill ins(%yes : i1) outs(%b : tensor<i1>) -> tensor<i1>
  %0:3 = linalg.generic {indexing_maps = [#id, #none, #none, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<2x3xf32>) outs(%i0, %i1, %i2 : tensor<f32>, tensor<f32>, tensor<i1>) {
    ^bb0(%in: f32, %s: f32, %least: f32, %all: i1):
      %r0 = arith.maxnumf %s, %in : f32
      %less = arith.cmpf olt, %in, %least : f32
      %r1 = arith.select %less, %in, %least : f32
      %isNumber = arith.cmpf ord, %in, %in : f32
      %r2 = arith.andi %all, %isNumber : i1
      linalg.yield %r0, %r1, %r2 : f32, f32, i1
  } -> (tensor<f32>, tensor<f32>, tensor<i1>)
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<f32>, tensor<i1>
}

// The place of the greatest, and a sum that doesn't depend on it.
func.func private @sum_and_place(%x: tensor<1x101xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xindex>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : index
  %e = tensor.empty() : tensor<1xf32>
  %n = tensor.empty() : tensor<1xindex>
  %i0 = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %i1 = linalg.fill ins(%least : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %i2 = linalg.fill ins(%none : index) outs(%n : tensor<1xindex>) -> tensor<1xindex>
  %0:3 = linalg.generic {indexing_maps = [#id, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x101xf32>) outs(%i0, %i1, %i2 : tensor<1xf32>, tensor<1xf32>, tensor<1xindex>) {
    ^bb0(%in: f32, %s: f32, %best: f32, %at: index):
      %j = linalg.index 1 : index
      %y = math.exp %in : f32
      %r0 = arith.addf %s, %y : f32
      %more = arith.cmpf ogt, %in, %best : f32
      %r1 = arith.select %more, %in, %best : f32
      %r2 = arith.select %more, %j, %at : index
      linalg.yield %r0, %r1, %r2 : f32, f32, index
  } -> (tensor<1xf32>, tensor<1xf32>, tensor<1xindex>)
  return %0#0, %0#1, %0#2 : tensor<1xf32>, tensor<1xf32>, tensor<1xindex>
}

func.func @main(%x: tensor<1x101xf32>, %sum: tensor<1xf32>, %square: tensor<1xf32>, %max: tensor<1xf32>, %min: tensor<1xf32>)
    -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<i1>,
        tensor<1xf32>, tensor<1xf32>, tensor<1xindex>) {
  %0:4 = call @moments(%x, %sum, %square, %max, %min)
      : (tensor<1x101xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  %1:3 = call @odd_numbers() : () -> (tensor<f32>, tensor<f32>, tensor<i1>)
  %2:3 = call @sum_and_place(%x) : (tensor<1x101xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xindex>)
  return %0#0, %0#1, %0#2, %0#3, %1#0, %1#1, %1#2, %2#0, %2#1, %2#2
      : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<i1>,
        tensor<1xf32>, tensor<1xf32>, tensor<1xindex>
}
