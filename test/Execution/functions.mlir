// Functions outside of the program, which declarations describe, are cut as they say and called on
// what a device has: several results, scalars, reductions, initial values, halos, operands that are
// not read. The functions end the process if they are called without anything to do.
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
// RUN: %{run} --devices=8

// Parts without elements, parts of reductions, sums that stay partial.
// RUN: %{run} --devices=4 --partition-options="algorithm=any seed=1"
// RUN: %{run} --devices=4 --partition-options="algorithm=any seed=2 partials=true"
// RUN: %{run} --devices=6 --partition-options="algorithm=any seed=3 replication=true"
// RUN: %{run} --devices=6 --partition-options="algorithm=any seed=4 partials=true replication=true"
// RUN: %{run} --devices=7 --partition-options="algorithm=any seed=5"
// RUN: %{run} --devices=8 --partition-options="algorithm=any seed=6 partials=true"

func.func private @moments(tensor<5x4xf32>, f32) -> (tensor<5xf32>, tensor<5xf32>) attributes {
  tofu.semantics = #tofu.semantics<[i = 5], (x[i, :]) -> (mean[i], square[i])>
}
func.func private @sum_squares(tensor<5x4xf32>) -> tensor<4xf32> attributes {
  tofu.semantics = #tofu.semantics<[i = 5 : sum, j = 4], (x[i, j]) -> (out[j])>
}
func.func private @add_squares(tensor<5x4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {
  tofu.semantics = #tofu.semantics<[i = 5 : sum, j = 4], (x[i, j], init out[j]) -> (out[j])>
}
func.func private @column_max(tensor<5x4xi32>, tensor<5x4xi32>) -> tensor<4xi32> attributes {
  tofu.semantics = #tofu.semantics<[i = 5 : max, j = 4], (_, x[i, j]) -> (out[j])>
}
func.func private @smooth(tensor<12xf32>, tensor<3xf32>) -> tensor<5xf32> attributes {
  tofu.semantics = #tofu.semantics<[y = 5, i = 3 : unsplittable], (in[2*y + i], w[i]) -> (out[y])>
}
func.func private @scalars(tensor<5xi64>, i1, i8, i16, i32, i64, index, f32, f64) -> tensor<5xi64> attributes {
  tofu.semantics = #tofu.semantics<[i = 5], (x[i]) -> (out[i])>
}
func.func private @both(tensor<5xbf16>, tensor<5xi1>) -> tensor<i1> attributes {
  tofu.semantics = #tofu.semantics<[i = 5 : and], (x[i], y[i]) -> (all[])>
}
func.func private @reverse(tensor<4xf32>) -> tensor<4xf32> attributes {
  tofu.semantics = #tofu.semantics<[i = 4], (in[3 - i]) -> (out[i]), linear [{0}]>
}
func.func private @count() -> tensor<5xi32> attributes {
  tofu.semantics = #tofu.semantics<[i = 5], () -> (out[i])>
}

func.func @main(%x: tensor<5x4xf32>, %n: tensor<5x4xi32>, %t: tensor<12xf32>, %w: tensor<3xf32>, %m: tensor<5xi64>,
                %h: tensor<5xbf16>, %o: tensor<5xi1>, %sum: tensor<4xf32>)
    -> (tensor<5xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<5xf32>, tensor<5xi64>, tensor<i1>, tensor<5xi32>, tensor<4xf32>) {
  %factor = arith.constant 0.5 : f32
  %0:2 = call @moments(%x, %factor) : (tensor<5x4xf32>, f32) -> (tensor<5xf32>, tensor<5xf32>)
  %1 = call @sum_squares(%x) : (tensor<5x4xf32>) -> tensor<4xf32>

  // Initial values that must count once, and that are neutral.
  %2 = call @add_squares(%x, %sum) : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %3 = call @add_squares(%x, %zero) : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<4xf32>

  %unread = tensor.empty() : tensor<5x4xi32>
  %4 = call @column_max(%unread, %n) : (tensor<5x4xi32>, tensor<5x4xi32>) -> tensor<4xi32>
  %5 = call @smooth(%t, %w) : (tensor<12xf32>, tensor<3xf32>) -> tensor<5xf32>

  %yes = arith.constant true
  %i8 = arith.constant -100 : i8
  %i16 = arith.constant -30000 : i16
  %i32 = arith.constant -2000000000 : i32
  %i64 = arith.constant 9000000000 : i64
  %index = arith.constant 17 : index
  %f32 = arith.constant 1000.0 : f32
  %f64 = arith.constant 100000000000.0 : f64
  %6 = call @scalars(%m, %yes, %i8, %i16, %i32, %i64, %index, %f32, %f64)
      : (tensor<5xi64>, i1, i8, i16, i32, i64, index, f32, f64) -> tensor<5xi64>

  %one = arith.constant dense<1.0> : tensor<5xbf16>
  %ones = arith.maximumf %h, %one : tensor<5xbf16>
  %7 = call @both(%ones, %o) : (tensor<5xbf16>, tensor<5xi1>) -> tensor<i1>
  %8 = call @count() : () -> tensor<5xi32>
  // Of a sum that may stay partial.
  %9 = call @reverse(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %0#0, %0#1, %1, %2, %3, %4, %5, %6, %7, %8, %9
      : tensor<5xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<5xf32>, tensor<5xi64>, tensor<i1>, tensor<5xi32>, tensor<4xf32>
}
