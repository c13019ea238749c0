// Scalars, 0-d tensors, and integers of several widths.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check

func.func @main(%s: f32, %z: tensor<f32>, %b: tensor<11xi1>, %i: tensor<11xi8>, %l: tensor<11xi64>) -> (f32, tensor<f32>, tensor<11xi8>, tensor<11xi64>) {
  %0 = arith.addf %s, %s : f32
  %1 = arith.mulf %z, %z : tensor<f32>
  %2 = arith.select %b, %i, %i : tensor<11xi1>, tensor<11xi8>
  %3 = arith.extui %b : tensor<11xi1> to tensor<11xi64>
  %4 = arith.addi %l, %3 : tensor<11xi64>
  return %0, %1, %2, %4 : f32, tensor<f32>, tensor<11xi8>, tensor<11xi64>
}
