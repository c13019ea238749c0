// What is off by no more than rounding does to the program is good: the largest
// element says how much an error of all others is, and the run in f64 what error
// the unpartitioned run has.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{program} = sums
// DEFINE: %{run} = %tofu_tools/tofu-run %t/%{program}.mlir --devices=3 --check --opt-level=0
// DEFINE: %{mismatch} = %python %S/Inputs/exit_code.py 1 %{run}
// DEFINE: %{sums} = "--input=2x6xf32=2000 0 0 0 0 0 1e6 0.03 -1e6 0.02 0 0"

// RUN: split-file %s %t

// From left to right the second sum is 0.02, in three parts it is 0; it is 0.05.

// RUN: %{run} %{sums} --json=%t/report.json 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t/report.json
// RUN: %{run} %{sums} --quiet 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// CHECK: tofu-run: note: result 0 differs from the unpartitioned run by up to 0.02, which rounding explains: that differs from the same in f64 by up to 0.03
// JSON: "rounding_error": 0.0{{3|29999}}
// QUIET-NOT: {{.}}

// What tolerance there is may be said.

// RUN: %{mismatch} %{sums} --rtol=1e-4 2>&1 | FileCheck %s --check-prefix=MISMATCH
// RUN: %{run} %{sums} --quiet --atol=0.021
// MISMATCH: error: result 0[1]: got 0, the unpartitioned run has 0.0199999996; 1 of 2 elements differ, the largest difference is 0.02

// Of which so little is left, nothing can be told.

// RUN: %{mismatch} "--input=2x6xf32=2 0 0 0 0 0 1e6 0.03 -1e6 0.02 0 0" 2>&1 | FileCheck %s --check-prefix=MISMATCH

// What isn't the same program in f64 has no other tolerance.

// REDEFINE: %{program} = bits
// RUN: %{mismatch} "--input=2x6xf32=2000 0 0 0 0 0 1e6 0.03 -1e6 0.02 0 0" 2>&1 | FileCheck %s --check-prefix=MISMATCH --implicit-check-not=widened

//--- sums.mlir
func.func @sums(%x: tensor<2x6xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %sums = linalg.reduce {arith.addf} ins(%x : tensor<2x6xf32>) outs(%init : tensor<2xf32>) dimensions = [1]
  return %sums : tensor<2xf32>
}

//--- bits.mlir
func.func @bits(%x: tensor<2x6xf32>) -> (tensor<2xf32>, tensor<2x6xi32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %sums = linalg.reduce {arith.addf} ins(%x : tensor<2x6xf32>) outs(%init : tensor<2xf32>) dimensions = [1]
  %bits = tensor.bitcast %x : tensor<2x6xf32> to tensor<2x6xi32>
  return %sums, %bits : tensor<2xf32>, tensor<2x6xi32>
}
