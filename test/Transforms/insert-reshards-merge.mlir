// Partial results that the operation combines itself.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-insert-reshards -tofu-verify-plan | FileCheck %s

// Columns are cut. Each device's part is numbered, and of each result it gets both
// parts of the four rows that it is to hold, and merges these: nothing else moves.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#rows = #tofu.layout<@mesh, [{x}]>
tofu.mesh @mesh [x = 2]
// CHECK-LABEL: func.func @argmax(
// CHECK-NOT: tofu.reshard
// CHECK: %[[PARTIAL:.*]]:2 = linalg.generic
// CHECK: %[[S0:.*]] = tofu.stack %[[PARTIAL]]#0 at 0 from <@mesh, [{}], region {x}> to <@mesh, [{x}, {}]> : tensor<8xi32> -> tensor<2x8xi32>
// CHECK: %[[S1:.*]] = tofu.stack %[[PARTIAL]]#1 at 0 from <@mesh, [{}], region {x}> to <@mesh, [{x}, {}]> : tensor<8xindex> -> tensor<2x8xindex>
// CHECK: %[[R0:.*]] = tofu.reshard %[[S0]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]>
// CHECK: %[[R1:.*]] = tofu.reshard %[[S1]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]>
// CHECK: %[[MERGED:.*]]:2 = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[R0]], %[[R1]] : tensor<2x8xi32>, tensor<2x8xindex>)
// CHECK-SAME: tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>
// CHECK-NEXT: ^bb0(%[[V:.*]]: i32, %[[I:.*]]: index, %[[BEST:.*]]: i32, %[[AT:.*]]: index):
// CHECK-DAG: %[[MORE:.*]] = arith.cmpi sgt, %[[V]], %[[BEST]] : i32
// CHECK-DAG: arith.select %{{.*}}, %[[V]], %[[BEST]] : i32
// CHECK-DAG: arith.select %{{.*}}, %[[I]], %[[AT]] : index
// CHECK-NOT: tofu.reshard
// CHECK: return %[[MERGED]]#0, %[[MERGED]]#1
func.func @argmax(%x: tensor<8x6xi32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>})
    -> (tensor<8xi32> {tofu.layout = #rows}, tensor<8xindex> {tofu.layout = #rows}) {
  %least = arith.constant -2147483648 : i32
  %none = arith.constant 0 : index
  %e0 = tensor.empty() : tensor<8xi32>
  %e1 = tensor.empty() : tensor<8xindex>
  %i0 = linalg.fill ins(%least : i32) outs(%e0 : tensor<8xi32>) -> tensor<8xi32>
  %i1 = linalg.fill ins(%none : index) outs(%e1 : tensor<8xindex>) -> tensor<8xindex>
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x6xi32>) outs(%i0, %i1 : tensor<8xi32>, tensor<8xindex>)
      attrs = {tofu.semantics = #tofu.semantics<[m = 8, n = 6 : region], (in[m, n], v[m], i[m]) -> (best[m], at[m])>,
               tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#rows, #rows]} {
    ^bb0(%v: i32, %best: i32, %at: index):
      %j = linalg.index 1 : index
      %more = arith.cmpi sgt, %v, %best : i32
      %r0 = arith.select %more, %v, %best : i32
      %r1 = arith.select %more, %j, %at : index
      linalg.yield %r0, %r1 : i32, index
  } -> (tensor<8xi32>, tensor<8xindex>)
  return %0#0, %0#1 : tensor<8xi32>, tensor<8xindex>
}

// Of numbers, there may be one part only.

#in = affine_map<(d0) -> (d0)>
#number = affine_map<(d0) -> ()>
#everywhere = #tofu.layout<@one, []>
tofu.mesh @one [x = 1]
// CHECK-LABEL: func.func @one_part(
// CHECK: %[[PARTIAL:.*]] = linalg.generic
// CHECK: %[[STACK:.*]] = tofu.stack %[[PARTIAL]] at 0 from <@one, [], region {x}> to <@one, [{x}]> : tensor<i32> -> tensor<1xi32>
// CHECK-NEXT: tensor.expand_shape %[[STACK]] {{.*}}tofu.strategy = #tofu.strategy<@one, []>
// CHECK-NOT: tofu.reshard
func.func @one_part(%x: tensor<6xi32> {tofu.layout = #tofu.layout<@one, [{x}]>})
    -> (tensor<i32> {tofu.layout = #everywhere}) {
  %least = arith.constant -2147483648 : i32
  %e = tensor.empty() : tensor<i32>
  %i = linalg.fill ins(%least : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %0 = linalg.generic {indexing_maps = [#in, #number], iterator_types = ["reduction"]}
      ins(%x : tensor<6xi32>) outs(%i : tensor<i32>)
      attrs = {tofu.semantics = #tofu.semantics<[n = 6 : region], (in[n], v[]) -> (best[])>,
               tofu.strategy = #tofu.strategy<@one, [{x}]>, tofu.layouts = [#everywhere]} {
    ^bb0(%v: i32, %best: i32):
      %more = arith.cmpi sgt, %v, %best : i32
      %r = arith.select %more, %v, %best : i32
      linalg.yield %r : i32
  } -> tensor<i32>
  return %0 : tensor<i32>
}

// Nor do the devices along other axes then share the work: all have the number.

tofu.mesh @other [x = 1, y = 4]
// CHECK-LABEL: func.func @one_part_everywhere(
// CHECK: tofu.stack
// CHECK-NOT: tofu.reshard
func.func @one_part_everywhere(%x: tensor<6xi32> {tofu.layout = #tofu.layout<@other, [{x}]>})
    -> (tensor<i32> {tofu.layout = #tofu.layout<@other, []>}) {
  %least = arith.constant -2147483648 : i32
  %e = tensor.empty() : tensor<i32>
  %i = linalg.fill ins(%least : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %0 = linalg.generic {indexing_maps = [#in, #number], iterator_types = ["reduction"]}
      ins(%x : tensor<6xi32>) outs(%i : tensor<i32>)
      attrs = {tofu.semantics = #tofu.semantics<[n = 6 : region], (in[n], v[]) -> (best[])>,
               tofu.strategy = #tofu.strategy<@other, [{x}]>, tofu.layouts = [#tofu.layout<@other, []>]} {
    ^bb0(%v: i32, %best: i32):
      %more = arith.cmpi sgt, %v, %best : i32
      %r = arith.select %more, %v, %best : i32
      linalg.yield %r : i32
  } -> tensor<i32>
  return %0 : tensor<i32>
}
