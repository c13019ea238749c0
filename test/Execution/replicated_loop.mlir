// An operation with a region has no semantics: every device does all of it.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check

func.func @main(%x: tensor<13x5xf32>, %y: tensor<13x5xf32>) -> tensor<13x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = arith.addf %x, %y : tensor<13x5xf32>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %s) -> tensor<13x5xf32> {
    %1 = arith.mulf %acc, %y : tensor<13x5xf32>
    scf.yield %1 : tensor<13x5xf32>
  }
  %2 = arith.subf %0, %x : tensor<13x5xf32>
  return %2 : tensor<13x5xf32>
}
