// Functions outside of the program that are not cut: without semantics, or of unknown size.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --shared-libs=%tofu_libs/libtofu_test_functions.so --quiet --check --devices=1
// RUN: tofu-run %s --shared-libs=%tofu_libs/libtofu_test_functions.so --quiet --check --devices=2
// RUN: tofu-run %s --shared-libs=%tofu_libs/libtofu_test_functions.so --quiet --check --devices=3
// RUN: tofu-run %s --shared-libs=%tofu_libs/libtofu_test_functions.so --quiet --check --devices=4

func.func private @sum_squares(tensor<5x4xf32>) -> tensor<4xf32>
func.func private @moments(tensor<?x4xf32>, f32) -> (tensor<?xf32>, tensor<?xf32>) attributes {
  tofu.semantics = #tofu.semantics<[i = ?], (x[i, :]) -> (mean[i], square[i])>
}
// Of the C library.
func.func private @fabsf(f32) -> f32

func.func @main(%x: tensor<5x4xf32>, %f: f32) -> (tensor<4xf32>, tensor<5xf32>) {
  %0 = call @sum_squares(%x) : (tensor<5x4xf32>) -> tensor<4xf32>
  %1 = math.exp %x : tensor<5x4xf32>
  %2 = tensor.cast %1 : tensor<5x4xf32> to tensor<?x4xf32>
  %3 = call @fabsf(%f) : (f32) -> f32
  %4:2 = call @moments(%2, %3) : (tensor<?x4xf32>, f32) -> (tensor<?xf32>, tensor<?xf32>)
  %5 = tensor.cast %4#1 : tensor<?xf32> to tensor<5xf32>
  return %0, %5 : tensor<4xf32>, tensor<5xf32>
}
