// What a program asks of its plan is no concern of the serial run that --check
// compares with.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --devices=2
// RUN: tofu-run %s --check --devices=3

func.func @main(%x: tensor<5x6xf32> {tofu.forbid = [1], tofu.tie = "rows", tofu.priority = 1},
                %y: tensor<5x6xf32> {tofu.tie = "rows"}) -> (tensor<5x6xf32> {tofu.forbid = [1]}) {
  %0 = arith.addf %x, %y {tofu.forbid = [1]} : tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}
