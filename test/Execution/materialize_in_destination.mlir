// Results that are put where other tensors are: in donated arguments, new tensors, slices.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --quiet --check --devices=1
// RUN: tofu-run %s --quiet --check --devices=2
// RUN: tofu-run %s --quiet --check --devices=3
// RUN: tofu-run %s --quiet --check --devices=4
// RUN: tofu-run %s --quiet --check --devices=6 --partition-options="algorithm=any seed=1"
// RUN: tofu-run %s --quiet --check --devices=6 --partition-options="algorithm=any seed=2 partials=true"

func.func @main(%x: tensor<7x3xf32>, %d: tensor<7x3xf32> {tf.aliasing_output = 0 : i32})
    -> (tensor<7x3xf32>, tensor<7x3xf32>, tensor<9x3xf32>) {
  %0 = math.exp %x : tensor<7x3xf32>
  %1 = bufferization.materialize_in_destination %0 in %d : (tensor<7x3xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
  %2 = math.tanh %1 : tensor<7x3xf32>
  %e = tensor.empty() : tensor<7x3xf32>
  %3 = bufferization.materialize_in_destination %2 in %e : (tensor<7x3xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<9x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%f : tensor<9x3xf32>) -> tensor<9x3xf32>
  %slice = tensor.extract_slice %zeros[1, 0] [7, 3] [1, 1] : tensor<9x3xf32> to tensor<7x3xf32>
  %4 = bufferization.materialize_in_destination %3 in %slice : (tensor<7x3xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
  %5 = tensor.insert_slice %4 into %zeros[1, 0] [7, 3] [1, 1] : tensor<7x3xf32> into tensor<9x3xf32>
  return %1, %3, %5 : tensor<7x3xf32>, tensor<7x3xf32>, tensor<9x3xf32>
}
