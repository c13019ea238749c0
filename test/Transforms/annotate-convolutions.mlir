// Semantics of convolutions.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s

// What linalg's convolutions read and write, in alphabetical order: a window is a sum of an
// output dim and a window dim, each scaled by stride and dilation.

// CHECK-LABEL: func.func @conv_1d(
// CHECK: linalg.conv_1d
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 9, d1 = 3 : sum], (in0[d0 + d1], in1[d1], init out0[d0]) -> (out0[d0])>}
func.func @conv_1d(%a: tensor<11xf32>, %b: tensor<3xf32>, %out: tensor<9xf32>) -> tensor<9xf32> {
  %0 = linalg.conv_1d ins(%a, %b : tensor<11xf32>, tensor<3xf32>) outs(%out : tensor<9xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// CHECK-LABEL: func.func @conv_1d_ncw_fcw(
// CHECK: linalg.conv_1d_ncw_fcw
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 6, d2 = 9, d3 = 5 : sum, d4 = 3 : sum], (in0[d0, d3, d2 + d4], in1[d1, d3, d4], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @conv_1d_ncw_fcw(%a: tensor<2x5x11xf32>, %b: tensor<6x5x3xf32>, %out: tensor<2x6x9xf32>) -> tensor<2x6x9xf32> {
  %0 = linalg.conv_1d_ncw_fcw ins(%a, %b : tensor<2x5x11xf32>, tensor<6x5x3xf32>) outs(%out : tensor<2x6x9xf32>) -> tensor<2x6x9xf32>
  return %0 : tensor<2x6x9xf32>
}

// CHECK-LABEL: func.func @conv_1d_nwc_wcf(
// CHECK: linalg.conv_1d_nwc_wcf
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 9, d2 = 6, d3 = 3 : sum, d4 = 5 : sum], (in0[d0, d1 + d3, d4], in1[d3, d4, d2], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @conv_1d_nwc_wcf(%a: tensor<2x11x5xf32>, %b: tensor<3x5x6xf32>, %out: tensor<2x9x6xf32>) -> tensor<2x9x6xf32> {
  %0 = linalg.conv_1d_nwc_wcf ins(%a, %b : tensor<2x11x5xf32>, tensor<3x5x6xf32>) outs(%out : tensor<2x9x6xf32>) -> tensor<2x9x6xf32>
  return %0 : tensor<2x9x6xf32>
}

// CHECK-LABEL: func.func @conv_2d(
// CHECK: linalg.conv_2d
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 7, d1 = 9, d2 = 3 : sum, d3 = 2 : sum], (in0[d0 + d2, d1 + d3], in1[d2, d3], init out0[d0, d1]) -> (out0[d0, d1])>}
func.func @conv_2d(%a: tensor<9x10xf32>, %b: tensor<3x2xf32>, %out: tensor<7x9xf32>) -> tensor<7x9xf32> {
  %0 = linalg.conv_2d ins(%a, %b : tensor<9x10xf32>, tensor<3x2xf32>) outs(%out : tensor<7x9xf32>) -> tensor<7x9xf32>
  return %0 : tensor<7x9xf32>
}

// CHECK-LABEL: func.func @conv_2d_nchw_fchw(
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 6, d2 = 7, d3 = 9, d4 = 5 : sum, d5 = 3 : sum, d6 = 2 : sum], (in0[d0, d4, d2 * 2 + d5 * 3, d3 * 2 + d6 * 3], in1[d1, d4, d5, d6], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @conv_2d_nchw_fchw(%a: tensor<2x5x19x20xf32>, %b: tensor<6x5x3x2xf32>, %out: tensor<2x6x7x9xf32>) -> tensor<2x6x7x9xf32> {
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<3> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%a, %b : tensor<2x5x19x20xf32>, tensor<6x5x3x2xf32>) outs(%out : tensor<2x6x7x9xf32>) -> tensor<2x6x7x9xf32>
  return %0 : tensor<2x6x7x9xf32>
}

// CHECK-LABEL: func.func @conv_2d_nchw_fchw_q(
// CHECK: linalg.conv_2d_nchw_fchw_q
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 6, d2 = 7, d3 = 9, d4 = 5 : sum, d5 = 3 : sum, d6 = 2 : sum], (in0[d0, d4, d2 + d5, d3 + d6], in1[d1, d4, d5, d6], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @conv_2d_nchw_fchw_q(%a: tensor<2x5x9x10xi8>, %b: tensor<6x5x3x2xi8>, %c: i32, %d: i32, %out: tensor<2x6x7x9xi32>) -> tensor<2x6x7x9xi32> {
  %0 = linalg.conv_2d_nchw_fchw_q ins(%a, %b, %c, %d : tensor<2x5x9x10xi8>, tensor<6x5x3x2xi8>, i32, i32) outs(%out : tensor<2x6x7x9xi32>) -> tensor<2x6x7x9xi32>
  return %0 : tensor<2x6x7x9xi32>
}

// CHECK-LABEL: func.func @conv_2d_ngchw_fgchw(
// CHECK: linalg.conv_2d_ngchw_fgchw
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 10, d2 = 6, d3 = 7, d4 = 9, d5 = 5 : sum, d6 = 3 : sum, d7 = 2 : sum], (in0[d0, d1, d5, d3 + d6, d4 + d7], in1[d2, d1, d5, d6, d7], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @conv_2d_ngchw_fgchw(%a: tensor<2x10x5x9x10xf32>, %b: tensor<6x10x5x3x2xf32>, %out: tensor<2x10x6x7x9xf32>) -> tensor<2x10x6x7x9xf32> {
  %0 = linalg.conv_2d_ngchw_fgchw ins(%a, %b : tensor<2x10x5x9x10xf32>, tensor<6x10x5x3x2xf32>) outs(%out : tensor<2x10x6x7x9xf32>) -> tensor<2x10x6x7x9xf32>
  return %0 : tensor<2x10x6x7x9xf32>
}

// CHECK-LABEL: func.func @conv_2d_ngchw_gfchw(
// CHECK: linalg.conv_2d_ngchw_gfchw
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 10, d2 = 6, d3 = 7, d4 = 9, d5 = 5 : sum, d6 = 3 : sum, d7 = 2 : sum], (in0[d0, d1, d5, d3 + d6, d4 + d7], in1[d1, d2, d5, d6, d7], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @conv_2d_ngchw_gfchw(%a: tensor<2x10x5x9x10xf32>, %b: tensor<10x6x5x3x2xf32>, %out: tensor<2x10x6x7x9xf32>) -> tensor<2x10x6x7x9xf32> {
  %0 = linalg.conv_2d_ngchw_gfchw ins(%a, %b : tensor<2x10x5x9x10xf32>, tensor<10x6x5x3x2xf32>) outs(%out : tensor<2x10x6x7x9xf32>) -> tensor<2x10x6x7x9xf32>
  return %0 : tensor<2x10x6x7x9xf32>
}

// CHECK-LABEL: func.func @conv_2d_ngchw_gfchw_q(
// CHECK: linalg.conv_2d_ngchw_gfchw_q
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 10, d2 = 6, d3 = 7, d4 = 9, d5 = 5 : sum, d6 = 3 : sum, d7 = 2 : sum], (in0[d0, d1, d5, d3 + d6, d4 + d7], in1[d1, d2, d5, d6, d7], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @conv_2d_ngchw_gfchw_q(%a: tensor<2x10x5x9x10xi8>, %b: tensor<10x6x5x3x2xi8>, %c: i32, %d: i32, %out: tensor<2x10x6x7x9xi32>) -> tensor<2x10x6x7x9xi32> {
  %0 = linalg.conv_2d_ngchw_gfchw_q ins(%a, %b, %c, %d : tensor<2x10x5x9x10xi8>, tensor<10x6x5x3x2xi8>, i32, i32) outs(%out : tensor<2x10x6x7x9xi32>) -> tensor<2x10x6x7x9xi32>
  return %0 : tensor<2x10x6x7x9xi32>
}

// CHECK-LABEL: func.func @conv_2d_nhwc_fhwc(
// CHECK: linalg.conv_2d_nhwc_fhwc
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 6, d4 = 3 : sum, d5 = 2 : sum, d6 = 5 : sum], (in0[d0, d1 + d4, d2 + d5, d6], in1[d3, d4, d5, d6], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @conv_2d_nhwc_fhwc(%a: tensor<2x9x10x5xf32>, %b: tensor<6x3x2x5xf32>, %out: tensor<2x7x9x6xf32>) -> tensor<2x7x9x6xf32> {
  %0 = linalg.conv_2d_nhwc_fhwc ins(%a, %b : tensor<2x9x10x5xf32>, tensor<6x3x2x5xf32>) outs(%out : tensor<2x7x9x6xf32>) -> tensor<2x7x9x6xf32>
  return %0 : tensor<2x7x9x6xf32>
}

// CHECK-LABEL: func.func @conv_2d_nhwc_fhwc_q(
// CHECK: linalg.conv_2d_nhwc_fhwc_q
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 6, d4 = 3 : sum, d5 = 2 : sum, d6 = 5 : sum], (in0[d0, d1 + d4, d2 + d5, d6], in1[d3, d4, d5, d6], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @conv_2d_nhwc_fhwc_q(%a: tensor<2x9x10x5xi8>, %b: tensor<6x3x2x5xi8>, %c: i32, %d: i32, %out: tensor<2x7x9x6xi32>) -> tensor<2x7x9x6xi32> {
  %0 = linalg.conv_2d_nhwc_fhwc_q ins(%a, %b, %c, %d : tensor<2x9x10x5xi8>, tensor<6x3x2x5xi8>, i32, i32) outs(%out : tensor<2x7x9x6xi32>) -> tensor<2x7x9x6xi32>
  return %0 : tensor<2x7x9x6xi32>
}

// CHECK-LABEL: func.func @conv_2d_nhwc_hwcf(
// CHECK: linalg.conv_2d_nhwc_hwcf
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 6, d4 = 3 : sum, d5 = 2 : sum, d6 = 5 : sum], (in0[d0, d1 * 2 + d4, d2 * 2 + d5, d6], in1[d4, d5, d6, d3], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @conv_2d_nhwc_hwcf(%a: tensor<2x15x18x5xf32>, %b: tensor<3x2x5x6xf32>, %out: tensor<2x7x9x6xf32>) -> tensor<2x7x9x6xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%a, %b : tensor<2x15x18x5xf32>, tensor<3x2x5x6xf32>) outs(%out : tensor<2x7x9x6xf32>) -> tensor<2x7x9x6xf32>
  return %0 : tensor<2x7x9x6xf32>
}

// CHECK-LABEL: func.func @conv_2d_nhwc_hwcf_q(
// CHECK: linalg.conv_2d_nhwc_hwcf_q
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 6, d4 = 3 : sum, d5 = 2 : sum, d6 = 5 : sum], (in0[d0, d1 + d4, d2 + d5, d6], in1[d4, d5, d6, d3], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @conv_2d_nhwc_hwcf_q(%a: tensor<2x9x10x5xi8>, %b: tensor<3x2x5x6xi8>, %c: i32, %d: i32, %out: tensor<2x7x9x6xi32>) -> tensor<2x7x9x6xi32> {
  %0 = linalg.conv_2d_nhwc_hwcf_q ins(%a, %b, %c, %d : tensor<2x9x10x5xi8>, tensor<3x2x5x6xi8>, i32, i32) outs(%out : tensor<2x7x9x6xi32>) -> tensor<2x7x9x6xi32>
  return %0 : tensor<2x7x9x6xi32>
}

// CHECK-LABEL: func.func @conv_2d_nhwgc_gfhwc(
// CHECK: linalg.conv_2d_nhwgc_gfhwc
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 10, d4 = 6, d5 = 3 : sum, d6 = 2 : sum, d7 = 5 : sum], (in0[d0, d1 + d5, d2 + d6, d3, d7], in1[d3, d4, d5, d6, d7], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @conv_2d_nhwgc_gfhwc(%a: tensor<2x9x10x10x5xf32>, %b: tensor<10x6x3x2x5xf32>, %out: tensor<2x7x9x10x6xf32>) -> tensor<2x7x9x10x6xf32> {
  %0 = linalg.conv_2d_nhwgc_gfhwc ins(%a, %b : tensor<2x9x10x10x5xf32>, tensor<10x6x3x2x5xf32>) outs(%out : tensor<2x7x9x10x6xf32>) -> tensor<2x7x9x10x6xf32>
  return %0 : tensor<2x7x9x10x6xf32>
}

// CHECK-LABEL: func.func @conv_2d_nhwgc_gfhwc_q(
// CHECK: linalg.conv_2d_nhwgc_gfhwc_q
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 10, d4 = 6, d5 = 3 : sum, d6 = 2 : sum, d7 = 5 : sum], (in0[d0, d1 + d5, d2 + d6, d3, d7], in1[d3, d4, d5, d6, d7], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @conv_2d_nhwgc_gfhwc_q(%a: tensor<2x9x10x10x5xi8>, %b: tensor<10x6x3x2x5xi8>, %c: i32, %d: i32, %out: tensor<2x7x9x10x6xi32>) -> tensor<2x7x9x10x6xi32> {
  %0 = linalg.conv_2d_nhwgc_gfhwc_q ins(%a, %b, %c, %d : tensor<2x9x10x10x5xi8>, tensor<10x6x3x2x5xi8>, i32, i32) outs(%out : tensor<2x7x9x10x6xi32>) -> tensor<2x7x9x10x6xi32>
  return %0 : tensor<2x7x9x10x6xi32>
}

// CHECK-LABEL: func.func @conv_3d(
// CHECK: linalg.conv_3d
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8, d1 = 7, d2 = 9, d3 = 4 : sum, d4 = 3 : sum, d5 = 2 : sum], (in0[d0 + d3, d1 + d4, d2 + d5], in1[d3, d4, d5], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @conv_3d(%a: tensor<11x9x10xf32>, %b: tensor<4x3x2xf32>, %out: tensor<8x7x9xf32>) -> tensor<8x7x9xf32> {
  %0 = linalg.conv_3d ins(%a, %b : tensor<11x9x10xf32>, tensor<4x3x2xf32>) outs(%out : tensor<8x7x9xf32>) -> tensor<8x7x9xf32>
  return %0 : tensor<8x7x9xf32>
}

// CHECK-LABEL: func.func @conv_3d_ncdhw_fcdhw(
// CHECK: linalg.conv_3d_ncdhw_fcdhw
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 6, d2 = 8, d3 = 7, d4 = 9, d5 = 5 : sum, d6 = 4 : sum, d7 = 3 : sum, d8 = 2 : sum], (in0[d0, d5, d2 + d6, d3 + d7, d4 + d8], in1[d1, d5, d6, d7, d8], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @conv_3d_ncdhw_fcdhw(%a: tensor<2x5x11x9x10xf32>, %b: tensor<6x5x4x3x2xf32>, %out: tensor<2x6x8x7x9xf32>) -> tensor<2x6x8x7x9xf32> {
  %0 = linalg.conv_3d_ncdhw_fcdhw ins(%a, %b : tensor<2x5x11x9x10xf32>, tensor<6x5x4x3x2xf32>) outs(%out : tensor<2x6x8x7x9xf32>) -> tensor<2x6x8x7x9xf32>
  return %0 : tensor<2x6x8x7x9xf32>
}

// CHECK-LABEL: func.func @conv_3d_ndhwc_dhwcf(
// CHECK: linalg.conv_3d_ndhwc_dhwcf
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 7, d3 = 9, d4 = 6, d5 = 4 : sum, d6 = 3 : sum, d7 = 2 : sum, d8 = 5 : sum], (in0[d0, d1 + d5 * 2, d2 + d6 * 2, d3 + d7 * 2, d8], in1[d5, d6, d7, d8, d4], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @conv_3d_ndhwc_dhwcf(%a: tensor<2x14x11x11x5xf32>, %b: tensor<4x3x2x5x6xf32>, %out: tensor<2x8x7x9x6xf32>) -> tensor<2x8x7x9x6xf32> {
  %0 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<2> : vector<3xi64>, strides = dense<1> : vector<3xi64>} ins(%a, %b : tensor<2x14x11x11x5xf32>, tensor<4x3x2x5x6xf32>) outs(%out : tensor<2x8x7x9x6xf32>) -> tensor<2x8x7x9x6xf32>
  return %0 : tensor<2x8x7x9x6xf32>
}

// CHECK-LABEL: func.func @conv_3d_ndhwc_dhwcf_q(
// CHECK: linalg.conv_3d_ndhwc_dhwcf_q
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 7, d3 = 9, d4 = 6, d5 = 4 : sum, d6 = 3 : sum, d7 = 2 : sum, d8 = 5 : sum], (in0[d0, d1 + d5, d2 + d6, d3 + d7, d8], in1[d5, d6, d7, d8, d4], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @conv_3d_ndhwc_dhwcf_q(%a: tensor<2x11x9x10x5xi8>, %b: tensor<4x3x2x5x6xi8>, %c: i32, %d: i32, %out: tensor<2x8x7x9x6xi32>) -> tensor<2x8x7x9x6xi32> {
  %0 = linalg.conv_3d_ndhwc_dhwcf_q ins(%a, %b, %c, %d : tensor<2x11x9x10x5xi8>, tensor<4x3x2x5x6xi8>, i32, i32) outs(%out : tensor<2x8x7x9x6xi32>) -> tensor<2x8x7x9x6xi32>
  return %0 : tensor<2x8x7x9x6xi32>
}

// CHECK-LABEL: func.func @depthwise_conv_1d_ncw_cw(
// CHECK: linalg.depthwise_conv_1d_ncw_cw
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 9, d2 = 5, d3 = 3 : sum], (in0[d0, d2, d1 + d3], in1[d2, d3], init out0[d0, d2, d1]) -> (out0[d0, d2, d1])>}
func.func @depthwise_conv_1d_ncw_cw(%a: tensor<2x5x11xf32>, %b: tensor<5x3xf32>, %out: tensor<2x5x9xf32>) -> tensor<2x5x9xf32> {
  %0 = linalg.depthwise_conv_1d_ncw_cw ins(%a, %b : tensor<2x5x11xf32>, tensor<5x3xf32>) outs(%out : tensor<2x5x9xf32>) -> tensor<2x5x9xf32>
  return %0 : tensor<2x5x9xf32>
}

// CHECK-LABEL: func.func @depthwise_conv_1d_nwc_wc(
// CHECK: linalg.depthwise_conv_1d_nwc_wc
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 9, d2 = 5, d3 = 3 : sum], (in0[d0, d1 + d3, d2], in1[d3, d2], init out0[d0, d1, d2]) -> (out0[d0, d1, d2])>}
func.func @depthwise_conv_1d_nwc_wc(%a: tensor<2x11x5xf32>, %b: tensor<3x5xf32>, %out: tensor<2x9x5xf32>) -> tensor<2x9x5xf32> {
  %0 = linalg.depthwise_conv_1d_nwc_wc ins(%a, %b : tensor<2x11x5xf32>, tensor<3x5xf32>) outs(%out : tensor<2x9x5xf32>) -> tensor<2x9x5xf32>
  return %0 : tensor<2x9x5xf32>
}

// CHECK-LABEL: func.func @depthwise_conv_1d_nwc_wcm(
// CHECK: linalg.depthwise_conv_1d_nwc_wcm
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 9, d2 = 5, d3 = 6, d4 = 3 : sum], (in0[d0, d1 + d4, d2], in1[d4, d2, d3], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @depthwise_conv_1d_nwc_wcm(%a: tensor<2x11x5xf32>, %b: tensor<3x5x6xf32>, %out: tensor<2x9x5x6xf32>) -> tensor<2x9x5x6xf32> {
  %0 = linalg.depthwise_conv_1d_nwc_wcm ins(%a, %b : tensor<2x11x5xf32>, tensor<3x5x6xf32>) outs(%out : tensor<2x9x5x6xf32>) -> tensor<2x9x5x6xf32>
  return %0 : tensor<2x9x5x6xf32>
}

// CHECK-LABEL: func.func @depthwise_conv_2d_nchw_chw(
// CHECK: linalg.depthwise_conv_2d_nchw_chw
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 5, d4 = 3 : sum, d5 = 2 : sum], (in0[d0, d3, d1 + d4, d2 + d5], in1[d3, d4, d5], init out0[d0, d3, d1, d2]) -> (out0[d0, d3, d1, d2])>}
func.func @depthwise_conv_2d_nchw_chw(%a: tensor<2x5x9x10xf32>, %b: tensor<5x3x2xf32>, %out: tensor<2x5x7x9xf32>) -> tensor<2x5x7x9xf32> {
  %0 = linalg.depthwise_conv_2d_nchw_chw ins(%a, %b : tensor<2x5x9x10xf32>, tensor<5x3x2xf32>) outs(%out : tensor<2x5x7x9xf32>) -> tensor<2x5x7x9xf32>
  return %0 : tensor<2x5x7x9xf32>
}

// CHECK-LABEL: func.func @depthwise_conv_2d_nhwc_hwc(
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 5, d4 = 3 : sum, d5 = 2 : sum], (in0[d0, d1 * 2 + d4, d2 * 2 + d5, d3], in1[d4, d5, d3], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @depthwise_conv_2d_nhwc_hwc(%a: tensor<2x15x18x5xf32>, %b: tensor<3x2x5xf32>, %out: tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%a, %b : tensor<2x15x18x5xf32>, tensor<3x2x5xf32>) outs(%out : tensor<2x7x9x5xf32>) -> tensor<2x7x9x5xf32>
  return %0 : tensor<2x7x9x5xf32>
}

// CHECK-LABEL: func.func @depthwise_conv_2d_nhwc_hwc_q(
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc_q
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 5, d4 = 3 : sum, d5 = 2 : sum], (in0[d0, d1 + d4, d2 + d5, d3], in1[d4, d5, d3], init out0[d0, d1, d2, d3]) -> (out0[d0, d1, d2, d3])>}
func.func @depthwise_conv_2d_nhwc_hwc_q(%a: tensor<2x9x10x5xi8>, %b: tensor<3x2x5xi8>, %c: i32, %d: i32, %out: tensor<2x7x9x5xi32>) -> tensor<2x7x9x5xi32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwc_q ins(%a, %b, %c, %d : tensor<2x9x10x5xi8>, tensor<3x2x5xi8>, i32, i32) outs(%out : tensor<2x7x9x5xi32>) -> tensor<2x7x9x5xi32>
  return %0 : tensor<2x7x9x5xi32>
}

// CHECK-LABEL: func.func @depthwise_conv_2d_nhwc_hwcm(
// CHECK: linalg.depthwise_conv_2d_nhwc_hwcm
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 5, d4 = 6, d5 = 3 : sum, d6 = 2 : sum], (in0[d0, d1 + d5, d2 + d6, d3], in1[d5, d6, d3, d4], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @depthwise_conv_2d_nhwc_hwcm(%a: tensor<2x9x10x5xf32>, %b: tensor<3x2x5x6xf32>, %out: tensor<2x7x9x5x6xf32>) -> tensor<2x7x9x5x6xf32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm ins(%a, %b : tensor<2x9x10x5xf32>, tensor<3x2x5x6xf32>) outs(%out : tensor<2x7x9x5x6xf32>) -> tensor<2x7x9x5x6xf32>
  return %0 : tensor<2x7x9x5x6xf32>
}

// CHECK-LABEL: func.func @depthwise_conv_2d_nhwc_hwcm_q(
// CHECK: linalg.depthwise_conv_2d_nhwc_hwcm_q
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 7, d2 = 9, d3 = 5, d4 = 6, d5 = 3 : sum, d6 = 2 : sum], (in0[d0, d1 + d5, d2 + d6, d3], in1[d5, d6, d3, d4], init out0[d0, d1, d2, d3, d4]) -> (out0[d0, d1, d2, d3, d4])>}
func.func @depthwise_conv_2d_nhwc_hwcm_q(%a: tensor<2x9x10x5xi8>, %b: tensor<3x2x5x6xi8>, %c: i32, %d: i32, %out: tensor<2x7x9x5x6xi32>) -> tensor<2x7x9x5x6xi32> {
  %0 = linalg.depthwise_conv_2d_nhwc_hwcm_q ins(%a, %b, %c, %d : tensor<2x9x10x5xi8>, tensor<3x2x5x6xi8>, i32, i32) outs(%out : tensor<2x7x9x5x6xi32>) -> tensor<2x7x9x5x6xi32>
  return %0 : tensor<2x7x9x5x6xi32>
}

// CHECK-LABEL: func.func @depthwise_conv_3d_ncdhw_cdhw(
// CHECK: linalg.depthwise_conv_3d_ncdhw_cdhw
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 7, d3 = 9, d4 = 4 : sum, d5 = 3 : sum, d6 = 2 : sum, d7 = 5], (in0[d0, d7, d1 + d4, d2 + d5, d3 + d6], in1[d7, d4, d5, d6], init out0[d0, d7, d1, d2, d3]) -> (out0[d0, d7, d1, d2, d3])>}
func.func @depthwise_conv_3d_ncdhw_cdhw(%a: tensor<2x5x11x9x10xf32>, %b: tensor<5x4x3x2xf32>, %out: tensor<2x5x8x7x9xf32>) -> tensor<2x5x8x7x9xf32> {
  %0 = linalg.depthwise_conv_3d_ncdhw_cdhw ins(%a, %b : tensor<2x5x11x9x10xf32>, tensor<5x4x3x2xf32>) outs(%out : tensor<2x5x8x7x9xf32>) -> tensor<2x5x8x7x9xf32>
  return %0 : tensor<2x5x8x7x9xf32>
}

// CHECK-LABEL: func.func @depthwise_conv_3d_ndhwc_dhwc(
// CHECK: linalg.depthwise_conv_3d_ndhwc_dhwc
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 7, d3 = 9, d4 = 4 : sum, d5 = 3 : sum, d6 = 2 : sum, d7 = 5], (in0[d0, d1 + d4, d2 + d5, d3 + d6, d7], in1[d4, d5, d6, d7], init out0[d0, d1, d2, d3, d7]) -> (out0[d0, d1, d2, d3, d7])>}
func.func @depthwise_conv_3d_ndhwc_dhwc(%a: tensor<2x11x9x10x5xf32>, %b: tensor<4x3x2x5xf32>, %out: tensor<2x8x7x9x5xf32>) -> tensor<2x8x7x9x5xf32> {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwc ins(%a, %b : tensor<2x11x9x10x5xf32>, tensor<4x3x2x5xf32>) outs(%out : tensor<2x8x7x9x5xf32>) -> tensor<2x8x7x9x5xf32>
  return %0 : tensor<2x8x7x9x5xf32>
}

// CHECK-LABEL: func.func @depthwise_conv_3d_ndhwc_dhwcm(
// CHECK: linalg.depthwise_conv_3d_ndhwc_dhwcm
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 2, d1 = 8, d2 = 7, d3 = 9, d4 = 6, d5 = 4 : sum, d6 = 3 : sum, d7 = 2 : sum, d8 = 5], (in0[d0, d1 + d5, d2 + d6, d3 + d7, d8], in1[d5, d6, d7, d8, d4], init out0[d0, d1, d2, d3, d8, d4]) -> (out0[d0, d1, d2, d3, d8, d4])>}
func.func @depthwise_conv_3d_ndhwc_dhwcm(%a: tensor<2x11x9x10x5xf32>, %b: tensor<4x3x2x5x6xf32>, %out: tensor<2x8x7x9x5x6xf32>) -> tensor<2x8x7x9x5x6xf32> {
  %0 = linalg.depthwise_conv_3d_ndhwc_dhwcm ins(%a, %b : tensor<2x11x9x10x5xf32>, tensor<4x3x2x5x6xf32>) outs(%out : tensor<2x8x7x9x5x6xf32>) -> tensor<2x8x7x9x5x6xf32>
  return %0 : tensor<2x8x7x9x5x6xf32>
}
