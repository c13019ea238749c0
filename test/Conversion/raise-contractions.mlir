// Contractions are recognised by what they compute.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-raise-contractions=min-work=1 | FileCheck %s
// RUN: tofu-opt %s --tofu-raise-contractions=min-work=1000000 | FileCheck %s --check-prefix=LARGE
// RUN: tofu-opt %s --tofu-raise-contractions="min-work=1 depthwise=true" | FileCheck %s --check-prefix=DEPTHWISE

// LARGE-NOT: tofu.contract

// CHECK-DAG:   #[[$LHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>

// A fill with zero is not filled.
// CHECK-LABEL: func.func @filled
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<8x4xf32>, %[[B:[a-z0-9]+]]: tensor<4x6xf32>, %[[E:[a-z0-9]+]]: tensor<8x6xf32>
// CHECK:         tofu.contract %[[A]], %[[B]] into %[[E]] maps
func.func @filled(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %e: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%f : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// CHECK-LABEL: func.func @accumulates
// CHECK:         tofu.contract accumulate
func.func @accumulates(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// A transposition and a widening of the inputs become part of it.
// CHECK-LABEL: func.func @absorbs
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<4x8xbf16>, %[[B:[a-z0-9]+]]: tensor<4x6xbf16>
// CHECK-NOT:     linalg.generic
// CHECK:         tofu.contract accumulate %[[A]], %[[B]] into {{.*}} maps [#[[$LHS]],
// CHECK-SAME:      tensor<4x8xbf16>, tensor<4x6xbf16>, tensor<8x6xf32>
func.func @absorbs(%a: tensor<4x8xbf16>, %b: tensor<4x6xbf16>, %c: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xbf16>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%x: bf16, %o: f32):
    %w = arith.extf %x : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<8x4xf32>
  %g = tensor.empty() : tensor<4x6xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<4x6xbf16>) outs(%g : tensor<4x6xf32>) {
  ^bb0(%x: bf16, %o: f32):
    %w = arith.extf %x : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<4x6xf32>
  %0 = linalg.matmul ins(%t, %u : tensor<8x4xf32>, tensor<4x6xf32>) outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// CHECK-LABEL: func.func @convolution
// CHECK:         tofu.contract accumulate
func.func @convolution(%a: tensor<1x9x9x3xf32>, %w: tensor<3x3x3x8xf32>, %c: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : vector<2xi64>}
      ins(%a, %w : tensor<1x9x9x3xf32>, tensor<3x3x3x8xf32>) outs(%c : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %0 : tensor<1x4x4x8xf32>
}

// No columns: loops are as fast.
// CHECK-LABEL: func.func @matrix_times_vector
// CHECK-NOT:     tofu.contract
// CHECK:         linalg.matvec
func.func @matrix_times_vector(%a: tensor<8x4xf32>, %b: tensor<4xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.matvec ins(%a, %b : tensor<8x4xf32>, tensor<4xf32>) outs(%c : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The body is not out + a * b.
// CHECK-LABEL: func.func @sum_of_maxima
// CHECK-NOT:     tofu.contract
// CHECK:         linalg.generic
func.func @sum_of_maxima(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%c : tensor<8x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.maximumf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// The body does more than that.
// CHECK-LABEL: func.func @assertion
// CHECK-NOT:     tofu.contract
// CHECK:         cf.assert
func.func @assertion(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>, %good: i1) -> tensor<8x6xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%c : tensor<8x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    cf.assert %good, "bad"
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// A convolution of each channel by itself has no columns: it stays a loop, unless
// it is asked for; so does the gradient to its filter. With one filter for all
// channels there are none to tell apart, and without windows it is no convolution.
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT:     tofu.contract
// CHECK-LABEL: func.func @no_depthwise
// DEPTHWISE-LABEL: func.func @depthwise(
// DEPTHWISE-SAME:    %[[A:[a-z0-9]+]]: tensor<2x12x12x8xf32>, %[[W:[a-z0-9]+]]: tensor<3x3x8xf32>, %[[C:[a-z0-9]+]]: tensor<2x10x10x8xf32>
// DEPTHWISE:         tofu.contract accumulate %[[A]], %[[W]] into %[[C]]
// DEPTHWISE:         tofu.contract accumulate %[[A]], %{{.*}} into %[[W]]
// DEPTHWISE:         return
// DEPTHWISE-LABEL: func.func @no_depthwise(
// DEPTHWISE-NOT:     tofu.contract
func.func @depthwise(%a: tensor<2x12x12x8xf32>, %w: tensor<3x3x8xf32>, %c: tensor<2x10x10x8xf32>) -> (tensor<2x10x10x8xf32>, tensor<3x3x8xf32>) {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc ins(%a, %w : tensor<2x12x12x8xf32>, tensor<3x3x8xf32>)
                                         outs(%c : tensor<2x10x10x8xf32>) -> tensor<2x10x10x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j, c, n, y, x) -> (n, y + i, x + j, c)>, affine_map<(i, j, c, n, y, x) -> (n, y, x, c)>,
                                        affine_map<(i, j, c, n, y, x) -> (i, j, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%a, %0 : tensor<2x12x12x8xf32>, tensor<2x10x10x8xf32>) outs(%w : tensor<3x3x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x3x8xf32>
  return %0, %1 : tensor<2x10x10x8xf32>, tensor<3x3x8xf32>
}

func.func @no_depthwise(%a: tensor<2x12x12x8xf32>, %w: tensor<3x3xf32>, %c: tensor<2x10x10x8xf32>, %b: tensor<64x90xf32>, %d: tensor<64xf32>)
    -> (tensor<2x10x10x8xf32>, tensor<64xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(n, y, x, c, i, j) -> (n, y + i, x + j, c)>, affine_map<(n, y, x, c, i, j) -> (i, j)>,
                                        affine_map<(n, y, x, c, i, j) -> (n, y, x, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %w : tensor<2x12x12x8xf32>, tensor<3x3xf32>) outs(%c : tensor<2x10x10x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x10x10x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%b, %b : tensor<64x90xf32>, tensor<64x90xf32>) outs(%d : tensor<64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %0, %1 : tensor<2x10x10x8xf32>, tensor<64xf32>
}
