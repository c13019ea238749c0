// The outer dim of a group of a reshape may be of unknown size: its parts are
// parts of the whole group. Sizes of reshaped tensors are those of the whole.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --quiet --devices=3 --input=1x6x4xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=8 --input=2x6x4xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=2 --input=7x6x4xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=3 --input=7x6x4xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=4 --input=7x6x4xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=any seed=1' --input=7x6x4xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=6 --partition-options='algorithm=any seed=2' --input=7x6x4xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=8 --partition-options='algorithm=any seed=3' --input=7x6x4xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=4 --input=16x6x4xf32=random:1 --input=random:2
// RUN: tofu-run %s --check --quiet --devices=3 --partition-options='algorithm=random seed=5 replication=true partials=true' --input=16x6x4xf32=random:1 --input=random:2

func.func @main(%x: tensor<?x6x4xf32>, %w: tensor<4x5xf32>) -> (tensor<?x6x5xf32>, tensor<?xf32>, tensor<1x?x2x3x5xf32>, index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x6x4xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x6x4xf32> into tensor<?x4xf32>
  %m = tensor.dim %flat, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  %p = linalg.matmul ins(%flat, %w : tensor<?x4xf32>, tensor<4x5xf32>) outs(%f : tensor<?x5xf32>) -> tensor<?x5xf32>
  %q = math.exp %p : tensor<?x5xf32>
  %back = tensor.expand_shape %q [[0, 1], [2]] output_shape [%n, 6, 5] : tensor<?x5xf32> into tensor<?x6x5xf32>
  %line = tensor.collapse_shape %back [[0, 1, 2]] : tensor<?x6x5xf32> into tensor<?xf32>
  %sq = arith.mulf %line, %line : tensor<?xf32>
  %five = tensor.expand_shape %back [[0, 1], [2, 3], [4]] output_shape [1, %n, 2, 3, 5] : tensor<?x6x5xf32> into tensor<1x?x2x3x5xf32>
  %neg = arith.negf %five : tensor<1x?x2x3x5xf32>
  %d = tensor.dim %sq, %c0 : tensor<?xf32>
  return %back, %sq, %neg, %d : tensor<?x6x5xf32>, tensor<?xf32>, tensor<1x?x2x3x5xf32>, index
}
