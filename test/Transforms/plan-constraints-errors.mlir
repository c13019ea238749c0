// What can't be kept of what a program says of its plan.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -tofu-annotate -tofu-plan=mesh=x=2,y=3 -verify-diagnostics

tofu.mesh @other [z = 2]
// expected-error@below {{argument 0 is pinned on @other, the plan is on @mesh}}
func.func @mesh_of_argument(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@other, [{z}]>}) {
  return
}

// -----

tofu.mesh @other [z = 2]
func.func @mesh_of_strategy(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{is pinned on @other, the plan is on @mesh}}
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (out[m])>, tofu.strategy = #tofu.strategy<@other, [{z}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2, y = 3]
// expected-error@below {{result 0 contradicts argument 0: [x] and [y]; change one, or give one a higher tofu.priority}}
// expected-note@below {{argument 0 is here}}
func.func @layouts(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{y}]>}) {
  return %a : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2, y = 3]
// expected-note@below {{argument 0 is here}}
func.func @tied_layouts(%a: tensor<8xf32> {tofu.tie = "t", tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> tensor<8xf32> {
  // expected-error@below {{result 0 contradicts argument 0: [x] and [y]}}
  %0 = math.exp %a {tofu.tie = "t", tofu.layouts = [#tofu.layout<@mesh, [{y}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2, y = 3]
// expected-error@below {{argument 0 contradicts argument 0: dim 0 of [x] is forbidden}}
// expected-note@below {{argument 0 is here}}
func.func @forbidden(%a: tensor<8xf32> {tofu.forbid = [0], tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  return
}

// -----

tofu.mesh @mesh [x = 2, y = 3]
func.func @forbidden_strategy(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{its strategy cuts dim 0, which its tofu.forbid forbids}}
  %0 = math.exp %a {tofu.forbid = [0], tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (out[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error@below {{argument 1 is tied to argument 0, which has another shape}}
// expected-note@below {{argument 0 is here}}
func.func @shapes(%a: tensor<8xf32> {tofu.tie = "t"}, %b: tensor<9xf32> {tofu.tie = "t"}) {
  return
}

// -----

tofu.mesh @mesh [x = 2, y = 3]
// expected-error@below {{result 0 is pinned, but every device has all of it}}
func.func @constant() -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  %0 = arith.constant dense<1.0> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2, y = 3]
func.func @partial(%a: tensor<8xf32>) -> tensor<f32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<f32>) -> tensor<f32>
  // expected-error@below {{result 0 is pinned to a partial result; pin the strategy that leaves it partial, too}}
  %0 = linalg.reduce ins(%a : tensor<8xf32>) outs(%z : tensor<f32>) dimensions = [0] {tofu.layouts = [#tofu.layout<@mesh, [], sum {x}>]}
    (%x: f32, %y: f32) {
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    }
  %1 = math.exp %0 : tensor<f32>
  return %1 : tensor<f32>
}
