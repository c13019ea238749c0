// The same program in f64.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --split-input-file --tofu-widen-floats | FileCheck %s --implicit-check-not=f32 --implicit-check-not=f16
// RUN: tofu-opt %S/../Execution/Inputs/mlp_train.mlir --tofu-widen-floats | FileCheck %s --check-prefix=TRAIN --implicit-check-not=f32
// TRAIN: func.func public @main({{.*}}xf64>
// TRAIN: arith.addf {{.*}} : f64

// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    %[[X:.*]]: tensor<2xf64>, %[[I:.*]]: tensor<2xi32>) -> (tensor<2xf64>, tensor<2xi32>)
// A number that f32 has is the same number.
// CHECK-DAG:     arith.constant 0.10000000149011612 : f64
// CHECK-DAG:     arith.constant 0xFFF0000000000000 : f64
// CHECK-DAG:     arith.constant dense<[1.000000e+00, 0.333251953125]> : tensor<2xf64>
// CHECK-DAG:     arith.constant dense<2.500000e+00> : tensor<2xf64>
// CHECK-DAG:     arith.constant dense<(1.000000e+00,0.20000000298023224)> : tensor<3xcomplex<f64>>
// CHECK-DAG:     arith.constant dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]> : tensor<2xcomplex<f64>>
// CHECK-DAG:     arith.constant dense<7> : tensor<2xi32>
func.func @constants(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0 = arith.constant 0.1 : f32
  %1 = arith.constant 0xFF800000 : f32
  %2 = arith.constant dense<[1.0, 0.3333]> : tensor<2xf16>
  %3 = arith.constant dense<2.5> : tensor<2xbf16>
  %4 = arith.constant dense<(1.0, 0.2)> : tensor<3xcomplex<f32>>
  %5 = arith.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %6 = arith.constant dense<7> : tensor<2xi32>
  return %x, %6 : tensor<2xf32>, tensor<2xi32>
}

// -----

// Casts between what is alike now go; f64 stays as it is.
// CHECK-LABEL: func.func @casts(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf64>, %[[Y:.*]]: tensor<4xf64>)
// CHECK:         %[[EXP:.*]] = math.exp %[[X]] : tensor<4xf64>
// CHECK:         %[[SUM:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[EXP]], %[[Y]] : tensor<4xf64>, tensor<4xf64>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f64, %[[B:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT:      %[[ADD:.*]] = arith.addf %[[A]], %[[B]] : f64
// CHECK-NEXT:      linalg.yield %[[ADD]] : f64
// CHECK:         return %[[SUM]] : tensor<4xf64>
func.func @casts(%x: tensor<4xbf16>, %y: tensor<4xf64>) -> tensor<4xf16> {
  %0 = arith.extf %x : tensor<4xbf16> to tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  %2 = tensor.empty() : tensor<4xf16>
  %3 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%1, %y : tensor<4xf32>, tensor<4xf64>) outs(%2 : tensor<4xf16>) {
  ^bb0(%a: f32, %b: f64, %unused: f16):
    %wide = arith.extf %a : f32 to f64
    %sum = arith.addf %wide, %b : f64
    %short = arith.truncf %sum : f64 to f16
    linalg.yield %short : f16
  } -> tensor<4xf16>
  return %3 : tensor<4xf16>
}

// -----

// State is widened too.
// CHECK:       ml_program.global private mutable @state(dense<1.000000e+00> : tensor<2xf64>) : tensor<2xf64>
// CHECK-LABEL: func.func @state_of
// CHECK:         ml_program.global_load @state : tensor<2xf64>
ml_program.global private mutable @state(dense<1.0> : tensor<2xf32>) : tensor<2xf32>
func.func @state_of() -> tensor<2xf32> {
  %0 = ml_program.global_load @state : tensor<2xf32>
  return %0 : tensor<2xf32>
}
