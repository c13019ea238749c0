// Slices with strides that drop dims of size one, read and written.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --input=3x1xf32=7,8,9 --input="9x1x2xf32=1" --input=8x1x3x9xf32=4 --quiet --opt-level=0 --expected_output="9x1x2xf32=1 1 1 1 1 1 1 1 1 7 1 1 1 8 1 1 1 9" --expected_output=3xf32=1 --expected_output=3x2x1xf32=4
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=2 --check --partition-options='algorithm=random seed=0'
// RUN: tofu-run %s --devices=6 --check --partition-options='algorithm=random seed=0'
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=6 --check
// RUN: tofu-run %s --devices=8 --check

func.func @main(%source: tensor<3x1xf32>, %dest: tensor<9x1x2xf32>, %other: tensor<8x1x3x9xf32>)
    -> (tensor<9x1x2xf32>, tensor<3xf32>, tensor<3x2x1xf32>) {
  %0 = tensor.insert_slice %source into %dest[4, 0, 1] [3, 1, 1] [2, 1, 1] : tensor<3x1xf32> into tensor<9x1x2xf32>
  %1 = tensor.extract_slice %dest[2, 0, 1] [3, 1, 1] [3, 1, 1] : tensor<9x1x2xf32> to tensor<3xf32>
  // A stride where there is one element means nothing.
  %2 = tensor.extract_slice %other[0, 0, 0, 6] [3, 1, 2, 1] [3, 1, 1, 3] : tensor<8x1x3x9xf32> to tensor<3x2x1xf32>
  return %0, %1, %2 : tensor<9x1x2xf32>, tensor<3xf32>, tensor<3x2x1xf32>
}
