// Plans that compute the program.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-verify-plan=resharded=false -allow-unregistered-dialect | FileCheck %s
// RUN: tofu-opt %s -tofu-insert-reshards -tofu-verify-plan -allow-unregistered-dialect -o /dev/null

// Each plan is proved before and after reshards are inserted, and stays as it is.

tofu.mesh @mesh [x = 3, y = 2]

#whole1 = #tofu.layout<@mesh, [{}]>
#whole2 = #tofu.layout<@mesh, [{}, {}]>
#x1 = #tofu.layout<@mesh, [{x}]>
#rows = #tofu.layout<@mesh, [{x}, {}]>
#columns = #tofu.layout<@mesh, [{}, {x}]>
#tiles = #tofu.layout<@mesh, [{x}, {y}]>
#matmul = #tofu.semantics<[m = 7, n = 5, k = 4 : sum], (a[m, k], b[k, n], init c[m, n]) -> (c[m, n]), linear [{0}, {1}]>
#add = #tofu.semantics<[m = 7, n = 5], (a[m, n], b[m, n]) -> (r[m, n]), linear [{0, 1}]>
#scale = #tofu.semantics<[m = 7, n = 5], (a[m, n]) -> (r[m, n]), linear [{0}]>

// 7 rows over 3, 5 columns over 2; what comes alike is proved once.
// CHECK-LABEL: func.func @uneven(
// CHECK-NEXT: "test.add"
// CHECK-NEXT: "test.sub"
// CHECK-NEXT: return
func.func @uneven(%a: tensor<7x5xf32> {tofu.layout = #tiles}, %b: tensor<7x5xf32> {tofu.layout = #columns}) -> (tensor<7x5xf32> {tofu.layout = #rows}) {
  %0 = "test.add"(%a, %b) {tofu.semantics = #add, tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}]>, tofu.layouts = [#tiles]}
      : (tensor<7x5xf32>, tensor<7x5xf32>) -> tensor<7x5xf32>
  %1 = "test.sub"(%0, %b) {tofu.semantics = #add, tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}]>, tofu.layouts = [#tiles]}
      : (tensor<7x5xf32>, tensor<7x5xf32>) -> tensor<7x5xf32>
  return %1 : tensor<7x5xf32>
}

// Two axes on one dim in either order, more devices than rows.
func.func @nested(%a: tensor<7xf32> {tofu.layout = #tofu.layout<@mesh, [{y, x}]>}, %b: tensor<2xf32> {tofu.layout = #whole1})
    -> (tensor<7xf32> {tofu.layout = #tofu.layout<@mesh, [{y, x}]>}, tensor<2xf32> {tofu.layout = #x1}) {
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 7], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x, y}]>,
                      tofu.layouts = [#tofu.layout<@mesh, [{x, y}]>]} : (tensor<7xf32>) -> tensor<7xf32>
  %1 = "test.op"(%b) {tofu.semantics = #tofu.semantics<[m = 2], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x, y}]>,
                      tofu.layouts = [#tofu.layout<@mesh, [{y}]>]} : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<7xf32>, tensor<2xf32>
}

// A window of stride 2 and dilation 3 needs a halo; pixels without a neighbour
// are read where there are some.
func.func @halo(%a: tensor<21x6xf32> {tofu.layout = #rows}, %w: tensor<3xf32> {tofu.layout = #x1}) -> (tensor<8x6xf32> {tofu.layout = #tiles}) {
  %0 = "test.conv"(%a, %w) {tofu.semantics = #tofu.semantics<[r = 8, c = 6, j = 3 : sum], (a[r * 2 + j * 3, c], w[j]) -> (o[r, c])>,
                            tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}, {}]>, tofu.layouts = [#tiles]}
      : (tensor<21x6xf32>, tensor<3xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// An inner reduction of the window is cut, too.
func.func @cut_window(%a: tensor<10xf32> {tofu.layout = #x1}, %w: tensor<3xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %0 = "test.conv"(%a, %w) {tofu.semantics = #tofu.semantics<[r = 8, j = 3 : sum], (a[r + j], w[j]) -> (o[r])>,
                            tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}]>, tofu.layouts = [#x1]}
      : (tensor<10xf32>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A sum cut over both axes; where it stays partial over y, it passes through
// what is linear, and is combined for what isn't.
func.func @partials(%a: tensor<7x4xf32> {tofu.layout = #rows}, %b: tensor<4x5xf32> {tofu.layout = #whole2}) -> (tensor<7x5xf32> {tofu.layout = #rows}) {
  %zeros = arith.constant dense<0.0> : tensor<7x5xf32>
  %0 = linalg.matmul {tofu.semantics = #matmul, tofu.strategy = #tofu.strategy<@mesh, [{}, {}, {x, y}]>, tofu.layouts = [#tofu.layout<@mesh, [{}, {}], sum {y}>]}
      ins(%a, %b : tensor<7x4xf32>, tensor<4x5xf32>) outs(%zeros : tensor<7x5xf32>) -> tensor<7x5xf32>
  %1 = "test.scale"(%0) {tofu.semantics = #scale, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}], partial {y} in [0]>,
                         tofu.layouts = [#tofu.layout<@mesh, [{x}, {}], sum {y}>]} : (tensor<7x5xf32>) -> tensor<7x5xf32>
  %2 = "test.add"(%1, %zeros) {tofu.semantics = #add, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}], partial {y} in [0, 1]>,
                         tofu.layouts = [#tofu.layout<@mesh, [{x}, {}], sum {y}>]} : (tensor<7x5xf32>, tensor<7x5xf32>) -> tensor<7x5xf32>
  %3 = "test.op"(%2) {tofu.semantics = #tofu.semantics<[m = 7, n = 5], (a[m, n]) -> (r[m, n])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}]>,
                      tofu.layouts = [#tiles]} : (tensor<7x5xf32>) -> tensor<7x5xf32>
  return %3 : tensor<7x5xf32>
}

// What a cut sum starts from is combined once, after it; every part of a
// maximum may start from it.
func.func @initial_values(%a: tensor<7x4xf32> {tofu.layout = #rows}, %init: tensor<7xf32> {tofu.layout = #x1})
    -> (tensor<7xf32> {tofu.layout = #x1}, tensor<7xf32> {tofu.layout = #x1}) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<7x4xf32>) outs(%init : tensor<7xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 7, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#x1]}
  %1 = linalg.reduce { arith.maximumf } ins(%a : tensor<7x4xf32>) outs(%init : tensor<7xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 7, k = 4 : max], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#x1]}
  return %0, %1 : tensor<7xf32>, tensor<7xf32>
}

// What a sum starts from that stays partial counts on the first device of three.
func.func @initial_value_of_partial(%a: tensor<7x4xf32> {tofu.layout = #rows}, %init: tensor<7xf32> {tofu.layout = #whole1}) -> (tensor<7xf32> {tofu.layout = #x1}) {
  %zero = arith.constant 0 : index
  %empty = tensor.empty() : tensor<7xf32>
  %0 = "test.sum"(%a) {tofu.semantics = #tofu.semantics<[m = 7, k = 4 : sum], (a[m, k]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>,
                       tofu.layouts = [#tofu.layout<@mesh, [{}], sum {x}>]} : (tensor<7x4xf32>) -> tensor<7xf32>
  %number = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}]> in [3] : index
  %first = arith.cmpi eq, %number, %zero : index
  %1 = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%init, %0 : tensor<7xf32>, tensor<7xf32>) outs(%empty : tensor<7xf32>)
      attrs = {tofu.semantics = #tofu.semantics<[m = 7], (a[m], b[m], _) -> (r[m]), linear [{0, 1}]>,
               tofu.strategy = #tofu.strategy<@mesh, [{}], partial {x} in [1]>, tofu.layouts = [#tofu.layout<@mesh, [{}], sum {x}>]} {
  ^bb0(%i: f32, %p: f32, %o: f32):
    %none = arith.constant -0.0 : f32
    %once = arith.select %first, %i, %none : f32
    %s = arith.addf %once, %p : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

// Groups of 3 over x are no balanced cut of 15, and make boxes.
func.func @groups(%a: tensor<5x3xf32> {tofu.layout = #tofu.layout<@mesh, [{y}, {}]>}) -> (tensor<15xf32> {tofu.layout = #x1}) {
  %0 = tensor.collapse_shape %a [[0, 1]] {tofu.semantics = #tofu.semantics<[g = 5, i = 3], (a[g, i]) -> (r[g * 3 + i])>,
      tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#x1]} : tensor<5x3xf32> into tensor<15xf32>
  return %0 : tensor<15xf32>
}

// A whole dim, a constant index, an operand that isn't read, a captured one.
func.func @indices(%a: tensor<7x5xf32> {tofu.layout = #tiles}, %t: tensor<4xf32> {tofu.layout = #x1}) -> (tensor<7x5xf32> {tofu.layout = #tiles}) {
  %0 = "test.softmax"(%a, %a, %a) {tofu.semantics = #tofu.semantics<[m = 7], (a[m, :], b[0, :], _) -> (r[m, :])>,
                               tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#tiles]} : (tensor<7x5xf32>, tensor<7x5xf32>, tensor<7x5xf32>) -> tensor<7x5xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<7x5xf32>) outs(%0 : tensor<7x5xf32>)
      attrs = {tofu.semantics = #tofu.semantics<[m = 7, n = 5], (a[m, n], _, t[:]) -> (r[m, n])>,
               tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}]>, tofu.layouts = [#tiles]} {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 0 : index
    %y = tensor.extract %t[%i] : tensor<4xf32>
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<7x5xf32>
  return %1 : tensor<7x5xf32>
}

// Without a strategy all devices do all of it, and need all; constants and
// fills are everywhere.
func.func @replicated(%a: tensor<7xf32> {tofu.layout = #x1}, %s: f32) -> (tensor<7xf32> {tofu.layout = #x1}, tensor<7xf32> {tofu.layout = #x1}) {
  %0 = "test.op"(%a) {tofu.layouts = [#x1]} : (tensor<7xf32>) -> tensor<7xf32>
  %empty = tensor.empty() : tensor<7xf32>
  %fill = linalg.fill ins(%s : f32) outs(%empty : tensor<7xf32>) -> tensor<7xf32>
  %table = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<7xf32>
  %1 = "test.op"(%fill, %table) {tofu.semantics = #tofu.semantics<[m = 7], (a[m], b[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{y}]>, tofu.layouts = [#x1]}
      : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  return %0, %1 : tensor<7xf32>, tensor<7xf32>
}

// Tensors without elements or dims, and of unknown size.
func.func @odd_sizes(%a: tensor<0x4xf32> {tofu.layout = #rows}, %b: tensor<f32> {tofu.layout = #tofu.layout<@mesh, []>}, %c: tensor<?xf32> {tofu.layout = #whole1})
    -> (tensor<0x4xf32> {tofu.layout = #columns}, tensor<f32> {tofu.layout = #tofu.layout<@mesh, []>}, tensor<?xf32> {tofu.layout = #whole1}) {
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 0, n = 4], (a[m, n]) -> (r[m, n])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}]>, tofu.layouts = [#rows]}
      : (tensor<0x4xf32>) -> tensor<0x4xf32>
  %1 = "test.op"(%b) {tofu.semantics = #tofu.semantics<[], (a[]) -> (r[])>, tofu.strategy = #tofu.strategy<@mesh, []>, tofu.layouts = [#tofu.layout<@mesh, []>]}
      : (tensor<f32>) -> tensor<f32>
  %2 = "test.op"(%c) {tofu.layouts = [#whole1]} : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<0x4xf32>, tensor<f32>, tensor<?xf32>
}

// A weight that is updated in its place.
func.func @updated(%w: tensor<7xf32> {tofu.layout = #x1, tf.aliasing_output = 0 : i32}) -> (tensor<7xf32> {tofu.layout = #x1}) {
  %0 = "test.op"(%w) {tofu.semantics = #tofu.semantics<[m = 7], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]}
      : (tensor<7xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// Without a plan there is nothing to prove.
func.func @unplanned(%a: tensor<7xf32>) -> tensor<7xf32> {
  return %a : tensor<7xf32>
}
func.func private @declared(tensor<7xf32>) -> tensor<7xf32>
