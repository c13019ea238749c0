// Slices that drop one of two dims of size one, with a dim between them of which
// a device has one index or none.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=5 --check
// RUN: tofu-run %s --devices=6 --check
// RUN: tofu-run %s --devices=5 --check --partition-options='algorithm=any seed=0'

func.func @main(%x: tensor<1x3x3xf32>, %y: tensor<1x5x1x3xf32>)
    -> (tensor<1x5x1x3xf32>, tensor<1x3x3xf32>, tensor<1x5x3xf32>) {
  %0 = tensor.insert_slice %x into %y[0, 1, 0, 0] [1, 3, 1, 3] [1, 1, 1, 1] : tensor<1x3x3xf32> into tensor<1x5x1x3xf32>
  %1 = tensor.extract_slice %0[0, 2, 0, 0] [1, 3, 1, 3] [1, 1, 1, 1] : tensor<1x5x1x3xf32> to tensor<1x3x3xf32>
  %2 = tensor.extract_slice %0[0, 0, 0, 0] [1, 5, 1, 3] [1, 1, 1, 1] : tensor<1x5x1x3xf32> to tensor<1x5x3xf32>
  %3 = tensor.insert_slice %1 into %2[0, 2, 0] [1, 3, 3] [1, 1, 1] : tensor<1x3x3xf32> into tensor<1x5x3xf32>
  return %0, %1, %3 : tensor<1x5x1x3xf32>, tensor<1x3x3xf32>, tensor<1x5x3xf32>
}
