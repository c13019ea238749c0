// Functions on tensors of unknown size, cut: devices without a part don't call them, however many that
// are.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{run} = tofu-run %s --shared-libs=%tofu_libs/libtofu_test_functions.so --quiet --check
// RUN: %{run} --devices=1 --input=3x1xf32=random:1:-2:-1 --input=3x4xf32=random:2 --input=f32=1.5
// RUN: %{run} --devices=2 --input=3x1xf32=random:1:-2:-1 --input=3x4xf32=random:2 --input=f32=1.5
// RUN: %{run} --devices=3 --input=1x1xf32=random:1:-2:-1 --input=2x4xf32=random:2 --input=f32=1.5
// RUN: %{run} --devices=4 --input=13x1xf32=random:1:-2:-1 --input=13x4xf32=random:2 --input=f32=1.5
// RUN: %{run} --devices=8 --input=3x1xf32=random:1:-2:-1 --input=5x4xf32=random:2 --input=f32=1.5

func.func private @sum_and_max(tensor<?x1xf32>) -> (tensor<1xf32>, tensor<1xf32>) attributes {
  tofu.semantics = #tofu.semantics<[i = ? : (sum, max), j = 1], (x[i, j]) -> (sum[j], max[j])>
}
func.func private @moments(tensor<?x4xf32>, f32) -> (tensor<?xf32>, tensor<?xf32>) attributes {
  tofu.semantics = #tofu.semantics<[i = ?], (x[i, :]) -> (mean[i], square[i])>
}

func.func @main(%x: tensor<?x1xf32>, %y: tensor<?x4xf32>, %f: f32)
    -> (tensor<1xf32>, tensor<1xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0:2 = call @sum_and_max(%x) : (tensor<?x1xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  %1:2 = call @moments(%y, %f) : (tensor<?x4xf32>, f32) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<1xf32>, tensor<1xf32>, tensor<?xf32>, tensor<?xf32>
}
