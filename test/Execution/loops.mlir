// What is in loops and branches is cut like all else; what a loop carries keeps
// one layout, also around loops in loops, and what a loop only reads is fetched
// once. The inputs of the branch are equal on all devices, and so is the way.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-annotate --tofu-plan="devices=2 print" -o %t.mlir 2> %t.txt
// RUN: FileCheck %s --check-prefix=PLAN --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=BYTES --input-file=%t.txt
// PLAN: scf.for
// PLAN: linalg.matmul {tofu.layouts = [#tofu.layout<@mesh, [{a0}, {}]>]
// PLAN: tofu.arg_layouts = {{\[\[}}unit, #tofu.layout<@mesh, [{a0}, {}]>{{\]\]}}, tofu.layouts = [#tofu.layout<@mesh, [{a0}, {}]>]

// Half of each weight's 30 elements, to each of two devices, once for all four
// times; then the one element that the predicate needs.
// BYTES: linalg.matmul {{.*}} 120 0
// BYTES: linalg.matmul {{.*}} 120 0
// BYTES: tensor.extract {{.*}} 4 0
// BYTES: total: 244 bytes
// RUN: tofu-run %s --devices=2 --check --json=- | FileCheck %s --check-prefix=RUN-BYTES
// RUN-BYTES: "received_bytes": 244,

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check
// RUN: tofu-run %s --devices=8 --check
// RUN: tofu-run %s --devices=2 --check --partition-options='algorithm=random seed=1 replication=true'
// RUN: tofu-run %s --devices=3 --check --partition-options='algorithm=random seed=2 partials=true'
// RUN: tofu-run %s --devices=6 --check --partition-options='algorithm=random seed=3 replication=true partials=true'
// RUN: tofu-opt %s --tofu-annotate --tofu-plan="devices=6 algorithm=random seed=4 json=%t.json" -o /dev/null
// RUN: tofu-run %s --plan=%t.json --check

#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<13x5xf32>, %w: tensor<5x6xf32>, %v: tensor<6x5xf32>, %n: i32) -> (tensor<13x5xf32>, tensor<13x5xf32>, tensor<5x13xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %three = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %third = arith.constant 0.3 : f32
  %e5 = tensor.empty() : tensor<13x5xf32>
  %e6 = tensor.empty() : tensor<13x6xf32>
  %z5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<13x5xf32>) -> tensor<13x5xf32>
  %z6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<13x6xf32>) -> tensor<13x6xf32>
  // A loop in a loop.
  %a = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x) -> tensor<13x5xf32> {
    %h = linalg.matmul ins(%s, %w : tensor<13x5xf32>, tensor<5x6xf32>) outs(%z6 : tensor<13x6xf32>) -> tensor<13x6xf32>
    %y = linalg.matmul ins(%h, %v : tensor<13x6xf32>, tensor<6x5xf32>) outs(%z5 : tensor<13x5xf32>) -> tensor<13x5xf32>
    %t = scf.for %j = %c0 to %c2 step %c1 iter_args(%u = %y) -> tensor<13x5xf32> {
      %scaled = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%u : tensor<13x5xf32>) outs(%e5 : tensor<13x5xf32>) {
        ^bb0(%in: f32, %out: f32):
          %m = arith.mulf %in, %third : f32
          linalg.yield %m : f32
      } -> tensor<13x5xf32>
      scf.yield %scaled : tensor<13x5xf32>
    }
    scf.yield %t : tensor<13x5xf32>
  }
  // A loop that runs as long as its inputs say; what it starts from is constant.
  %b:2 = scf.while (%k = %n, %s = %z5) : (i32, tensor<13x5xf32>) -> (i32, tensor<13x5xf32>) {
    %more = arith.cmpi slt, %k, %three : i32
    scf.condition(%more) %k, %s : i32, tensor<13x5xf32>
  } do {
  ^bb0(%k: i32, %s: tensor<13x5xf32>):
    %next = arith.addi %k, %one : i32
    %t = arith.addf %s, %a : tensor<13x5xf32>
    scf.yield %next, %t : i32, tensor<13x5xf32>
  }
  // A branch on a value that is computed from a tensor.
  %first = tensor.extract %b#1[%c1, %c1] : tensor<13x5xf32>
  %positive = arith.cmpf ogt, %first, %zero : f32
  %et = tensor.empty() : tensor<5x13xf32>
  %c = scf.if %positive -> tensor<5x13xf32> {
    %t = linalg.transpose ins(%b#1 : tensor<13x5xf32>) outs(%et : tensor<5x13xf32>) permutation = [1, 0]
    scf.yield %t : tensor<5x13xf32>
  } else {
    %t = linalg.transpose ins(%x : tensor<13x5xf32>) outs(%et : tensor<5x13xf32>) permutation = [1, 0]
    %u = math.exp %t : tensor<5x13xf32>
    scf.yield %u : tensor<5x13xf32>
  }
  return %a, %b#1, %c : tensor<13x5xf32>, tensor<13x5xf32>, tensor<5x13xf32>
}
