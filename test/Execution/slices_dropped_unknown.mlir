// A slice that drops one of two dims of size one, of unknown size on a device.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=3 --check --partition-options='algorithm=any seed=1'
// RUN: tofu-run %s --devices=6 --check --partition-options='algorithm=any seed=2'

func.func @main(%x: tensor<2x2x3x5xf32>) -> tensor<1x2x2xf32> {
  %0 = tensor.extract_slice %x[0, 0, 1, 1] [1, 2, 1, 2] [1, 1, 1, 3] : tensor<2x2x3x5xf32> to tensor<1x2x2xf32>
  return %0 : tensor<1x2x2xf32>
}
