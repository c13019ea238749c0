// Plans that no search makes.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-insert-reshards -tofu-localize -tofu-lower-reshards -tofu-optimize-collectives | FileCheck %s

// Plans that no search makes, but that are plans: any of them is carried out.

tofu.mesh @mesh [x = 3, y = 1]

#x1 = #tofu.layout<@mesh, [{x}]>
#whole1 = #tofu.layout<@mesh, [{}]>
#elementwise = #tofu.semantics<[m = 2], (a[m]) -> (r[m])>

// Two rows on three devices: one has none.
// CHECK-LABEL: func.func @empty_part(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?xf32> {tofu.global_type = tensor<2xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>}
// CHECK-NEXT: %[[E:.*]] = math.exp %[[A]] : tensor<?xf32>
// CHECK-NEXT: %[[G:.*]] = tofu.all_gather %[[E]] from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [2] : tensor<?xf32> -> tensor<2xf32>
// CHECK-NEXT: return %[[G]]
func.func @empty_part(%a: tensor<2xf32> {tofu.layout = #x1}) -> (tensor<2xf32> {tofu.layout = #whole1}) {
  %0 = math.exp %a {tofu.semantics = #elementwise, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#whole1]} : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A cut over one device is none: no data moves, though the layouts differ.
// CHECK-LABEL: func.func @axis_of_one(
// CHECK-SAME: %[[A:[^:]+]]: tensor<2xf32> {tofu.global_type = tensor<2xf32>, tofu.layout = #tofu.layout<@mesh, [{y}]>}
// CHECK-NEXT: %[[E:.*]] = math.exp %[[A]] : tensor<2xf32>
// CHECK-NEXT: return %[[E]]
func.func @axis_of_one(%a: tensor<2xf32> {tofu.layout = #tofu.layout<@mesh, [{y}]>}) -> (tensor<2xf32> {tofu.layout = #tofu.layout<@mesh, [{y}]>}) {
  %0 = math.exp %a {tofu.semantics = #elementwise, tofu.strategy = #tofu.strategy<@mesh, [{}]>, tofu.layouts = [#whole1]} : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// The work is replicated, the value is cut.
// CHECK-LABEL: func.func @replicated_work(
// CHECK-NEXT: %[[G:.*]] = tofu.all_gather
// CHECK-NEXT: %[[E:.*]] = math.exp %[[G]] : tensor<6xf32>
// CHECK-NEXT: %[[LO:.*]] = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}]> in [6] : index
// CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %[[E]][%[[LO]]] [2] [1] : tensor<6xf32> to tensor<2xf32>
// CHECK-NEXT: return %[[S]]
func.func @replicated_work(%a: tensor<6xf32> {tofu.layout = #x1}) -> (tensor<6xf32> {tofu.layout = #x1}) {
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 6], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}]>, tofu.layouts = [#x1]} : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// Axes in another order than the mesh's: the inner one is cut first.
// CHECK-LABEL: func.func @order(
// CHECK-SAME: %{{[^:]+}}: tensor<2xf32> {tofu.global_type = tensor<6xf32>, tofu.layout = #tofu.layout<@mesh, [{y, x}]>}
// CHECK-NEXT: math.exp %{{.*}} : tensor<2xf32>
// CHECK-NEXT: return
func.func @order(%a: tensor<6xf32> {tofu.layout = #tofu.layout<@mesh, [{y, x}]>}) -> (tensor<6xf32> {tofu.layout = #tofu.layout<@mesh, [{x, y}]>}) {
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 6], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{y, x}]>, tofu.layouts = [#tofu.layout<@mesh, [{x, y}]>]} : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// A reduction of two elements on three devices: the third adds nothing.
// CHECK-LABEL: func.func @empty_addend(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?xf32>
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = linalg.reduce { arith.addf {{.*}} ins(%[[A]] : tensor<?xf32>) outs(%[[ZERO]] : tensor<f32>)
// CHECK-NEXT: tofu.all_reduce %[[P]] from #tofu.layout<@mesh, [], sum {x}> to #tofu.layout<@mesh, []> in [] : tensor<f32> -> tensor<f32>
func.func @empty_addend(%a: tensor<2xf32> {tofu.layout = #x1}) -> (tensor<f32> {tofu.layout = #tofu.layout<@mesh, []>}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<2xf32>) outs(%zero : tensor<f32>) dimensions = [0]
      {tofu.semantics = #tofu.semantics<[k = 2 : sum], (a[k], init r[]) -> (r[])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#tofu.layout<@mesh, []>]}
  return %0 : tensor<f32>
}
