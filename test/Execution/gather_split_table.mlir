// A table can be cut along the dim that data indexes: each device yields what
// it has, zeros for the rest, and the parts add up. The indices themselves are
// extracted from a tensor that is read in parts.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: tofu-opt %t/gather.mlir --tofu-annotate | FileCheck %s
// CHECK: #tofu.semantics<[d0 = 5, d1 = 6, d2 = 7 : sum], (_, in1[d0, 0], in2[d2, d1]) -> (out0[d0, d1]), linear [{2}]>

// RUN: tofu-run %t/gather.mlir --devices=2 --check --input=random:1:0:7 --input=random:2
// RUN: tofu-run %t/gather.mlir --devices=3 --check --input=random:1:0:7 --input=random:2
// RUN: tofu-run %t/gather.mlir --devices=8 --check --input=random:1:0:7 --input=random:2

// RUN: sed -e 's/MESH/a0 = 2/' %t/planned.mlir > %t/two.mlir
// RUN: sed -e 's/MESH/a0 = 3/' %t/planned.mlir > %t/three.mlir
// RUN: sed -e 's/MESH/a0 = 8/' %t/planned.mlir > %t/eight.mlir
// RUN: tofu-run %t/two.mlir --input=random:1:0:7 --input=random:2 --output=@%t/two.npy
// RUN: tofu-run %t/three.mlir --input=random:1:0:7 --input=random:2 --output=@%t/three.npy
// RUN: tofu-run %t/eight.mlir --input=random:1:0:7 --input=random:2 --output=@%t/eight.npy
// RUN: tofu-run %t/gather.mlir --devices=1 --input=random:1:0:7 --input=random:2 --expected_output=@%t/two.npy
// RUN: tofu-run %t/gather.mlir --devices=1 --input=random:1:0:7 --input=random:2 --expected_output=@%t/three.npy
// RUN: tofu-run %t/gather.mlir --devices=1 --input=random:1:0:7 --input=random:2 --expected_output=@%t/eight.npy

//--- gather.mlir
func.func @main(%index: tensor<5x1xi64>, %table: tensor<7x6xf32>) -> tensor<5x6xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<5x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<5x6xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %at = tensor.extract %index[%i, %c0] : tensor<5x1xi64>
      %row = arith.index_cast %at : i64 to index
      %r = tensor.extract %table[%row, %j] : tensor<7x6xf32>
      linalg.yield %r : f32
  } -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

//--- planned.mlir
tofu.mesh @mesh[MESH]
func.func @main(%index: tensor<5x1xi64> {tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>},
                %table: tensor<7x6xf32> {tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>})
    -> (tensor<5x6xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {a0}]>}) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<5x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<5x6xf32>)
      attrs = {tofu.semantics = #tofu.semantics<[d0 = 5, d1 = 6, d2 = 7 : sum], (_, in1[d0, 0], in2[d2, d1]) -> (out0[d0, d1])>,
               tofu.strategy = #tofu.strategy<@mesh, [{}, {}, {a0}]>, tofu.layouts = [#tofu.layout<@mesh, [{}, {a0}]>]} {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %at = tensor.extract %index[%i, %c0] : tensor<5x1xi64>
      %row = arith.index_cast %at : i64 to index
      %r = tensor.extract %table[%row, %j] : tensor<7x6xf32>
      linalg.yield %r : f32
  } -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}
