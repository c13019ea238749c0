// Semantics of arith, math and tensor.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s

// Semantics of operations on tensors outside of linalg.

//===----------------------------------------------------------------------===//
// arith and math
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xi1>, tensor<8x4xf16>) {
  // CHECK: arith.addf {{.*}}#tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1]) -> (out0[d0, d1])>}
  %0 = arith.addf %a, %b : tensor<8x4xf32>
  // CHECK: arith.cmpf {{.*}}#tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1]) -> (out0[d0, d1])>}
  %1 = arith.cmpf olt, %0, %a : tensor<8x4xf32>
  // CHECK: arith.select {{.*}}#tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], in2[d0, d1]) -> (out0[d0, d1])>}
  %2 = arith.select %1, %a, %b : tensor<8x4xi1>, tensor<8x4xf32>
  // CHECK: arith.truncf {{.*}}#tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1]) -> (out0[d0, d1])>}
  %3 = arith.truncf %2 : tensor<8x4xf32> to tensor<8x4xf16>
  // CHECK: math.fma {{.*}}#tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1], in2[d0, d1]) -> (out0[d0, d1])>}
  %4 = math.fma %a, %b, %2 : tensor<8x4xf32>
  // CHECK: math.fpowi {{.*}}#tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1], in1[d0, d1]) -> (out0[d0, d1])>}
  %i = arith.extui %1 : tensor<8x4xi1> to tensor<8x4xi32>
  %5 = math.fpowi %4, %i : tensor<8x4xf32>, tensor<8x4xi32>
  return %5, %1, %3 : tensor<8x4xf32>, tensor<8x4xi1>, tensor<8x4xf16>
}

// One predicate for the whole tensor is no tensor operand.
// CHECK-LABEL: func.func @select_by_scalar(
// CHECK: arith.select {{.*}}#tofu.semantics<[d0 = 8], (in0[d0], in1[d0]) -> (out0[d0])>}
func.func @select_by_scalar(%c: i1, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.select %c, %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @two_results(
func.func @two_results(%a: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xi1>) {
  // CHECK: math.sincos {{.*}}#tofu.semantics<[d0 = 8], (in0[d0]) -> (out0[d0], out1[d0])>}
  %0, %1 = math.sincos %a : tensor<8xf32>
  // CHECK: arith.addui_extended {{.*}}#tofu.semantics<[d0 = 8], (in0[d0], in1[d0]) -> (out0[d0], out1[d0])>}
  %2, %3 = arith.addui_extended %i, %i : tensor<8xi32>, tensor<8xi1>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xi1>
}

// CHECK-LABEL: func.func @scalars_in_tensors(
// CHECK: math.exp {{.*}}#tofu.semantics<[], (in0[]) -> (out0[])>}
func.func @scalars_in_tensors(%a: tensor<f32>) -> tensor<f32> {
  %0 = math.exp %a : tensor<f32>
  return %0 : tensor<f32>
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

// Of a group only the first dim is cut: parts of the others are scattered in
// the collapsed one.
// CHECK-LABEL: func.func @collapse(
// CHECK: tensor.collapse_shape
// CHECK-SAME: #tofu.semantics<[d0 = 2, d1 = 3 after d0, d2 = 4], (in0[d0, d1, d2]) -> (out0[d0 * 3 + d1, d2]), linear [{0}]>
func.func @collapse(%a: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// Dims of size one are no dims to cut.
// CHECK-LABEL: func.func @collapse_unit(
// CHECK: tensor.collapse_shape
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4 after d0], (in0[0, d0, 0, d1]) -> (out0[d0 * 4 + d1]), linear [{0}]>
func.func @collapse_unit(%a: tensor<1x8x1x4xf32>) -> tensor<32xf32> {
  %0 = tensor.collapse_shape %a [[0, 1, 2, 3]] : tensor<1x8x1x4xf32> into tensor<32xf32>
  return %0 : tensor<32xf32>
}

// CHECK-LABEL: func.func @collapse_to_scalar(
// CHECK: tensor.collapse_shape
// CHECK-SAME: #tofu.semantics<[], (in0[0, 0]) -> (out0[]), linear [{0}]>
func.func @collapse_to_scalar(%a: tensor<1x1xf32>) -> tensor<f32> {
  %0 = tensor.collapse_shape %a [] : tensor<1x1xf32> into tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @expand(
// CHECK: tensor.expand_shape
// CHECK-SAME: #tofu.semantics<[d0 = 2, d1 = 3 after d0, d2 = 5 after d1, d3 = 4], (in0[(d0 * 3 + d1) * 5 + d2, d3]) -> (out0[d0, d1, d2, d3]), linear [{0}]>
func.func @expand(%a: tensor<30x4xf32>) -> tensor<2x3x5x4xf32> {
  %0 = tensor.expand_shape %a [[0, 1, 2], [3]] output_shape [2, 3, 5, 4] : tensor<30x4xf32> into tensor<2x3x5x4xf32>
  return %0 : tensor<2x3x5x4xf32>
}

// CHECK-LABEL: func.func @expand_unit(
// CHECK: tensor.expand_shape
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1]) -> (out0[0, d0, d1, 0]), linear [{0}]>
func.func @expand_unit(%a: tensor<8x4xf32>) -> tensor<1x8x4x1xf32> {
  %0 = tensor.expand_shape %a [[0, 1], [2, 3]] output_shape [1, 8, 4, 1] : tensor<8x4xf32> into tensor<1x8x4x1xf32>
  return %0 : tensor<1x8x4x1xf32>
}

// CHECK-LABEL: func.func @expand_one(
// CHECK: tensor.expand_shape
// CHECK-SAME: #tofu.semantics<[], (in0[0]) -> (out0[0, 0]), linear [{0}]>
func.func @expand_one(%a: tensor<1xf32>) -> tensor<1x1xf32> {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [1, 1] : tensor<1xf32> into tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @extract_slice(
// CHECK: tensor.extract_slice
// CHECK-SAME: #tofu.semantics<[d0 = 3, d1 = 4], (in0[d0 * 2 + 1, d1]) -> (out0[d0, d1]), linear [{0}]>
func.func @extract_slice(%a: tensor<8x4xf32>) -> tensor<3x4xf32> {
  %0 = tensor.extract_slice %a[1, 0] [3, 4] [2, 1] : tensor<8x4xf32> to tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @extract_row(
// CHECK: tensor.extract_slice
// CHECK-SAME: #tofu.semantics<[d0 = 4], (in0[5, d0]) -> (out0[d0]), linear [{0}]>
func.func @extract_row(%a: tensor<8x4xf32>) -> tensor<4xf32> {
  %0 = tensor.extract_slice %a[5, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Only what is filled from one end to the other can be cut.
// CHECK-LABEL: func.func @insert_slice(
// CHECK: tensor.insert_slice
// CHECK-SAME: #tofu.semantics<[d0 = 8 : unsplittable, d1 = 4], (in0[:, d1], in1[d0, d1]) -> (out0[d0, d1]), linear [{0, 1}]>
func.func @insert_slice(%a: tensor<3x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = tensor.insert_slice %a into %b[1, 0] [3, 4] [2, 1] : tensor<3x4xf32> into tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// A slice that begins anywhere is taken from the whole dim; others are cut.
// CHECK-LABEL: func.func @slices_anywhere(
func.func @slices_anywhere(%a: tensor<8x6xf32>, %b: tensor<8x6xf32>, %i: index) -> tensor<8x6xf32> {
  // CHECK: tensor.extract_slice {{.*}}#tofu.semantics<[d0 = 1 : unsplittable, d1 = 6], (in0[:, d1]) -> (out0[d0, d1])
  %0 = tensor.extract_slice %a[%i, 0] [1, 6] [1, 1] : tensor<8x6xf32> to tensor<1x6xf32>
  // CHECK: tensor.extract_slice {{.*}}#tofu.semantics<[d0 = 6], (in0[:, d0]) -> (out0[d0])
  %1 = tensor.extract_slice %a[%i, 0] [1, 6] [1, 1] : tensor<8x6xf32> to tensor<6xf32>
  // CHECK: tensor.insert_slice {{.*}}#tofu.semantics<[d0 = 8 : unsplittable, d1 = 6], (in0[:, d1], in1[d0, d1]) -> (out0[d0, d1])
  %2 = tensor.insert_slice %0 into %b[%i, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<8x6xf32>
  // CHECK: tensor.insert_slice {{.*}}#tofu.semantics<[d0 = 8 : unsplittable, d1 = 6], (in0[d1], in1[d0, d1]) -> (out0[d0, d1])
  %3 = tensor.insert_slice %1 into %2[%i, 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<8x6xf32>
  return %3 : tensor<8x6xf32>
}

// CHECK-LABEL: func.func @insert_row(
// CHECK: tensor.insert_slice
// CHECK-SAME: #tofu.semantics<[d0 = 8 : unsplittable, d1 = 4], (in0[d1], in1[d0, d1]) -> (out0[d0, d1]), linear [{0, 1}]>
func.func @insert_row(%a: tensor<4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = tensor.insert_slice %a into %b[5, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @cast(
// CHECK: tensor.cast
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4], (in0[d0, d1]) -> (out0[d0, d1]), linear [{0}]>
func.func @cast(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = tensor.cast %a : tensor<8x4xf32> to tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @concat(
// CHECK: tensor.concat
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 7], (in0[d0, d1], in1[d0, d1 - 4]) -> (out0[d0, d1]), linear [{0, 1}]>
func.func @concat(%a: tensor<8x4xf32>, %b: tensor<8x3xf32>) -> tensor<8x7xf32> {
  %0 = tensor.concat dim(1) %a, %b : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<8x7xf32>
  return %0 : tensor<8x7xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK: tensor.pad
// CHECK: #tofu.semantics<[d0 = 8, d1 = 7], (in0[d0, d1 - 1]) -> (out0[d0, d1])>
func.func @pad(%a: tensor<8x4xf32>, %s: f32) -> tensor<8x7xf32> {
  %0 = tensor.pad %a low[0, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : f32
  } : tensor<8x4xf32> to tensor<8x7xf32>
  return %0 : tensor<8x7xf32>
}

// Padding by one here and by minus one there shifts.
// CHECK-LABEL: func.func @pad_that_shifts(
// CHECK: tensor.pad
// CHECK: #tofu.semantics<[d0 = 8], (in0[d0 - 1]) -> (out0[d0])>
func.func @pad_that_shifts(%a: tensor<8xf32>, %s: f32) -> tensor<8xf32> {
  %0 = tensor.pad %a low[1] high[-1] {
  ^bb0(%i: index):
    tensor.yield %s : f32
  } : tensor<8xf32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @pad_from_tensor(
// CHECK: tensor.pad
// CHECK: #tofu.semantics<[d0 = 10], (in0[d0 - 1], in1[]) -> (out0[d0])>
func.func @pad_from_tensor(%a: tensor<8xf32>, %t: tensor<f32>) -> tensor<10xf32> {
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    %s = tensor.extract %t[] : tensor<f32>
    tensor.yield %s : f32
  } : tensor<8xf32> to tensor<10xf32>
  return %0 : tensor<10xf32>
}

// CHECK-LABEL: func.func @extract(
// CHECK: tensor.extract {{.*}}#tofu.semantics<[], (in0[5, 3]) -> (out0[])>
// CHECK: tensor.extract {{.*}}#tofu.semantics<[], (in0[5, :]) -> (out0[])>
// Beyond the end.
// CHECK: tensor.extract {{.*}}#tofu.semantics<[], (in0[:, 0]) -> (out0[])>
func.func @extract(%a: tensor<8x6xf32>, %i: index) -> (f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %0 = tensor.extract %a[%c5, %c3] : tensor<8x6xf32>
  %1 = tensor.extract %a[%c5, %i] : tensor<8x6xf32>
  %2 = tensor.extract %a[%c8, %c0] : tensor<8x6xf32>
  return %0, %1, %2 : f32, f32, f32
}

// CHECK-LABEL: func.func @materialize
// CHECK: bufferization.materialize_in_destination {{.*}}#tofu.semantics<[d0 = 7, d1 = 3], (in0[d0, d1], in1[d0, d1]) -> (out0[d0, d1])>
func.func @materialize(%a: tensor<7x3xf32>) -> tensor<7x3xf32> {
  %b = tensor.empty() : tensor<7x3xf32>
  %0 = bufferization.materialize_in_destination %a in %b : (tensor<7x3xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}
