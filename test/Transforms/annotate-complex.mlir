// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-annotate --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @matmul
// CHECK: linalg.matmul
// CHECK-SAME: #tofu.semantics<[d0 = 4, d1 = 8, d2 = 6 : sum], (in0[d0, d2], in1[d2, d1], init out0[d0, d1]) -> (out0[d0, d1]), linear [{0}, {1}]>
func.func @matmul(%a: tensor<4x6xcomplex<f32>>, %b: tensor<6x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>> {
  %zeros = arith.constant dense<(0.0, -0.0)> : tensor<4x8xcomplex<f32>>
  %0 = linalg.matmul ins(%a, %b : tensor<4x6xcomplex<f32>>, tensor<6x8xcomplex<f32>>) outs(%zeros : tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}

// -----

// CHECK-LABEL: func.func @reductions
// CHECK: linalg.reduce { complex.mul }
// CHECK-SAME: d0 = 8 : prod
// CHECK: linalg.reduce { complex.sub }
// CHECK-SAME: d0 = 8 : sum
// CHECK: linalg.reduce
// CHECK-SAME: d0 = 8 : unsplittable
func.func @reductions(%x: tensor<8xcomplex<f64>>, %i: tensor<complex<f64>>) -> (tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>) {
  %0 = linalg.reduce { complex.mul } ins(%x : tensor<8xcomplex<f64>>) outs(%i : tensor<complex<f64>>) dimensions = [0]
  %1 = linalg.reduce ins(%x : tensor<8xcomplex<f64>>) outs(%i : tensor<complex<f64>>) dimensions = [0]
    (%in: complex<f64>, %acc: complex<f64>) {
      %r = complex.sub %acc, %in : complex<f64>
      linalg.yield %r : complex<f64>
    }
  %2 = linalg.reduce ins(%x : tensor<8xcomplex<f64>>) outs(%i : tensor<complex<f64>>) dimensions = [0]
    (%in: complex<f64>, %acc: complex<f64>) {
      %a = complex.im %in : complex<f64>
      %b = complex.im %acc : complex<f64>
      %larger = arith.cmpf ogt, %a, %b : f64
      %r = arith.select %larger, %in, %acc : complex<f64>
      linalg.yield %r : complex<f64>
    }
  return %0, %1, %2 : tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>
}

// -----

// What adds up when complex numbers do, and what does not.

#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @linear
// CHECK: linear [{0, 1}]>
// CHECK: complex.create
// CHECK: linear [{0}]>
// CHECK: complex.re
// CHECK: linear [{0}]>
// CHECK: complex.neg
// CHECK-NOT: linear
// CHECK: complex.abs
func.func @linear(%a: tensor<8xf32>, %b: tensor<8xf32>, %f: tensor<8xf32>, %g: tensor<8xcomplex<f32>>) -> (tensor<8xf32>, tensor<8xcomplex<f32>>, tensor<8xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%g : tensor<8xcomplex<f32>>) {
    ^bb0(%x: f32, %y: f32, %o: complex<f32>):
      %z = complex.create %x, %y : complex<f32>
      linalg.yield %z : complex<f32>
  } -> tensor<8xcomplex<f32>>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xcomplex<f32>>) outs(%f : tensor<8xf32>) {
    ^bb0(%x: complex<f32>, %o: f32):
      %z = complex.re %x : complex<f32>
      linalg.yield %z : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xcomplex<f32>>) outs(%g : tensor<8xcomplex<f32>>) {
    ^bb0(%x: complex<f32>, %o: complex<f32>):
      %k = complex.constant [2.0 : f32, 1.0 : f32] : complex<f32>
      %m = complex.mul %k, %x : complex<f32>
      %n = complex.neg %m : complex<f32>
      linalg.yield %n : complex<f32>
  } -> tensor<8xcomplex<f32>>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xcomplex<f32>>) outs(%f : tensor<8xf32>) {
    ^bb0(%x: complex<f32>, %o: f32):
      %z = complex.abs %x : complex<f32>
      linalg.yield %z : f32
  } -> tensor<8xf32>
  return %1, %2, %3 : tensor<8xf32>, tensor<8xcomplex<f32>>, tensor<8xf32>
}
