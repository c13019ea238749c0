// Collectives and slices of reshards.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-lower-reshards | FileCheck %s

// Each reshard as the collectives that it is, or as a slice of what is there.

tofu.mesh @mesh [x = 2, y = 3]
tofu.mesh @square [x = 2, y = 2]
tofu.mesh @line [one = 1, x = 2]

//===----------------------------------------------------------------------===//
// What a device has already
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @same(
// CHECK-SAME: %[[A:[^:]+]]: tensor<3xf32>
// CHECK-NEXT: return %[[A]]
func.func @same(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [m = 6 {x}], [m]> in [6] : tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[A:[^:]+]]: tensor<6x4xf32>
// CHECK-NEXT: %[[LO:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}, {}]> in [6, 4] : index
// CHECK-NEXT: %[[R:.*]] = tensor.extract_slice %[[A]][%[[LO]], 0] [3, 4] [1, 1] : tensor<6x4xf32> to tensor<3x4xf32>
// CHECK-NEXT: return %[[R]]
func.func @slice(%a: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [6, 4] : tensor<6x4xf32> -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// A part of a part: 7 over x is 4 and 3, over y 2, 1, 1 and 1, 1, 1. Where it
// starts in the outer part depends on both.
// CHECK-LABEL: func.func @slice_nested(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?xf32>
// CHECK-NEXT: %[[OUTER:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}]> in [7] : index
// CHECK-NEXT: %[[INNER:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x, y}]> in [7] : index
// CHECK-NEXT: %[[LO:.*]] = arith.subi %[[INNER]], %[[OUTER]] : index
// CHECK-NEXT: %[[N:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x, y}]> in [7] : index
// CHECK-NEXT: tensor.extract_slice %[[A]][%[[LO]]] [%[[N]]] [1] : tensor<?xf32> to tensor<?xf32>
func.func @slice_nested(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{x, y}]> in [7] : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Both boxes move alike: a window of 1 in one of 3 always starts at 1.
// CHECK-LABEL: func.func @slice_window(
// CHECK-SAME: %[[A:[^:]+]]: tensor<5xf32>
// CHECK-NEXT: tensor.extract_slice %[[A]][1] [3] [1] : tensor<5xf32> to tensor<3xf32>
func.func @slice_window(%a: tensor<5xf32>) -> tensor<3xf32> {
  %0 = tofu.reshard %a from #tofu.boxes<@mesh, [m = 6 {x}, w = 3], [m + w]> to #tofu.boxes<@mesh, [m = 6 {x}], [m + 1]> in [8] : tensor<5xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Parts of a sum may be sliced like others.
// CHECK-LABEL: func.func @slice_partial(
// CHECK: tensor.extract_slice {{.*}} : tensor<6xf32> to tensor<3xf32>
// CHECK-NOT: tofu.{{all|reduce|fetch}}
// CHECK: return
func.func @slice_partial(%a: tensor<6xf32>) -> tensor<3xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{}], sum {y}> to #tofu.layout<@mesh, [{x}], sum {y}> in [6] : tensor<6xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// The result has the type that is asked for.
// CHECK-LABEL: func.func @types(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?xf32>
// CHECK-NEXT: %[[S:.*]] = tensor.cast %[[A]] : tensor<?xf32> to tensor<3xf32>
// CHECK-NEXT: return %[[S]], %[[A]] : tensor<3xf32>, tensor<?xf32>
func.func @types(%a: tensor<?xf32>) -> (tensor<3xf32>, tensor<?xf32>) {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{x}]> in [6] : tensor<?xf32> -> tensor<3xf32>
  %1 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [m = 6 {x}], [m]> in [6] : tensor<?xf32> -> tensor<?xf32>
  return %0, %1 : tensor<3xf32>, tensor<?xf32>
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @all_gather(
// CHECK-NEXT: tofu.all_gather %{{.*}} from #tofu.layout<@mesh, [{x, y}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [7, 4] : tensor<?x4xf32> -> tensor<?x4xf32>
func.func @all_gather(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x, y}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [7, 4] : tensor<?x4xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// A halo is a gather as well: 0 to 3 lies in 0 to 4, 4 to 7 in 3 to 7.
// CHECK-LABEL: func.func @all_gather_halo(
// CHECK-NEXT: tofu.all_gather %{{.*}} from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [m = 6 {x}, w = 3], [m + w]> in [8] : tensor<4xf32> -> tensor<5xf32>
func.func @all_gather_halo(%a: tensor<4xf32>) -> tensor<5xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [m = 6 {x}, w = 3], [m + w]> in [8] : tensor<4xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func.func @all_to_all(
// CHECK-NEXT: tofu.all_to_all %{{.*}} from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [6, 4] : tensor<3x4xf32> -> tensor<6x2xf32>
func.func @all_to_all(%a: tensor<3x4xf32>) -> tensor<6x2xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [6, 4] : tensor<3x4xf32> -> tensor<6x2xf32>
  return %0 : tensor<6x2xf32>
}

// Other axes, or boxes: from wherever it is.
// CHECK-LABEL: func.func @fetch(
// CHECK-NEXT: tofu.fetch %{{.*}} from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{y}]> in [6] : tensor<3xf32> -> tensor<2xf32>
// CHECK-NEXT: tofu.fetch %{{.*}} from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [m = 3 {x}], [m]> in [6] : tensor<3xf32> -> tensor<?xf32>
func.func @fetch(%a: tensor<3xf32>) -> (tensor<2xf32>, tensor<?xf32>) {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{y}]> in [6] : tensor<3xf32> -> tensor<2xf32>
  %1 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [m = 3 {x}], [m]> in [6] : tensor<3xf32> -> tensor<?xf32>
  return %0, %1 : tensor<2xf32>, tensor<?xf32>
}

//===----------------------------------------------------------------------===//
// Combinations
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @all_reduce(
// CHECK-NEXT: tofu.all_reduce %{{.*}} from #tofu.layout<@mesh, [{x}, {}], max {y}> to #tofu.layout<@mesh, [{x}, {}]> in [6, 4] : tensor<3x4xf32> -> tensor<3x4xf32>
func.func @all_reduce(%a: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}, {}], max {y}> to #tofu.layout<@mesh, [{x}, {}]> in [6, 4] : tensor<3x4xf32> -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @all_reduce_scalar(
// CHECK-NEXT: tofu.all_reduce %{{.*}} from #tofu.layout<@mesh, [], sum {x, y}> to #tofu.layout<@mesh, []> in [] : tensor<f32> -> tensor<f32>
func.func @all_reduce_scalar(%a: tensor<f32>) -> tensor<f32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [], sum {x, y}> to #tofu.layout<@mesh, []> in [] : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @reduce_scatter(
// CHECK-NEXT: tofu.reduce_scatter %{{.*}} from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x}, {y}]> in [6, 6] : tensor<3x6xf32> -> tensor<3x2xf32>
func.func @reduce_scatter(%a: tensor<3x6xf32>) -> tensor<3x2xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x}, {y}]> in [6, 6] : tensor<3x6xf32> -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// Combined over x, but cut over y, which replicates: each sums its own part.
// CHECK-LABEL: func.func @all_reduce_of_slice(
// CHECK-NEXT: %[[LO:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{y}], sum {x}> in [6] : index
// CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %{{.*}}[%[[LO]]] [2] [1] : tensor<6xf32> to tensor<2xf32>
// CHECK-NEXT: tofu.all_reduce %[[S]] from #tofu.layout<@mesh, [{y}], sum {x}> to #tofu.layout<@mesh, [{y}]> in [6] : tensor<2xf32> -> tensor<2xf32>
func.func @all_reduce_of_slice(%a: tensor<6xf32>) -> tensor<2xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{y}]> in [6] : tensor<6xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Columns over x of rows over x: at once, as a device can add up what another one
// needs.
// CHECK-LABEL: func.func @fetch_of_partial(
// CHECK-NEXT: tofu.fetch %{{.*}} from #tofu.layout<@square, [{x}, {}], sum {y}> to #tofu.layout<@square, [{}, {x}]> in [4, 4] : tensor<2x4xf32> -> tensor<4x2xf32>
// CHECK-NEXT: return
func.func @fetch_of_partial(%a: tensor<2x4xf32>) -> tensor<4x2xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@square, [{x}, {}], sum {y}> to #tofu.layout<@square, [{}, {x}]> in [4, 4] : tensor<2x4xf32> -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @fetch_of_partial_boxes(
// CHECK-NEXT: tofu.fetch %{{.*}} from #tofu.boxes<@mesh, [g = 3 {x}, i = 2], [g * 2 + i], sum {y}> to #tofu.layout<@mesh, [{x}]> in [6] : tensor<?xf32> -> tensor<3xf32>
// CHECK-NEXT: return
func.func @fetch_of_partial_boxes(%a: tensor<?xf32>) -> tensor<3xf32> {
  %0 = tofu.reshard %a from #tofu.boxes<@mesh, [g = 3 {x}, i = 2], [g * 2 + i], sum {y}> to #tofu.layout<@mesh, [{x}]> in [6] : tensor<?xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

//===----------------------------------------------------------------------===//
// What is partial afterwards
//===----------------------------------------------------------------------===//

// Combined over y only.
// CHECK-LABEL: func.func @some_axes(
// CHECK-NEXT: tofu.reduce_scatter %{{.*}} from #tofu.layout<@mesh, [{}, {}], sum {x, y}> to #tofu.layout<@mesh, [{y}, {}], sum {x}> in [6, 4] : tensor<6x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: return
func.func @some_axes(%a: tensor<6x4xf32>) -> tensor<2x4xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{}, {}], sum {x, y}> to #tofu.layout<@mesh, [{y}, {}], sum {x}> in [6, 4] : tensor<6x4xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Moved, without being combined.
// CHECK-LABEL: func.func @move_partial(
// CHECK-NEXT: tofu.all_to_all %{{.*}} from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{}, {x}], sum {y}> in [7, 4] : tensor<?x4xf32> -> tensor<7x2xf32>
// CHECK-NEXT: return
func.func @move_partial(%a: tensor<?x4xf32>) -> tensor<7x2xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{}, {x}], sum {y}> in [7, 4] : tensor<?x4xf32> -> tensor<7x2xf32>
  return %0 : tensor<7x2xf32>
}

// CHECK-LABEL: func.func @scalar_some_axes(
// CHECK-NEXT: tofu.all_reduce %{{.*}} from #tofu.layout<@mesh, [], min {x, y}> to #tofu.layout<@mesh, [], min {y}> in [] : tensor<f32> -> tensor<f32>
// CHECK-NEXT: return
func.func @scalar_some_axes(%a: tensor<f32>) -> tensor<f32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [], min {x, y}> to #tofu.layout<@mesh, [], min {y}> in [] : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @boxes_some_axes(
// CHECK-NEXT: tofu.all_gather %{{.*}} from #tofu.layout<@mesh, [{x}], sum {y}> to #tofu.boxes<@mesh, [m = 6 {x}, w = 3], [m + w], sum {y}> in [8] : tensor<4xf32> -> tensor<5xf32>
func.func @boxes_some_axes(%a: tensor<4xf32>) -> tensor<5xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}], sum {y}> to #tofu.boxes<@mesh, [m = 6 {x}, w = 3], [m + w], sum {y}> in [8] : tensor<4xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// One device keeps the value, or its part of it, the others the neutral element.
// CHECK-LABEL: func.func @makes_partial(
// CHECK-NEXT: tofu.fetch %{{.*}} from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{x}], sum {y}> in [6] : tensor<3xf32> -> tensor<3xf32>
// CHECK-NEXT: tofu.fetch %{{.*}} from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}], sum {x}> in [6] : tensor<3xf32> -> tensor<6xf32>
// CHECK-NEXT: return
func.func @makes_partial(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<6xf32>) {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{x}], sum {y}> in [6] : tensor<3xf32> -> tensor<3xf32>
  %1 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}], sum {x}> in [6] : tensor<3xf32> -> tensor<6xf32>
  return %0, %1 : tensor<3xf32>, tensor<6xf32>
}

// Along an axis of one device there is one addend: nothing to combine.
// CHECK-LABEL: func.func @one_addend(
// CHECK-NEXT: tofu.fetch %{{.*}} from #tofu.layout<@line, [{x}], sum {one}> to #tofu.layout<@line, [{}]> in [6] : tensor<3xf32> -> tensor<6xf32>
// CHECK-NEXT: return
func.func @one_addend(%a: tensor<3xf32>) -> tensor<6xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@line, [{x}], sum {one}> to #tofu.layout<@line, [{}]> in [6] : tensor<3xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// A tensor without elements has no index at which a slice could start.
// CHECK-LABEL: func.func @no_elements(
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<0x2xf32>
// CHECK-NEXT: return %[[E]]
func.func @no_elements(%a: tensor<0x4xf32>) -> tensor<0x2xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [0, 4] : tensor<0x4xf32> -> tensor<0x2xf32>
  return %0 : tensor<0x2xf32>
}

//===----------------------------------------------------------------------===//
// Unknown sizes: only what is right for all of them
//===----------------------------------------------------------------------===//

// A part of the same rows, of a static dim and of one of unknown size.
// CHECK-LABEL: func.func @unknown_slice(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?x6xf32>, %[[N:[^:]+]]: index
// CHECK-NEXT: %[[HAVE:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}, {}]> in [%[[N]], 6] : index
// CHECK-NEXT: %[[WANT:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x, y}, {}]> in [%[[N]], 6] : index
// CHECK-NEXT: %[[LO:.*]] = arith.subi %[[WANT]], %[[HAVE]] : index
// CHECK-NEXT: %[[SIZE:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x, y}, {}]> in [%[[N]], 6] : index
// CHECK-NEXT: tensor.extract_slice %[[A]][%[[LO]], 0] [%[[SIZE]], 6] [1, 1] : tensor<?x6xf32> to tensor<?x6xf32>
func.func @unknown_slice(%a: tensor<?x6xf32>, %n: index) -> tensor<?x6xf32> {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{x, y}, {}]> in [%n, 6] : tensor<?x6xf32> -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @unknown_collectives(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?x6xf32>, %[[N:[^:]+]]: index
// CHECK-NEXT: tofu.all_gather %[[A]] from #tofu.layout<@mesh, [{x, y}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [%[[N]], 6]
// CHECK-NEXT: tofu.all_to_all %[[A]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [%[[N]], 6] : tensor<?x6xf32> -> tensor<?x3xf32>
// CHECK-NEXT: tofu.all_reduce %[[A]] from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x}, {}]> in [%[[N]], 6]
// CHECK-NEXT: tofu.reduce_scatter %[[A]] from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x, y}, {}]> in [%[[N]], 6]
func.func @unknown_collectives(%a: tensor<?x6xf32>, %n: index) -> (tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x6xf32>) {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x, y}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [%n, 6] : tensor<?x6xf32> -> tensor<?x6xf32>
  %1 = tofu.reshard %a from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [%n, 6] : tensor<?x6xf32> -> tensor<?x3xf32>
  %2 = tofu.reshard %a from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x}, {}]> in [%n, 6] : tensor<?x6xf32> -> tensor<?x6xf32>
  %3 = tofu.reshard %a from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x, y}, {}]> in [%n, 6] : tensor<?x6xf32> -> tensor<?x6xf32>
  return %0, %1, %2, %3 : tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x6xf32>
}

// Groups of three rows are as many rows as groups of rows only if three divides
// the rows of a part; parts over x and then y are not ones over y and then x.
// CHECK-LABEL: func.func @unknown_fetches(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?xf32>, %[[N:[^:]+]]: index
// CHECK-NEXT: tofu.fetch %[[A]] from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [g = ? {x}, i = 3], [g * 3 + i]> in [%[[N]]]
// CHECK-NEXT: tofu.fetch %[[A]] from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [m = 4 {x}], [m]> in [%[[N]]]
// CHECK-NEXT: tofu.all_to_all %[[A]] from #tofu.layout<@square, [{x, y}]> to #tofu.layout<@square, [{y, x}]> in [%[[N]]]
// CHECK-NEXT: return
func.func @unknown_fetches(%a: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [g = ? {x}, i = 3], [g * 3 + i]> in [%n] : tensor<?xf32> -> tensor<?xf32>
  %1 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [m = 4 {x}], [m]> in [%n] : tensor<?xf32> -> tensor<?xf32>
  %2 = tofu.reshard %a from #tofu.layout<@square, [{x, y}]> to #tofu.layout<@square, [{y, x}]> in [%n] : tensor<?xf32> -> tensor<?xf32>
  // A dim that fills the tensor is the tensor's dim.
  %3 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [m = ? {x}], [m]> in [%n] : tensor<?xf32> -> tensor<?xf32>
  return %0, %1, %2, %3 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
