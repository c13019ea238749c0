// A function whose results combine each in its own way. Devices without a part have of each what
// changes nothing.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{run} = tofu-run %s --shared-libs=%tofu_libs/libtofu_test_functions.so --quiet --check
// RUN: %{run} --devices=1
// RUN: %{run} --devices=2
// RUN: %{run} --devices=3
// RUN: %{run} --devices=4
// RUN: %{run} --devices=8
// RUN: %{run} --devices=6 --partition-options="algorithm=any seed=1"
// RUN: %{run} --devices=8 --partition-options="algorithm=any seed=2 partials=true"

func.func private @sum_and_max(tensor<5x1xf32>) -> (tensor<1xf32>, tensor<1xf32>) attributes {
  tofu.semantics = #tofu.semantics<[i = 5 : (sum, max), j = 1], (x[i, j]) -> (sum[j], max[j])>
}

func.func @main(%x: tensor<5x1xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %0:2 = call @sum_and_max(%x) : (tensor<5x1xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  return %0#0, %0#1 : tensor<1xf32>, tensor<1xf32>
}
