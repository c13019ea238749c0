// A cut reduction by arith.xori, with an initial value.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=5 --check
// RUN: tofu-run %s --devices=8 --check

func.func @main(%x: tensor<3x101xi64>, %init: tensor<3xi64>) -> tensor<3xi64> {
  %0 = linalg.reduce ins(%x : tensor<3x101xi64>) outs(%init : tensor<3xi64>) dimensions = [1]
    (%in: i64, %acc: i64) {
      %r = arith.xori %acc, %in : i64
      linalg.yield %r : i64
    }
  return %0 : tensor<3xi64>
}
