// arith and math on whole tensors, and a constant that is no splat.
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

func.func @main(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %c = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5],
       [0.0, 0.5, 0.25, 1.25, 9.0, 8.0, 7.0], [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0], [2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0]]> : tensor<5x7xf32>
  %0 = arith.mulf %x, %c : tensor<5x7xf32>
  %1 = math.exp %0 : tensor<5x7xf32>
  %2 = arith.addf %1, %c : tensor<5x7xf32>
  return %2 : tensor<5x7xf32>
}
