// Reshapes between element-wise generics.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-move-reshapes | FileCheck %s

#id1 = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @chain
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<8xf32>
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[A]] {{.*}} into tensor<2x4xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[E]] : tensor<2x4xf32>)
// CHECK:           math.exp
// CHECK:         linalg.generic
// CHECK:           arith.negf
func.func @chain(%a: tensor<8xf32>, %e: tensor<8xf32>, %f: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %2 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<2x4xf32>) outs(%f : tensor<2x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// Nothing to fuse with: the reshape stays where it is.
// CHECK-LABEL: func.func @end_of_chain
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<8xf32>)
// CHECK:         tensor.expand_shape
func.func @end_of_chain(%a: tensor<8xf32>, %e: tensor<8xf32>) -> tensor<2x4xf32> {
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
