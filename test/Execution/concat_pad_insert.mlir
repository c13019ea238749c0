// Concatenation, padding and insertion: a part takes what of the operands falls
// into it, also nothing; padding by less than nothing takes away.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: tofu-run %t/program.mlir --devices=1 --check
// RUN: tofu-run %t/program.mlir --devices=2 --check
// RUN: tofu-run %t/program.mlir --devices=3 --check
// RUN: tofu-run %t/program.mlir --devices=4 --check
// RUN: tofu-run %t/program.mlir --devices=5 --check
// RUN: tofu-run %t/program.mlir --devices=6 --check
// RUN: tofu-run %t/program.mlir --devices=7 --check
// RUN: tofu-run %t/program.mlir --devices=8 --check

// The serial run itself is right about the last two.
// RUN: tofu-run %t/shift.mlir --devices=1 --input="5xf32=1 2 3 4 5" --expected_output="5xf32=7 1 2 3 4" --expected_output="3xf32=2 3 4"
// RUN: tofu-run %t/shift.mlir --devices=3 --input="5xf32=1 2 3 4 5" --expected_output="5xf32=7 1 2 3 4" --expected_output="3xf32=2 3 4"

//--- program.mlir
func.func @main(%x: tensor<6x11xf32>, %y: tensor<5x11xf32>) -> (tensor<11x11xf32>, tensor<6x14xf32>, tensor<11x11xf32>, tensor<11x11xf32>, tensor<11xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<11x11xf32>
  %0 = tensor.concat dim(0) %x, %y : (tensor<6x11xf32>, tensor<5x11xf32>) -> tensor<11x11xf32>
  %1 = tensor.pad %x low[0, 1] high[0, 2] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
  } : tensor<6x11xf32> to tensor<6x14xf32>
  %2 = tensor.insert_slice %x into %one[0, 0] [6, 11] [2, 1] : tensor<6x11xf32> into tensor<11x11xf32>
  %3 = tensor.insert_slice %x into %one[4, 0] [6, 11] [1, 1] : tensor<6x11xf32> into tensor<11x11xf32>
  %row = tensor.extract_slice %y[1, 0] [1, 11] [1, 1] : tensor<5x11xf32> to tensor<11xf32>
  %4 = tensor.pad %row low[2] high[-2] {
    ^bb0(%i: index):
      tensor.yield %zero : f32
  } : tensor<11xf32> to tensor<11xf32>
  return %0, %1, %2, %3, %4 : tensor<11x11xf32>, tensor<6x14xf32>, tensor<11x11xf32>, tensor<11x11xf32>, tensor<11xf32>
}

//--- shift.mlir
func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<3xf32>) {
  %seven = arith.constant 7.0 : f32
  %0 = tensor.pad %x low[1] high[-1] {
    ^bb0(%i: index):
      tensor.yield %seven : f32
  } : tensor<5xf32> to tensor<5xf32>
  %1 = tensor.pad %x low[-1] high[-1] {
    ^bb0(%i: index):
      tensor.yield %seven : f32
  } : tensor<5xf32> to tensor<3xf32>
  return %0, %1 : tensor<5xf32>, tensor<3xf32>
}
