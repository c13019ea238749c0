// Globals: one that is stored, one that isn't, one with different elements. The
// state carries over from run to run.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check --iters=3
// RUN: tofu-run %s --devices=3 --check --iters=2 --warmup=2
// RUN: tofu-run %s --devices=4 --check --iters=3
// RUN: tofu-run %s --devices=5 --check --iters=3

// Three runs from 1, each adding the input 0.5.
// RUN: tofu-run %s --devices=2 --iters=3 --input=7x2xf32=0.5 | FileCheck %s
// RUN: tofu-run %s --devices=1 --iters=3 --input=7x2xf32=0.5 | FileCheck %s
// CHECK: result 1: 7x2xf32=[2.5 2.5]
// CHECK: result 2: 3xi64=13 18 -5

ml_program.global private mutable @state(dense<1.0> : tensor<7x2xf32>) : tensor<7x2xf32>
ml_program.global private mutable @count(dense<[10, 15, -8]> : tensor<3xi64>) : tensor<3xi64>
ml_program.global private mutable @last : tensor<7x2xf32>
ml_program.global private @weight(dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0], [11.0, 12.0], [13.0, 14.0]]> : tensor<7x2xf32>) : tensor<7x2xf32>

#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<7x2xf32>) -> (tensor<7x2xf32>, tensor<7x2xf32>, tensor<3xi64>, tensor<7x2xf32>) {
  %old = ml_program.global_load @state : tensor<7x2xf32>
  %last = ml_program.global_load @last : tensor<7x2xf32>
  %weight = ml_program.global_load_const @weight : tensor<7x2xf32>
  %new = arith.addf %a, %old : tensor<7x2xf32>
  ml_program.global_store @state = %new : tensor<7x2xf32>
  ml_program.global_store @last = %old : tensor<7x2xf32>
  %product = arith.mulf %old, %weight : tensor<7x2xf32>
  %again = ml_program.global_load @state : tensor<7x2xf32>
  %count = ml_program.global_load @count : tensor<3xi64>
  %one = arith.constant 1 : i64
  %next = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%count : tensor<3xi64>) {
    ^bb0(%n: i64):
      %m = arith.addi %n, %one : i64
      linalg.yield %m : i64
  } -> tensor<3xi64>
  ml_program.global_store @count = %next : tensor<3xi64>
  return %product, %again, %next, %last : tensor<7x2xf32>, tensor<7x2xf32>, tensor<3xi64>, tensor<7x2xf32>
}
