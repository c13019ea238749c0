// Reductions of unknown sizes that their own body combines.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{sizes} = 1x9
// DEFINE: %{k} = 2
// DEFINE: %{run} = tofu-run %s --check --quiet --devices=%{k} --input=%{sizes}xf32=random:1:-3:3
// RUN: %{run}
// REDEFINE: %{k} = 3
// RUN: %{run}
// REDEFINE: %{k} = 4
// RUN: %{run}
// REDEFINE: %{k} = 8
// RUN: %{run}
// REDEFINE: %{sizes} = 5x3
// RUN: %{run}
// REDEFINE: %{sizes} = 16x1
// RUN: %{run}
// REDEFINE: %{sizes} = 1x0
// RUN: %{run}
// REDEFINE: %{sizes} = 7x64
// REDEFINE: %{k} = 6 --partition-options='algorithm=any seed=1'
// RUN: %{run}
// REDEFINE: %{k} = 6 --partition-options='algorithm=any seed=2'
// RUN: %{run}
// REDEFINE: %{k} = 4 --partition-options=size-hint=2
// RUN: %{run}

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#none = affine_map<(d0, d1) -> ()>

// Where the greatest element of each row is, and where that of all.
func.func @main(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xi32>, tensor<f32>, tensor<index>, tensor<index>) {
  %least = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i32
  %first = arith.constant 0 : index
  %n = tensor.dim %x, %first : tensor<?x?xf32>
  %e0 = tensor.empty(%n) : tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?xi32>
  %i0 = linalg.fill ins(%least : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %i1 = linalg.fill ins(%none : i32) outs(%e1 : tensor<?xi32>) -> tensor<?xi32>
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%i0, %i1 : tensor<?xf32>, tensor<?xi32>) {
    ^bb0(%in: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %m = arith.index_cast %j : index to i32
      %more = arith.cmpf ogt, %in, %best : f32
      %r0 = arith.select %more, %in, %best : f32
      %r1 = arith.select %more, %m, %at : i32
      linalg.yield %r0, %r1 : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  %f0 = tensor.empty() : tensor<f32>
  %f1 = tensor.empty() : tensor<index>
  %j0 = linalg.fill ins(%least : f32) outs(%f0 : tensor<f32>) -> tensor<f32>
  %j1 = linalg.fill ins(%first : index) outs(%f1 : tensor<index>) -> tensor<index>
  %1:3 = linalg.generic {indexing_maps = [#id, #none, #none, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%j0, %j1, %j1 : tensor<f32>, tensor<index>, tensor<index>) {
    ^bb0(%in: f32, %best: f32, %row: index, %column: index):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %more = arith.cmpf ogt, %in, %best : f32
      %r0 = arith.select %more, %in, %best : f32
      %r1 = arith.select %more, %i, %row : index
      %r2 = arith.select %more, %j, %column : index
      linalg.yield %r0, %r1, %r2 : f32, index, index
  } -> (tensor<f32>, tensor<index>, tensor<index>)
  return %0#0, %0#1, %1#0, %1#1, %1#2 : tensor<?xf32>, tensor<?xi32>, tensor<f32>, tensor<index>, tensor<index>
}
