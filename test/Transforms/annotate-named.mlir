// Semantics of named operations.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s

// What the named operations of linalg read and write, in alphabetical order;
// convolutions and pooling are in annotate-convolutions.mlir and
// annotate-pooling.mlir.

// CHECK-LABEL: func.func @abs(
// CHECK: linalg.abs
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @abs(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.abs ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @add(
// CHECK: linalg.add
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], _) -> (out0[d0, d1]), linear [{0, 1}]>}
func.func @add(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.add ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @batch_matmul(
// CHECK: linalg.batch_matmul
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 4, d3 = 5 : sum], (in0[d0, d1, d3], in1[d0, d3, d2], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @batch_matmul(%a: tensor<2x8x5xf32>, %b: tensor<2x5x4xf32>, %out: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x8x5xf32>, tensor<2x5x4xf32>) outs(%out : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %0 : tensor<2x8x4xf32>
}

// CHECK-LABEL: func.func @batch_matvec(
// CHECK: linalg.batch_matvec
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 5 : sum], (in0[d0, d1, d2], in1[d0, d2], init out0[d0, d1]) -> (out0[d0, d1])>}
func.func @batch_matvec(%a: tensor<2x8x5xf32>, %b: tensor<2x5xf32>, %out: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = linalg.batch_matvec ins(%a, %b : tensor<2x8x5xf32>, tensor<2x5xf32>) outs(%out : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @batch_mmt4d(
// CHECK: linalg.batch_mmt4d
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 4, d3 = 5 : sum, d4 = 3, d5 = 7, d6 = 6 : sum], (in0[d0, d1, d3, d4, d6], in1[d0, d2, d3, d5, d6], init out0[d0, d1, d2, d4, d5]) -> (out0[d0, d1, d2, d4, d5])>}
func.func @batch_mmt4d(%a: tensor<2x8x5x3x6xf32>, %b: tensor<2x4x5x7x6xf32>, %out: tensor<2x8x4x3x7xf32>) -> tensor<2x8x4x3x7xf32> {
  %0 = linalg.batch_mmt4d ins(%a, %b : tensor<2x8x5x3x6xf32>, tensor<2x4x5x7x6xf32>) outs(%out : tensor<2x8x4x3x7xf32>) -> tensor<2x8x4x3x7xf32>
  return %0 : tensor<2x8x4x3x7xf32>
}

// CHECK-LABEL: func.func @batch_reduce_matmul(
// CHECK: linalg.batch_reduce_matmul
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2 : sum, d1 = 8, d2 = 4, d3 = 5 : sum], (in0[d0, d1, d3], in1[d0, d3, d2], init out0[d1, d2]) -> (out0[d1, d2])>}
func.func @batch_reduce_matmul(%a: tensor<2x8x5xf32>, %b: tensor<2x5x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.batch_reduce_matmul ins(%a, %b : tensor<2x8x5xf32>, tensor<2x5x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @batch_vecmat(
// CHECK: linalg.batch_vecmat
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 4, d2 = 5 : sum], (in0[d0, d2], in1[d0, d2, d1], init out0[d0, d1]) -> (out0[d0, d1])>}
func.func @batch_vecmat(%a: tensor<2x5xf32>, %b: tensor<2x5x4xf32>, %out: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.batch_vecmat ins(%a, %b : tensor<2x5xf32>, tensor<2x5x4xf32>) outs(%out : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @ceil(
// CHECK: linalg.ceil
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @ceil(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.ceil ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @contract(
// CHECK: linalg.contract
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4, d2 = 5 : sum], (in0[d0, d2], in1[d2, d1], init out0[d0, d1]) -> (out0[d0, d1])>}
func.func @contract(%a: tensor<8x5xf32>, %b: tensor<5x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<8x5xf32>, tensor<5x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @copy(
// CHECK: linalg.copy
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1]), linear [{0}]>}
func.func @copy(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.copy ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @div(
// CHECK: linalg.div
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], _) -> (out0[d0, d1]), linear [{0}]>}
func.func @div(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.div ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @div_unsigned(
// CHECK: linalg.div_unsigned
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], _) -> (out0[d0, d1])>}
func.func @div_unsigned(%a: tensor<8x4xi32>, %b: tensor<8x4xi32>, %out: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %0 = linalg.div_unsigned ins(%a, %b : tensor<8x4xi32>, tensor<8x4xi32>) outs(%out : tensor<8x4xi32>) -> tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}

// CHECK-LABEL: func.func @dot(
// CHECK: linalg.dot
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8 : sum], (in0[d0], in1[d0], init out0[]) -> (out0[])>}
func.func @dot(%a: tensor<8xf32>, %b: tensor<8xf32>, %out: tensor<f32>) -> tensor<f32> {
  %0 = linalg.dot ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%out : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @elementwise(
// CHECK: linalg.elementwise
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @elementwise(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @erf(
// CHECK: linalg.erf
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @erf(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.erf ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @exp(
// CHECK: linalg.exp
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @exp(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.exp ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @fill_rng_2d(
// CHECK: linalg.fill_rng_2d
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (_) -> (out0[d0, d1])>}
func.func @fill_rng_2d(%a: f64, %b: f64, %c: i32, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.fill_rng_2d ins(%a, %b, %c : f64, f64, i32) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @floor(
// CHECK: linalg.floor
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @floor(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.floor ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @log(
// CHECK: linalg.log
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @log(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.log ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @matmul(
// CHECK: linalg.matmul
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4, d2 = 5 : sum], (in0[d0, d2], in1[d2, d1], init out0[d0, d1]) -> (out0[d0, d1])>}
func.func @matmul(%a: tensor<8x5xf32>, %b: tensor<5x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x5xf32>, tensor<5x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @matmul_of_transposed(
// CHECK: linalg.matmul
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4, d2 = 5 : sum], (in0[d2, d0], in1[d2, d1], init out0[d0, d1]) -> (out0[d0, d1])>}
func.func @matmul_of_transposed(%a: tensor<5x8xf32>, %b: tensor<5x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<5x8xf32>, tensor<5x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @matvec(
// CHECK: linalg.matvec
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 5 : sum], (in0[d0, d1], in1[d1], init out0[d0]) -> (out0[d0])>}
func.func @matvec(%a: tensor<8x5xf32>, %b: tensor<5xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.matvec ins(%a, %b : tensor<8x5xf32>, tensor<5xf32>) outs(%out : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @max(
// CHECK: linalg.max
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], _) -> (out0[d0, d1])>}
func.func @max(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.max ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @min(
// CHECK: linalg.min
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], _) -> (out0[d0, d1])>}
func.func @min(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.min ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @mmt4d(
// CHECK: linalg.mmt4d
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4, d2 = 5 : sum, d3 = 3, d4 = 7, d5 = 6 : sum], (in0[d0, d2, d3, d5], in1[d1, d2, d4, d5], init out0[d0, d1, d3, d4]) -> (out0[d0, d1, d3, d4])>}
func.func @mmt4d(%a: tensor<8x5x3x6xf32>, %b: tensor<4x5x7x6xf32>, %out: tensor<8x4x3x7xf32>) -> tensor<8x4x3x7xf32> {
  %0 = linalg.mmt4d ins(%a, %b : tensor<8x5x3x6xf32>, tensor<4x5x7x6xf32>) outs(%out : tensor<8x4x3x7xf32>) -> tensor<8x4x3x7xf32>
  return %0 : tensor<8x4x3x7xf32>
}

// CHECK-LABEL: func.func @mul(
// CHECK: linalg.mul
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], _) -> (out0[d0, d1]), linear [{0}, {1}]>}
func.func @mul(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.mul ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @negf(
// CHECK: linalg.negf
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1]), linear [{0}]>}
func.func @negf(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.negf ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @powf(
// CHECK: linalg.powf
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], _) -> (out0[d0, d1])>}
func.func @powf(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.powf ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @quantized_batch_matmul(
// CHECK: linalg.quantized_batch_matmul
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 4, d3 = 5 : sum], (in0[d0, d1, d3], in1[d0, d3, d2], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @quantized_batch_matmul(%a: tensor<2x8x5xi8>, %b: tensor<2x5x4xi8>, %c: i32, %d: i32, %out: tensor<2x8x4xi32>) -> tensor<2x8x4xi32> {
  %0 = linalg.quantized_batch_matmul ins(%a, %b, %c, %d : tensor<2x8x5xi8>, tensor<2x5x4xi8>, i32, i32) outs(%out : tensor<2x8x4xi32>) -> tensor<2x8x4xi32>
  return %0 : tensor<2x8x4xi32>
}

// CHECK-LABEL: func.func @quantized_matmul(
// CHECK: linalg.quantized_matmul
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4, d2 = 5 : sum], (in0[d0, d2], in1[d2, d1], init out0[d0, d1]) -> (out0[d0, d1])>}
func.func @quantized_matmul(%a: tensor<8x5xi8>, %b: tensor<5x4xi8>, %c: i32, %d: i32, %out: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %0 = linalg.quantized_matmul ins(%a, %b, %c, %d : tensor<8x5xi8>, tensor<5x4xi8>, i32, i32) outs(%out : tensor<8x4xi32>) -> tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}

// CHECK-LABEL: func.func @reciprocal(
// CHECK: linalg.reciprocal
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @reciprocal(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.reciprocal ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @round(
// CHECK: linalg.round
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @round(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.round ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK: linalg.rsqrt
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @rsqrt(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.rsqrt ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @select(
// CHECK: linalg.select
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], in2[d0, d1], _) -> (out0[d0, d1])>}
func.func @select(%a: tensor<8x4xi1>, %b: tensor<8x4xf32>, %c: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.select ins(%a, %b, %c : tensor<8x4xi1>, tensor<8x4xf32>, tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @sqrt(
// CHECK: linalg.sqrt
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @sqrt(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.sqrt ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @square(
// CHECK: linalg.square
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @square(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.square ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @sub(
// CHECK: linalg.sub
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], _) -> (out0[d0, d1]), linear [{0, 1}]>}
func.func @sub(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.sub ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @tanh(
// CHECK: linalg.tanh
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], _) -> (out0[d0, d1])>}
func.func @tanh(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.tanh ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @vecmat(
// CHECK: linalg.vecmat
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 4, d1 = 5 : sum], (in0[d1], in1[d1, d0], init out0[d0]) -> (out0[d0])>}
func.func @vecmat(%a: tensor<5xf32>, %b: tensor<5x4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.vecmat ins(%a, %b : tensor<5xf32>, tensor<5x4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
