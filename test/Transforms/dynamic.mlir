// Dims of unknown size, from semantics to collectives.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s --check-prefix=ANNOTATED
// RUN: tofu-opt %s -tofu-partition="devices=2 print" -o %t.mlir 2> %t.txt
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=BYTES --input-file=%t.txt
// RUN: tofu-opt %s -tofu-partition="devices=2 size-hint=10 print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TEN
// RUN: not tofu-opt %s -tofu-partition="devices=2 size-hint=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: tofu-opt %s -tofu-annotate -tofu-plan=devices=6 -tofu-verify-plan=resharded=false -tofu-insert-reshards -tofu-verify-plan -o /dev/null
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=6 algorithm=any seed=5 size-hint=7" -tofu-verify-plan="resharded=false size-hint=7" -tofu-insert-reshards -tofu-verify-plan=size-hint=13 -o /dev/null

// ZERO: error: tofu-plan: size-hint must be between 1 and 2147483648, not 0

// The bytes are those for the hint.
// BYTES-LABEL: plan of @columns on 2 devices (a0 = 2); bytes are received, summed over devices, for unknown sizes of 1024
// TEN-LABEL: plan of @columns on 2 devices (a0 = 2); bytes are received, summed over devices, for unknown sizes of 10

// A size of the whole tensor is given to the devices; what else follows is
// computed from it, and so are the parts.
// ANNOTATED-LABEL: func.func @columns(
// ANNOTATED: linalg.reduce
// ANNOTATED-SAME: #tofu.semantics<[d0 = ? : max, d1 = 1], (in0[d0, d1], init out0[d1]) -> (out0[d1])>
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x1xf32> {tofu.global_type = tensor<?x1xf32>, tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>}
// CHECK-SAME: %[[N:[a-z0-9]+]]: index {tofu.size_of = array<i64: 0, 0>}
// CHECK-SAME: -> (tensor<1xf32> {{.*}}, index)
// CHECK: %[[TWICE:.*]] = arith.addi %[[N]], %[[N]] : index
// CHECK: return %{{.*}}, %[[TWICE]]
func.func @columns(%x: tensor<?x1xf32>, %init: tensor<1xf32>) -> (tensor<1xf32>, index) {
  %c0 = arith.constant 0 : index
  %y = math.exp %x : tensor<?x1xf32>
  %n = tensor.dim %y, %c0 : tensor<?x1xf32>
  %r = linalg.reduce ins(%y : tensor<?x1xf32>) outs(%init : tensor<1xf32>) dimensions = [0]
    (%a: f32, %b: f32) { %t = arith.maximumf %a, %b : f32 linalg.yield %t : f32 }
  %twice = arith.addi %n, %n : index
  return %r, %twice : tensor<1xf32>, index
}

// Groups of six rows: the groups are cut, and how many rows that is only the
// number of groups tells.
// ANNOTATED-LABEL: func.func @groups(
// ANNOTATED: tensor.collapse_shape
// ANNOTATED-SAME: #tofu.semantics<[d0 = ?, d1 = 6 : unsplittable, d2 = 4], (in0[d0, d1, d2]) -> (out0[d0 * 6 + d1, d2]), linear [{0}]>
// CHECK-LABEL: func.func @groups(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x6x4xf32>
// CHECK-SAME: %[[N:[a-z0-9]+]]: index {tofu.size_of = array<i64: 0, 0>}
// CHECK: %[[ROWS:.*]] = affine.apply #{{.*}}()[%[[N]]]
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<?x6x4xf32> into tensor<?x4xf32>
// CHECK: tofu.fetch %[[C]] from #tofu.boxes<@mesh, [d0 = ? {a0}, d1 = 6, d2 = 4], [d0 * 6 + d1, d2]> to #tofu.layout<@mesh, [{a0}, {}]> in [%[[ROWS]], 4]
func.func @groups(%x: tensor<?x6x4xf32>) -> tensor<?x4xf32> {
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x6x4xf32> into tensor<?x4xf32>
  %1 = math.exp %0 : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// Of two unknown sizes in a group, nothing tells how far apart the elements of
// the outer one are.
// ANNOTATED-LABEL: func.func @two_unknown(
// ANNOTATED: #tofu.semantics<[d0 = ? : unsplittable, d1 = ? : unsplittable, d2 = 4], (in0[d0, d1, d2]) -> (out0[:, d2]), linear [{0}]>
func.func @two_unknown(%x: tensor<?x?x4xf32>) -> tensor<?x4xf32> {
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// What takes all of a dim is cut as it is; what begins or ends where nobody
// knows is taken from the whole.
// ANNOTATED-LABEL: func.func @slices(
// ANNOTATED: tensor.extract_slice
// ANNOTATED-SAME: #tofu.semantics<[d0 = ?, d1 = 2], (in0[d0, d1 + 3]) -> (out0[d0, d1]), linear [{0}]>
// ANNOTATED: tensor.extract_slice
// ANNOTATED-SAME: #tofu.semantics<[d0 = ? : unsplittable, d1 = 6], (in0[:, d1]) -> (out0[d0, d1]), linear [{0}]>
// ANNOTATED: tensor.extract_slice
// ANNOTATED-SAME: #tofu.semantics<[d0 = 2, d1 = 6], (in0[d0 + 1, d1]) -> (out0[d0, d1]), linear [{0}]>
// ANNOTATED: tensor.insert_slice
// ANNOTATED-SAME: #tofu.semantics<[d0 = ?, d1 = 6], (in0[d0, d1 - 1], in1[d0, d1]) -> (out0[d0, d1]), linear [{0, 1}]>
// ANNOTATED: tensor.pad
// ANNOTATED: #tofu.semantics<[d0 = ?, d1 = 7], (in0[d0, d1 - 1]) -> (out0[d0, d1])>
// ANNOTATED: tensor.pad
// ANNOTATED: #tofu.semantics<[d0 = ? : unsplittable, d1 = 6], (in0[:, d1]) -> (out0[d0, d1])>
// ANNOTATED: tensor.concat
// ANNOTATED-SAME: #tofu.semantics<[d0 = ?, d1 = 12], (in0[d0, d1], in1[d0, d1 - 6]) -> (out0[d0, d1]), linear [{0, 1}]>
// ANNOTATED: tensor.concat
// ANNOTATED-SAME: #tofu.semantics<[d0 = ? : unsplittable, d1 = 6], (in0[:, d1], in1[:, d1]) -> (out0[d0, d1]), linear [{0, 1}]>
func.func @slices(%x: tensor<?x6xf32>, %k: index) -> (tensor<?x6xf32>, tensor<2x6xf32>, tensor<?x6xf32>, tensor<?x7xf32>, tensor<?x6xf32>, tensor<?x12xf32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %0 = tensor.extract_slice %x[0, 3] [%n, 2] [1, 1] : tensor<?x6xf32> to tensor<?x2xf32>
  %1 = tensor.extract_slice %x[0, 0] [%k, 6] [1, 1] : tensor<?x6xf32> to tensor<?x6xf32>
  %2 = tensor.extract_slice %x[1, 0] [2, 6] [1, 1] : tensor<?x6xf32> to tensor<2x6xf32>
  %3 = tensor.insert_slice %0 into %x[0, 1] [%n, 2] [1, 1] : tensor<?x2xf32> into tensor<?x6xf32>
  %4 = tensor.pad %x low[0, 1] high[0, 0] { ^bb0(%i: index, %j: index): tensor.yield %zero : f32 } : tensor<?x6xf32> to tensor<?x7xf32>
  %5 = tensor.pad %x low[1, 0] high[0, 0] { ^bb0(%i: index, %j: index): tensor.yield %zero : f32 } : tensor<?x6xf32> to tensor<?x6xf32>
  %6 = tensor.concat dim(1) %x, %3 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x12xf32>
  %7 = tensor.concat dim(0) %x, %3 : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  return %1, %2, %3, %4, %5, %6, %7 : tensor<?x6xf32>, tensor<2x6xf32>, tensor<?x6xf32>, tensor<?x7xf32>, tensor<?x6xf32>, tensor<?x12xf32>, tensor<?x6xf32>
}

// A size that one operand tells is that of all.
// ANNOTATED-LABEL: func.func @mixed(
// ANNOTATED: #tofu.semantics<[d0 = 8], (in0[d0], in1[d0], _) -> (out0[d0]), linear [{0, 1}]>
// ANNOTATED: #tofu.semantics<[d0 = 8], (in0[d0]) -> (out0[d0]), linear [{0}]>
func.func @mixed(%x: tensor<?xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.add ins(%x, %y : tensor<?xf32>, tensor<8xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<8xf32>
  return %1 : tensor<8xf32>
}

// A window over an unknown number of rows: where it ends isn't known.
// ANNOTATED-LABEL: func.func @window(
// ANNOTATED: #tofu.semantics<[d0 = ?, d1 = ? : unsplittable, d2 = 4, d3 = 3 : unsplittable, d4 = 2 : sum], (in0[d0, d4, :], in1[d2, d4, d3], init out0[d0, d2, d1]) -> (out0[d0, d2, d1])
func.func @window(%x: tensor<?x2x?xf32>, %w: tensor<4x2x3xf32>, %o: tensor<?x4x?xf32>) -> tensor<?x4x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(n, w, f, k, c) -> (n, c, w + k)>, affine_map<(n, w, f, k, c) -> (f, c, k)>, affine_map<(n, w, f, k, c) -> (n, f, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x2x?xf32>, tensor<4x2x3xf32>) outs(%o : tensor<?x4x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %p, %c : f32
      linalg.yield %q : f32
  } -> tensor<?x4x?xf32>
  return %0 : tensor<?x4x?xf32>
}

// Loops of unknown size are cut where they index a dim by themselves.
// ANNOTATED-LABEL: func.func @softmax_dynamic(
// ANNOTATED: [d0 = ?, d1 = ? : unsplittable, d2 = 3], (in0[d0, :, d2], in1[d0, :, d2]) -> (out0[d0, :, d2])
func.func @softmax_dynamic(%a: tensor<?x?x3xf32>, %o: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %0 = linalg.softmax dimension(1) ins(%a : tensor<?x?x3xf32>) outs(%o : tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %0 : tensor<?x?x3xf32>
}

// Windows of unknown tiles are taken from the whole.
// ANNOTATED-LABEL: func.func @pack_dynamic(
// ANNOTATED: [d0 = ?, d1 = 3, d2 = 4 : unsplittable], (in0[:, d1 * 4 + d2], in1[d0, d1, :, :]) -> (out0[d0, d1, :, :])
func.func @pack_dynamic(%a: tensor<?x11xf32>, %o: tensor<?x3x8x4xf32>) -> tensor<?x3x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.pack %a padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %o : tensor<?x11xf32> -> tensor<?x3x8x4xf32>
  return %0 : tensor<?x3x8x4xf32>
}

// Of the dims that are unpacked, one of unknown size is covered by its tiles.
// ANNOTATED-LABEL: func.func @unpack_dynamic(
// ANNOTATED: [d0 = ? covering, d1 = 3, d2 = ?, d3 = 8 : unsplittable, d4 = 4 : unsplittable], (in0[d0, d1, d2, d3, d4], _) -> (out0[d0 * 8 + d3, d1 * 4 + d4, d2])
func.func @unpack_dynamic(%a: tensor<?x3x?x8x4xf32>, %o: tensor<?x11x?xf32>) -> tensor<?x11x?xf32> {
  %0 = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %o : tensor<?x3x?x8x4xf32> -> tensor<?x11x?xf32>
  return %0 : tensor<?x11x?xf32>
}

// Slices and places of a scatter may both be of unknown number.
// ANNOTATED-LABEL: func.func @scatter(
// ANNOTATED: [d0 = ?, d1 = 5, d2 = ? : sum], (in0[d2, d1], in1[d0, d1], in2[:, :]) -> (out0[d0, d1]), linear [{0, 1}]
func.func @scatter(%t: tensor<?x5xf32>, %s: tensor<?x5xf32>, %i: tensor<?x1xindex>) -> tensor<?x5xf32> {
  %0 = tensor.scatter %s into %t[%i] scatter_dims([0]) unique : (tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x1xindex>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

// ANNOTATED-LABEL: func.func @materialize(
// ANNOTATED: [d0 = 8, d1 = ?], (in0[d0, d1], in1[d0, d1]) -> (out0[d0, d1])
func.func @materialize(%a: tensor<8x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = bufferization.materialize_in_destination %a in %b : (tensor<8x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Parts of unknown size are numbered and merged like others.
// ANNOTATED-LABEL: func.func @argmax(
// ANNOTATED: [d0 = ?, d1 = ? : region], (in0[d0, d1], in1[d0], in2[d0]) -> (out0[d0], out1[d0])
func.func @argmax(%x: tensor<?x?xi32>, %a: tensor<?xi32>, %b: tensor<?xindex>) -> (tensor<?xi32>, tensor<?xindex>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi32>) outs(%a, %b : tensor<?xi32>, tensor<?xindex>) {
    ^bb0(%in: i32, %best: i32, %at: index):
      %j = linalg.index 1 : index
      %more = arith.cmpi sgt, %in, %best : i32
      %r0 = arith.maxsi %in, %best : i32
      %r1 = arith.select %more, %j, %at : index
      linalg.yield %r0, %r1 : i32, index
  } -> (tensor<?xi32>, tensor<?xindex>)
  return %0#0, %0#1 : tensor<?xi32>, tensor<?xindex>
}
