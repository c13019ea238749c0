// Semantics of tensor operations that are structured ones in short.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s

// Slices of the table at coordinates: cut along the coordinates, along the table's
// other dims, or along a gathered dim, masked and summed.
// CHECK-LABEL: @gather(
// CHECK: [d0 = 3, d1 = 2, d2 = 4, d3 = 5 : sum], (_, in1[d0, d1, 0], in2[d3, d2]) -> (out0[d0, d1, d2])
func.func @gather(%t: tensor<5x4xf32>, %i: tensor<3x2x1xi32>) -> tensor<3x2x4xf32> {
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<5x4xf32>, tensor<3x2x1xi32>) -> tensor<3x2x4xf32>
  return %0 : tensor<3x2x4xf32>
}

// Two coordinates, whose dims stay with size one.
// CHECK-LABEL: @gather_two(
// CHECK: [d0 = 6, d1 = 1, d2 = 4, d3 = 1, d4 = 7 : sum], (_, in1[d0, :], in2[d4, d2, :]) -> (out0[d0, d1, d2, d3])
func.func @gather_two(%t: tensor<7x4x5xf32>, %i: tensor<6x2xindex>) -> tensor<6x1x4x1xf32> {
  %0 = tensor.gather %t[%i] gather_dims([0, 2]) : (tensor<7x4x5xf32>, tensor<6x2xindex>) -> tensor<6x1x4x1xf32>
  return %0 : tensor<6x1x4x1xf32>
}

// Every part of the result takes what falls into it.
// CHECK-LABEL: @scatter(
// CHECK: [d0 = 7, d1 = 5, d2 = 4, d3 = 3 : sum], (in0[d3, 0, d1, d2], in1[d0, d1, d2], in2[:, :]) -> (out0[d0, d1, d2]), linear [{0, 1}]
func.func @scatter(%t: tensor<7x5x4xf32>, %s: tensor<3x1x5x4xf32>) -> tensor<7x5x4xf32> {
  %i = arith.constant dense<[[1], [6], [3]]> : tensor<3x1xindex>
  %0 = tensor.scatter %s into %t[%i] scatter_dims([0]) unique : (tensor<3x1x5x4xf32>, tensor<7x5x4xf32>, tensor<3x1xindex>) -> tensor<7x5x4xf32>
  return %0 : tensor<7x5x4xf32>
}

// CHECK-LABEL: @scatter_points(
// CHECK: [d0 = 5, d1 = 6, d2 = 2 : sum, d3 = 2 : sum], (in0[d2, d3], in1[d0, d1], in2[:, :, :]) -> (out0[d0, d1])
func.func @scatter_points(%t: tensor<5x6xi32>, %s: tensor<2x2xi32>) -> tensor<5x6xi32> {
  %i = arith.constant dense<[[[0, 5], [4, 1]], [[2, 2], [2, 3]]]> : tensor<2x2x2xi64>
  %0 = tensor.scatter %s into %t[%i] scatter_dims([0, 1]) unique : (tensor<2x2xi32>, tensor<5x6xi32>, tensor<2x2x2xi64>) -> tensor<5x6xi32>
  return %0 : tensor<5x6xi32>
}

// CHECK-LABEL: @generate(
// CHECK: [d0 = 7, d1 = 5], (_, in1[d0, d1]) -> (out0[d0, d1])
func.func @generate(%t: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %k = arith.addi %i, %j : index
    %n = arith.index_cast %k : index to i32
    %x = arith.sitofp %n : i32 to f32
    %y = tensor.extract %t[%i, %j] : tensor<7x5xf32>
    %z = arith.addf %x, %y : f32
    tensor.yield %z : f32
  } : tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}

// CHECK-LABEL: @bitcast(
// CHECK: [d0 = 7, d1 = 3], (in0[d0, d1], _) -> (out0[d0, d1])
func.func @bitcast(%t: tensor<7x3xf32>) -> tensor<7x3xi32> {
  %0 = tensor.bitcast %t : tensor<7x3xf32> to tensor<7x3xi32>
  return %0 : tensor<7x3xi32>
}

// CHECK-LABEL: @insert(
// CHECK: tensor.from_elements {{.*}}[d0 = 1, d1 = 1], () -> (out0[d0, d1])>
// CHECK: tensor.insert_slice {{.*}}[d0 = 6, d1 = 7],
func.func @insert(%t: tensor<6x7xf32>) -> tensor<6x7xf32> {
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %x = arith.constant 3.0 : f32
  %0 = tensor.insert %x into %t[%c2, %c5] : tensor<6x7xf32>
  return %0 : tensor<6x7xf32>
}

// CHECK-LABEL: @from_elements(
// CHECK: [d0 = 2, d1 = 3], () -> (out0[d0, d1])
func.func @from_elements(%x: f32, %y: f32) -> tensor<2x3xf32> {
  %0 = tensor.from_elements %x, %y, %x, %x, %y, %y : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// As a collapse and an expansion.
// CHECK-LABEL: @reshape(
// CHECK: tensor.collapse_shape {{.*}}[d0 = 6, d1 = 4 after d0],
// CHECK: tensor.expand_shape {{.*}}[d0 = 3, d1 = 8 after d0],
func.func @reshape(%t: tensor<6x4xf32>) -> tensor<3x8xf32> {
  %s = arith.constant dense<[3, 8]> : tensor<2xi32>
  %0 = tensor.reshape %t(%s) : (tensor<6x4xf32>, tensor<2xi32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// CHECK-LABEL: @reshape_in_groups(
// CHECK: tensor.expand_shape {{.*}}[d0 = 2, d1 = 3 after d0, d2 = 4],
func.func @reshape_in_groups(%t: tensor<6x4xf32>) -> tensor<2x3x4xf32> {
  %s = arith.constant dense<[2, 3, 4]> : tensor<3xi32>
  %0 = tensor.reshape %t(%s) : (tensor<6x4xf32>, tensor<3xi32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// Runs backwards: what the body extracts can be rebased, an indexing map not.
// CHECK-LABEL: @flip(
// CHECK: [d0 = 5, d1 = 7], (_, in1[d0 * -1 + 4, d1]) -> (out0[d0, d1])
func.func @flip(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %e = tensor.empty() : tensor<5x7xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (-d0 + 4, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// CHECK-LABEL: @offset(
// CHECK: [d0 = 5, d1 = 7], (_, in1[d0 + 3, d1]) -> (out0[d0, d1])
func.func @offset(%x: tensor<9x7xf32>) -> tensor<5x7xf32> {
  %e = tensor.empty() : tensor<5x7xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + 3, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x7xf32>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// What is not linear may be any index.
// CHECK-LABEL: @division(
// CHECK: [d0 = 6, d1 = 7, d2 = 3 : sum], (_, in1[d2, d1]) -> (out0[d0, d1])
func.func @division(%x: tensor<3x7xf32>) -> tensor<6x7xf32> {
  %e = tensor.empty() : tensor<6x7xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 floordiv 2, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x7xf32>) outs(%e : tensor<6x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<6x7xf32>
  return %0 : tensor<6x7xf32>
}
