// A division by zero ends the run with an error that names the device, not the process.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Other processors make a number of it.
// REQUIRES: x86

// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %s --input="5xi32=6 7 8 9 10" --input="5xi32=1 2 3 0 5" 2>&1 | FileCheck %s -DDEVICE=0
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %s --devices=4 --input="5xi32=6 7 8 9 10" --input="5xi32=1 2 3 0 5" 2>&1 | FileCheck %s -DDEVICE=2
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %s --devices=4 --check --input="5xi32=1 2 3 -2147483648 5" --input="5xi32=1 2 3 -1 5" 2>&1 | FileCheck %s -DDEVICE=2
// RUN: tofu-run %s --devices=4 --check --input="5xi32=6 7 8 9 10" --input="5xi32=1 2 3 4 5"

// CHECK: tofu-run: error: device [[DEVICE]]: integer division by zero, or of the least number by -1
func.func @main(%a: tensor<5xi32>, %b: tensor<5xi32>) -> (tensor<5xi32>, tensor<i32>) {
  %0 = arith.divsi %a, %b : tensor<5xi32>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %1 = linalg.reduce { arith.addi } ins(%0 : tensor<5xi32>) outs(%i : tensor<i32>) dimensions = [0]
  return %0, %1 : tensor<5xi32>, tensor<i32>
}
