// Expansions to several dims of unknown size.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-expand-reshapes | FileCheck %s

// CHECK-DAG: #[[$PRODUCT:.*]] = affine_map<()[s0, s1] -> (s0 * s1)>
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %[[SRC:.*]]: memref<?xf32>, %[[M:.*]]: index, %[[N:.*]]: index)
func.func @two(%src: memref<?xf32>, %m: index, %n: index) -> memref<?x?xf32> {
  // CHECK: memref.reinterpret_cast %[[SRC]] to offset: [0], sizes: [%[[M]], %[[N]]], strides: [%[[N]], 1]
  %0 = memref.expand_shape %src [[0, 1]] output_shape [%m, %n] : memref<?xf32> into memref<?x?xf32>
  return %0 : memref<?x?xf32>
}

// The strides of what isn't contiguous.
// CHECK-LABEL: func.func @strided(
// CHECK-SAME: %[[SRC:.*]]: memref<?x5xf32, strided<[?, 1], offset: ?>>, %[[M:.*]]: index, %[[N:.*]]: index)
func.func @strided(%src: memref<?x5xf32, strided<[?, 1], offset: ?>>, %m: index, %n: index) -> memref<?x?x5xf32, strided<[?, ?, 1], offset: ?>> {
  // CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[SRC]]
  // CHECK: %[[STEP:.*]] = affine.apply #[[$PRODUCT]]()[%[[STRIDES]]#0, %[[N]]]
  // CHECK: memref.reinterpret_cast %[[SRC]] to offset: [%[[OFFSET]]], sizes: [%[[M]], %[[N]], 5], strides: [%[[STEP]], %[[STRIDES]]#0, 1]
  %0 = memref.expand_shape %src [[0, 1], [2]] output_shape [%m, %n, 5] : memref<?x5xf32, strided<[?, 1], offset: ?>> into memref<?x?x5xf32, strided<[?, ?, 1], offset: ?>>
  return %0 : memref<?x?x5xf32, strided<[?, ?, 1], offset: ?>>
}

// CHECK-LABEL: func.func @one(
func.func @one(%src: memref<?xf32>, %m: index) -> memref<?x4xf32> {
  // CHECK: memref.expand_shape
  %0 = memref.expand_shape %src [[0, 1]] output_shape [%m, 4] : memref<?xf32> into memref<?x4xf32>
  return %0 : memref<?x4xf32>
}
