// Semantics by maps and bodies.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s

// Semantics of linalg's operations that say in maps and in a body what they do.

#id1 = affine_map<(m) -> (m)>
#id2 = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>
#columns = affine_map<(m, n) -> (n)>

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @broadcast(
// CHECK: linalg.broadcast
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4], (in0[d1], _) -> (out0[d0, d1]), linear [{0}]>
func.func @broadcast(%a: tensor<4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.broadcast ins(%a : tensor<4xf32>) outs(%out : tensor<8x4xf32>) dimensions = [0]
  return %0 : tensor<8x4xf32>
}

// A bias of one row, or one column, is read at index 0 of it.
// CHECK-LABEL: func.func @constant_zero(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[0, d1], in2[d0, 0], _) -> (out0[d0, d1]), linear [{2}]>
func.func @constant_zero(%a: tensor<8x4xf32>, %b: tensor<1x4xf32>, %c: tensor<8x1xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.generic {indexing_maps = [#id2, affine_map<(m, n) -> (0, n)>, affine_map<(m, n) -> (m, 0)>, #id2],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : tensor<8x4xf32>, tensor<1x4xf32>, tensor<8x1xf32>) outs(%out : tensor<8x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %s = arith.maximumf %x, %y : f32
    %t = arith.mulf %s, %z : f32
    linalg.yield %t : f32
  } -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// Another constant has no part: the dim is read whole.
// CHECK-LABEL: func.func @constant_three(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8], (in0[:, d0], _) -> (out0[d0]), linear [{0}]>
func.func @constant_three(%a: tensor<4x8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m) -> (3, m)>, #id1], iterator_types = ["parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @map(
// CHECK: linalg.map
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], _) -> (out0[d0, d1]), linear [{0, 1}]>
func.func @map(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.map { arith.subf } ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%out : tensor<8x4xf32>)
  return %0 : tensor<8x4xf32>
}

// An index that counts from the other end can be rebased in the body.
// CHECK-LABEL: func.func @reversed(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4], (_, in1[d0 * -1 + 7, d1]) -> (out0[d0, d1]), linear [{1}]>
func.func @reversed(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (-m + 7, n)>, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// A result of size one is indexed by a constant; what isn't indexed by n can't
// be put together from parts of n.
// CHECK-LABEL: func.func @to_column(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4 : unsplittable], (in0[d0, d1], _) -> (out0[d0, 0]), linear [{0}]>
func.func @to_column(%a: tensor<8x4xf32>, %out: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %0 = linalg.generic {indexing_maps = [#id2, affine_map<(m, n) -> (m, 0)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK: linalg.transpose
// CHECK-SAME: #tofu.semantics<[d0 = 4, d1 = 2, d2 = 8], (in0[d1, d2, d0], _) -> (out0[d0, d1, d2]), linear [{0}]>
func.func @transpose(%a: tensor<2x8x4xf32>, %out: tensor<4x2x8xf32>) -> tensor<4x2x8xf32> {
  %0 = linalg.transpose ins(%a : tensor<2x8x4xf32>) outs(%out : tensor<4x2x8xf32>) permutation = [2, 0, 1]
  return %0 : tensor<4x2x8xf32>
}

// Neighbours, with stride: m takes 2m and 2m + 1; n only shifts.
// CHECK-LABEL: func.func @windows(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 4, d1 = 2 : sum, d2 = 5], (in0[d0 * 2 + d1, d2], in1[d1], init out0[d0, d2]) -> (out0[d0, d2])>
func.func @windows(%a: tensor<8x5xf32>, %w: tensor<2xf32>, %out: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, i, n) -> (2 * m + i, n)>, affine_map<(m, i, n) -> (i)>, affine_map<(m, i, n) -> (m, n)>],
                       iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %w : tensor<8x5xf32>, tensor<2xf32>) outs(%out : tensor<4x5xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

// A tensor that the body reads is an operand, in parts of what the loops index: an
// embedding's table. Parts of the dim that data indexes add up.
// CHECK-LABEL: func.func @captured(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4, d2 = 100 : sum], (in0[d0], _, in2[d2, d1]) -> (out0[d0, d1]), linear [{2}]>
func.func @captured(%ids: tensor<8xindex>, %table: tensor<100x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<8xindex>) outs(%out : tensor<8x4xf32>) {
  ^bb0(%row: index, %o: f32):
    %n = linalg.index 1 : index
    %x = tensor.extract %table[%row, %n] : tensor<100x4xf32>
    linalg.yield %x : f32
  } -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @index(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8], (_) -> (out0[d0])>
func.func @index(%out: tensor<8xindex>) -> tensor<8xindex> {
  %0 = linalg.generic {indexing_maps = [#id1], iterator_types = ["parallel"]} outs(%out : tensor<8xindex>) {
  ^bb0(%o: index):
    %m = linalg.index 0 : index
    linalg.yield %m : index
  } -> tensor<8xindex>
  return %0 : tensor<8xindex>
}

// Without a reduction, what is read of the output is an operand like others.
// CHECK-LABEL: func.func @reads_output(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8], (in0[d0], in1[d0]) -> (out0[d0]), linear [{0}]>
func.func @reads_output(%a: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.divf %x, %o : f32
    %t = arith.mulf %s, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @scalar_input(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8], (in0[d0], _) -> (out0[d0])>
func.func @scalar_input(%a: tensor<8xf32>, %s: f32, %out: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m) -> ()>, #id1, #id1], iterator_types = ["parallel"]}
      ins(%s, %a : f32, tensor<8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %t = arith.mulf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// n cuts one result but not the other: it stays whole.
// CHECK-LABEL: func.func @two_results(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4 : unsplittable], (in0[d0, d1], _, _) -> (out0[d0, d1], out1[d0]), linear [{0}]>
func.func @two_results(%a: tensor<8x4xf32>, %o0: tensor<8x4xf32>, %o1: tensor<8xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#id2, #id2, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x4xf32>) outs(%o0, %o1 : tensor<8x4xf32>, tensor<8xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32):
    %n = arith.negf %x : f32
    linalg.yield %x, %n : f32, f32
  } -> (tensor<8x4xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8x4xf32>, tensor<8xf32>
}

//===----------------------------------------------------------------------===//
// What has no parts
//===----------------------------------------------------------------------===//

// Fills and constants are remade on each device.
// CHECK-LABEL: func.func @fill(
// CHECK-NOT: tofu.semantics
// CHECK: return
func.func @fill(%s: f32, %out: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<2xf32>) {
  %0 = linalg.fill ins(%s : f32) outs(%out : tensor<8xf32>) -> tensor<8xf32>
  %1 = arith.constant dense<1.0> : tensor<8xf32>
  %2 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<2xf32>
}

// An assertion must see values, not parts of sums: they pass as long as it looks at none.
// CHECK-LABEL: func.func @assertion
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8], (in0[d0], in1[d0], _) -> (out0[d0]), linear [{1}]>
func.func @assertion(%a: tensor<8xf32>, %b: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %square = arith.mulf %x, %x : f32
    %good = arith.cmpf oge, %square, %zero : f32
    cf.assert %good, "negative"
    %p = arith.mulf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
