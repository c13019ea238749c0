// Double precision.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check

func.func @main(%a: tensor<13x17xf64>, %b: tensor<17x9xf64>) -> tensor<13x9xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<13x9xf64>
  %c = linalg.fill ins(%zero : f64) outs(%e : tensor<13x9xf64>) -> tensor<13x9xf64>
  %0 = linalg.matmul ins(%a, %b : tensor<13x17xf64>, tensor<17x9xf64>) outs(%c : tensor<13x9xf64>) -> tensor<13x9xf64>
  return %0 : tensor<13x9xf64>
}
