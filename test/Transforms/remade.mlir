// What is broadcast of a constant or a scalar has no place in the plan, as a fill
// hasn't: each device makes its part in whatever layout it is needed.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-partition="json=%t.json" | FileCheck %s
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json

// JSON: "total_bytes": 0

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

tofu.mesh @mesh [x = 2]

// CHECK-LABEL: func @main
// CHECK-NOT: tofu.reshard
// CHECK: %[[A:.*]] = arith.constant dense<0.000000e+00> : tensor<4x8xf32>
// CHECK: linalg.max ins(%{{.*}}, %[[A]] :
// CHECK: %[[B:.*]] = arith.constant dense<0.000000e+00> : tensor<8x4xf32>
// CHECK: linalg.max ins(%{{.*}}, %[[B]] :
// CHECK-NOT: tofu.reshard
func.func @main(%x: tensor<8x8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>},
                %y: tensor<8x8xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>})
    -> (tensor<8x8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>},
        tensor<8x8xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %e = tensor.empty() : tensor<8x8xf32>
  %row = tensor.empty() : tensor<8xf32>
  %zeros = linalg.broadcast ins(%zero : tensor<f32>) outs(%row : tensor<8xf32>) dimensions = [0]
  %all = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%zeros : tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x8xf32>
  %a = linalg.max ins(%x, %all : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = linalg.max ins(%y, %all : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %a, %b : tensor<8x8xf32>, tensor<8x8xf32>
}

// A scalar argument repeated, and what is not the same everywhere: the index
// and rows that differ.

// CHECK-LABEL: func @others
// CHECK-SAME: %[[S:[a-z0-9]+]]: f32
// CHECK: linalg.generic
// CHECK: linalg.index 0
// CHECK: linalg.broadcast
// CHECK: linalg.fill ins(%[[S]] : f32)
func.func @others(%s: f32, %v: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xindex>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %i = tensor.empty() : tensor<8x8xindex>
  %repeated = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<8x8xf32>) {
  ^bb0(%out: f32):
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %index = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%i : tensor<8x8xindex>) {
  ^bb0(%out: index):
    %0 = linalg.index 0 : index
    linalg.yield %0 : index
  } -> tensor<8x8xindex>
  %rows = linalg.broadcast ins(%v : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  return %repeated, %index, %rows : tensor<8x8xf32>, tensor<8x8xindex>, tensor<8x8xf32>
}
