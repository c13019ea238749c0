// Functions outside of the program are given memory for their results.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -tofu-add-destinations -verify-diagnostics | FileCheck %s

func.func private @outside(tensor<8xf32>, f32) -> (tensor<4xf32>, tensor<2x3xi32>)
func.func private @scalars(f32) -> f32
func.func private @inside(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// Functions of scalars, and those with a body, take what they took.
// CHECK-LABEL: func.func @calls
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<8xf32>, %[[F:[a-z0-9]+]]: f32
// CHECK-NEXT: %[[E0:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[E1:.*]] = tensor.empty() : tensor<2x3xi32>
// CHECK-NEXT: %[[R:.*]]:2 = tofu.call @outside(%[[A]], %[[F]] : tensor<8xf32>, f32) into(%[[E0]], %[[E1]] : tensor<4xf32>, tensor<2x3xi32>) -> tensor<4xf32>, tensor<2x3xi32>
// CHECK-NEXT: call @scalars(%[[F]]) : (f32) -> f32
// CHECK-NEXT: call @inside(%[[A]]) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
func.func @calls(%a: tensor<8xf32>, %f: f32) -> (tensor<4xf32>, tensor<2x3xi32>) {
  %0:2 = call @outside(%a, %f) : (tensor<8xf32>, f32) -> (tensor<4xf32>, tensor<2x3xi32>)
  %1 = call @scalars(%f) : (f32) -> f32
  %2 = call @inside(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<2x3xi32>
}

// -----

// Sizes that aren't known are those of operands with the same index.
func.func private @outside(f32, tensor<?xf32>, tensor<4x?x?xf32>) -> tensor<?x4x?xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 4, n = ?, k = ?], (_, a[m, n, k]) -> (r[k, m, n])>
}
// CHECK-LABEL: func.func @sizes
// CHECK-SAME: %[[U:[a-z0-9]+]]: tensor<?xf32>, %[[A:[a-z0-9]+]]: tensor<4x?x?xf32>
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[K:.*]] = tensor.dim %[[A]], %[[C2]]
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[A]], %[[C1]]
// CHECK: %[[E:.*]] = tensor.empty(%[[K]], %[[N]]) : tensor<?x4x?xf32>
// CHECK: tofu.call @outside(%{{.*}}, %[[U]], %[[A]] : f32, tensor<?xf32>, tensor<4x?x?xf32>) into(%[[E]] : tensor<?x4x?xf32>)
func.func @sizes(%f: f32, %u: tensor<?xf32>, %a: tensor<4x?x?xf32>) -> tensor<?x4x?xf32> {
  %0 = call @outside(%f, %u, %a) : (f32, tensor<?xf32>, tensor<4x?x?xf32>) -> tensor<?x4x?xf32>
  return %0 : tensor<?x4x?xf32>
}

// -----

func.func private @outside(tensor<?xf32>) -> tensor<?xf32>
func.func @unknown_size(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@below {{'func.call' op result 0: the size of dim 0 is not known before the call}}
  %0 = call @outside(%a) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func private @outside(tensor<?x4xf32>) -> tensor<?x?xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = ?], (a[m, :]) -> (r[m, :])>
}
func.func @unknown_whole(%a: tensor<?x4xf32>) -> tensor<?x?xf32> {
  // expected-error@below {{'func.call' op result 0: the size of dim 1 is not known before the call}}
  %0 = call @outside(%a) : (tensor<?x4xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func private @outside(tensor<8xf32>) -> (tensor<8xf32>, f32)
func.func @scalar(%a: tensor<8xf32>) -> f32 {
  // expected-error@below {{'func.call' op result 1 is 'f32'; a function outside of the program that takes or gives tensors gives ranked tensors only}}
  %0:2 = call @outside(%a) : (tensor<8xf32>) -> (tensor<8xf32>, f32)
  return %0#1 : f32
}

// -----

func.func private @outside(tensor<*xf32>) -> tensor<8xf32>
func.func @unranked(%a: tensor<*xf32>) -> tensor<8xf32> {
  // expected-error@below {{'func.call' op operand 0 is 'tensor<*xf32>'; a function outside of the program takes ranked tensors}}
  %0 = call @outside(%a) : (tensor<*xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
