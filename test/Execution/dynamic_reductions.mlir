// Reductions over a dim of unknown size, from initial values that are neutral or
// not, of known and of unknown size.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --quiet --devices=3 --input=1x6xf32=random:1 --input=random:2 --input=4x1xi32=random:3:-9:9 --input=random:4
// RUN: tofu-run %s --check --quiet --devices=8 --input=2x6xf32=random:1 --input=random:2 --input=4x2xi32=random:3:-9:9 --input=random:4
// RUN: tofu-run %s --check --quiet --devices=2 --input=7x6xf32=random:1 --input=random:2 --input=4x7xi32=random:3:-9:9 --input=random:4
// RUN: tofu-run %s --check --quiet --devices=3 --input=7x6xf32=random:1 --input=random:2 --input=4x7xi32=random:3:-9:9 --input=random:4
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=any seed=1' --input=7x6xf32=random:1 --input=random:2 --input=4x7xi32=random:3:-9:9 --input=random:4
// RUN: tofu-run %s --check --quiet --devices=6 --partition-options='algorithm=any seed=2' --input=7x6xf32=random:1 --input=random:2 --input=4x7xi32=random:3:-9:9 --input=random:4
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=random seed=3 replication=true partials=true' --input=7x6xf32=random:1 --input=random:2 --input=4x7xi32=random:3:-9:9 --input=random:4
// RUN: tofu-run %s --check --quiet --devices=8 --partition-options='algorithm=random seed=4 replication=true partials=true' --input=7x6xf32=random:1 --input=random:2 --input=4x7xi32=random:3:-9:9 --input=random:4
// RUN: tofu-run %s --check --quiet --devices=4 --input=16x6xf32=random:1 --input=random:2 --input=4x16xi32=random:3:-9:9 --input=random:4
// RUN: tofu-run %s --check --quiet --devices=3 --partition-options='algorithm=any seed=5' --input=16x6xf32=random:1 --input=random:2 --input=4x16xi32=random:3:-9:9 --input=random:4

func.func @main(%x: tensor<?x6xf32>, %init: tensor<6xf32>, %y: tensor<4x?xi32>, %yi: tensor<4xi32>) -> (tensor<6xf32>, tensor<4xi32>, tensor<f32>, tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %s = linalg.reduce ins(%x : tensor<?x6xf32>) outs(%init : tensor<6xf32>) dimensions = [0]
    (%a: f32, %b: f32) { %t = arith.addf %a, %b : f32 linalg.yield %t : f32 }
  %m = linalg.reduce ins(%y : tensor<4x?xi32>) outs(%yi : tensor<4xi32>) dimensions = [1]
    (%a: i32, %b: i32) { %t = arith.maxsi %a, %b : i32 linalg.yield %t : i32 }
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %all = linalg.reduce ins(%x : tensor<?x6xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
    (%a: f32, %b: f32) { %t = arith.addf %a, %b : f32 linalg.yield %t : f32 }
  // an initial value of unknown size that isn't neutral
  %re = tensor.empty(%n) : tensor<?xf32>
  %one = arith.constant 1.5 : f32
  %rf = linalg.fill ins(%one : f32) outs(%re : tensor<?xf32>) -> tensor<?xf32>
  %rows = linalg.reduce ins(%x : tensor<?x6xf32>) outs(%rf : tensor<?xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %t = arith.addf %a, %b : f32 linalg.yield %t : f32 }
  %r = tensor.dim %rows, %c0 : tensor<?xf32>
  return %s, %m, %all, %rows, %r : tensor<6xf32>, tensor<4xi32>, tensor<f32>, tensor<?xf32>, index
}
