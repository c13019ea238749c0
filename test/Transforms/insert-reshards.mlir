// Reshards where values lie other than they are needed.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-insert-reshards -allow-unregistered-dialect | FileCheck %s

// A reshard wherever a value lies other than it is needed.

tofu.mesh @mesh [x = 2, y = 2]

#whole1 = #tofu.layout<@mesh, [{}]>
#whole2 = #tofu.layout<@mesh, [{}, {}]>
#x1 = #tofu.layout<@mesh, [{x}]>
#rows = #tofu.layout<@mesh, [{x}, {}]>
#columns = #tofu.layout<@mesh, [{}, {x}]>
#matmul = #tofu.semantics<[m = 8, n = 6, k = 4 : sum], (a[m, k], b[k, n], init c[m, n]) -> (c[m, n])>
#elementwise1 = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>
#elementwise2 = #tofu.semantics<[m = 8, n = 6], (a[m, n]) -> (r[m, n])>
#linear2 = #tofu.semantics<[m = 8, n = 6], (a[m, n]) -> (r[m, n]), linear [{0}]>

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

// Rows of A are where they are needed; B is needed whole, once for both.
// CHECK-LABEL: func.func @operands(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[B:[^:]+]]: tensor<4x6xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK-NEXT: %[[WHOLE:.*]] = tofu.reshard %[[B]] from #tofu.layout<@mesh, [{}, {x}]> to #tofu.layout<@mesh, [{}, {}]> in [4, 6] : tensor<4x6xf32> -> tensor<4x6xf32>
// CHECK-NEXT: linalg.matmul {{.*}} ins(%[[A]], %[[WHOLE]] : {{.*}}) outs(%[[ZEROS]] : tensor<8x6xf32>)
// CHECK-NEXT: linalg.matmul {{.*}} ins(%[[A]], %[[WHOLE]] : {{.*}}) outs(%[[ZEROS]] : tensor<8x6xf32>)
// CHECK-NEXT: return
func.func @operands(%a: tensor<8x4xf32> {tofu.layout = #rows}, %b: tensor<4x6xf32> {tofu.layout = #columns})
    -> (tensor<8x6xf32> {tofu.layout = #rows}, tensor<8x6xf32> {tofu.layout = #rows}) {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x6xf32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul {tofu.semantics = #matmul, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}, {}]>, tofu.layouts = [#rows]}
      ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = linalg.matmul {tofu.semantics = #matmul, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}, {}]>, tofu.layouts = [#rows]}
      ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}

// One value, needed in two ways by one operation.
// CHECK-LABEL: func.func @two_needs(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8x8xf32>
// CHECK-NEXT: %[[COLUMNS:.*]] = tofu.reshard %[[A]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [8, 8]
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[A]], %[[COLUMNS]] : tensor<8x8xf32>, tensor<8x8xf32>)
func.func @two_needs(%a: tensor<8x8xf32> {tofu.layout = #rows}, %out: tensor<8x8xf32> {tofu.layout = #rows}) -> (tensor<8x8xf32> {tofu.layout = #rows}) {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%out : tensor<8x8xf32>)
      attrs = {tofu.semantics = #tofu.semantics<[m = 8, n = 8], (a[m, n], b[n, m], _) -> (r[m, n])>,
               tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#rows]} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// What gives every device the same is no move: 4 in groups of 2 over y is the
// balanced cut.
// CHECK-LABEL: func.func @same_boxes(
// CHECK-NOT: tofu.reshard
// CHECK: return
func.func @same_boxes(%a: tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{y}]>}) -> (tensor<2x2xf32> {tofu.layout = #tofu.layout<@mesh, [{y}, {}]>}) {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 2]
      {tofu.semantics = #tofu.semantics<[g = 2, i = 2 : unsplittable], (a[g * 2 + i]) -> (r[g, i])>,
       tofu.strategy = #tofu.strategy<@mesh, [{y}, {}]>, tofu.layouts = [#tofu.layout<@mesh, [{y}, {}]>]} : tensor<4xf32> into tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// 6 in groups of 2 over x is 4 and 2, but a balanced cut is 3 and 3.
// CHECK-LABEL: func.func @boxes(
// CHECK-SAME: %[[A:[^:]+]]: tensor<6xf32>
// CHECK-NEXT: %[[GROUPS:.*]] = tofu.reshard %[[A]] from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [g = 3 {x}, i = 2], [g * 2 + i]> in [6]
// CHECK-NEXT: tensor.expand_shape %[[GROUPS]]
func.func @boxes(%a: tensor<6xf32> {tofu.layout = #x1}) -> (tensor<3x2xf32> {tofu.layout = #rows}) {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [3, 2]
      {tofu.semantics = #tofu.semantics<[g = 3, i = 2 : unsplittable], (a[g * 2 + i]) -> (r[g, i])>,
       tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#rows]} : tensor<6xf32> into tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// Dims that the operand's index doesn't name have no place in its boxes.
// CHECK-LABEL: func.func @halo(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8xf32>
// CHECK-SAME: %[[W:[^:]+]]: tensor<3xf32>
// CHECK-SAME: %[[OUT:[^:]+]]: tensor<6xf32>
// CHECK-NEXT: %[[HALO:.*]] = tofu.reshard %[[A]] from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [r = 6 {x}, w = 3], [r + w]> in [8]
// CHECK-NEXT: linalg.conv_1d {{.*}} ins(%[[HALO]], %[[W]] : {{.*}}) outs(%[[OUT]] :
func.func @halo(%a: tensor<8xf32> {tofu.layout = #x1}, %w: tensor<3xf32> {tofu.layout = #whole1}, %out: tensor<6xf32> {tofu.layout = #x1}) -> (tensor<6xf32> {tofu.layout = #x1}) {
  %0 = linalg.conv_1d {tofu.semantics = #tofu.semantics<[r = 6, w = 3 : sum], (a[r + w], k[w], init o[r]) -> (o[r])>,
                       tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#x1]}
      ins(%a, %w : tensor<8xf32>, tensor<3xf32>) outs(%out : tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// What isn't read needs no move; what a body captures does, and is replaced
// there only.
// CHECK-LABEL: func.func @captured(
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<8xindex>
// CHECK-SAME: %[[TABLE:[^:]+]]: tensor<8xf32>
// CHECK-SAME: %[[OUT:[^:]+]]: tensor<8xf32>
// CHECK-NEXT: %[[WHOLE:.*]] = tofu.reshard %[[TABLE]] from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8]
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[IDS]], %[[TABLE]] : tensor<8xindex>, tensor<8xf32>) outs(%[[OUT]] : tensor<8xf32>)
// CHECK: tensor.extract %[[WHOLE]]
func.func @captured(%ids: tensor<8xindex> {tofu.layout = #x1}, %table: tensor<8xf32> {tofu.layout = #x1}, %out: tensor<8xf32> {tofu.layout = #whole1})
    -> (tensor<8xf32> {tofu.layout = #x1}) {
  %0 = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%ids, %table : tensor<8xindex>, tensor<8xf32>) outs(%out : tensor<8xf32>)
      attrs = {tofu.semantics = #tofu.semantics<[m = 8], (i[m], a[m], _, t[:]) -> (r[m])>,
               tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} {
  ^bb0(%i: index, %x: f32, %o: f32):
    %y = tensor.extract %table[%i] : tensor<8xf32>
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A constant lies whole everywhere; a splat has no place.
// CHECK-LABEL: func.func @constants(
// CHECK: %[[DENSE:.*]] = arith.constant dense<[1.0{{.*}}, 2.0{{.*}}]>
// CHECK: %[[SPLAT:.*]] = arith.constant dense<1.0
// CHECK-NEXT: %[[PART:.*]] = tofu.reshard %[[DENSE]] from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{x}]> in [2]
// CHECK-NEXT: arith.addf %[[PART]], %[[SPLAT]]
func.func @constants() -> (tensor<2xf32> {tofu.layout = #x1}) {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = arith.constant dense<1.0> : tensor<2xf32>
  %2 = arith.addf %0, %1 {tofu.semantics = #tofu.semantics<[m = 2], (a[m], b[m]) -> (r[m])>,
                          tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} : tensor<2xf32>
  return %2 : tensor<2xf32>
}

// An operation without a strategy takes all and gives all.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8xf32>
// CHECK-NEXT: %[[WHOLE:.*]] = tofu.reshard %[[A]] from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8]
// CHECK-NEXT: %[[R:.*]]:2 = "test.op"(%[[WHOLE]])
// CHECK-NEXT: %[[PART:.*]] = tofu.reshard %[[R]]#1 from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{x}]> in [8]
// CHECK-NEXT: return %[[R]]#0, %[[PART]] : index, tensor<8xf32>
func.func @whole(%a: tensor<8xf32> {tofu.layout = #x1}) -> (index, tensor<8xf32> {tofu.layout = #x1}) {
  %0:2 = "test.op"(%a) {tofu.layouts = [unit, #x1]} : (tensor<8xf32>) -> (index, tensor<8xf32>)
  return %0#0, %0#1 : index, tensor<8xf32>
}

// A value of unknown size stays whole.
// CHECK-LABEL: func.func @dynamic(
// CHECK-NOT: tofu.reshard
// CHECK: return
func.func @dynamic(%a: tensor<?xf32> {tofu.layout = #whole1}) -> (tensor<?xf32> {tofu.layout = #whole1}) {
  %0 = math.exp %a {tofu.layouts = [#whole1]} : tensor<?xf32>
  return %0 : tensor<?xf32>
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

// A result moves to its layout where it is made; all later needs start there.
// CHECK-LABEL: func.func @results(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8x6xf32>
// CHECK-NEXT: %[[E:.*]] = math.exp %[[A]]
// CHECK-NEXT: %[[ROWS:.*]] = tofu.reshard %[[E]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [8, 6]
// CHECK-NEXT: %[[L:.*]] = math.log %[[ROWS]]
// CHECK-NEXT: %[[BOTH:.*]] = tofu.reshard %[[L]] from #tofu.layout<@mesh, [{}, {x}]> to #tofu.layout<@mesh, [{y}, {x}]> in [8, 6]
// CHECK-NEXT: return %[[ROWS]], %[[BOTH]]
func.func @results(%a: tensor<8x6xf32> {tofu.layout = #rows}) -> (tensor<8x6xf32> {tofu.layout = #columns}, tensor<8x6xf32> {tofu.layout = #tofu.layout<@mesh, [{y}, {x}]>}) {
  %0 = math.exp %a {tofu.semantics = #elementwise2, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#columns]} : tensor<8x6xf32>
  %1 = math.log %0 {tofu.semantics = #elementwise2, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#columns]} : tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}

// A cut reduction leaves partial results. They may stay so, where what comes
// next is linear; a function never returns them.
// CHECK-LABEL: func.func @partial(
// CHECK: %[[P:.*]] = linalg.matmul
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[P]]
// CHECK-NEXT: %[[R:.*]] = tofu.reshard %[[N]] from #tofu.layout<@mesh, [{}, {}], sum {x}> to #tofu.layout<@mesh, [{}, {}]> in [8, 6]
// CHECK-NEXT: %[[COMBINED:.*]] = tofu.reshard %[[P]] from #tofu.layout<@mesh, [{}, {}], sum {x}> to #tofu.layout<@mesh, [{}, {x}]> in [8, 6]
// CHECK-NEXT: math.exp %[[COMBINED]]
func.func @partial(%a: tensor<8x4xf32> {tofu.layout = #columns}, %b: tensor<4x6xf32> {tofu.layout = #rows})
    -> (tensor<8x6xf32> {tofu.layout = #whole2}, tensor<8x6xf32> {tofu.layout = #columns}) {
  %zeros = arith.constant dense<0.0> : tensor<8x6xf32>
  %0 = linalg.matmul {tofu.semantics = #matmul, tofu.strategy = #tofu.strategy<@mesh, [{}, {}, {x}]>, tofu.layouts = [#tofu.layout<@mesh, [{}, {}], sum {x}>]}
      ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = arith.negf %0 {tofu.semantics = #linear2, tofu.strategy = #tofu.strategy<@mesh, [{}, {}], partial {x} in [0]>, tofu.layouts = [#whole2]} : tensor<8x6xf32>
  %2 = math.exp %0 {tofu.semantics = #elementwise2, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#columns]} : tensor<8x6xf32>
  return %1, %2 : tensor<8x6xf32>, tensor<8x6xf32>
}

// What is whole or cut can be taken as partial sums, and left as such.
// CHECK-LABEL: func.func @makes_partial(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8x6xf32>
// CHECK-NEXT: %[[P:.*]] = tofu.reshard %[[A]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {}], sum {x}> in [8, 6]
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[P]]
// CHECK-NEXT: %[[Q:.*]] = tofu.reshard %[[N]] from #tofu.layout<@mesh, [{}, {}], sum {x}> to #tofu.layout<@mesh, [{x}, {}], sum {y}> in [8, 6]
// CHECK-NEXT: %[[R:.*]] = tofu.reshard %[[Q]] from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x}, {}]> in [8, 6]
// CHECK-NEXT: return %[[R]]
func.func @makes_partial(%a: tensor<8x6xf32> {tofu.layout = #rows}) -> (tensor<8x6xf32> {tofu.layout = #rows}) {
  %0 = arith.negf %a {tofu.semantics = #linear2, tofu.strategy = #tofu.strategy<@mesh, [{}, {}], partial {x} in [0]>, tofu.layouts = [#tofu.layout<@mesh, [{x}, {}], sum {y}>]} : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// A reshard that is there already stays, and says where the value is.
// CHECK-LABEL: func.func @reshard(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8xf32>
// CHECK-NEXT: %[[R:.*]] = tofu.reshard %[[A]] from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8]
// CHECK-NEXT: math.exp %[[R]]
// CHECK-NEXT: return
func.func @reshard(%a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #whole1}) {
  %0 = tofu.reshard %a from #x1 to #whole1 in [8] : tensor<8xf32> -> tensor<8xf32>
  %1 = math.exp %0 {tofu.semantics = #elementwise1, tofu.strategy = #tofu.strategy<@mesh, [{}]>, tofu.layouts = [#whole1]} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Without a plan there is nothing to do.
// CHECK-LABEL: func.func @no_plan(
// CHECK-NEXT: math.exp
// CHECK-NEXT: return
func.func @no_plan(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
