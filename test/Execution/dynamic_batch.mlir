// A batch of unknown size is cut, for every size that comes: parts may be uneven
// or empty. The plan is for the hint, the program for all sizes.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-partition=devices=4 | FileCheck %s
// RUN: tofu-opt %s --tofu-partition="devices=4 size-hint=7777" | FileCheck %s
// CHECK-NOT: 1024
// CHECK-NOT: 7777
// CHECK: %{{.*}}: tensor<?x64xf32> {tofu.global_type = tensor<?x64xf32>, tofu.layout = #tofu.layout<@mesh, [{a0, a1}, {}]>}
// CHECK-SAME: %[[N:[a-z0-9]+]]: index {tofu.size_of = array<i64: 0, 0>}
// CHECK-NOT: 1024
// CHECK-NOT: 7777
// CHECK: tofu.shard_size 0 of #tofu.layout<@mesh, [{a0, a1}, {}]> in [%[[N]], 32] : index
// CHECK-NOT: 1024
// CHECK-NOT: 7777

// One partitioned program for several sizes; the sizes themselves are no inputs.
// RUN: tofu-opt %s --tofu-partition=devices=3 -o %t.mlir
// RUN: tofu-run %t.mlir --quiet --input=7x64xf32=random:1 --input=random:2 --input=random:3 --output=@%t.7.npy
// RUN: tofu-run %t.mlir --quiet --input=2x64xf32=random:1 --input=random:2 --input=random:3 --output=@%t.2.npy
// RUN: tofu-run %s --quiet --input=7x64xf32=random:1 --input=random:2 --input=random:3 --expected_output=@%t.7.npy
// RUN: tofu-run %s --quiet --input=2x64xf32=random:1 --input=random:2 --input=random:3 --expected_output=@%t.2.npy

// RUN: tofu-run %s --check --quiet --devices=1 --input=1x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=2 --input=1x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=3 --input=1x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=8 --input=1x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=3 --input=2x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=8 --input=2x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=2 --input=7x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=3 --input=7x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --input=7x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=8 --input=7x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=6 --partition-options='algorithm=any seed=1' --input=7x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=random seed=2 replication=true partials=true' --input=7x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=1 --input=64x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=3 --input=64x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --input=64x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=8 --partition-options='algorithm=any seed=3' --input=64x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=1 --input=0x64xf32=random:1 --input=random:2 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=3 --input=0x64xf32=random:1 --input=random:2 --input=random:3

func.func @main(%x: tensor<?x64xf32>, %w: tensor<64x32xf32>, %v: tensor<32x10xf32>) -> tensor<?x10xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x32xf32>) -> tensor<?x32xf32>
  %h = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x32xf32>) outs(%f : tensor<?x32xf32>) -> tensor<?x32xf32>
  %a = math.tanh %h : tensor<?x32xf32>
  %e1 = tensor.empty(%n) : tensor<?x10xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x10xf32>) -> tensor<?x10xf32>
  %o = linalg.matmul ins(%a, %v : tensor<?x32xf32>, tensor<32x10xf32>) outs(%f1 : tensor<?x10xf32>) -> tensor<?x10xf32>
  return %o : tensor<?x10xf32>
}
