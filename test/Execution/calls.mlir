// Calls are inlined; the results are those of the whole program.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check

func.func private @scale(%x: tensor<13x5xf32>, %by: f32) -> tensor<13x5xf32> {
  %e = tensor.empty() : tensor<13x5xf32>
  %f = linalg.fill ins(%by : f32) outs(%e : tensor<13x5xf32>) -> tensor<13x5xf32>
  %0 = arith.mulf %x, %f : tensor<13x5xf32>
  return %0 : tensor<13x5xf32>
}
func.func @main(%x: tensor<13x5xf32>) -> tensor<13x5xf32> {
  %two = arith.constant 2.0 : f32
  %0 = call @scale(%x, %two) : (tensor<13x5xf32>, f32) -> tensor<13x5xf32>
  %1 = call @scale(%0, %two) : (tensor<13x5xf32>, f32) -> tensor<13x5xf32>
  return %1 : tensor<13x5xf32>
}
