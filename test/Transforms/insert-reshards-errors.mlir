// Plans that tofu-insert-reshards refuses.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -verify-diagnostics -tofu-insert-reshards -allow-unregistered-dialect

tofu.mesh @mesh [x = 2]
func.func @result_of_operation(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error@below {{'math.exp' op result 0 has no layout; run tofu-plan}}
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @result_of_whole_operation(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error@below {{'test.op' op result 1 has no layout; run tofu-plan}}
  %0:2 = "test.op"(%a) {tofu.layouts = [unit, unit]} : (tensor<8xf32>) -> (index, tensor<8xf32>)
  return %0#1 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{result 1 has no tofu.layout}}
func.func @result_of_function(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (index, tensor<8xf32>) {
  %0 = arith.constant 0 : index
  return %0, %a : index, tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
tofu.mesh @other [x = 2]
func.func @two_meshes(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error@below {{the plan is on @mesh and on @other}}
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@other, [{x}]>,
                    tofu.layouts = [#tofu.layout<@mesh, [{x}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @no_neutral_element(%a: tensor<8x4xvector<2xf32>> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}, %init: tensor<8xvector<2xf32>> {tofu.layout = #tofu.layout<@mesh, [{}]>})
    -> (tensor<8xvector<2xf32>> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error@below {{'test.op' op operand 1: 'vector<2xf32>' has no neutral element of sum}}
  %0 = "test.op"(%a, %init) {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>,
                             tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#tofu.layout<@mesh, [{x}]>]}
      : (tensor<8x4xvector<2xf32>>, tensor<8xvector<2xf32>>) -> tensor<8xvector<2xf32>>
  return %0 : tensor<8xvector<2xf32>>
}

// -----

// Ones on both devices would be two in all.
tofu.mesh @mesh [x = 2]
func.func @constant_as_partial(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error@below {{'arith.addf' op operand 1 is made anew on each device, so it is never a partial result}}
  %0 = arith.addf %a, %ones {tofu.semantics = #tofu.semantics<[m = 8], (a[m], b[m]) -> (r[m]), linear [{0, 1}]>,
                             tofu.strategy = #tofu.strategy<@mesh, [{}], partial {x} in [0, 1]>, tofu.layouts = [#tofu.layout<@mesh, [{}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A sum is no maximum.
tofu.mesh @mesh [x = 2]
func.func @other_combiner(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  // expected-error@below {{'tofu.reshard' op input is a partial sum, result a partial max}}
  %0 = arith.negf %a {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m]), linear [{0}]>,
                      tofu.strategy = #tofu.strategy<@mesh, [{}], partial {x} in [0]>, tofu.layouts = [#tofu.layout<@mesh, [{}], max {x}>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @branch_without_layouts(%p: i1, %a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error@below {{'scf.if' op has no layouts; run tofu-plan}}
  %0 = scf.if %p -> tensor<8xf32> {
    scf.yield %a : tensor<8xf32>
  } else {
    scf.yield %a : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @loop_in_two_layouts(%n: index, %a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error-re@below {{'scf.for' op hands one value on in the layouts {{.*}} and {{.*}}}}
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<8xf32> {
    scf.yield %x : tensor<8xf32>
  } {tofu.arg_layouts = [[unit, #tofu.layout<@mesh, [{x}]>]], tofu.layouts = [#tofu.layout<@mesh, [{}]>]}
  return %0 : tensor<8xf32>
}
