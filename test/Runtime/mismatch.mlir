// Results that differ: exit code 1, the first of them, how many, and by how
// much.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: %python %S/Inputs/exit_code.py 1 tofu-run %s -e main --input="2x3xf32=1 2 3 4 5 6" --input="3xi32=1 2 3" --expected_output="2x3xf32=1 2 3 4 6 6.5" --expected_output="3xi32=1 2 4" 2>&1 | FileCheck %s
// RUN: tofu-run %s -e main --devices=2 --input="2x3xf32=1 2 3 4 5 6" --input="3xi32=1 2 3" --expected_output="2x3xf32=1 2 3 4 5.5 6.5" --expected_output="3xi32=1 2 3" --rtol=0.1
// RUN: tofu-run %s -e main --devices=2 --input="2x3xf32=1 2 3 4 5 6" --input="3xi32=1 2 3" --expected_output="2x3xf32=1 2 3 4 5.5 6.5" --expected_output="3xi32=1 2 3" --atol=0.5
// RUN: tofu-run %s -e main --input="2x3xf32=nan inf 3 4 5 6" --input="3xi32=1 2 3" --expected_output="2x3xf32=nan inf 3.0001 4 5 6" --expected_output="3xi32=1 2 3"
// RUN: %python %S/Inputs/exit_code.py 1 tofu-run %s -e main --input="2x3xf32=1" --input="3xi32=1" --expected_output="2x3xf32=nan" --expected_output="3xi32=1" 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: %python %S/Inputs/exit_code.py 1 tofu-run %s --function=dynamic --input=2xf32=1 --expected_output=3xf32=1 2>&1 | FileCheck %s --check-prefix=SHAPE

// CHECK: error: result 0[1, 1]: got 5, the expected output has 6; 2 of 6 elements differ, the largest difference is 1
// CHECK: error: result 1[2]: got 3, the expected output has 4; 1 of 3 elements differ, the largest difference is 1
// NAN: error: result 0[0, 0]: got 1, the expected output has nan; 6 of 6 elements differ, the largest difference is inf
// SHAPE: error: result 0: is 2xf32, the expected output is 3xf32

func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xi32>) -> (tensor<2x3xf32>, tensor<3xi32>) {
  return %a, %b : tensor<2x3xf32>, tensor<3xi32>
}

func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}
