// The pipeline from a source program to a partitioned one.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-partition=devices=2 | FileCheck %s
// RUN: tofu-opt %s -tofu-annotate -tofu-plan=devices=2 -tofu-insert-reshards -tofu-localize -tofu-lower-reshards -tofu-optimize-collectives | FileCheck %s
// RUN: tofu-opt %s -tofu-partition=mesh=x=3 | FileCheck %s --check-prefix=THREE
// RUN: tofu-opt %s -tofu-partition="devices=2 replication" | FileCheck %s --check-prefix=REPLICATION
// RUN: tofu-opt %s -tofu-partition="devices=2 json=%t.json print" 2>&1 >/dev/null | FileCheck %s --check-prefix=TABLE
// RUN: tofu-opt %s -tofu-partition=load=%t.json | FileCheck %s
// RUN: not tofu-opt %s -tofu-partition="devices=2 charge=never" 2>&1 | FileCheck %s --check-prefix=ERROR

// From a source program to what one device computes.

// TABLE: plan of @matmul on 2 devices
// ERROR: error: tofu-plan: charge must be once or per-use, not never

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x4xf32> {tofu.global_type = tensor<8x4xf32>, tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>}
// CHECK-SAME: %[[B:[^:]+]]: tensor<{{.*}}xf32> {tofu.global_type = tensor<4x6xf32>, tofu.layout = #[[LAYOUT:.*]]}) -> (
// CHECK-SAME: tensor<4x6xf32> {tofu.global_type = tensor<8x6xf32>, tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>})
// CHECK-DAG: %[[ALL:.*]] = tofu.all_gather %[[B]] from #[[LAYOUT]] to #tofu.layout<@mesh, [{}, {}]> in [4, 6] : tensor<{{.*}}xf32> -> tensor<4x6xf32>
// CHECK-DAG: %[[EMPTY:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0.0
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%[[C0]] : f32) outs(%[[EMPTY]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: %[[R:.*]] = linalg.matmul ins(%[[A]], %[[ALL]] : tensor<4x4xf32>, tensor<4x6xf32>) outs(%[[ZEROS]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT: return %[[R]] : tensor<4x6xf32>

// A weight that may be whole is not gathered.
// REPLICATION-LABEL: func.func @matmul(
// REPLICATION-SAME: %[[B:[^:]+]]: tensor<4x6xf32> {tofu.global_type = tensor<4x6xf32>, tofu.layout = #tofu.layout<@mesh, [{}, {}]>})
// REPLICATION-NOT: tofu.{{all|reduce|fetch}}
// REPLICATION: return

// 8 rows are 3, 3 and 2.
// THREE-LABEL: func.func @matmul(
// THREE-SAME: %[[A:[^:]+]]: tensor<?x4xf32> {tofu.global_type = tensor<8x4xf32>, tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}
// THREE-DAG: %[[N:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}, {}]> in [8, 6] : index
// THREE-DAG: %[[EMPTY:.*]] = tensor.empty(%[[N]]) : tensor<?x6xf32>
// THREE-DAG: %[[ALL:.*]] = tofu.all_gather
// THREE: linalg.matmul ins(%[[A]], %[[ALL]] : tensor<?x4xf32>, tensor<4x6xf32>) outs(%{{.*}} : tensor<?x6xf32>) -> tensor<?x6xf32>
func.func @matmul(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x6xf32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// What no operator makes, and what none takes.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: %[[A:[^:]+]]: tensor<4xf32>
// CHECK-NEXT: return %[[A]]
func.func @nothing(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// CHECK-LABEL: func.func @nothing_at_all()
// CHECK-NEXT: return
func.func @nothing_at_all() {
  return
}
