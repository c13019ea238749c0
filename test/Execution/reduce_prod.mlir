// A cut reduction by arith.mulf, with an initial value.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=5 --check
// RUN: tofu-run %s --devices=8 --check

func.func @main(%x: tensor<3x101xf32>, %init: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.reduce ins(%x : tensor<3x101xf32>) outs(%init : tensor<3xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %r = arith.mulf %acc, %in : f32
      linalg.yield %r : f32
    }
  return %0 : tensor<3xf32>
}
