// An updated weight keeps the layout that it came in with.
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

func.func @main(%w: tensor<7x13xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<5x7xf32>, %g: tensor<5x13xf32>) -> (tensor<7x13xf32>, tensor<5x13xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x13xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<5x13xf32>) -> tensor<5x13xf32>
  %y = linalg.matmul ins(%x, %w : tensor<5x7xf32>, tensor<7x13xf32>) outs(%c : tensor<5x13xf32>) -> tensor<5x13xf32>
  %e2 = tensor.empty() : tensor<7x5xf32>
  %t = linalg.transpose ins(%x : tensor<5x7xf32>) outs(%e2 : tensor<7x5xf32>) permutation = [1, 0]
  %e3 = tensor.empty() : tensor<7x13xf32>
  %c3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<7x13xf32>) -> tensor<7x13xf32>
  %dw = linalg.matmul ins(%t, %g : tensor<7x5xf32>, tensor<5x13xf32>) outs(%c3 : tensor<7x13xf32>) -> tensor<7x13xf32>
  %new = arith.subf %w, %dw : tensor<7x13xf32>
  return %new, %y : tensor<7x13xf32>, tensor<5x13xf32>
}
