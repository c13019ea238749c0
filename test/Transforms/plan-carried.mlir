// Results that lie as the arguments that they are carried to.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 print" -o %t 2> %t.txt
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --check-prefix=BYTES --input-file=%t.txt

// A result that is carried to an argument, into the next step, must lie as the
// argument does. A transpose of rows gives columns: each of two devices then
// lacks 4 of its 8 elements, 32 bytes over both.

// CHECK-LABEL: func.func @carried(
// CHECK-SAME: %{{[^:]*}}: tensor<4x4xf32> {tofu.carried_to = 0 : i64, tofu.layout = #tofu.layout<@mesh, [[LAYOUT:[^>]*]]>})
// CHECK-SAME: -> (tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [[LAYOUT]]>})
// BYTES: plan of @carried
// BYTES: total: 32 bytes
func.func @carried(%w: tensor<4x4xf32> {tofu.carried_to = 0}) -> tensor<4x4xf32> {
  %empty = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.transpose ins(%w : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
  return %0 : tensor<4x4xf32>
}

// So must one that is donated.
// CHECK-LABEL: func.func @donated(
// CHECK-SAME: %{{[^:]*}}: tensor<4x4xf32> {tf.aliasing_output = 1 : i32, tofu.layout = #tofu.layout<@mesh, [[LAYOUT:[^>]*]]>})
// CHECK-SAME: -> (tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [[LAYOUT]]>}, tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [[LAYOUT]]>})
// BYTES: plan of @donated
// BYTES: total: 32 bytes
func.func @donated(%w: tensor<4x4xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %empty = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.transpose ins(%w : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
  return %w, %0 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Free to lie elsewhere, it costs nothing.
// CHECK-LABEL: func.func @free(
// BYTES: plan of @free
// BYTES: total: 0 bytes
func.func @free(%w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %empty = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.transpose ins(%w : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
  return %0 : tensor<4x4xf32>
}

// A constant is everywhere: its part is taken for nothing.
// CHECK-LABEL: func.func @constant(
// CHECK-SAME: %{{[^:]*}}: tensor<2xf32> {tofu.carried_to = 0 : i64, tofu.layout = #tofu.layout<@mesh, [{a0}]>})
// CHECK-SAME: -> (tensor<2xf32> {tofu.layout = #tofu.layout<@mesh, [{a0}]>})
// BYTES: plan of @constant
// BYTES: total: 0 bytes
func.func @constant(%w: tensor<2xf32> {tofu.carried_to = 0}) -> tensor<2xf32> {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
