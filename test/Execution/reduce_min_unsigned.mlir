// A cut reduction by arith.minui, with an initial value.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=5 --check
// RUN: tofu-run %s --devices=8 --check

func.func @main(%x: tensor<3x101xi8>, %init: tensor<3xi8>) -> tensor<3xi8> {
  %0 = linalg.reduce ins(%x : tensor<3x101xi8>) outs(%init : tensor<3xi8>) dimensions = [1]
    (%in: i8, %acc: i8) {
      %r = arith.minui %acc, %in : i8
      linalg.yield %r : i8
    }
  return %0 : tensor<3xi8>
}
