// Groups of a reshape that a balanced cut does not keep together: 60 rows are 3 groups of 20.
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

func.func @main(%x: tensor<60x4xf32>) -> (tensor<3x20x4xf32>, tensor<80x3xf32>) {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [3, 20, 4] : tensor<60x4xf32> into tensor<3x20x4xf32>
  %e = tensor.empty() : tensor<20x4x3xf32>
  %t = linalg.transpose ins(%0 : tensor<3x20x4xf32>) outs(%e : tensor<20x4x3xf32>) permutation = [1, 2, 0]
  %1 = tensor.collapse_shape %t [[0, 1], [2]] : tensor<20x4x3xf32> into tensor<80x3xf32>
  return %0, %1 : tensor<3x20x4xf32>, tensor<80x3xf32>
}
