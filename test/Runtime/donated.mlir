// A donated argument is a fresh copy for each iteration and for --check.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --iters=3 --warmup=2 --input="5xf32=1 2 3 4 5" --expected_output="5xf32=2 4 6 8 10"
// RUN: tofu-run %s --devices=2 --iters=3 --input="5xf32=1 2 3 4 5" --expected_output="5xf32=2 4 6 8 10"
// RUN: tofu-run %s --devices=3 --iters=2 --check

func.func @main(%a: tensor<5xf32> {tf.aliasing_output = 0 : i32}) -> tensor<5xf32> {
  %sum = linalg.add ins(%a, %a : tensor<5xf32>, tensor<5xf32>) outs(%a : tensor<5xf32>) -> tensor<5xf32>
  return %sum : tensor<5xf32>
}
