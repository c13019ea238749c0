// A function that ends with an operation which isn't known isn't planned, and stays as
// it is, whatever is known of that operation; others are cut.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --allow-unregistered-dialect --tofu-partition=devices=2 2>/dev/null | FileCheck %s

// CHECK-LABEL: func.func @unknown_end(%{{.*}}: tensor<3x4xf32>) -> tensor<3x4xf32> {
// CHECK: %[[E:.*]] = math.exp %{{.*}} : tensor<3x4xf32>
// CHECK: "test.op"(%[[E]])
func.func @unknown_end(%a: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = math.exp %a : tensor<3x4xf32>
  %1 = "test.op"(%0) {tofu.semantics = #tofu.semantics<[m = 3, k = 4 : sum], (a[m, k]) -> (r[m])>} : (tensor<3x4xf32>) -> tensor<3xf32>
}

// CHECK-LABEL: func.func @return(
// CHECK: math.exp %{{.*}} : tensor<2x4xf32>
func.func @return(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.exp %a : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
