// Initial values of cut reductions.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-insert-reshards | FileCheck %s

// The parts of a cut reduction start from what changes nothing, and what the
// reduction starts from is combined once, after them.

tofu.mesh @mesh [x = 2]

#whole1 = #tofu.layout<@mesh, [{}]>
#x1 = #tofu.layout<@mesh, [{x}]>
#columns = #tofu.layout<@mesh, [{}, {x}]>
#cut_k = #tofu.strategy<@mesh, [{}, {x}]>

// CHECK-LABEL: func.func @argument(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[INIT:[^:]+]]: tensor<8xf32>
// CHECK-NEXT: %[[NEUTRAL:.*]] = arith.constant dense<-0.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[PARTS:.*]] = linalg.reduce { arith.addf {{.*}} ins(%[[A]] : tensor<8x4xf32>) outs(%[[NEUTRAL]] : tensor<8xf32>)
// CHECK-NEXT: %[[SUM:.*]] = tofu.reshard %[[PARTS]] from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{x}]> in [8]
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<8xf32>
// CHECK-NEXT: %[[THERE:.*]] = tofu.reshard %[[INIT]] from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{x}]> in [8]
// CHECK-NEXT: %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[THERE]], %[[SUM]] : tensor<8xf32>, tensor<8xf32>) outs(%[[EMPTY]] : tensor<8xf32>)
// CHECK-SAME: tofu.layouts = [#tofu.layout<@mesh, [{x}]>]
// CHECK-SAME: tofu.semantics = #tofu.semantics<[d0 = 8], (in0[d0], in1[d0], _) -> (out0[d0]), linear [{0, 1}]>
// CHECK-SAME: tofu.strategy = #tofu.strategy<@mesh, [{x}]>
// CHECK-NEXT: ^bb0(%[[I:.*]]: f32, %[[P:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[I]], %[[P]] : f32
// CHECK-NEXT: linalg.yield %[[S]] : f32
// CHECK: return %[[ALL]]
func.func @argument(%a: tensor<8x4xf32> {tofu.layout = #columns}, %init: tensor<8xf32> {tofu.layout = #whole1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  return %0 : tensor<8xf32>
}

// Each result starts from what changes nothing of it, and is combined in its way.
// CHECK-LABEL: func.func @sum_and_max(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[SUM:[^:]+]]: tensor<8xf32>
// CHECK-SAME: %[[MAX:[^:]+]]: tensor<8xf32>
// CHECK-NEXT: %[[ZEROS:.*]] = arith.constant dense<-0.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[LEAST:.*]] = arith.constant dense<0xFF800000> : tensor<8xf32>
// CHECK-NEXT: %[[PARTS:.*]]:2 = linalg.generic {{.*}} ins(%[[A]] : tensor<8x4xf32>) outs(%[[ZEROS]], %[[LEAST]] : tensor<8xf32>, tensor<8xf32>)
// CHECK-DAG: %[[S:.*]] = tofu.reshard %[[PARTS]]#0 from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{x}]> in [8]
// CHECK-DAG: %[[M:.*]] = tofu.reshard %[[PARTS]]#1 from #tofu.layout<@mesh, [{}], max {x}> to #tofu.layout<@mesh, [{x}]> in [8]
// CHECK-DAG: linalg.generic {{.*}} ins(%{{.*}}, %[[S]] : tensor<8xf32>, tensor<8xf32>)
// CHECK-DAG: linalg.generic {{.*}} ins(%{{.*}}, %[[M]] : tensor<8xf32>, tensor<8xf32>)
// CHECK: return
func.func @sum_and_max(%a: tensor<8x4xf32> {tofu.layout = #columns}, %sum: tensor<8xf32> {tofu.layout = #whole1}, %max: tensor<8xf32> {tofu.layout = #whole1})
    -> (tensor<8xf32> {tofu.layout = #x1}, tensor<8xf32> {tofu.layout = #x1}) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%sum, %max : tensor<8xf32>, tensor<8xf32>)
      attrs = {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : (sum, max)], (a[m, k], init r[m], init s[m]) -> (r[m], s[m])>,
               tofu.strategy = #cut_k, tofu.layouts = [#x1, #x1]} {
    ^bb0(%in: f32, %s: f32, %g: f32):
      %r0 = arith.addf %s, %in : f32
      %r1 = arith.maximumf %g, %in : f32
      linalg.yield %r0, %r1 : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// Where the reduction isn't cut, nothing changes.
// CHECK-LABEL: func.func @uncut(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[INIT:[^:]+]]: tensor<8xf32>
// CHECK-NEXT: linalg.reduce { arith.addf {{.*}} ins(%[[A]] : tensor<8x4xf32>) outs(%[[INIT]] : tensor<8xf32>)
// CHECK-NEXT: return
func.func @uncut(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}, %init: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#x1]}
  return %0 : tensor<8xf32>
}

// What is neutral already stays: zero and minus zero for sums.
// CHECK-LABEL: func.func @neutral(
// CHECK: %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: linalg.reduce { arith.addf {{.*}} outs(%[[FILL]] : tensor<8xf32>)
// CHECK: %[[MINUS:.*]] = arith.constant dense<-0.0
// CHECK-NEXT: linalg.reduce { arith.addf {{.*}} outs(%[[MINUS]] : tensor<8xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @neutral(%a: tensor<8x4xf32> {tofu.layout = #columns}) -> (tensor<8xf32> {tofu.layout = #x1}, tensor<8xf32> {tofu.layout = #x1}) {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  %minus = arith.constant dense<-0.0> : tensor<8xf32>
  %1 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%minus : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// A value of ones is remade where it is combined.
// CHECK-LABEL: func.func @splat(
// CHECK: %[[ONES:.*]] = arith.constant dense<1.0
// CHECK-NEXT: %[[NEUTRAL:.*]] = arith.constant dense<-0.0
// CHECK-NEXT: linalg.reduce {{.*}} outs(%[[NEUTRAL]] : tensor<8xf32>)
// CHECK-NEXT: %[[SUM:.*]] = tofu.reshard
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[ONES]], %[[SUM]] :
func.func @splat(%a: tensor<8x4xf32> {tofu.layout = #columns}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%ones : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  return %0 : tensor<8xf32>
}

// Each combiner has its own element that changes nothing.
// CHECK-LABEL: func.func @floats(
func.func @floats(%a: tensor<8x4xf32> {tofu.layout = #columns}, %init: tensor<8xf32> {tofu.layout = #x1})
    -> (tensor<8xf32> {tofu.layout = #x1}, tensor<8xf32> {tofu.layout = #x1}, tensor<8xf32> {tofu.layout = #x1}) {
  // CHECK: %[[MAX:.*]] = arith.constant dense<0xFF800000> : tensor<8xf32>
  // CHECK-NEXT: linalg.reduce { arith.maximumf {{.*}} outs(%[[MAX]]
  // CHECK: linalg.generic
  // CHECK: arith.maximumf
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<8x4xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : max], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  // CHECK: %[[MIN:.*]] = arith.constant dense<0x7F800000> : tensor<8xf32>
  // CHECK-NEXT: linalg.reduce { arith.minnumf {{.*}} outs(%[[MIN]]
  // CHECK: linalg.generic
  // CHECK: arith.minnumf
  %1 = linalg.reduce { arith.minnumf } ins(%a : tensor<8x4xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : minnum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  // CHECK: %[[PROD:.*]] = arith.constant dense<1.000000e+00> : tensor<8xf32>
  // CHECK-NEXT: linalg.reduce { arith.mulf {{.*}} outs(%[[PROD]]
  // CHECK: linalg.generic
  // CHECK: arith.mulf
  %2 = linalg.reduce { arith.mulf } ins(%a : tensor<8x4xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : prod], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @integers(
func.func @integers(%a: tensor<8x4xi8> {tofu.layout = #columns}, %init: tensor<8xi8> {tofu.layout = #x1})
    -> (tensor<8xi8> {tofu.layout = #x1}, tensor<8xi8> {tofu.layout = #x1}, tensor<8xi8> {tofu.layout = #x1}, tensor<8xi8> {tofu.layout = #x1}) {
  // CHECK: %[[MAX:.*]] = arith.constant dense<-128> : tensor<8xi8>
  // CHECK-NEXT: linalg.reduce { arith.maxsi {{.*}} outs(%[[MAX]]
  // CHECK: arith.maxsi
  %0 = linalg.reduce { arith.maxsi } ins(%a : tensor<8x4xi8>) outs(%init : tensor<8xi8>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : max], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  // CHECK: %[[MIN:.*]] = arith.constant dense<127> : tensor<8xi8>
  // CHECK-NEXT: linalg.reduce { arith.minsi {{.*}} outs(%[[MIN]]
  // CHECK: arith.minsi
  %1 = linalg.reduce { arith.minsi } ins(%a : tensor<8x4xi8>) outs(%init : tensor<8xi8>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : min], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  // CHECK: %[[AND:.*]] = arith.constant dense<-1> : tensor<8xi8>
  // CHECK-NEXT: linalg.reduce { arith.andi {{.*}} outs(%[[AND]]
  // CHECK: arith.andi
  %2 = linalg.reduce { arith.andi } ins(%a : tensor<8x4xi8>) outs(%init : tensor<8xi8>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : and], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  // CHECK: %[[MAXUI:.*]] = arith.constant dense<0> : tensor<8xi8>
  // CHECK-NEXT: linalg.reduce { arith.maxui {{.*}} outs(%[[MAXUI]]
  // CHECK: arith.maxui
  %3 = linalg.reduce { arith.maxui } ins(%a : tensor<8x4xi8>) outs(%init : tensor<8xi8>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : maxui], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  return %0, %1, %2, %3 : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>
}

// An index is an integer too.
// CHECK-LABEL: func.func @index(
// CHECK: %[[NEUTRAL:.*]] = arith.constant dense<0> : tensor<8xindex>
// CHECK-NEXT: linalg.reduce { arith.addi {{.*}} outs(%[[NEUTRAL]]
// CHECK: arith.addi %{{.*}} : index
func.func @index(%a: tensor<8x4xindex> {tofu.layout = #columns}, %init: tensor<8xindex> {tofu.layout = #x1}) -> (tensor<8xindex> {tofu.layout = #x1}) {
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<8x4xindex>) outs(%init : tensor<8xindex>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1]}
  return %0 : tensor<8xindex>
}

// Two results, each with its own.
// CHECK-LABEL: func.func @two_results(
// CHECK-SAME: %[[A:[^:]+]]: tensor<8x4xf32>
// CHECK-SAME: %[[P:[^:]+]]: tensor<8xf32>
// CHECK-SAME: %[[Q:[^:]+]]: tensor<8xf32>
// CHECK: %[[R:.*]]:2 = linalg.reduce
// CHECK-DAG: %[[R0:.*]] = tofu.reshard %[[R]]#0 from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{x}]>
// CHECK-DAG: %[[S0:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[R0]] :
// CHECK-DAG: %[[R1:.*]] = tofu.reshard %[[R]]#1 from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{x}]>
// CHECK-DAG: %[[S1:.*]] = linalg.generic {{.*}} ins(%[[Q]], %[[R1]] :
// CHECK: return %[[S0]], %[[S1]]
func.func @two_results(%a: tensor<8x4xf32> {tofu.layout = #columns}, %p: tensor<8xf32> {tofu.layout = #x1}, %q: tensor<8xf32> {tofu.layout = #x1})
    -> (tensor<8xf32> {tofu.layout = #x1}, tensor<8xf32> {tofu.layout = #x1}) {
  %0:2 = linalg.reduce ins(%a, %a : tensor<8x4xf32>, tensor<8x4xf32>) outs(%p, %q : tensor<8xf32>, tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], b[m, k], init r[m], init s[m]) -> (r[m], s[m])>, tofu.strategy = #cut_k, tofu.layouts = [#x1, #x1]}
      (%x: f32, %y: f32, %s: f32, %t: f32) {
        %m = arith.addf %x, %s : f32
        %n = arith.addf %y, %t : f32
        linalg.yield %m, %n : f32, f32
      }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// A sum that stays partial takes it on the devices that are first along the
// partial axes.
// CHECK-LABEL: func.func @partial(
// CHECK-SAME: %{{[^:]+}}: tensor<8x4xf32>
// CHECK-SAME: %[[INIT:[^:]+]]: tensor<8xf32>
// CHECK: %[[PARTS:.*]] = linalg.reduce
// CHECK: %[[NUMBER:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}]> in [2] : index
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[NUMBER]]
// CHECK: %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[INIT]], %[[PARTS]] :
// CHECK-SAME: tofu.layouts = [#tofu.layout<@mesh, [{}], sum {x}>]
// CHECK-SAME: tofu.strategy = #tofu.strategy<@mesh, [{}], partial {x} in [1]>
// CHECK-NEXT: ^bb0(%[[I:.*]]: f32, %[[P:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant -0.0
// CHECK-NEXT: %[[S:.*]] = arith.select %[[FIRST]], %[[I]], %[[ZERO]]
// CHECK-NEXT: arith.addf %[[S]], %[[P]]
// CHECK: tofu.reshard %[[ALL]] from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{x}]>
func.func @partial(%a: tensor<8x4xf32> {tofu.layout = #columns}, %init: tensor<8xf32> {tofu.layout = #whole1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #cut_k,
       tofu.layouts = [#tofu.layout<@mesh, [{}], sum {x}>]}
  return %0 : tensor<8xf32>
}
