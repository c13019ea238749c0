// Semantics read off the tiling interface.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s

// Operations that say how they are tiled need no model: the slices that a tile
// takes tell what it reads.

// The dim of the softmax stays whole.
// CHECK-LABEL: @softmax
// CHECK: [d0 = 6, d1 = 10 : unsplittable, d2 = 3], (in0[d0, :, d2], in1[d0, :, d2]) -> (out0[d0, :, d2])
func.func @softmax(%a: tensor<6x10x3xf32>) -> tensor<6x10x3xf32> {
  %o = tensor.empty() : tensor<6x10x3xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<6x10x3xf32>) outs(%o : tensor<6x10x3xf32>) -> tensor<6x10x3xf32>
  return %0 : tensor<6x10x3xf32>
}

// CHECK-LABEL: @winograd_filter
// CHECK: [d0 = 2, d1 = 3 : unsplittable, d2 = 3 : unsplittable, d3 = 5], (in0[d0, :, :, d3], in1[:, :, d3, d0]) -> (out0[:, :, d3, d0])
func.func @winograd_filter(%a: tensor<2x3x3x5xf32>) -> tensor<6x6x5x2xf32> {
  %o = tensor.empty() : tensor<6x6x5x2xf32>
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x5xf32>) outs(%o : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  return %0 : tensor<6x6x5x2xf32>
}

// Tiles of six rows and columns, four apart.
// CHECK-LABEL: @winograd_input
// CHECK: [d0 = 6 : unsplittable, d1 = 6 : unsplittable, d2 = 3, d3 = 2, d4 = 2, d5 = 5, d6 = 6 : unsplittable, d7 = 6 : unsplittable],
// CHECK-SAME: (in0[d4, d2 * 4 + d6, d3 * 4 + d7, d5], in1[:, :, d2, d3, d4, d5]) -> (out0[:, :, d2, d3, d4, d5])
func.func @winograd_input(%a: tensor<2x14x10x5xf32>) -> tensor<6x6x3x2x2x5xf32> {
  %o = tensor.empty() : tensor<6x6x3x2x2x5xf32>
  %0 = linalg.winograd_input_transform fmr(F_4_3) ins(%a : tensor<2x14x10x5xf32>) outs(%o : tensor<6x6x3x2x2x5xf32>) -> tensor<6x6x3x2x2x5xf32>
  return %0 : tensor<6x6x3x2x2x5xf32>
}

// CHECK-LABEL: @winograd_output
// CHECK: [d0 = 6 : unsplittable, d1 = 6 : unsplittable, d2 = 3, d3 = 2, d4 = 2, d5 = 2,
// CHECK-SAME: (in0[:, :, d2, d3, d4, d5], in1[d4, d2 * 4 + d6, d3 * 4 + d7, d5]) -> (out0[d4, d2 * 4 + d8, d3 * 4 + d9, d5])
func.func @winograd_output(%a: tensor<6x6x3x2x2x2xf32>) -> tensor<2x12x8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x12x8x2xf32>
  %o = linalg.fill ins(%zero : f32) outs(%e : tensor<2x12x8x2xf32>) -> tensor<2x12x8x2xf32>
  %0 = linalg.winograd_output_transform fmr(F_4_3) ins(%a : tensor<6x6x3x2x2x2xf32>) outs(%o : tensor<2x12x8x2xf32>) -> tensor<2x12x8x2xf32>
  return %0 : tensor<2x12x8x2xf32>
}

// The last tile is padded: its box ends with the source.
// CHECK-LABEL: @pack
// CHECK: [d0 = 3, d1 = 5, d2 = 4 : unsplittable, d3 = 3 : unsplittable], (in0[d1 * 4 + d2, d0 * 3 + d3], in1[d0, d1, :, :]) -> (out0[d0, d1, :, :])
func.func @pack(%a: tensor<19x9xf32>, %p: f32) -> tensor<3x5x4x3xf32> {
  %o = tensor.empty() : tensor<3x5x4x3xf32>
  %0 = linalg.pack %a padding_value(%p : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %o : tensor<19x9xf32> -> tensor<3x5x4x3xf32>
  return %0 : tensor<3x5x4x3xf32>
}

// CHECK-LABEL: @pack_some
// CHECK: [d0 = 5, d1 = 2, d2 = 4 : unsplittable], (in0[d0, d1 * 4 + d2], in1[d0, d1, :]) -> (out0[d0, d1, :])
func.func @pack_some(%a: tensor<5x8xi32>) -> tensor<5x2x4xi32> {
  %o = tensor.empty() : tensor<5x2x4xi32>
  %0 = linalg.pack %a inner_dims_pos = [1] inner_tiles = [4] into %o : tensor<5x8xi32> -> tensor<5x2x4xi32>
  return %0 : tensor<5x2x4xi32>
}

// Cut along the tiles.
// CHECK-LABEL: @unpack
// CHECK: [d0 = 3, d1 = 5, d2 = 4 : unsplittable, d3 = 3 : unsplittable], (in0[d0, d1, d2, d3], _) -> (out0[d1 * 4 + d2, d0 * 3 + d3]), linear [{0}]
func.func @unpack(%a: tensor<3x5x4x3xf32>) -> tensor<19x9xf32> {
  %o = tensor.empty() : tensor<19x9xf32>
  %0 = linalg.unpack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %o : tensor<3x5x4x3xf32> -> tensor<19x9xf32>
  return %0 : tensor<19x9xf32>
}
