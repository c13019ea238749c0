// What one device computes.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-localize -allow-unregistered-dialect | FileCheck %s

// The program of one device: every tensor is its box.

tofu.mesh @mesh [x = 2, y = 2]

#whole1 = #tofu.layout<@mesh, [{}]>
#x1 = #tofu.layout<@mesh, [{x}]>
#rows = #tofu.layout<@mesh, [{x}, {}]>
#columns = #tofu.layout<@mesh, [{}, {x}]>
#matmul = #tofu.semantics<[m = 8, n = 6, k = 4 : sum], (a[m, k], b[k, n], init c[m, n]) -> (c[m, n])>

// Arguments and results say where they lie and what they are a part of; what is
// no tensor is as it was.
// CHECK-LABEL: func.func @signature(
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x4xf32> {test.name = "a", tofu.global_type = tensor<8x4xf32>, tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}
// CHECK-SAME: %[[B:[^:]+]]: tensor<?xf32> {tofu.global_type = tensor<7xf32>, tofu.layout = #tofu.layout<@mesh, [{x, y}]>}
// CHECK-SAME: %[[I:[^:]+]]: index
// CHECK-SAME: %[[D:[^:]+]]: tensor<?xf32> {tofu.global_type = tensor<?xf32>, tofu.layout = #tofu.layout<@mesh, [{}]>}
// CHECK-SAME: %[[U:[^:]+]]: tensor<*xf32>
// CHECK-SAME: -> (tensor<4x4xf32> {tofu.global_type = tensor<8x4xf32>, tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}, index, tensor<?xf32> {tofu.global_type = tensor<7xf32>, tofu.layout = #tofu.layout<@mesh, [{x, y}]>}, tensor<*xf32>)
// CHECK-NEXT: return %[[A]], %[[I]], %[[B]], %[[U]]
func.func @signature(%a: tensor<8x4xf32> {test.name = "a", tofu.layout = #rows}, %b: tensor<7xf32> {tofu.layout = #tofu.layout<@mesh, [{x, y}]>},
                     %i: index, %d: tensor<?xf32> {tofu.layout = #whole1}, %u: tensor<*xf32>)
    -> (tensor<8x4xf32> {tofu.layout = #rows}, index, tensor<7xf32> {tofu.layout = #tofu.layout<@mesh, [{x, y}]>}, tensor<*xf32>) {
  return %a, %i, %b, %u : tensor<8x4xf32>, index, tensor<7xf32>, tensor<*xf32>
}

// 8 rows over x are 4, 6 columns over y are 3. Zeros are made in that size.
// CHECK-LABEL: func.func @even(
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x4xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<4x3xf32>
// CHECK: %[[C0:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<4x3xf32>
// CHECK-NEXT: %[[ZEROS:.*]] = linalg.fill ins(%[[C0]] : f32) outs(%[[EMPTY]] : tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: %[[R:.*]] = linalg.matmul ins(%[[A]], %[[B]] : tensor<4x4xf32>, tensor<4x3xf32>) outs(%[[ZEROS]] : tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: return %[[R]] : tensor<4x3xf32>
func.func @even(%a: tensor<8x4xf32> {tofu.layout = #rows}, %b: tensor<4x6xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {y}]>})
    -> (tensor<8x6xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {y}]>}) {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x6xf32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul {tofu.semantics = #matmul, tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}, {}]>, tofu.layouts = [#tofu.layout<@mesh, [{x}, {y}]>]}
      ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// 7 rows are 4 and 3: the device looks up how many it has.
// CHECK-LABEL: func.func @uneven(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?x4xf32>
// CHECK: %[[N:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}, {}]> in [7, 4] : index
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
// CHECK-NEXT: %[[R:.*]] = linalg.exp ins(%[[A]] : tensor<?x4xf32>) outs(%[[EMPTY]] : tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: return %[[R]]
func.func @uneven(%a: tensor<7x4xf32> {tofu.layout = #rows}) -> (tensor<7x4xf32> {tofu.layout = #rows}) {
  %empty = tensor.empty() : tensor<7x4xf32>
  %0 = linalg.exp {tofu.semantics = #tofu.semantics<[m = 7, n = 4], (a[m, n], _) -> (r[m, n])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#rows]}
      ins(%a : tensor<7x4xf32>) outs(%empty : tensor<7x4xf32>) -> tensor<7x4xf32>
  return %0 : tensor<7x4xf32>
}

// A cut reduction: half of k, the whole of the result.
// CHECK-LABEL: func.func @reduction(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8x2xf32>
// CHECK-NEXT: %[[ZEROS:.*]] = arith.constant dense<0.0{{.*}}> : tensor<8xf32>
// CHECK-NEXT: %[[P:.*]] = linalg.reduce { arith.addf {{.*}} ins(%[[A]] : tensor<8x2xf32>) outs(%[[ZEROS]] : tensor<8xf32>) dimensions = [1]
// CHECK-NEXT: %[[R:.*]] = tofu.reshard %[[P]] from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{x}]> in [8] : tensor<8xf32> -> tensor<4xf32>
// CHECK-NEXT: return %[[R]] : tensor<4xf32>
func.func @reduction(%a: tensor<8x4xf32> {tofu.layout = #columns}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#x1]}
  %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{}], sum {x}> to #x1 in [8] : tensor<8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Indices are those of the whole tensor.
// CHECK-LABEL: func.func @index(
// CHECK: %[[LO:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}, {}]> in [8, 4] : index
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0 : index
// CHECK-NEXT: %[[M:.*]] = arith.addi %[[I]], %[[LO]] : index
// CHECK-NEXT: %[[N:.*]] = linalg.index 1 : index
// CHECK-NEXT: %[[S:.*]] = arith.addi %[[M]], %[[N]] : index
// CHECK-NEXT: linalg.yield %[[S]]
func.func @index() -> (tensor<8x4xindex> {tofu.layout = #rows}) {
  %empty = tensor.empty() : tensor<8x4xindex>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%empty : tensor<8x4xindex>)
      attrs = {tofu.semantics = #tofu.semantics<[m = 8, n = 4], (_) -> (r[m, n])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#rows]} {
  ^bb0(%o: index):
    %m = linalg.index 0 : index
    %n = linalg.index 1 : index
    %s = arith.addi %m, %n : index
    linalg.yield %s : index
  } -> tensor<8x4xindex>
  return %0 : tensor<8x4xindex>
}

// Six outputs over x are 3 and need 5 inputs of 8.
// CHECK-LABEL: func.func @halo(
// CHECK-SAME: %[[A:[^:]+]]: tensor<4xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<3xf32>
// CHECK-SAME: %[[O:[^:]+]]: tensor<3xf32>
// CHECK-NEXT: %[[H:.*]] = tofu.reshard %[[A]] from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [r = 6 {x}, w = 3], [r + w]> in [8] : tensor<4xf32> -> tensor<5xf32>
// CHECK-NEXT: linalg.conv_1d ins(%[[H]], %[[W]] : tensor<5xf32>, tensor<3xf32>) outs(%[[O]] : tensor<3xf32>) -> tensor<3xf32>
func.func @halo(%a: tensor<8xf32> {tofu.layout = #x1}, %w: tensor<3xf32> {tofu.layout = #whole1}, %out: tensor<6xf32> {tofu.layout = #x1}) -> (tensor<6xf32> {tofu.layout = #x1}) {
  %0 = tofu.reshard %a from #x1 to #tofu.boxes<@mesh, [r = 6 {x}, w = 3], [r + w]> in [8] : tensor<8xf32> -> tensor<8xf32>
  %1 = linalg.conv_1d {tofu.semantics = #tofu.semantics<[r = 6, w = 3 : sum], (a[r + w], k[w], init o[r]) -> (o[r])>,
                       tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#x1]}
      ins(%0, %w : tensor<8xf32>, tensor<3xf32>) outs(%out : tensor<6xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// A value remade where it is captured, and one that isn't.
// CHECK-LABEL: func.func @captured(
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<4xindex>
// CHECK-SAME: %[[TABLE:[^:]+]]: tensor<8xf32>
// CHECK: %[[ONES:.*]] = arith.constant dense<1.0{{.*}}> : tensor<8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[IDS]] : tensor<4xindex>)
// CHECK: tensor.extract %[[TABLE]]
// CHECK: tensor.extract %[[ONES]]
func.func @captured(%ids: tensor<8xindex> {tofu.layout = #x1}, %table: tensor<8xf32> {tofu.layout = #whole1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %empty = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%ids : tensor<8xindex>) outs(%empty : tensor<8xf32>)
      attrs = {tofu.semantics = #tofu.semantics<[m = 8], (i[m], _, t[:], u[:]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} {
  ^bb0(%i: index, %o: f32):
    %x = tensor.extract %table[%i] : tensor<8xf32>
    %y = tensor.extract %ones[%i] : tensor<8xf32>
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The same operands, and scalars beside them.
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME: %[[C:[^:]+]]: i1
// CHECK-SAME: %[[A:[^:]+]]: tensor<4xf32>
// CHECK-NEXT: %[[SIN:.*]], %[[COS:.*]] = math.sincos %[[A]] : tensor<4xf32>
// CHECK-NEXT: %[[ONES:.*]] = arith.constant dense<1.0{{.*}}> : tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = arith.select %[[C]], %[[SIN]], %[[ONES]] : tensor<4xf32>
// CHECK-NEXT: return %[[R]], %[[COS]]
func.func @elementwise(%c: i1, %a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}, tensor<8xf32> {tofu.layout = #x1}) {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %0, %1 = math.sincos %a {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m], s[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1, #x1]} : tensor<8xf32>
  %2 = arith.select %c, %0, %ones {tofu.semantics = #tofu.semantics<[m = 8], (a[m], b[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} : tensor<8xf32>
  return %2, %1 : tensor<8xf32>, tensor<8xf32>
}

// Without a strategy all of the operation is done, and its plan is dropped.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8xf32>
// CHECK-NEXT: %[[R:.*]]:2 = "test.op"(%[[A]]) {other = 1 : i64} : (tensor<8xf32>) -> (index, tensor<8xf32>)
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
func.func @whole(%a: tensor<8xf32> {tofu.layout = #whole1}) -> (index, tensor<8xf32> {tofu.layout = #whole1}) {
  %0:2 = "test.op"(%a) {other = 1, tofu.layouts = [unit, #whole1]} : (tensor<8xf32>) -> (index, tensor<8xf32>)
  return %0#0, %0#1 : index, tensor<8xf32>
}

// An operation that only an attribute describes is the same on its part; what it
// doesn't read is made in the size of its result.
// CHECK-LABEL: func.func @described(
// CHECK-SAME: %[[A:[^:]+]]: tensor<4x4xf32>
// CHECK-SAME: %[[I:[^:]+]]: index
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT: %[[R:.*]] = "test.op"(%[[A]], %[[I]], %[[EMPTY]]) {other = 1 : i64} : (tensor<4x4xf32>, index, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: return %[[R]]
func.func @described(%a: tensor<8x4xf32> {tofu.layout = #rows}, %i: index) -> (tensor<8x4xf32> {tofu.layout = #rows}) {
  %0 = "test.op"(%a, %i, %a) {other = 1, tofu.semantics = #tofu.semantics<[b = 8], (a[b, :], _) -> (r[b, :])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#rows]}
      : (tensor<8x4xf32>, index, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// What is in a loop is localized as elsewhere; what it carries keeps its layout.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[N:[^:]+]]: index
// CHECK-SAME: %[[A:[^:]+]]: tensor<4xf32>
// CHECK: %[[R:.*]] = scf.for %{{.*}} = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[X:.*]] = %[[A]]) -> (tensor<4xf32>)
// CHECK-NEXT: %[[ONES:.*]] = arith.constant dense<1.0{{.*}}> : tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[ONES]] : tensor<4xf32>
// CHECK-NEXT: scf.yield %[[Y]] : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]
func.func @loop(%n: index, %a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<8xf32> {
    %1 = arith.addf %x, %ones {tofu.semantics = #tofu.semantics<[m = 8], (a[m], b[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} : tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  } {tofu.layouts = [#x1], tofu.arg_layouts = [[unit, #x1]]}
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @no_plan(
// CHECK-SAME: tensor<8xf32>) -> tensor<8xf32>
func.func @no_plan(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
