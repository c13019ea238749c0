// Rows that no number of devices divides.
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

func.func @main(%a: tensor<67x5xf32>, %b: tensor<5x8xf32>) -> tensor<67x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<67x8xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<67x8xf32>) -> tensor<67x8xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<67x5xf32>, tensor<5x8xf32>) outs(%c : tensor<67x8xf32>) -> tensor<67x8xf32>
  return %0 : tensor<67x8xf32>
}
