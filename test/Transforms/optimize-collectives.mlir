// Collectives that are not needed.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-optimize-collectives | FileCheck %s

tofu.mesh @mesh [x = 2, y = 2]

#whole = #tofu.layout<@mesh, [{}]>
#x1 = #tofu.layout<@mesh, [{x}]>
#y1 = #tofu.layout<@mesh, [{y}]>
#xy1 = #tofu.layout<@mesh, [{x, y}]>

// Every device drops what none uses, and what repeats.
// CHECK-LABEL: func.func @unused(
// CHECK-NEXT: return
func.func @unused(%a: tensor<4xf32>) {
  %0 = tofu.all_gather %a from #x1 to #whole in [8] : tensor<4xf32> -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @repeated(
// CHECK-NEXT: %[[G:.*]] = tofu.all_gather
// CHECK-NEXT: return %[[G]], %[[G]]
func.func @repeated(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = tofu.all_gather %a from #x1 to #whole in [8] : tensor<4xf32> -> tensor<8xf32>
  %1 = tofu.all_gather %a from #x1 to #whole in [8] : tensor<4xf32> -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Over x and over y are two gathers.
// CHECK-LABEL: func.func @not_repeated(
// CHECK-COUNT-2: tofu.all_gather
func.func @not_repeated(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = tofu.all_gather %a from #x1 to #whole in [8] : tensor<4xf32> -> tensor<8xf32>
  %1 = tofu.all_gather %a from #y1 to #whole in [8] : tensor<4xf32> -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Two moves in a row: 8 over x and y are 2 each. To gather them over y moves 2 to
// each of 4 devices, and half of these then lack 4 to have halves over y: 16. At
// once, half of them lack 2 and half lack 4: 12.
// CHECK-LABEL: func.func @shortcut(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2xf32>
// CHECK-NEXT: %[[F:.*]] = tofu.fetch %[[A]] from #tofu.layout<@mesh, [{x, y}]> to #tofu.layout<@mesh, [{y}]> in [8] : tensor<2xf32> -> tensor<4xf32>
// CHECK-NEXT: return %[[F]]
func.func @shortcut(%a: tensor<2xf32>) -> tensor<4xf32> {
  %0 = tofu.all_gather %a from #xy1 to #x1 in [8] : tensor<2xf32> -> tensor<4xf32>
  %1 = tofu.fetch %0 from #x1 to #y1 in [8] : tensor<4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Where the first is needed as well, the second is all there is to save: 8
// elements instead of 12.
// CHECK-LABEL: func.func @no_shortcut(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2xf32>
// CHECK-NEXT: %[[G:.*]] = tofu.all_gather %[[A]]
// CHECK-NEXT: %[[F:.*]] = tofu.fetch %[[G]] from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{y}]>
// CHECK-NEXT: return %[[G]], %[[F]]
func.func @no_shortcut(%a: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tofu.all_gather %a from #xy1 to #x1 in [8] : tensor<2xf32> -> tensor<4xf32>
  %1 = tofu.fetch %0 from #x1 to #y1 in [8] : tensor<4xf32> -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// There and back again.
// CHECK-LABEL: func.func @back(
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x8xf32>
// CHECK-NEXT: return %[[A]]
func.func @back(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tofu.all_to_all %a from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [8, 8] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = tofu.all_to_all %0 from #tofu.layout<@mesh, [{}, {x}]> to #tofu.layout<@mesh, [{x}, {}]> in [8, 8] : tensor<8x4xf32> -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Three in a row.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x8xf32>
// CHECK-NEXT: %[[F:.*]] = tofu.fetch %[[A]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [8, 8]
// CHECK-NEXT: return %[[F]]
func.func @chain(%a: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = tofu.all_to_all %a from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [8, 8] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = tofu.all_gather %0 from #tofu.layout<@mesh, [{}, {x}]> to #tofu.layout<@mesh, [{}, {}]> in [8, 8] : tensor<8x4xf32> -> tensor<8x8xf32>
  %2 = tofu.fetch %1 from #tofu.layout<@mesh, [{}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [8, 8] : tensor<8x8xf32> -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// Combinations are no moves.
// CHECK-LABEL: func.func @combination(
// CHECK-NEXT: tofu.reduce_scatter
// CHECK-NEXT: tofu.all_gather
func.func @combination(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tofu.reduce_scatter %a from #tofu.layout<@mesh, [{}], sum {x}> to #x1 in [8] : tensor<8xf32> -> tensor<4xf32>
  %1 = tofu.all_gather %0 from #x1 to #whole in [8] : tensor<4xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Nor is what lies in between, and other shapes or placements don't join.
// CHECK-LABEL: func.func @other(
// CHECK-NEXT: tofu.all_gather
// CHECK-NEXT: math.exp
// CHECK-NEXT: tofu.fetch
func.func @other(%a: tensor<2xf32>) -> tensor<4xf32> {
  %0 = tofu.all_gather %a from #xy1 to #x1 in [8] : tensor<2xf32> -> tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  %2 = tofu.fetch %1 from #x1 to #y1 in [8] : tensor<4xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
