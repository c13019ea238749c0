// Programs at the edge of what there is.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-partition=devices=1 -split-input-file | FileCheck %s --check-prefix=ONE
// RUN: tofu-opt %s -tofu-partition=devices=3 -split-input-file | FileCheck %s
// RUN: tofu-opt %s -tofu-partition=devices=4096 -split-input-file -o /dev/null
// RUN: tofu-opt %s -tofu-partition="mesh=x=1,y=2,z=1 partials replication" -split-input-file -o /dev/null

// Programs at the edge of what there is: they are partitioned like others.

// Without axes nothing moves.
// ONE-NOT: tofu.{{all|reduce|fetch|shard}}

// A tensor of rank 0 has one element and nothing to cut.
// CHECK-LABEL: func.func @rank_0(
// CHECK-SAME: %[[A:[^:]+]]: tensor<f32> {tofu.global_type = tensor<f32>, tofu.layout = #tofu.layout<@mesh, []>}
// CHECK-NEXT: %[[E:.*]] = math.exp %[[A]] : tensor<f32>
// CHECK-NEXT: return %[[E]]
func.func @rank_0(%a: tensor<f32>) -> tensor<f32> {
  %0 = math.exp %a : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// No elements, but three columns to cut.
// CHECK-LABEL: func.func @no_elements(
// CHECK-SAME: %[[A:[^:]+]]: tensor<0x1xf32> {tofu.global_type = tensor<0x3xf32>, tofu.layout = #tofu.layout<@mesh, [{}, {a0}]>}
func.func @no_elements(%a: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %0 = math.exp %a : tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

// -----

// A sum of nothing is zero.
// CHECK-LABEL: func.func @empty_reduction(
// CHECK: linalg.reduce
func.func @empty_reduction(%a: tensor<4x0xf32>) -> tensor<4xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x0xf32>) outs(%zeros : tensor<4xf32>) dimensions = [1]
  return %0 : tensor<4xf32>
}

// -----

// Two rows for three devices: too few to be cut.
// CHECK-LABEL: func.func @too_small(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2xf32> {tofu.global_type = tensor<2xf32>, tofu.layout = #tofu.layout<@mesh, [{}]>}
func.func @too_small(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = math.exp %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Results that are arguments, twice, or constants.
// CHECK-LABEL: func.func @passed_through(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2xf32> {tofu.global_type = tensor<6xf32>, tofu.layout = #tofu.layout<@mesh, [{a0}]>}
// CHECK: return %[[A]], %[[A]], %{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<2xi32>
func.func @passed_through(%a: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<3xf32>, tensor<2xi32>) {
  %0 = arith.constant dense<0.0> : tensor<3xf32>
  %1 = arith.constant dense<[1, 2]> : tensor<2xi32>
  return %a, %a, %0, %1 : tensor<6xf32>, tensor<6xf32>, tensor<3xf32>, tensor<2xi32>
}

// -----

// A function without a body, and one without tensors.
// CHECK-LABEL: func.func private @declared(tensor<8xf32>)
func.func private @declared(tensor<8xf32>)
// CHECK-LABEL: func.func @no_tensors(
// CHECK-NEXT: %{{.*}} = arith.addi
func.func @no_tensors(%a: index) -> index {
  %0 = arith.addi %a, %a : index
  return %0 : index
}

// -----

// An empty module.
module {}

// -----

// Uses of nothing, and no uses.
// CHECK-LABEL: func.func @unused(
// CHECK-SAME: %{{[^:]+}}: tensor<2xf32>
func.func @unused(%a: tensor<6xf32>) {
  %0 = tensor.empty() : tensor<6xf32>
  %1 = math.exp %a : tensor<6xf32>
  return
}

// -----

// Elements of any type.
// CHECK-LABEL: func.func @element_types(
// CHECK-SAME: tensor<2xi1>
// CHECK-SAME: tensor<2xindex>
// CHECK-SAME: tensor<2xcomplex<f32>>
// CHECK-SAME: tensor<2xvector<4xf32>>
// CHECK-SAME: tensor<2xi128>
func.func @element_types(%a: tensor<6xi1>, %b: tensor<6xindex>, %c: tensor<6xcomplex<f32>>, %d: tensor<6xvector<4xf32>>, %e: tensor<6xi128>)
    -> (tensor<6xi1>, tensor<6xindex>, tensor<6xcomplex<f32>>, tensor<6xvector<4xf32>>, tensor<6xi128>) {
  return %a, %b, %c, %d, %e : tensor<6xi1>, tensor<6xindex>, tensor<6xcomplex<f32>>, tensor<6xvector<4xf32>>, tensor<6xi128>
}
