// Calls of functions outside of the program, on the parts of a device.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -tofu-insert-reshards -tofu-verify-plan -tofu-localize | FileCheck %s

// Parts of one size, and calls that are cut otherwise: all take the same declaration.

tofu.mesh @mesh [x = 2]
#x0 = #tofu.layout<@mesh, [{x}, {}]>
#x1 = #tofu.layout<@mesh, [{}, {x}]>
#r = #tofu.layout<@mesh, [{}, {}]>
#kernel = #tofu.semantics<[m = 8, n = 6], (a[m, n]) -> (r[m, n])>

// CHECK: func.func private @kernel(tensor<8x6xf32>, f32) -> tensor<8x6xf32> attributes {tofu.semantics
func.func private @kernel(tensor<8x6xf32>, f32) -> tensor<8x6xf32> attributes {tofu.semantics = #kernel}

// CHECK-LABEL: func.func @strategies
// CHECK-SAME: %[[A:.*]]: tensor<4x6xf32> {{.*}}, %[[F:.*]]: f32)
// CHECK: %[[E0:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK: %[[ROWS:.*]] = tofu.call @kernel(%[[A]], %[[F]] : tensor<4x6xf32>, f32) into(%[[E0]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: %[[MOVED:.*]] = tofu.reshard %[[ROWS]]
// CHECK: %[[E1:.*]] = tensor.empty() : tensor<8x3xf32>
// CHECK: %[[COLUMNS:.*]] = tofu.call @kernel(%[[MOVED]], %[[F]] : tensor<8x3xf32>, f32) into(%[[E1]] : tensor<8x3xf32>) -> tensor<8x3xf32>
// CHECK: %[[WHOLE:.*]] = tofu.reshard %[[COLUMNS]]
// CHECK: call @kernel(%[[WHOLE]], %[[F]]) : (tensor<8x6xf32>, f32) -> tensor<8x6xf32>
func.func @strategies(%a: tensor<8x6xf32> {tofu.layout = #x0}, %f: f32) -> (tensor<8x6xf32> {tofu.layout = #r}) {
  %0 = call @kernel(%a, %f) {tofu.semantics = #kernel, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#x0]} : (tensor<8x6xf32>, f32) -> tensor<8x6xf32>
  %1 = call @kernel(%0, %f) {tofu.semantics = #kernel, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#x1]} : (tensor<8x6xf32>, f32) -> tensor<8x6xf32>
  %2 = call @kernel(%1, %f) {tofu.layouts = [#r]} : (tensor<8x6xf32>, f32) -> tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}

// -----

// Uneven parts and a halo.

tofu.mesh @mesh [x = 3]
#x = #tofu.layout<@mesh, [{x}]>
#r = #tofu.layout<@mesh, [{}]>
#stencil = #tofu.semantics<[y = 7, i = 3 : unsplittable], (in[y + i]) -> (out[y])>
func.func private @stencil(tensor<9xf32>) -> tensor<7xf32> attributes {tofu.semantics = #stencil}

// CHECK-LABEL: func.func @halo
// CHECK: %[[IN:.*]] = tofu.reshard %{{.*}} to #tofu.boxes<@mesh, [y = 7 {x}, i = 3], [y + i]> in [9] : tensor<3xf32> -> tensor<?xf32>
// CHECK: %[[SIZE:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}]> in [7] : index
// CHECK: %[[E:.*]] = tensor.empty(%[[SIZE]]) : tensor<?xf32>
// CHECK: tofu.call @stencil(%[[IN]] : tensor<?xf32>) into(%[[E]] : tensor<?xf32>) -> tensor<?xf32>
func.func @halo(%a: tensor<9xf32> {tofu.layout = #x}) -> (tensor<7xf32> {tofu.layout = #x}) {
  %0 = call @stencil(%a) {tofu.semantics = #stencil, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#x]} : (tensor<9xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

// A device without a part calls nothing: of what it was to sum it has the
// neutral element. The initial value counts once, after the parts.

tofu.mesh @mesh [x = 3]
#x = #tofu.layout<@mesh, [{x}, {}]>
#r = #tofu.layout<@mesh, [{}]>
#sums = #tofu.semantics<[m = 2 : sum, n = 4], (a[m, n], init r[n]) -> (r[n])>
func.func private @sums(tensor<2x4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {tofu.semantics = #sums}

// CHECK-LABEL: func.func @empty_part_of_reduction
// CHECK-SAME: %[[A:.*]]: tensor<?x4xf32> {{.*}}, %[[B:.*]]: tensor<4xf32>
// CHECK-DAG: %[[START:.*]] = arith.constant dense<-0.0{{.*}}> : tensor<4xf32>
// CHECK-DAG: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: %[[NEUTRAL:.*]] = arith.constant -0.0{{.*}} : f32
// CHECK: %[[F:.*]] = linalg.fill ins(%[[NEUTRAL]] : f32) outs(%[[E]] : tensor<4xf32>)
// CHECK: %[[SIZE:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}, {}]> in [2, 4] : index
// CHECK: %[[HAS:.*]] = arith.cmpi ne, %[[SIZE]], %{{.*}} : index
// CHECK: %[[PART:.*]] = tofu.call @sums(%[[A]], %[[START]] : tensor<?x4xf32>, tensor<4xf32>) into(%[[F]] : tensor<4xf32>) if %[[HAS]] -> tensor<4xf32>
// CHECK: %[[SUM:.*]] = tofu.reshard %[[PART]] from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}]>
// CHECK: linalg.generic {{.*}} ins(%[[B]], %[[SUM]] : tensor<4xf32>, tensor<4xf32>)
func.func @empty_part_of_reduction(%a: tensor<2x4xf32> {tofu.layout = #x}, %b: tensor<4xf32> {tofu.layout = #r}) -> (tensor<4xf32> {tofu.layout = #r}) {
  %0 = call @sums(%a, %b) {tofu.semantics = #sums, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#r]} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Of a dim that indexes the result such a device has nothing at all; two such
// dims must both have a part.

tofu.mesh @mesh [x = 3, y = 3]
#xy = #tofu.layout<@mesh, [{x}, {y}]>
#both = #tofu.semantics<[m = 2, n = 2], (_, a[m, n]) -> (r[m, n])>
func.func private @both(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> attributes {tofu.semantics = #both}

// CHECK-LABEL: func.func @empty_parts
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>
// CHECK: %[[U:.*]] = tensor.empty() : tensor<0x0xf32>
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xf32>
// CHECK: %[[X:.*]] = arith.cmpi ne
// CHECK: %[[Y:.*]] = arith.cmpi ne
// CHECK: %[[HAS:.*]] = arith.andi %[[X]], %[[Y]] : i1
// CHECK: tofu.call @both(%[[U]], %[[A]] : tensor<0x0xf32>, tensor<?x?xf32>) into(%[[E]] : tensor<?x?xf32>) if %[[HAS]]
func.func @empty_parts(%a: tensor<2x2xf32> {tofu.layout = #xy}) -> (tensor<2x2xf32> {tofu.layout = #xy}) {
  %0 = call @both(%a, %a) {tofu.semantics = #both, tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}]>, tofu.layouts = [#xy]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// Of a dim of unknown size any device may have nothing; if nobody has anything, all call.

tofu.mesh @mesh [x = 3]
#x = #tofu.layout<@mesh, [{x}, {}]>
#r = #tofu.layout<@mesh, [{}]>
#sums = #tofu.semantics<[m = ? : sum, n = 4], (a[m, n]) -> (r[n])>
func.func private @sums(tensor<?x4xf32>) -> tensor<4xf32> attributes {tofu.semantics = #sums}

// CHECK-LABEL: func.func @unknown_size
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x4xf32> {{.*}}, %[[ALL:[^:]*]]: index {tofu.size_of
// CHECK: %[[NEUTRAL:.*]] = arith.constant -0.0{{.*}} : f32
// CHECK: %[[F:.*]] = linalg.fill ins(%[[NEUTRAL]] : f32)
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[SIZE:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}, {}]> in [%[[ALL]], 4] : index
// CHECK: %[[SOME:.*]] = arith.cmpi ne, %[[SIZE]], %[[ZERO]] : index
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[ALL]], %[[ZERO]] : index
// CHECK: %[[CALLS:.*]] = arith.ori %[[SOME]], %[[NONE]] : i1
// CHECK: tofu.call @sums(%[[A]] : tensor<?x4xf32>) into(%[[F]] : tensor<4xf32>) if %[[CALLS]] -> tensor<4xf32>
func.func @unknown_size(%a: tensor<?x4xf32> {tofu.layout = #x}) -> (tensor<4xf32> {tofu.layout = #r}) {
  %0 = call @sums(%a) {tofu.semantics = #sums, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#r]} : (tensor<?x4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
