// A global that a loop loads and stores, by way of a private function, and only
// under a condition; one that is only stored, with a constant; numbers.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check --iters=2
// RUN: tofu-run %s --devices=2 --check --iters=2
// RUN: tofu-run %s --devices=3 --check --iters=2
// RUN: tofu-run %s --devices=4 --check --iters=2
// RUN: tofu-run %s --devices=5 --check --iters=2

// RUN: tofu-run %s --devices=3 --iters=2 --input=7x5xf32=1 | FileCheck %s
// CHECK: result 1: i64=50

ml_program.global private mutable @state(dense<0.5> : tensor<7x5xf32>) : tensor<7x5xf32>
ml_program.global private mutable @flag(dense<false> : tensor<4xi1>) : tensor<4xi1>
ml_program.global private mutable @steps(42 : i64) : i64

func.func private @step(%a: tensor<7x5xf32>) -> tensor<5x7xf32> {
  %old = ml_program.global_load @state : tensor<7x5xf32>
  %new = arith.addf %a, %old : tensor<7x5xf32>
  ml_program.global_store @state = %new : tensor<7x5xf32>
  %steps = ml_program.global_load @steps : i64
  %one = arith.constant 1 : i64
  %next = arith.addi %steps, %one : i64
  ml_program.global_store @steps = %next : i64
  %e = tensor.empty() : tensor<5x7xf32>
  %t = linalg.transpose ins(%old : tensor<7x5xf32>) outs(%e : tensor<5x7xf32>) permutation = [1, 0]
  return %t : tensor<5x7xf32>
}

func.func @main(%a: tensor<7x5xf32>) -> (tensor<5x7xf32>, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %init) -> tensor<5x7xf32> {
    %t = func.call @step(%a) : (tensor<7x5xf32>) -> tensor<5x7xf32>
    %new = arith.addf %sum, %t : tensor<5x7xf32>
    %even = arith.cmpi eq, %i, %c2 : index
    scf.if %even {
      ml_program.global_store @state = %a : tensor<7x5xf32>
    }
    scf.yield %new : tensor<5x7xf32>
  }
  %true = arith.constant dense<true> : tensor<4xi1>
  ml_program.global_store @flag = %true : tensor<4xi1>
  %steps = ml_program.global_load @steps : i64
  return %r, %steps : tensor<5x7xf32>, i64
}
