// Packing into one tile and unpacking it, against numbers found by hand: with one
// tile, upstream's lowering would take a slice of the wrong dims.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --input='1x2x4xf32=1 2 3 4 5 6 7 8' --expected_output='3x2xf32=1 5 2 6 3 7' --expected_output='1x2x4xf32=1 2 3 9 5 6 7 9'
// RUN: tofu-run %s --devices=2 --input='1x2x4xf32=1 2 3 4 5 6 7 8' --expected_output='3x2xf32=1 5 2 6 3 7' --expected_output='1x2x4xf32=1 2 3 9 5 6 7 9'
// RUN: tofu-run %s --devices=3 --input='1x2x4xf32=1 2 3 4 5 6 7 8' --expected_output='3x2xf32=1 5 2 6 3 7' --expected_output='1x2x4xf32=1 2 3 9 5 6 7 9'

func.func @main(%x: tensor<1x2x4xf32>) -> (tensor<3x2xf32>, tensor<1x2x4xf32>) {
  %e = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [4] into %e : tensor<1x2x4xf32> -> tensor<3x2xf32>
  %nine = arith.constant 9.0 : f32
  %f = tensor.empty() : tensor<1x2x4xf32>
  %1 = linalg.pack %0 padding_value(%nine : f32) inner_dims_pos = [0] inner_tiles = [4] into %f : tensor<3x2xf32> -> tensor<1x2x4xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<1x2x4xf32>
}
