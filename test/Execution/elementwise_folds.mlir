// Operations that fold to a constant of the size of a part.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --input=4xi32=7 --devices=3 --quiet --expected_output=4xi32=0 --expected_output=4xi32=0 --expected_output=4xi1=1 --expected_output=4xi32=0
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=5 --check

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi32>) {
  %ones = arith.constant dense<-1> : tensor<4xi32>
  %0 = arith.xori %x, %x : tensor<4xi32>
  %1 = arith.subi %x, %x : tensor<4xi32>
  %2 = arith.cmpi sle, %x, %x : tensor<4xi32>
  %3 = arith.xori %x, %ones : tensor<4xi32>
  %4 = arith.andi %x, %3 : tensor<4xi32>
  return %0, %1, %2, %4 : tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi32>
}
