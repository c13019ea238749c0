// Reshapes between element-wise generics.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-move-reshapes | FileCheck %s

#id1 = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>

// CHECK-DAG: #[[$LHS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>
// CHECK-DAG: #[[$RHS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[$BATCHLHS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[$BATCHRHS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
// CHECK-LABEL: func.func @chain
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<8xf32>
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[A]] {{.*}} into tensor<2x4xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[E]] : tensor<2x4xf32>)
// CHECK:           math.exp
// CHECK:         linalg.generic
// CHECK:           arith.negf
func.func @chain(%a: tensor<8xf32>, %e: tensor<8xf32>, %f: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %2 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<2x4xf32>) outs(%f : tensor<2x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// Nothing to fuse with: the reshape stays where it is.
// CHECK-LABEL: func.func @end_of_chain
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<8xf32>)
// CHECK:         tensor.expand_shape
func.func @end_of_chain(%a: tensor<8xf32>, %e: tensor<8xf32>) -> tensor<2x4xf32> {
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// What a contraction makes is expanded before a generic: its operands are instead.
// CHECK-LABEL: func.func @contraction
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<?x8xf32>, %[[B:[a-z0-9]+]]: tensor<12x8xf32>, %[[N:[a-z0-9]+]]: index
// CHECK:         %[[X:.*]] = tensor.expand_shape %[[A]] {{\[\[}}0, 1], [2]] output_shape [%[[N]], 5, 8] : tensor<?x8xf32> into tensor<?x5x8xf32>
// CHECK:         %[[Y:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1], [2]] output_shape [3, 4, 8] : tensor<12x8xf32> into tensor<3x4x8xf32>
// CHECK:         %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x5x3x4xf32>
// CHECK:         %[[C:.*]] = tofu.contract %[[X]], %[[Y]] into %[[E]] maps [#[[$LHS]], #[[$RHS]], #[[$OUT]]]
// CHECK-NOT:     tensor.expand_shape
// CHECK:         linalg.generic {{.*}} ins(%[[C]] :
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
#id4 = affine_map<(i, j, k, l) -> (i, j, k, l)>
func.func @contraction(%a: tensor<?x8xf32>, %b: tensor<12x8xf32>, %n: index, %m: index, %f: tensor<?x5x3x4xf32>) -> tensor<?x5x3x4xf32> {
  %e = tensor.empty(%m) : tensor<?x12xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<?x8xf32>, tensor<12x8xf32>, tensor<?x12xf32> -> tensor<?x12xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2, 3]] output_shape [%n, 5, 3, 4] : tensor<?x12xf32> into tensor<?x5x3x4xf32>
  %2 = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%1 : tensor<?x5x3x4xf32>) outs(%f : tensor<?x5x3x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<?x5x3x4xf32>
  return %2 : tensor<?x5x3x4xf32>
}

// What it is added to is expanded as well; a batch is split in all operands.
// CHECK-LABEL: func.func @batch
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<6x5x8xf32>, %[[B:[a-z0-9]+]]: tensor<6x8x7xf32>, %[[C:[a-z0-9]+]]: tensor<6x5x7xf32>
// CHECK-DAG:     %[[X:.*]] = tensor.expand_shape %[[A]] {{.*}} into tensor<2x3x5x8xf32>
// CHECK-DAG:     %[[Y:.*]] = tensor.expand_shape %[[B]] {{.*}} into tensor<2x3x8x7xf32>
// CHECK-DAG:     %[[Z:.*]] = tensor.expand_shape %[[C]] {{.*}} into tensor<2x3x5x7xf32>
// CHECK:         tofu.contract accumulate %[[X]], %[[Y]] into %[[Z]] maps [#[[$BATCHLHS]], #[[$BATCHRHS]], #[[$OUT]]]
#batch_lhs = affine_map<(b, m, n, k) -> (b, m, k)>
#batch_rhs = affine_map<(b, m, n, k) -> (b, k, n)>
#batch_out = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @batch(%a: tensor<6x5x8xf32>, %b: tensor<6x8x7xf32>, %c: tensor<6x5x7xf32>, %f: tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = tofu.contract accumulate %a, %b into %c maps [#batch_lhs, #batch_rhs, #batch_out] : tensor<6x5x8xf32>, tensor<6x8x7xf32>, tensor<6x5x7xf32> -> tensor<6x5x7xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2], [3]] output_shape [2, 3, 5, 7] : tensor<6x5x7xf32> into tensor<2x3x5x7xf32>
  %2 = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%1 : tensor<2x3x5x7xf32>) outs(%f : tensor<2x3x5x7xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x7xf32>
  return %2 : tensor<2x3x5x7xf32>
}

// What collapses the result goes behind the generic.
// CHECK-LABEL: func.func @collapsed
// CHECK:         %[[C:.*]] = tofu.contract
// CHECK:         %[[T:.*]] = tensor.expand_shape %{{.*}} {{.*}} into tensor<6x5xf32>
// CHECK:         %[[G:.*]] = linalg.generic {{.*}} ins(%[[C]], %[[T]] : tensor<7x6x5xf32>, tensor<6x5xf32>)
// CHECK:         tensor.collapse_shape %[[G]]
#wide_rhs = affine_map<(m, n, p, k) -> (n, p, k)>
#wide_lhs = affine_map<(m, n, p, k) -> (m, k)>
#wide_out = affine_map<(m, n, p, k) -> (m, n, p)>
#row = affine_map<(i, j) -> (j)>
func.func @collapsed(%a: tensor<7x8xf32>, %b: tensor<6x5x8xf32>, %t: tensor<30xf32>, %f: tensor<7x30xf32>) -> tensor<7x30xf32> {
  %e = tensor.empty() : tensor<7x6x5xf32>
  %0 = tofu.contract %a, %b into %e maps [#wide_lhs, #wide_rhs, #wide_out] : tensor<7x8xf32>, tensor<6x5x8xf32>, tensor<7x6x5xf32> -> tensor<7x6x5xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<7x6x5xf32> into tensor<7x30xf32>
  %2 = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%1, %t : tensor<7x30xf32>, tensor<30xf32>) outs(%f : tensor<7x30xf32>) {
  ^bb0(%x: f32, %p: f32, %o: f32):
    %y = arith.addf %x, %p : f32
    linalg.yield %y : f32
  } -> tensor<7x30xf32>
  return %2 : tensor<7x30xf32>
}

// Not where a loop is part of a window, where something else reads the result, or
// where nothing element-wise does.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-3: tensor.expand_shape %{{.*}} output_shape [2, 4, 5] : tensor<8x5xf32> into tensor<2x4x5xf32>
// CHECK-NOT:     tensor.expand_shape
#window = affine_map<(y, f, i) -> (y + i)>
#filter = affine_map<(y, f, i) -> (f, i)>
#result = affine_map<(y, f, i) -> (y, f)>
#id3 = affine_map<(i, j, k) -> (i, j, k)>
func.func @stays(%a: tensor<10xf32>, %w: tensor<5x3xf32>, %b: tensor<8x3xf32>, %f: tensor<2x4x5xf32>)
    -> (tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<8x5xf32>, tensor<2x4x5xf32>) {
  %e = tensor.empty() : tensor<8x5xf32>
  %0 = tofu.contract %a, %w into %e maps [#window, #filter, #result] : tensor<10xf32>, tensor<5x3xf32>, tensor<8x5xf32> -> tensor<8x5xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [2, 4, 5] : tensor<8x5xf32> into tensor<2x4x5xf32>
  %2 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%1 : tensor<2x4x5xf32>) outs(%f : tensor<2x4x5xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<2x4x5xf32>
  %3 = tofu.contract %b, %w into %e maps [#lhs, #rhs, #out] : tensor<8x3xf32>, tensor<5x3xf32>, tensor<8x5xf32> -> tensor<8x5xf32>
  %4 = tensor.expand_shape %3 [[0, 1], [2]] output_shape [2, 4, 5] : tensor<8x5xf32> into tensor<2x4x5xf32>
  %5 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%4 : tensor<2x4x5xf32>) outs(%f : tensor<2x4x5xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<2x4x5xf32>
  %6 = tofu.contract %b, %w into %e maps [#lhs, #rhs, #out] : tensor<8x3xf32>, tensor<5x3xf32>, tensor<8x5xf32> -> tensor<8x5xf32>
  %7 = tensor.expand_shape %6 [[0, 1], [2]] output_shape [2, 4, 5] : tensor<8x5xf32> into tensor<2x4x5xf32>
  return %2, %5, %3, %7 : tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<8x5xf32>, tensor<2x4x5xf32>
}
