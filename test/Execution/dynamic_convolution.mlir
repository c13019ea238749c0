// Of a convolution, batch and channels can be cut, and a window over a dim of
// unknown size is not.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --quiet --devices=2 --input=3x9x3x3xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=1 --input=7x9x7x3xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=3 --input=7x9x7x3xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=any seed=1' --input=7x9x7x3xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=6 --partition-options='algorithm=any seed=2' --input=7x9x7x3xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=4 --input=8x9x8x3xf32=random:1 --input=random:2

func.func @main(%x: tensor<?x9x?x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<?x7x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x9x?x3xf32>
  %m = tensor.dim %x, %c2 : tensor<?x9x?x3xf32>
  %k = arith.subi %m, %c2 : index
  %e = tensor.empty(%n, %k) : tensor<?x7x?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x7x?x4xf32>) -> tensor<?x7x?x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x9x?x3xf32>, tensor<3x3x3x4xf32>) outs(%f : tensor<?x7x?x4xf32>) -> tensor<?x7x?x4xf32>
  return %r : tensor<?x7x?x4xf32>
}
