// Semantics that a program comes with.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate -allow-unregistered-dialect | FileCheck %s

// Semantics that the program comes with are kept, and calls are inlined.

// CHECK-LABEL: func.func @black_box(
// CHECK: "test.op"{{.*}}#tofu.semantics<[b = 8], (x[b, :]) -> (y[b, :])>
func.func @black_box(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[b = 8], (x[b, :]) -> (y[b, :])>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// An operation that has semantics of its own may be kept from being cut.
// CHECK-LABEL: func.func @only_rows(
// CHECK: linalg.matmul {{.*}}#tofu.semantics<[m = 8, n = 6 : unsplittable, k = 4 : unsplittable], (a[m, :], b[:, n], c[m, n]) -> (r[m, n])>
func.func @only_rows(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = linalg.matmul {tofu.semantics = #tofu.semantics<[m = 8, n = 6 : unsplittable, k = 4 : unsplittable], (a[m, :], b[:, n], c[m, n]) -> (r[m, n])>}
      ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// Annotating twice is annotating once.
// CHECK-LABEL: func.func @annotated(
// CHECK: math.exp {{.*}}#tofu.semantics<[d0 = 8], (in0[d0]) -> (out0[d0])>}
func.func @annotated(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[d0 = 8], (in0[d0]) -> (out0[d0])>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-NOT: func.func private @twice
func.func private @twice(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  %1 = math.exp %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @calls(
// CHECK-SAME: %[[A:.*]]: tensor<8xf32>
// CHECK-NEXT: %[[E0:.*]] = math.exp %[[A]] {tofu.semantics
// CHECK-NEXT: %[[E1:.*]] = math.exp %[[E0]] {tofu.semantics
// CHECK-NEXT: %[[E2:.*]] = math.exp %[[E1]] {tofu.semantics
// CHECK-NEXT: %[[E3:.*]] = math.exp %[[E2]] {tofu.semantics
// CHECK-NEXT: return %[[E3]]
func.func @calls(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @twice(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @twice(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A function that calls itself is not inlined for ever.
// CHECK-LABEL: func.func @recursive(
// CHECK: call @recursive
func.func @recursive(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @recursive(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
