// Parts of reshapes and slices.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-insert-reshards -tofu-localize | FileCheck %s

// Reshapes and slices on parts, where sizes and offsets are not those of the
// whole.

tofu.mesh @mesh [x = 2]

#x1 = #tofu.layout<@mesh, [{x}]>
#rows = #tofu.layout<@mesh, [{x}, {}]>
#columns = #tofu.layout<@mesh, [{}, {x}]>

// 3 groups of 2 are 2 and 1 groups, 4 and 2 elements.
// CHECK-LABEL: func.func @collapse(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?x2xf32>
// CHECK-NEXT: %[[C:.*]] = tensor.collapse_shape %[[A]] {{\[}}[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
// CHECK-NEXT: %[[R:.*]] = tofu.reshard %[[C]] from #tofu.boxes<@mesh, [g = 3 {x}, i = 2], [g * 2 + i]> to #tofu.layout<@mesh, [{x}]> in [6] : tensor<?xf32> -> tensor<3xf32>
// CHECK-NEXT: return %[[R]] : tensor<3xf32>
func.func @collapse(%a: tensor<3x2xf32> {tofu.layout = #rows}) -> (tensor<6xf32> {tofu.layout = #x1}) {
  %0 = tensor.collapse_shape %a [[0, 1]]
      {tofu.semantics = #tofu.semantics<[g = 3, i = 2 : unsplittable], (a[g, i]) -> (r[g * 2 + i])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#x1]}
      : tensor<3x2xf32> into tensor<6xf32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: func.func @expand(
// CHECK-SAME: %[[A:[^:]+]]: tensor<3xf32>
// CHECK-NEXT: %[[B:.*]] = tofu.reshard %[[A]] from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [g = 3 {x}, i = 2], [g * 2 + i]> in [6] : tensor<3xf32> -> tensor<?xf32>
// CHECK-NEXT: %[[N:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}, {}]> in [3, 2] : index
// CHECK-NEXT: %[[R:.*]] = tensor.expand_shape %[[B]] {{\[}}[0, 1]] output_shape [%[[N]], 2] : tensor<?xf32> into tensor<?x2xf32>
// CHECK-NEXT: return %[[R]]
func.func @expand(%a: tensor<6xf32> {tofu.layout = #x1}) -> (tensor<3x2xf32> {tofu.layout = #rows}) {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [3, 2]
      {tofu.semantics = #tofu.semantics<[g = 3, i = 2 : unsplittable], (a[g * 2 + i]) -> (r[g, i])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#rows]}
      : tensor<6xf32> into tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// 1, 3, 5 and 7: the first device needs 1 to 3, the second 5 to 7, each from the
// start of its box.
// CHECK-LABEL: func.func @extract(
// CHECK-SAME: %[[A:[^:]+]]: tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = tofu.reshard %[[A]] from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [m = 4 {x}], [m * 2 + 1]> in [8] : tensor<4xf32> -> tensor<3xf32>
// CHECK-NEXT: %[[R:.*]] = tensor.extract_slice %[[B]][0] [2] [2] : tensor<3xf32> to tensor<2xf32>
// CHECK-NEXT: return %[[R]]
func.func @extract(%a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<4xf32> {tofu.layout = #x1}) {
  %0 = tensor.extract_slice %a[1] [4] [2]
      {tofu.semantics = #tofu.semantics<[m = 4], (a[m * 2 + 1]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} : tensor<8xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Slices are put into their places on the device that has them. All others, and
// of the destination all but the first device, have there what changes no sum.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME: %[[T:[^:]+]]: tensor<9x5xf32>
// CHECK-SAME: %[[S:[^:]+]]: tensor<?x5xf32>
// CHECK-SAME: %[[I:[^:]+]]: tensor<3x1xindex>
// CHECK: %[[NUMBER:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}]> in [2] : index
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[NUMBER]], %{{.*}} : index
// CHECK: %[[ZERO:.*]] = arith.constant -0.000000e+00 : f32
// CHECK: %[[ONE:.*]] = linalg.generic {{.*}} ins(%[[T]] : tensor<9x5xf32>)
// CHECK: arith.select %[[FIRST]], %{{.*}}, %[[ZERO]] : f32
// CHECK: %[[SLICE:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<1x5xf32>)
// CHECK: %[[ADDENDS:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[ONE]])
// CHECK: tensor.extract %[[I]]
// CHECK: tensor.insert_slice %{{.*}} into %[[A]]
// CHECK: %[[FROM:.*]] = tofu.shard_offset 2 of #tofu.layout<@mesh, [{}, {}, {x}]> in [9, 5, 3]
// CHECK: %[[MINE:.*]] = tensor.extract_slice %[[I]][%[[FROM]], 0]
// CHECK: scf.for {{.*}} iter_args(%[[B:.*]] = %[[ADDENDS]])
// CHECK: tensor.extract %[[MINE]]
// CHECK: tensor.extract_slice %[[S]]
// CHECK: tensor.insert_slice %{{.*}} into %[[B]]
// CHECK: tofu.reshard %{{.*}} from #tofu.layout<@mesh, [{}, {}], sum {x}> to #tofu.layout<@mesh, [{x}, {}]> in [9, 5]
func.func @scatter(%t: tensor<9x5xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {}]>}, %s: tensor<3x5xf32> {tofu.layout = #rows},
                   %i: tensor<3x1xindex> {tofu.layout = #tofu.layout<@mesh, [{}, {}]>}) -> (tensor<9x5xf32> {tofu.layout = #rows}) {
  %0 = tensor.scatter %s into %t[%i] scatter_dims([0]) unique
      {tofu.semantics = #tofu.semantics<[m = 9, n = 5, b = 3 : sum], (s[b, n], t[m, n], i[:, :]) -> (r[m, n])>,
       tofu.strategy = #tofu.strategy<@mesh, [{}, {}, {x}]>, tofu.layouts = [#rows]}
      : (tensor<3x5xf32>, tensor<9x5xf32>, tensor<3x1xindex>) -> tensor<9x5xf32>
  return %0 : tensor<9x5xf32>
}

// One row: the box of every device has it as its only one.
// CHECK-LABEL: func.func @extract_row(
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x4xf32>
// CHECK-NEXT: %[[B:.*]] = tofu.reshard %[[A]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.boxes<@mesh, [n = 4 {x}], [5, n]> in [8, 4] : tensor<4x4xf32> -> tensor<1x2xf32>
// CHECK-NEXT: %[[R:.*]] = tensor.extract_slice %[[B]][0, 0] [1, 2] [1, 1] : tensor<1x2xf32> to tensor<2xf32>
// CHECK-NEXT: return %[[R]]
func.func @extract_row(%a: tensor<8x4xf32> {tofu.layout = #rows}) -> (tensor<4xf32> {tofu.layout = #x1}) {
  %0 = tensor.extract_slice %a[5, 0] [1, 4] [1, 1]
      {tofu.semantics = #tofu.semantics<[n = 4], (a[5, n]) -> (r[n])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} : tensor<8x4xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @insert(
// CHECK-SAME: %[[S:[^:]+]]: tensor<3x2xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<8x2xf32>
// CHECK-NEXT: %[[R:.*]] = tensor.insert_slice %[[S]] into %[[D]][1, 0] [3, 2] [2, 1] : tensor<3x2xf32> into tensor<8x2xf32>
// CHECK-NEXT: return %[[R]]
func.func @insert(%s: tensor<3x4xf32> {tofu.layout = #columns}, %d: tensor<8x4xf32> {tofu.layout = #columns}) -> (tensor<8x4xf32> {tofu.layout = #columns}) {
  %0 = tensor.insert_slice %s into %d[1, 0] [3, 4] [2, 1]
      {tofu.semantics = #tofu.semantics<[m = 8 : unsplittable, n = 4], (s[:, n], d[m, n]) -> (r[m, n])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#columns]}
      : tensor<3x4xf32> into tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @insert_uneven(
// CHECK-SAME: %[[S:[^:]+]]: tensor<3x?xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<8x?xf32>
// CHECK-NEXT: %[[N:.*]] = tofu.shard_size 1 of #tofu.layout<@mesh, [{}, {x}]> in [3, 5] : index
// CHECK-NEXT: tensor.insert_slice %[[S]] into %[[D]][1, 0] [3, %[[N]]] [2, 1] : tensor<3x?xf32> into tensor<8x?xf32>
func.func @insert_uneven(%s: tensor<3x5xf32> {tofu.layout = #columns}, %d: tensor<8x5xf32> {tofu.layout = #columns}) -> (tensor<8x5xf32> {tofu.layout = #columns}) {
  %0 = tensor.insert_slice %s into %d[1, 0] [3, 5] [2, 1]
      {tofu.semantics = #tofu.semantics<[m = 8 : unsplittable, n = 5], (s[:, n], d[m, n]) -> (r[m, n])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#columns]}
      : tensor<3x5xf32> into tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[S:[^:]+]]: f32
// CHECK-NEXT: %[[R:.*]] = tensor.pad %[[A]] low[0, 1] high[0, 2] {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tensor.yield %[[S]] : f32
// CHECK-NEXT: } : tensor<2x4xf32> to tensor<2x7xf32>
func.func @pad(%a: tensor<4x4xf32> {tofu.layout = #rows}, %s: f32) -> (tensor<4x7xf32> {tofu.layout = #rows}) {
  %0 = tensor.pad %a low[0, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : f32
  } {tofu.semantics = #tofu.semantics<[m = 4, n = 7 : unsplittable], (a[m, :]) -> (r[m, n])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#rows]}
      : tensor<4x4xf32> to tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}

// CHECK-LABEL: func.func @concat(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2x4xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<2x3xf32>
// CHECK-NEXT: tensor.concat dim(1) %[[A]], %[[B]] : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
func.func @concat(%a: tensor<4x4xf32> {tofu.layout = #rows}, %b: tensor<4x3xf32> {tofu.layout = #rows}) -> (tensor<4x7xf32> {tofu.layout = #rows}) {
  %0 = tensor.concat dim(1) %a, %b
      {tofu.semantics = #tofu.semantics<[m = 4, n = 7 : unsplittable], (a[m, :], b[m, :]) -> (r[m, n])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#rows]}
      : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}

// CHECK-LABEL: func.func @cast(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?xf32>
// CHECK-NEXT: tensor.cast %[[A]] : tensor<?xf32> to tensor<?xf32>
func.func @cast(%a: tensor<5xf32> {tofu.layout = #x1}) -> (tensor<5xf32> {tofu.layout = #x1}) {
  %0 = tensor.cast %a {tofu.semantics = #tofu.semantics<[m = 5], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} : tensor<5xf32> to tensor<5xf32>
  return %0 : tensor<5xf32>
}
