// A strided convolution over one image, cut along its height: parts need rows of their neighbours.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check
// RUN: tofu-run %s --devices=5 --check
// RUN: tofu-run %s --devices=6 --check
// RUN: tofu-run %s --devices=7 --check
// RUN: tofu-run %s --devices=8 --check

func.func @main(%x: tensor<1x41x7x2xf32>, %w: tensor<3x3x2x2xf32>) -> tensor<1x20x5x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x20x5x2xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<1x20x5x2xf32>) -> tensor<1x20x5x2xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x41x7x2xf32>, tensor<3x3x2x2xf32>) outs(%c : tensor<1x20x5x2xf32>) -> tensor<1x20x5x2xf32>
  return %0 : tensor<1x20x5x2xf32>
}
