// What loops carry and branches hand on is cut if it keeps its size, and whole if
// it grows.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-annotate --tofu-plan=devices=2 | FileCheck %s
// CHECK: func.func @main(%[[X:.*]]: tensor<?x4xf32> {tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>}
// CHECK: tofu.arg_layouts = {{\[\[}}unit, #tofu.layout<@mesh, [{a0}, {}]>, #tofu.layout<@mesh, [{a0}]>{{\]\]}}
// CHECK: tofu.arg_layouts = {{\[\[}}unit, #tofu.layout<@mesh, [{}, {}]>{{\]\]}}

// RUN: tofu-run %s --check --quiet --devices=2 --input=1x4xf32=random:1 --input=random:2 --input=index=3
// RUN: tofu-run %s --check --quiet --devices=1 --input=7x4xf32=random:1 --input=random:2 --input=index=3
// RUN: tofu-run %s --check --quiet --devices=2 --input=7x4xf32=random:1 --input=random:2 --input=index=3
// RUN: tofu-run %s --check --quiet --devices=3 --input=7x4xf32=random:1 --input=random:2 --input=index=3
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=any seed=1' --input=7x4xf32=random:1 --input=random:2 --input=index=3
// RUN: tofu-run %s --check --quiet --devices=6 --partition-options='algorithm=any seed=2' --input=7x4xf32=random:1 --input=random:2 --input=index=3
// RUN: tofu-run %s --check --quiet --devices=8 --partition-options='algorithm=random seed=3 replication=true partials=true' --input=7x4xf32=random:1 --input=random:2 --input=index=3
// RUN: tofu-run %s --check --quiet --devices=4 --input=16x4xf32=random:1 --input=random:2 --input=index=3

func.func @main(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>, %t: index) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %se = tensor.empty() : tensor<4xf32>
  %s = linalg.fill ins(%zero : f32) outs(%se : tensor<4xf32>) -> tensor<4xf32>
  %l:2 = scf.for %i = %c0 to %t step %c1 iter_args(%a = %x, %acc = %s) -> (tensor<?x4xf32>, tensor<4xf32>) {
    %p = linalg.matmul ins(%a, %w : tensor<?x4xf32>, tensor<4x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
    %h = math.tanh %p : tensor<?x4xf32>
    %sum = linalg.reduce ins(%h : tensor<?x4xf32>) outs(%acc : tensor<4xf32>) dimensions = [0]
      (%u: f32, %v: f32) { %q = arith.addf %u, %v : f32 linalg.yield %q : f32 }
    scf.yield %h, %sum : tensor<?x4xf32>, tensor<4xf32>
  }
  %cond = arith.cmpi sgt, %n, %c1 : index
  %b = scf.if %cond -> tensor<?x4xf32> {
    %y = math.exp %x : tensor<?x4xf32>
    scf.yield %y : tensor<?x4xf32>
  } else {
    scf.yield %x : tensor<?x4xf32>
  }
  %b2 = math.absf %b : tensor<?x4xf32>
  %grown = scf.for %i = %c0 to %t step %c1 iter_args(%a = %x) -> (tensor<?x4xf32>) {
    %more = tensor.concat dim(0) %a, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %next = math.tanh %more : tensor<?x4xf32>
    scf.yield %next : tensor<?x4xf32>
  }
  %size = tensor.dim %grown, %c0 : tensor<?x4xf32>
  return %l#0, %b2, %l#1, %grown, %size : tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>, index
}
