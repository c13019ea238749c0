// A cut reduction by arith.addi, with an initial value.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=5 --check
// RUN: tofu-run %s --devices=8 --check

func.func @main(%x: tensor<3x101xi16>, %init: tensor<3xi16>) -> tensor<3xi16> {
  %0 = linalg.reduce ins(%x : tensor<3x101xi16>) outs(%init : tensor<3xi16>) dimensions = [1]
    (%in: i16, %acc: i16) {
      %r = arith.addi %acc, %in : i16
      linalg.yield %r : i16
    }
  return %0 : tensor<3xi16>
}
