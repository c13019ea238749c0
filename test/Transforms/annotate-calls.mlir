// Calls of functions outside of the program have the semantics of the declarations.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -tofu-annotate -verify-diagnostics | FileCheck %s

func.func private @cholesky(tensor<16x8x8xf32>) -> tensor<16x8x8xf32> attributes {
  tofu.semantics = #tofu.semantics<[b = 16], (mat[b, :, :]) -> (out[b, :, :])>
}
func.func private @inner(%a: tensor<16x8x8xf32>) -> tensor<16x8x8xf32> {
  %0 = call @cholesky(%a) : (tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
  return %0 : tensor<16x8x8xf32>
}

// A call may keep dims whole.
// CHECK-LABEL: func.func @calls
// CHECK-NEXT: call @cholesky(%{{.*}}) {tofu.semantics = #tofu.semantics<[b = 16], (mat[b, :, :]) -> (out[b, :, :])>} : (tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
// CHECK-NEXT: call @cholesky(%{{.*}}) {tofu.semantics = #tofu.semantics<[b = 16 : unsplittable], (mat[b, :, :]) -> (out[b, :, :])>}
func.func @calls(%a: tensor<16x8x8xf32>) -> tensor<16x8x8xf32> {
  %0 = call @inner(%a) : (tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
  %1 = call @cholesky(%0) {tofu.semantics = #tofu.semantics<[b = 16 : unsplittable], (mat[b, :, :]) -> (out[b, :, :])>} : (tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
  return %1 : tensor<16x8x8xf32>
}

// -----

func.func @recursive(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark@below {{is replicated: its callee has a body that can't be inlined; further ones alike are not reported}}
  %0 = call @recursive(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @undescribed(tensor<8xf32>) -> tensor<8xf32>
func.func @call_only(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'func.call' op can't be cut, semantics or not: the declaration of its callee has no tofu.semantics}}
  %0 = call @undescribed(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @described(tensor<8x8xf32>) -> tensor<8x8xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m, :]) -> (r[m, :])>
}
func.func @contradicts(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@below {{'func.call' op semantics contradict those of the operation: #tofu.semantics<[m = 8], (a[m, :]) -> (r[m, :])>}}
  %0 = call @described(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[:, m]) -> (r[:, m])>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func private @described(tensor<8x8xf32>) -> tensor<8x8xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m, :]) -> (r[m, :])>
}
func.func @other_type(%a: tensor<8x4xf32>) -> tensor<8x8xf32> {
  // expected-error@below {{'func.call' op operand type mismatch: expected operand type 'tensor<8x8xf32>', but provided 'tensor<8x4xf32>' for operand number 0}}
  %0 = call @described(%a) : (tensor<8x4xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
