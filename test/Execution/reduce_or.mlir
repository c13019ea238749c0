// A cut reduction by arith.ori, with an initial value.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=5 --check
// RUN: tofu-run %s --devices=8 --check

func.func @main(%x: tensor<3x101xi1>, %init: tensor<3xi1>) -> tensor<3xi1> {
  %0 = linalg.reduce ins(%x : tensor<3x101xi1>) outs(%init : tensor<3xi1>) dimensions = [1]
    (%in: i1, %acc: i1) {
      %r = arith.ori %acc, %in : i1
      linalg.yield %r : i1
    }
  return %0 : tensor<3xi1>
}
