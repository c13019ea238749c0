// Concatenation, padding and strided insertion, cut along the other dims.
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

func.func @main(%x: tensor<6x11xf32>, %y: tensor<5x11xf32>) -> (tensor<11x11xf32>, tensor<6x14xf32>, tensor<11x11xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<11x11xf32>
  %0 = tensor.concat dim(0) %x, %y : (tensor<6x11xf32>, tensor<5x11xf32>) -> tensor<11x11xf32>
  %1 = tensor.pad %x low[0, 1] high[0, 2] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
  } : tensor<6x11xf32> to tensor<6x14xf32>
  %2 = tensor.insert_slice %x into %one[0, 0] [6, 11] [2, 1] : tensor<6x11xf32> into tensor<11x11xf32>
  return %0, %1, %2 : tensor<11x11xf32>, tensor<6x14xf32>, tensor<11x11xf32>
}
