// A dialect that knows nothing of partitioning, but says how it is tiled.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// REQUIRES: unsanitized
// RUN: tofu-opt --load-dialect-plugin=%tofu_libs/TilingTest.so %s -tofu-annotate | FileCheck %s

// Three rows of the input for one of the output.
// CHECK-LABEL: @blur
// CHECK: [d0 = 15, d1 = 5, d2 = 3 : unsplittable], (in0[d0 + d2, d1]) -> (out0[d0, d1])
func.func @blur(%x: tensor<17x5xf32>) -> tensor<15x5xf32> {
  %0 = tiling_test.blur %x : tensor<17x5xf32> -> tensor<15x5xf32>
  return %0 : tensor<15x5xf32>
}

// Where a tile reads depends on its size: it reads anything.
// CHECK-LABEL: @mirror
// CHECK: [d0 = 11], (in0[:]) -> (out0[d0])
func.func @mirror(%x: tensor<11xf32>) -> tensor<11xf32> {
  %0 = tiling_test.mirror %x : tensor<11xf32> -> tensor<11xf32>
  return %0 : tensor<11xf32>
}

// A reduction that merges its own partial results.
// CHECK-LABEL: @norms
// CHECK: [d0 = 6, d1 = 9 : region], (in0[d0, d1], init out0[d0]) -> (out0[d0])
func.func @norms(%x: tensor<6x9xf32>, %init: tensor<6xf32>) -> tensor<6xf32> {
  %0 = tiling_test.norms %x into %init : tensor<6x9xf32> into tensor<6xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
