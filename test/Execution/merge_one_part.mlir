// A reduction to numbers that its body combines, cut by an axis of size one too.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --mesh=x=1 --check --partition-options='algorithm=any seed=0'
// RUN: tofu-run %s --mesh=x=1,y=2,z=1 --check --partition-options='algorithm=any seed=1'
// RUN: tofu-run %s --mesh=x=1,y=3 --check --partition-options='algorithm=any seed=5'
// RUN: tofu-run %s --mesh=x=1,y=4 --check --partition-options='algorithm=any seed=5'

#in = affine_map<(d0) -> (d0)>
#number = affine_map<(d0) -> ()>
func.func @main(%x: tensor<9xf32>, %index: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %least = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<f32>
  %value = linalg.fill ins(%least : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %0:2 = linalg.generic {indexing_maps = [#in, #number, #number], iterator_types = ["reduction"]}
      ins(%x : tensor<9xf32>) outs(%value, %index : tensor<f32>, tensor<i32>) {
    ^bb0(%in: f32, %best: f32, %at: i32):
      %j = linalg.index 0 : index
      %n = arith.index_cast %j : index to i32
      %more = arith.cmpf ogt, %in, %best : f32
      %r0 = arith.select %more, %in, %best : f32
      %r1 = arith.select %more, %n, %at : i32
      linalg.yield %r0, %r1 : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}
