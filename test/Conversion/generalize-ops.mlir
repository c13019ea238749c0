// Every operator as generics, fills and slices.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-generalize-ops | FileCheck %s

// CHECK-LABEL: func.func @concat
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2xf32>, %[[B:[a-z0-9]+]]: tensor<3xf32>
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<5xf32>
// CHECK:         %[[FIRST:.*]] = tensor.insert_slice %[[A]] into %[[E]][0] [2] [1]
// CHECK:         tensor.insert_slice %[[B]] into %[[FIRST]][2] [3] [1]
// CHECK-NOT:     tensor.concat
func.func @concat(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<5xf32> {
  %0 = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func.func @pad
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2xf32>
// CHECK:         %[[FILL:.*]] = linalg.fill {{.*}} -> tensor<5xf32>
// CHECK:         tensor.insert_slice %[[A]] into %[[FILL]][1] [2] [1]
// CHECK-NOT:     tensor.pad
func.func @pad(%a: tensor<2xf32>) -> tensor<5xf32> {
  %z = arith.constant 0.0 : f32
  %0 = tensor.pad %a low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<2xf32> to tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Fills stay: later passes look for them.
// CHECK-LABEL: func.func @named
// CHECK:         linalg.fill
// CHECK:         linalg.generic
// CHECK:           arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     linalg.matmul
func.func @named(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %e: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @softmax
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT:     linalg.softmax
func.func @softmax(%a: tensor<2x3xf32>, %e: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = linalg.softmax dimension(1) ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// A slice with strides that drops dims does so after it.
// CHECK-LABEL: func.func @strided
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<9x1x2xf32>, %[[B:[a-z0-9]+]]: tensor<3xf32>
// CHECK:         %[[WIDE:.*]] = tensor.extract_slice %[[A]][4, 0, 1] [3, 1, 1] [2, 1, 1] : tensor<9x1x2xf32> to tensor<3x1x1xf32>
// CHECK-NEXT:    tensor.collapse_shape %[[WIDE]] {{\[\[}}0, 1, 2]] : tensor<3x1x1xf32> into tensor<3xf32>
// CHECK:         %[[SOURCE:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1, 2]] output_shape [3, 1, 1] : tensor<3xf32> into tensor<3x1x1xf32>
// CHECK-NEXT:    tensor.insert_slice %[[SOURCE]] into %[[A]][4, 0, 1] [3, 1, 1] [2, 1, 1]
func.func @strided(%a: tensor<9x1x2xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<9x1x2xf32>) {
  %0 = tensor.extract_slice %a[4, 0, 1] [3, 1, 1] [2, 1, 1] : tensor<9x1x2xf32> to tensor<3xf32>
  %1 = tensor.insert_slice %b into %a[4, 0, 1] [3, 1, 1] [2, 1, 1] : tensor<3xf32> into tensor<9x1x2xf32>
  return %0, %1 : tensor<3xf32>, tensor<9x1x2xf32>
}

// A stride where there is one element means nothing.
// CHECK-LABEL: func.func @no_stride
// CHECK:         tensor.extract_slice %{{.*}}[0, 6] [3, 1] [1, 1]
// CHECK-NEXT:    return
func.func @no_stride(%a: tensor<8x9xf32>) -> tensor<3xf32> {
  %0 = tensor.extract_slice %a[0, 6] [3, 1] [1, 3] : tensor<8x9xf32> to tensor<3xf32>
  return %0 : tensor<3xf32>
}

// So does one of unknown size, unless no dim is dropped.
// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[WIDE:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 2, 1, %{{.*}}] [1, 1, 1, 1] : tensor<1x2x1x?xf32> to tensor<1x2x1x?xf32>
// CHECK-NEXT:    tensor.collapse_shape %[[WIDE]] {{\[\[}}0], [1], [2, 3]] : tensor<1x2x1x?xf32> into tensor<1x2x?xf32>
func.func @dynamic(%a: tensor<1x2x1x?xf32>, %n: index) -> tensor<1x2x?xf32> {
  %0 = tensor.extract_slice %a[0, 0, 0, 0] [1, 2, 1, %n] [1, 1, 1, 1] : tensor<1x2x1x?xf32> to tensor<1x2x?xf32>
  return %0 : tensor<1x2x?xf32>
}

// And one whose dropped dim may be taken for another one of size one: not one
// where only dims of size one are between them.
// CHECK-LABEL: func.func @ones
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<1x4x1x3xf32>, %[[B:[a-z0-9]+]]: tensor<1x?x3xf32>, %[[C:[a-z0-9]+]]: tensor<1x3xf32>
// CHECK:         %[[SOURCE:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0], [1], [2, 3]] output_shape [1, %{{.*}}, 1, 3] : tensor<1x?x3xf32> into tensor<1x?x1x3xf32>
// CHECK-NEXT:    %[[FIRST:.*]] = tensor.insert_slice %[[SOURCE]] into %[[A]][0, 0, 0, 0] [1, %{{.*}}, 1, 3] [1, 1, 1, 1]
// CHECK:         tensor.insert_slice %[[C]] into %[[FIRST]][0, 2, 0, 0] [1, 1, 1, 3] [1, 1, 1, 1]
func.func @ones(%a: tensor<1x4x1x3xf32>, %b: tensor<1x?x3xf32>, %c: tensor<1x3xf32>, %n: index) -> tensor<1x4x1x3xf32> {
  %0 = tensor.insert_slice %b into %a[0, 0, 0, 0] [1, %n, 1, 3] [1, 1, 1, 1] : tensor<1x?x3xf32> into tensor<1x4x1x3xf32>
  %1 = tensor.insert_slice %c into %0[0, 2, 0, 0] [1, 1, 1, 3] [1, 1, 1, 1] : tensor<1x3xf32> into tensor<1x4x1x3xf32>
  return %1 : tensor<1x4x1x3xf32>
}
