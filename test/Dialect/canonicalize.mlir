// Folders of bounds and moves.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -canonicalize | FileCheck %s

tofu.mesh @mesh [x = 2, y = 3]

//===----------------------------------------------------------------------===//
// Bounds that are the same on all devices
//===----------------------------------------------------------------------===//

// 66 over x is 33 each, over x and y 11 each; a dim that isn't cut starts at 0.
// CHECK-LABEL: func.func @uniform
func.func @uniform() -> (index, index, index, index) {
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  // CHECK-DAG: %[[C11:.*]] = arith.constant 11 : index
  // CHECK-DAG: %[[C33:.*]] = arith.constant 33 : index
  %0 = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}, {}]> in [66, 4] : index
  %1 = tofu.shard_size 0 of #tofu.layout<@mesh, [{x, y}, {}]> in [66, 4] : index
  %2 = tofu.shard_size 1 of #tofu.layout<@mesh, [{x, y}, {}]> in [66, 4] : index
  %3 = tofu.shard_offset 1 of #tofu.layout<@mesh, [{x, y}, {}]> in [66, 4] : index
  // CHECK: return %[[C33]], %[[C11]], %[[C4]], %[[C0]]
  return %0, %1, %2, %3 : index, index, index, index
}

// 5 over x is 3 and 2, 4 over y is 2, 1 and 1; offsets differ.
// CHECK-LABEL: func.func @not_uniform
func.func @not_uniform() -> (index, index, index) {
  // CHECK-NEXT: %[[SIZE:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}]> in [5] : index
  %0 = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}]> in [5] : index
  // CHECK-NEXT: %[[NEXT:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{y}]> in [4] : index
  %1 = tofu.shard_size 0 of #tofu.layout<@mesh, [{y}]> in [4] : index
  // CHECK-NEXT: %[[OFFSET:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}]> in [6] : index
  %2 = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}]> in [6] : index
  // CHECK-NEXT: return %[[SIZE]], %[[NEXT]], %[[OFFSET]]
  return %0, %1, %2 : index, index, index
}

// Nested cuts are not cuts by the product: 7 over x is 4 and 3, over y 2, 1, 1
// and 1, 1, 1. 8 over x and y is 2, 1, 1 twice. Only an even cut is uniform.
// CHECK-LABEL: func.func @nested
func.func @nested() -> (index, index) {
  // CHECK-NEXT: tofu.shard_size 0 of #tofu.layout<@mesh, [{x, y}]> in [7] : index
  %0 = tofu.shard_size 0 of #tofu.layout<@mesh, [{x, y}]> in [7] : index
  // CHECK-NEXT: tofu.shard_size 0 of #tofu.layout<@mesh, [{x, y}]> in [8] : index
  %1 = tofu.shard_size 0 of #tofu.layout<@mesh, [{x, y}]> in [8] : index
  return %0, %1 : index, index
}

// The window of 2 over 6 rows: rows 0..3 and 3..6 of 7 are 4 each.
// CHECK-LABEL: func.func @boxes
func.func @boxes() -> (index, index, index) {
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  // CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
  // CHECK: %[[OFFSET:.*]] = tofu.shard_offset 0 of #tofu.boxes<@mesh, [r = 6 {x}, w = 2], [r + w]> in [7] : index
  %0 = tofu.shard_size 0 of #tofu.boxes<@mesh, [r = 6 {x}, w = 2], [r + w]> in [7] : index
  %1 = tofu.shard_offset 0 of #tofu.boxes<@mesh, [r = 6 {x}, w = 2], [r + w]> in [7] : index
  // A constant index is the same everywhere, whatever else is cut.
  %2 = tofu.shard_offset 1 of #tofu.boxes<@mesh, [r = 6 {x}], [r, 5]> in [6, 7] : index
  // CHECK: return %[[C4]], %[[OFFSET]], %[[C5]]
  return %0, %1, %2 : index, index, index
}

// One row over y: one device has it, the others have empty parts.
// CHECK-LABEL: func.func @empty_parts
func.func @empty_parts() -> (index, index) {
  // CHECK: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-NEXT: %[[SIZE:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{y}]> in [1] : index
  %0 = tofu.shard_size 0 of #tofu.layout<@mesh, [{y}]> in [1] : index
  // Nothing is nothing everywhere.
  %1 = tofu.shard_size 0 of #tofu.layout<@mesh, [{y}]> in [0] : index
  // CHECK-NEXT: return %[[SIZE]], %[[C0]]
  return %0, %1 : index, index
}

//===----------------------------------------------------------------------===//
// Moves to where a value is
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @identities
// CHECK-SAME: %[[X:.*]]: tensor<33x4xf32>
func.func @identities(%x: tensor<33x4xf32>) -> (tensor<33x4xf32>, tensor<33x4xf32>, tensor<33x4xf32>, tensor<33x4xf32>) {
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [66, 4] : tensor<33x4xf32> -> tensor<33x4xf32>
  %1 = tofu.all_gather %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [66, 4] : tensor<33x4xf32> -> tensor<33x4xf32>
  %2 = tofu.all_to_all %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [66, 4] : tensor<33x4xf32> -> tensor<33x4xf32>
  %3 = tofu.fetch %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [66, 4] : tensor<33x4xf32> -> tensor<33x4xf32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]]
  return %0, %1, %2, %3 : tensor<33x4xf32>, tensor<33x4xf32>, tensor<33x4xf32>, tensor<33x4xf32>
}

// A move that knows less, or more, of the type stays.
// CHECK-LABEL: func.func @other_type
func.func @other_type(%x: tensor<?x4xf32>) -> tensor<33x4xf32> {
  // CHECK-NEXT: tofu.fetch
  %0 = tofu.fetch %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [66, 4] : tensor<?x4xf32> -> tensor<33x4xf32>
  return %0 : tensor<33x4xf32>
}

// Moves have no effects: all devices drop the same unused ones.
// CHECK-LABEL: func.func @unused
func.func @unused(%x: tensor<33x4xf32>) {
  %0 = tofu.all_gather %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {}]> in [66, 4] : tensor<33x4xf32> -> tensor<66x4xf32>
  %1 = tofu.device_id : index
  // CHECK-NEXT: return
  return
}
