// Windows over dims of unknown size.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{k} = 2
// DEFINE: %{length} = 2
// DEFINE: %{run} = tofu-run %s --check --quiet --devices=%{k} --input=1x%{length}x1x3xf32=random:1 --input=3x1x3x4xf32=random:2
// RUN: %{run}
// REDEFINE: %{length} = 3
// RUN: %{run}
// REDEFINE: %{length} = 4
// RUN: %{run}
// REDEFINE: %{length} = 16
// RUN: %{run}
// REDEFINE: %{length} = 37
// RUN: %{run}
// REDEFINE: %{k} = 3
// RUN: %{run}
// REDEFINE: %{k} = 4
// RUN: %{run}
// REDEFINE: %{k} = 8
// RUN: %{run}
// REDEFINE: %{length} = 5
// RUN: %{run}
// REDEFINE: %{k} = 6 --partition-options='algorithm=any seed=1'
// RUN: %{run}
// REDEFINE: %{k} = 6 --partition-options='algorithm=any seed=2'
// RUN: %{run}

func.func @main(%x: tensor<1x?x1x3xf32>, %w: tensor<3x1x3x4xf32>) -> (tensor<1x?x1x4xf32>, tensor<1x?x1x4xf32>, tensor<1x?x1x3xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c1 : tensor<1x?x1x3xf32>

  // One result for each of the padded input's rows.
  %padded = tensor.pad %x low[0, 1, 0, 0] high[0, 1, 0, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
  } : tensor<1x?x1x3xf32> to tensor<1x?x1x3xf32>
  %e0 = tensor.empty(%n) : tensor<1x?x1x4xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x?x1x4xf32>) -> tensor<1x?x1x4xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%padded, %w : tensor<1x?x1x3xf32>, tensor<3x1x3x4xf32>) outs(%i0 : tensor<1x?x1x4xf32>) -> tensor<1x?x1x4xf32>

  // Every other one, of an even or odd number.
  %last = arith.subi %n, %c1 : index
  %half = arith.floordivsi %last, %c2 : index
  %m = arith.addi %half, %c1 : index
  %e1 = tensor.empty(%m) : tensor<1x?x1x4xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x?x1x4xf32>) -> tensor<1x?x1x4xf32>
  %1 = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>}
      ins(%padded, %w : tensor<1x?x1x3xf32>, tensor<3x1x3x4xf32>) outs(%i1 : tensor<1x?x1x4xf32>) -> tensor<1x?x1x4xf32>

  // The greatest of two, without padding.
  %e2 = tensor.empty(%last) : tensor<1x?x1x3xf32>
  %window = tensor.empty() : tensor<2x1xf32>
  %i2 = linalg.fill ins(%least : f32) outs(%e2 : tensor<1x?x1x3xf32>) -> tensor<1x?x1x3xf32>
  %2 = linalg.pooling_nhwc_max ins(%x, %window : tensor<1x?x1x3xf32>, tensor<2x1xf32>) outs(%i2 : tensor<1x?x1x3xf32>) -> tensor<1x?x1x3xf32>
  return %0, %1, %2 : tensor<1x?x1x4xf32>, tensor<1x?x1x4xf32>, tensor<1x?x1x3xf32>
}
