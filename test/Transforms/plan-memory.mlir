// What a plan takes of memory, and plans that keep to a limit.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t

// Weights that may be whole cost nothing, 16 elements each beside the rows of x,
// 32, and of two products, 64, at the second product: 144. Cut, they are half as
// large, and each needs a copy while it is used: 136.
// RUN: tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 algorithm=recursive replication print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 algorithm=recursive replication print memory-per-device=576" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: total: 0 bytes
// WHOLE-NEXT: memory: 576 bytes per device, most at :5 linalg.matmul
// RUN: tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 algorithm=recursive replication print memory-per-device=575" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 algorithm=kbest replication print memory-per-device=575" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: total: 192 bytes
// CUT-NEXT: memory: 544 bytes per device, most at :5 linalg.matmul

// The limit comes before the time too: for these 192 bytes each device waits three
// times 3 us, and 32 / 450 ns for what it receives.
// RUN: tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 replication print memory-per-device=576 objective=time machine=dgx-h100" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAST
// FAST: total: 0 bytes, 0.000288 us, 0.000288 of it work
// RUN: tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 replication print memory-per-device=575 objective=time machine=dgx-h100" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SLOW
// SLOW: total: 192 bytes, 9.000501 us, 0.000288 of it work
// SLOW-NEXT: memory: 544 bytes per device

// Searches that weigh memory find 17,984 bytes for a training step; a plan without
// cut reductions takes less, and is found too.
// RUN: tofu-opt %S/../Execution/Inputs/mlp_train.mlir -inline -tofu-annotate -tofu-plan="mesh=x=2 algorithm=icml18 print memory-per-device=17724" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SIMPLE
// RUN: tofu-opt %S/../Execution/Inputs/mlp_train.mlir -inline -tofu-annotate -tofu-plan="mesh=x=2 print memory-per-device=17724" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SIMPLE
// RUN: tofu-opt %S/../Execution/Inputs/mlp_train.mlir -inline -tofu-annotate -tofu-plan="mesh=x=2 algorithm=recursive print memory-per-device=17724" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SIMPLE
// SIMPLE: memory: 17724 bytes per device

// No plan takes less. A plan from a file must keep to the limit too.
// RUN: not tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 algorithm=recursive replication memory-per-device=543 json=%t.json" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 algorithm=kbest memory-per-device=543" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: layers.mlir:2:1: error: @layers needs at least 544 bytes per device with the plans that were found, memory-per-device is 543
// RUN: tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 algorithm=recursive replication json=%t.json" -o /dev/null
// RUN: not tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="load=%t.json memory-per-device=575" 2>&1 | FileCheck %s --check-prefix=LOADED
// LOADED: layers.mlir:2:1: error: @layers needs 576 bytes per device with this plan, memory-per-device is 575

// One copy of w serves both products, 120 elements, and stays between them;
// beside the arguments, 156, and both results, 80, that is 356. Cut along k, each
// moves the 80 elements of its result, and holds all of it before: 316.
// RUN: tofu-opt %t/shared.mlir -tofu-annotate -tofu-plan="devices=2 algorithm=kbest print memory-per-device=1424" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: total: 480 bytes
// SHARED-NEXT: memory: 1424 bytes per device, most at :6 linalg.matmul
// RUN: tofu-opt %t/shared.mlir -tofu-annotate -tofu-plan="devices=2 algorithm=kbest print memory-per-device=1423" -o /dev/null 2>&1 | FileCheck %s --check-prefix=APART
// APART: total: 640 bytes
// APART-NEXT: memory: 1264 bytes per device, most at :6 linalg.matmul

// A loop holds what it uses until it ends, and of what it makes one turn: beside
// x and w, 4 + 8 elements, the first state, the present one, and the product, 12.
// RUN: tofu-opt %t/loop.mlir -tofu-annotate -tofu-plan="devices=2 print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP: plan of @loop
// LOOP: memory: 96 bytes per device, most at :6 arith.mulf

// RUN: tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 memory-per-device=1KiB" -o /dev/null
// RUN: tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 memory-per-device=1MiB" -o /dev/null
// RUN: tofu-opt %t/layers.mlir -tofu-annotate -tofu-plan="devices=2 memory-per-device=16GiB" -o /dev/null
// RUN: not tofu-opt %t/layers.mlir -tofu-plan="devices=2 memory-per-device=16GB" 2>&1 | FileCheck %s --check-prefix=SIZE -DSIZE=16GB
// RUN: not tofu-opt %t/layers.mlir -tofu-plan="devices=2 memory-per-device=0" 2>&1 | FileCheck %s --check-prefix=SIZE -DSIZE=0
// RUN: not tofu-opt %t/layers.mlir -tofu-plan="devices=2 memory-per-device=-1" 2>&1 | FileCheck %s --check-prefix=SIZE -DSIZE=-1
// RUN: not tofu-opt %t/layers.mlir -tofu-plan="devices=2 memory-per-device=9223372036854775807KiB" 2>&1 | FileCheck %s --check-prefix=SIZE -DSIZE=9223372036854775807KiB
// SIZE: error: tofu-plan: memory-per-device must be a number of bytes, KiB, MiB or GiB, such as 16GiB, not [[SIZE]]

//--- layers.mlir
// y = x u v w
func.func @layers(%x: tensor<16x4xf32>, %u: tensor<4x4xf32>, %v: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<16x4xf32> {
  %zeros = arith.constant dense<0.0> : tensor<16x4xf32>
  %0 = linalg.matmul ins(%x, %u : tensor<16x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<16x4xf32>) -> tensor<16x4xf32>
  %1 = linalg.matmul ins(%0, %v : tensor<16x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<16x4xf32>) -> tensor<16x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<16x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %2 : tensor<16x4xf32>
}

//--- shared.mlir
// Two products with one matrix.
func.func @shared(%x: tensor<8x12xf32>, %y: tensor<8x12xf32>, %w: tensor<12x10xf32>) -> (tensor<8x10xf32>, tensor<8x10xf32>) {
  %c0 = arith.constant dense<0.0> : tensor<8x10xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x12xf32>, tensor<12x10xf32>) outs(%c0 : tensor<8x10xf32>) -> tensor<8x10xf32>
  // Used until here.
  %1 = linalg.matmul ins(%y, %w : tensor<8x12xf32>, tensor<12x10xf32>) outs(%c0 : tensor<8x10xf32>) -> tensor<8x10xf32>
  return %0, %1 : tensor<8x10xf32>, tensor<8x10xf32>
}

//--- loop.mlir
func.func @loop(%x: tensor<8xf32>, %w: tensor<16xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = math.exp %x : tensor<8xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %0) -> tensor<8xf32> {
    %2 = arith.mulf %s, %0 : tensor<8xf32>
    %3 = math.exp %2 : tensor<8xf32>
    scf.yield %3 : tensor<8xf32>
  }
  return %1 : tensor<8xf32>
}
