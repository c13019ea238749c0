// Programs that tofu-localize refuses.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -verify-diagnostics -tofu-localize -allow-unregistered-dialect

tofu.mesh @mesh [x = 2]
// expected-error@below {{argument 1 has no tofu.layout; run tofu-plan}}
func.func @argument(%i: index, %a: tensor<8xf32>) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  return %a : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{result 1 has no tofu.layout; run tofu-plan}}
func.func @result(%i: index, %a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (index, tensor<8xf32>) {
  return %i, %a : index, tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
tofu.mesh @other [x = 2]
// expected-error@below {{the plan is on @mesh and on @other}}
func.func @two_meshes(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@other, [{x}]>}) {
  return %a : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @operand(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error@below {{'math.exp' op operand 0 lies as #tofu.layout<@mesh, [{}]>, is needed as #tofu.layout<@mesh, [{x}]>; run tofu-insert-reshards}}
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>,
                    tofu.layouts = [#tofu.layout<@mesh, [{x}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @whole_operand(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  // expected-error@below {{'test.op' op operand 0 lies as #tofu.layout<@mesh, [{x}]>, is needed as #tofu.layout<@mesh, [{}]>; run tofu-insert-reshards}}
  %0 = "test.op"(%a) {tofu.layouts = [#tofu.layout<@mesh, [{}]>]} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @returned(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  // expected-error@below {{'func.return' op operand 0 lies as #tofu.layout<@mesh, [{x}]>, is needed as #tofu.layout<@mesh, [{}]>; run tofu-insert-reshards}}
  return %a : tensor<8xf32>
}

// -----

// The same boxes, but parts of a sum, or of another combination.
tofu.mesh @mesh [x = 2]
func.func @partial(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>,
       tofu.layouts = [#tofu.layout<@mesh, [{}], sum {x}>]}
  // expected-error@below {{'func.return' op operand 0 lies as #tofu.layout<@mesh, [{}], sum {x}>, is needed as #tofu.layout<@mesh, [{}]>; run tofu-insert-reshards}}
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @other_combiner(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %c0 = arith.constant dense<0.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<8x4xf32>) outs(%c0 : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : max], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>,
       tofu.layouts = [#tofu.layout<@mesh, [{}], sum {x}>]}
  // expected-error@below {{'tofu.reshard' op operand 0 lies as #tofu.layout<@mesh, [{}], max {x}>, is needed as #tofu.layout<@mesh, [{}], sum {x}>; run tofu-insert-reshards}}
  %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

func.func private @kernel(tensor<8xf32>) -> tensor<8xf32>

tofu.mesh @mesh [x = 2]
func.func @call(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error@below {{'func.call' op can't be cut: the declaration of its callee has no tofu.semantics}}
  %0 = call @kernel(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>,
                         tofu.layouts = [#tofu.layout<@mesh, [{x}]>]} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @call_of_value(%f: (tensor<8xf32>) -> tensor<8xf32>, %a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error@below {{'func.call_indirect' op can't be cut: its callee takes whole tensors}}
  %0 = call_indirect %f(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>,
                             tofu.layouts = [#tofu.layout<@mesh, [{x}]>]} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 3]
func.func private @sums(tensor<2xvector<2xf32>>) -> tensor<vector<2xf32>> attributes {
  tofu.semantics = #tofu.semantics<[m = 2 : sum], (a[m]) -> (r[])>
}
func.func @no_neutral(%a: tensor<2xvector<2xf32>> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<vector<2xf32>> {tofu.layout = #tofu.layout<@mesh, []>}) {
  // expected-error@below {{'func.call' op result 0: 'vector<2xf32>' has no neutral element of sum}}
  %0 = call @sums(%a) {tofu.semantics = #tofu.semantics<[m = 2 : sum], (a[m]) -> (r[])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>,
                       tofu.layouts = [#tofu.layout<@mesh, [], sum {x}>]} : (tensor<2xvector<2xf32>>) -> tensor<vector<2xf32>>
  %1 = tofu.reshard %0 from #tofu.layout<@mesh, [], sum {x}> to #tofu.layout<@mesh, []> in [] : tensor<vector<2xf32>> -> tensor<vector<2xf32>>
  return %1 : tensor<vector<2xf32>>
}

// -----

//===----------------------------------------------------------------------===//
// Semantics that aren't the operation's (tofu-annotate refuses them first)
//===----------------------------------------------------------------------===//

tofu.mesh @mesh [x = 2]
func.func @loops(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}) -> (tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}) {
  // expected-error@below {{'linalg.exp' op semantics has 1 dims, operation has 2}}
  %0 = linalg.exp {tofu.semantics = #tofu.semantics<[m = 8], (a[m, :], _) -> (r[m, :])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>,
                   tofu.layouts = [#tofu.layout<@mesh, [{x}, {}]>]} ins(%a : tensor<8x4xf32>) outs(%a : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @unread_input(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error@below {{'linalg.exp' op operand 0 is not read by its semantics, but by the operation}}
  %0 = linalg.exp {tofu.semantics = #tofu.semantics<[m = 8], (_, _) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>,
                   tofu.layouts = [#tofu.layout<@mesh, [{x}]>]} ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @unread_operand(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error@below {{'math.exp' op operand 0 is not read by its semantics, but by the operation}}
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8], (_) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>,
                    tofu.layouts = [#tofu.layout<@mesh, [{x}]>]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @unread_source(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<4x2xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}) {
  // expected-error@below {{'tensor.expand_shape' op operand 0 is not read by its semantics, but by the operation}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [4, 2] {tofu.semantics = #tofu.semantics<[m = 4, n = 2], (_) -> (r[m, n])>,
      tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#tofu.layout<@mesh, [{x}, {}]>]} : tensor<8xf32> into tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// What is only a part of it can't tell how large a tensor is.
tofu.mesh @mesh [x = 2]
func.func @unknown_size() -> (tensor<?xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  // expected-error@below {{'tensor.dim' op nothing but the tensor tells the size of its dim 0, which is cut}}
  %0 = "test.op"() {tofu.semantics = #tofu.semantics<[m = ?], () -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>,
                    tofu.layouts = [#tofu.layout<@mesh, [{}]>]} : () -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %0, %c0 : tensor<?xf32>
  %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [%n] : tensor<?xf32> -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
