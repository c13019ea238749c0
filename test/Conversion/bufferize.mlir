// What tofu's operations on tensors become on buffers.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

tofu.mesh @mesh[x = 2]

#mm = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]

// The operand is read, the result is memory of its own.
// CHECK-LABEL: func.func @gather
// CHECK:         %[[TO:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK:         tofu.collective all_gather %{{.*}}, %[[TO]] from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8]
// CHECK:         return %{{.*}}, %[[TO]]
func.func @gather(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %0 = tofu.all_gather %a from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : tensor<4xf32> -> tensor<8xf32>
  return %a, %0 : tensor<4xf32>, tensor<8xf32>
}

// The size of an uneven shard.
// CHECK-LABEL: func.func @uneven
// CHECK:         %[[SIZE:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}]> in [5]
// CHECK:         memref.alloc(%[[SIZE]])
// CHECK:         tofu.collective fetch
func.func @uneven(%a: tensor<5xf32>) -> tensor<?xf32> {
  %0 = tofu.fetch %a from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{x}]> in [5] : tensor<5xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// What the output held is not read: nothing is copied.
// CHECK-LABEL: func.func @contract
// CHECK-NOT:     memref.copy
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} maps
func.func @contract(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32> {bufferization.writable = false})
    -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %0 = tofu.contract %a, %b into %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return %c, %0 : tensor<8x6xf32>, tensor<8x6xf32>
}

// CHECK-LABEL: func.func @accumulate
// CHECK:         memref.copy
// CHECK:         tofu.contract accumulate
func.func @accumulate(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32> {bufferization.writable = false})
    -> tensor<8x6xf32> {
  %0 = tofu.contract accumulate %a, %b into %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
