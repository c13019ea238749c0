// Semantics of pooling.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s

// What linalg's pooling operations read and write, in alphabetical order: a window is a sum of an
// output dim and a window dim, each scaled by stride and dilation.

// CHECK-LABEL: func.func @pooling_nchw_max(
// CHECK: linalg.pooling_nchw_max
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 5, d2 = 7, d3 = 9, d4 = 3 : max, d5 = 2 : max], (in0[d0, d1, d2 + d4, d3 + d5], in1[d4, d5], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @pooling_nchw_max(%a: tensor<2x5x9x10xf32>, %b: tensor<3x2xf32>, %out: tensor<2x5x7x9xf32>) -> tensor<2x5x7x9xf32> {
  %0 = linalg.pooling_nchw_max ins(%a, %b : tensor<2x5x9x10xf32>, tensor<3x2xf32>) outs(%out : tensor<2x5x7x9xf32>) -> tensor<2x5x7x9xf32>
  return %0 : tensor<2x5x7x9xf32>
}

// CHECK-LABEL: func.func @pooling_nchw_sum(
// CHECK: linalg.pooling_nchw_sum
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 5, d2 = 7, d3 = 9, d4 = 3 : sum, d5 = 2 : sum], (in0[d0, d1, d2 * 2 + d4, d3 * 2 + d5], in1[d4, d5], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @pooling_nchw_sum(%a: tensor<2x5x15x18xf32>, %b: tensor<3x2xf32>, %out: tensor<2x5x7x9xf32>) -> tensor<2x5x7x9xf32> {
  %0 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%a, %b : tensor<2x5x15x18xf32>, tensor<3x2xf32>) outs(%out : tensor<2x5x7x9xf32>) -> tensor<2x5x7x9xf32>
  return %0 : tensor<2x5x7x9xf32>
}

// CHECK-LABEL: func.func @pooling_ncw_max(
// CHECK: linalg.pooling_ncw_max
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 5, d2 = 9, d3 = 3 : max], (in0[d0, d1, d2 + d3], in1[d3], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @pooling_ncw_max(%a: tensor<2x5x11xf32>, %b: tensor<3xf32>, %out: tensor<2x5x9xf32>) -> tensor<2x5x9xf32> {
  %0 = linalg.pooling_ncw_max ins(%a, %b : tensor<2x5x11xf32>, tensor<3xf32>) outs(%out : tensor<2x5x9xf32>) -> tensor<2x5x9xf32>
  return %0 : tensor<2x5x9xf32>
}

// CHECK-LABEL: func.func @pooling_ncw_sum(
// CHECK: linalg.pooling_ncw_sum
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 5, d2 = 9, d3 = 3 : sum], (in0[d0, d1, d2 + d3], in1[d3], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @pooling_ncw_sum(%a: tensor<2x5x11xf32>, %b: tensor<3xf32>, %out: tensor<2x5x9xf32>) -> tensor<2x5x9xf32> {
  %0 = linalg.pooling_ncw_sum ins(%a, %b : tensor<2x5x11xf32>, tensor<3xf32>) outs(%out : tensor<2x5x9xf32>) -> tensor<2x5x9xf32>
  return %0 : tensor<2x5x9xf32>
}

// CHECK-LABEL: func.func @pooling_ndhwc_max(
// CHECK: linalg.pooling_ndhwc_max
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 7, d3 = 9, d4 = 5, d5 = 4 : max, d6 = 3 : max, d7 = 2 : max], (in0[d0, d1 + d5, d2 + d6, d3 + d7, d4], in1[d5, d6, d7], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @pooling_ndhwc_max(%a: tensor<2x11x9x10x5xf32>, %b: tensor<4x3x2xf32>, %out: tensor<2x8x7x9x5xf32>) -> tensor<2x8x7x9x5xf32> {
  %0 = linalg.pooling_ndhwc_max ins(%a, %b : tensor<2x11x9x10x5xf32>, tensor<4x3x2xf32>) outs(%out : tensor<2x8x7x9x5xf32>) -> tensor<2x8x7x9x5xf32>
  return %0 : tensor<2x8x7x9x5xf32>
}

// CHECK-LABEL: func.func @pooling_ndhwc_min(
// CHECK: linalg.pooling_ndhwc_min
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 7, d3 = 9, d4 = 5, d5 = 4 : min, d6 = 3 : min, d7 = 2 : min], (in0[d0, d1 + d5, d2 + d6, d3 + d7, d4], in1[d5, d6, d7], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @pooling_ndhwc_min(%a: tensor<2x11x9x10x5xf32>, %b: tensor<4x3x2xf32>, %out: tensor<2x8x7x9x5xf32>) -> tensor<2x8x7x9x5xf32> {
  %0 = linalg.pooling_ndhwc_min ins(%a, %b : tensor<2x11x9x10x5xf32>, tensor<4x3x2xf32>) outs(%out : tensor<2x8x7x9x5xf32>) -> tensor<2x8x7x9x5xf32>
  return %0 : tensor<2x8x7x9x5xf32>
}

// CHECK-LABEL: func.func @pooling_ndhwc_sum(
// CHECK: linalg.pooling_ndhwc_sum
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 7, d3 = 9, d4 = 5, d5 = 4 : sum, d6 = 3 : sum, d7 = 2 : sum], (in0[d0, d1 + d5, d2 + d6, d3 + d7, d4], in1[d5, d6, d7], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @pooling_ndhwc_sum(%a: tensor<2x11x9x10x5xf32>, %b: tensor<4x3x2xf32>, %out: tensor<2x8x7x9x5xf32>) -> tensor<2x8x7x9x5xf32> {
  %0 = linalg.pooling_ndhwc_sum ins(%a, %b : tensor<2x11x9x10x5xf32>, tensor<4x3x2xf32>) outs(%out : tensor<2x8x7x9x5xf32>) -> tensor<2x8x7x9x5xf32>
  return %0 : tensor<2x8x7x9x5xf32>
}

// CHECK-LABEL: func.func @pooling_nhwc_max(
// CHECK: linalg.pooling_nhwc_max
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 5, d4 = 3 : max, d5 = 2 : max], (in0[d0, d1 + d4, d2 + d5, d3], in1[d4, d5], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @pooling_nhwc_max(%a: tensor<2x9x10x5xf32>, %b: tensor<3x2xf32>, %out: tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32> {
  %0 = linalg.pooling_nhwc_max ins(%a, %b : tensor<2x9x10x5xf32>, tensor<3x2xf32>) outs(%out : tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32>
  return %0 : tensor<2x7x9x5xf32>
}

// CHECK-LABEL: func.func @pooling_nhwc_max_unsigned(
// CHECK: linalg.pooling_nhwc_max_unsigned
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 5, d4 = 3 : maxui, d5 = 2 : maxui], (in0[d0, d1 + d4, d2 + d5, d3], in1[d4, d5], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @pooling_nhwc_max_unsigned(%a: tensor<2x9x10x5xi32>, %b: tensor<3x2xi32>, %out: tensor<2x7x9x5xi32>) -> tensor<2x7x9x5xi32> {
  %0 = linalg.pooling_nhwc_max_unsigned ins(%a, %b : tensor<2x9x10x5xi32>, tensor<3x2xi32>) outs(%out : tensor<2x7x9x5xi32>) -> tensor<2x7x9x5xi32>
  return %0 : tensor<2x7x9x5xi32>
}

// CHECK-LABEL: func.func @pooling_nhwc_min(
// CHECK: linalg.pooling_nhwc_min
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 5, d4 = 3 : min, d5 = 2 : min], (in0[d0, d1 + d4 * 2, d2 + d5 * 2, d3], in1[d4, d5], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @pooling_nhwc_min(%a: tensor<2x11x11x5xf32>, %b: tensor<3x2xf32>, %out: tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32> {
  %0 = linalg.pooling_nhwc_min {dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%a, %b : tensor<2x11x11x5xf32>, tensor<3x2xf32>) outs(%out : tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32>
  return %0 : tensor<2x7x9x5xf32>
}

// CHECK-LABEL: func.func @pooling_nhwc_min_unsigned(
// CHECK: linalg.pooling_nhwc_min_unsigned
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 5, d4 = 3 : minui, d5 = 2 : minui], (in0[d0, d1 + d4, d2 + d5, d3], in1[d4, d5], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @pooling_nhwc_min_unsigned(%a: tensor<2x9x10x5xi32>, %b: tensor<3x2xi32>, %out: tensor<2x7x9x5xi32>) -> tensor<2x7x9x5xi32> {
  %0 = linalg.pooling_nhwc_min_unsigned ins(%a, %b : tensor<2x9x10x5xi32>, tensor<3x2xi32>) outs(%out : tensor<2x7x9x5xi32>) -> tensor<2x7x9x5xi32>
  return %0 : tensor<2x7x9x5xi32>
}

// CHECK-LABEL: func.func @pooling_nhwc_sum(
// CHECK: linalg.pooling_nhwc_sum
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 5, d4 = 3 : sum, d5 = 2 : sum], (in0[d0, d1 + d4, d2 + d5, d3], in1[d4, d5], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @pooling_nhwc_sum(%a: tensor<2x9x10x5xf32>, %b: tensor<3x2xf32>, %out: tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32> {
  %0 = linalg.pooling_nhwc_sum ins(%a, %b : tensor<2x9x10x5xf32>, tensor<3x2xf32>) outs(%out : tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32>
  return %0 : tensor<2x7x9x5xf32>
}

// CHECK-LABEL: func.func @pooling_nwc_max(
// CHECK: linalg.pooling_nwc_max
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 9, d2 = 5, d3 = 3 : max], (in0[d0, d1 + d3, d2], in1[d3], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @pooling_nwc_max(%a: tensor<2x11x5xf32>, %b: tensor<3xf32>, %out: tensor<2x9x5xf32>) -> tensor<2x9x5xf32> {
  %0 = linalg.pooling_nwc_max ins(%a, %b : tensor<2x11x5xf32>, tensor<3xf32>) outs(%out : tensor<2x9x5xf32>) -> tensor<2x9x5xf32>
  return %0 : tensor<2x9x5xf32>
}

// CHECK-LABEL: func.func @pooling_nwc_max_unsigned(
// CHECK: linalg.pooling_nwc_max_unsigned
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 9, d2 = 5, d3 = 3 : maxui], (in0[d0, d1 + d3, d2], in1[d3], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @pooling_nwc_max_unsigned(%a: tensor<2x11x5xi32>, %b: tensor<3xi32>, %out: tensor<2x9x5xi32>) -> tensor<2x9x5xi32> {
  %0 = linalg.pooling_nwc_max_unsigned ins(%a, %b : tensor<2x11x5xi32>, tensor<3xi32>) outs(%out : tensor<2x9x5xi32>) -> tensor<2x9x5xi32>
  return %0 : tensor<2x9x5xi32>
}

// CHECK-LABEL: func.func @pooling_nwc_min(
// CHECK: linalg.pooling_nwc_min
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 9, d2 = 5, d3 = 3 : min], (in0[d0, d1 + d3, d2], in1[d3], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @pooling_nwc_min(%a: tensor<2x11x5xf32>, %b: tensor<3xf32>, %out: tensor<2x9x5xf32>) -> tensor<2x9x5xf32> {
  %0 = linalg.pooling_nwc_min ins(%a, %b : tensor<2x11x5xf32>, tensor<3xf32>) outs(%out : tensor<2x9x5xf32>) -> tensor<2x9x5xf32>
  return %0 : tensor<2x9x5xf32>
}

// CHECK-LABEL: func.func @pooling_nwc_min_unsigned(
// CHECK: linalg.pooling_nwc_min_unsigned
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 9, d2 = 5, d3 = 3 : minui], (in0[d0, d1 + d3, d2], in1[d3], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @pooling_nwc_min_unsigned(%a: tensor<2x11x5xi32>, %b: tensor<3xi32>, %out: tensor<2x9x5xi32>) -> tensor<2x9x5xi32> {
  %0 = linalg.pooling_nwc_min_unsigned ins(%a, %b : tensor<2x11x5xi32>, tensor<3xi32>) outs(%out : tensor<2x9x5xi32>) -> tensor<2x9x5xi32>
  return %0 : tensor<2x9x5xi32>
}

// CHECK-LABEL: func.func @pooling_nwc_sum(
// CHECK: linalg.pooling_nwc_sum
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 9, d2 = 5, d3 = 3 : sum], (in0[d0, d1 + d3, d2], in1[d3], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @pooling_nwc_sum(%a: tensor<2x11x5xf32>, %b: tensor<3xf32>, %out: tensor<2x9x5xf32>) -> tensor<2x9x5xf32> {
  %0 = linalg.pooling_nwc_sum ins(%a, %b : tensor<2x11x5xf32>, tensor<3xf32>) outs(%out : tensor<2x9x5xf32>) -> tensor<2x9x5xf32>
  return %0 : tensor<2x9x5xf32>
}
