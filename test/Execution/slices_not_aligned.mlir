// Parts of q, k and v, and every other row: slices that no balanced cut lines up with.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check
// RUN: tofu-run %s --devices=5 --check
// RUN: tofu-run %s --devices=6 --check
// RUN: tofu-run %s --devices=7 --check
// RUN: tofu-run %s --devices=8 --check

func.func @main(%x: tensor<30x17xf32>) -> (tensor<10x17xf32>, tensor<14x5xf32>, tensor<17xf32>) {
  %0 = tensor.extract_slice %x[10, 0] [10, 17] [1, 1] : tensor<30x17xf32> to tensor<10x17xf32>
  %1 = tensor.extract_slice %x[1, 2] [14, 5] [2, 3] : tensor<30x17xf32> to tensor<14x5xf32>
  %2 = tensor.extract_slice %x[29, 0] [1, 17] [1, 1] : tensor<30x17xf32> to tensor<17xf32>
  return %0, %1, %2 : tensor<10x17xf32>, tensor<14x5xf32>, tensor<17xf32>
}
