// Functions outside of the program get elements that lie one after the other, also of a slice; their
// results go into slices, loops and branches.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{run} = tofu-run %s --shared-libs=%tofu_libs/libtofu_test_functions.so --quiet --check
// RUN: %{run} --devices=1
// RUN: %{run} --devices=2
// RUN: %{run} --devices=3
// RUN: %{run} --devices=4
// RUN: %{run} --devices=5
// RUN: %{run} --devices=7 --partition-options="algorithm=any seed=1"
// RUN: %{run} --devices=7 --partition-options="algorithm=any seed=2 partials=true"
// RUN: %{run} --devices=6 --partition-options="algorithm=any seed=3"

func.func private @moments(tensor<5x4xf32>, f32) -> (tensor<5xf32>, tensor<5xf32>) attributes {
  tofu.semantics = #tofu.semantics<[i = 5], (x[i, :]) -> (mean[i], square[i])>
}
func.func private @sum_squares(tensor<5x4xf32>) -> tensor<4xf32> attributes {
  tofu.semantics = #tofu.semantics<[i = 5 : sum, j = 4], (x[i, j]) -> (out[j])>
}

func.func @main(%x: tensor<5x9xf32>, %y: tensor<3x4xf32>, %c: i1, %f: f32) -> (tensor<3x4xf32>, tensor<5xf32>, tensor<5xf32>) {
  // Columns 1, 3, 5, 7 of 9.
  %columns = tensor.extract_slice %x[0, 1] [5, 4] [1, 2] : tensor<5x9xf32> to tensor<5x4xf32>
  %sums = func.call @sum_squares(%columns) : (tensor<5x4xf32>) -> tensor<4xf32>
  %0 = tensor.insert_slice %sums into %y[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
  // The same operand and result, over and over.
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<5xf32>
  %1 = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %zero) -> tensor<5xf32> {
    %2:2 = func.call @moments(%columns, %f) : (tensor<5x4xf32>, f32) -> (tensor<5xf32>, tensor<5xf32>)
    %3 = arith.addf %sum, %2#1 : tensor<5xf32>
    scf.yield %3 : tensor<5xf32>
  }
  %4 = scf.if %c -> tensor<5xf32> {
    %5:2 = func.call @moments(%columns, %f) : (tensor<5x4xf32>, f32) -> (tensor<5xf32>, tensor<5xf32>)
    scf.yield %5#0 : tensor<5xf32>
  } else {
    scf.yield %1 : tensor<5xf32>
  }
  return %0, %1, %4 : tensor<3x4xf32>, tensor<5xf32>, tensor<5xf32>
}
