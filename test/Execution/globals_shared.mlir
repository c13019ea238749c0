// Two functions that use the same globals. Each begins with the initial values, and
// finds from run to run what it has stored. Alone, @apply would have @state in
// columns.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --function=update --devices=1 --check --iters=3
// RUN: tofu-run %s --function=update --devices=2 --check --iters=3
// RUN: tofu-run %s --function=update --devices=3 --check --iters=3
// RUN: tofu-run %s --function=update --devices=4 --check --iters=3
// RUN: tofu-run %s --function=apply --devices=1 --check --iters=3
// RUN: tofu-run %s --function=apply --devices=2 --check --iters=3
// RUN: tofu-run %s --function=apply --devices=3 --check --iters=3
// RUN: tofu-run %s --function=apply --devices=4 --check --iters=3
// RUN: tofu-run %s --function=apply --devices=3 --check --iters=3 --partition-options='algorithm=random seed=3'

// Three runs from 0, 1, 2, ... and a count of 5: of @update, each adds the input 0.5;
// of @apply, each counts, and the last one returns the sum of a column, twice.
// RUN: tofu-run %s --function=update --devices=2 --iters=3 --input=5x3xf32=0.5 | FileCheck %s --check-prefix=UPDATE
// UPDATE: result 0: 5x3xf32=[1.5 2.5 3.5][4.5 5.5 6.5]
// RUN: tofu-run %s --function=apply --devices=2 --iters=3 --input=5x3xf32=2 | FileCheck %s --check-prefix=APPLY
// APPLY: result 0: 3xf32=60 70 80
// APPLY: result 1: 2xi64=8 9

ml_program.global private mutable @state(dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0]]> : tensor<5x3xf32>) : tensor<5x3xf32>
ml_program.global private mutable @count(dense<[5, 6]> : tensor<2xi64>) : tensor<2xi64>

func.func @update(%a: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %old = ml_program.global_load @state : tensor<5x3xf32>
  %new = arith.addf %old, %a : tensor<5x3xf32>
  ml_program.global_store @state = %new : tensor<5x3xf32>
  return %new : tensor<5x3xf32>
}

func.func @apply(%a: tensor<5x3xf32>) -> (tensor<3xf32>, tensor<2xi64>) {
  %state = ml_program.global_load @state : tensor<5x3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                         iterator_types = ["reduction", "parallel"]}
      ins(%state, %a : tensor<5x3xf32>, tensor<5x3xf32>) outs(%zero : tensor<3xf32>) {
  ^bb0(%s: f32, %f: f32, %out: f32):
    %product = arith.mulf %s, %f : f32
    %next = arith.addf %out, %product : f32
    linalg.yield %next : f32
  } -> tensor<3xf32>
  %one = arith.constant dense<1> : tensor<2xi64>
  %count = ml_program.global_load @count : tensor<2xi64>
  %counted = arith.addi %count, %one : tensor<2xi64>
  ml_program.global_store @count = %counted : tensor<2xi64>
  return %sum, %counted : tensor<3xf32>, tensor<2xi64>
}
