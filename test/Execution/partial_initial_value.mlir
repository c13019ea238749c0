// A sum that stays partial counts what it starts from once, and a partial value
// that it starts from as it is.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --function=argument --check
// RUN: tofu-run %s --function=splat --check
// RUN: tofu-run %s --function=passing --check

tofu.mesh @mesh [x = 2, y = 3]

#rows = #tofu.layout<@mesh, [{x, y}]>
#whole = #tofu.layout<@mesh, [{}]>
#parts = #tofu.layout<@mesh, [{}], sum {x, y}>
#columns = #tofu.layout<@mesh, [{}, {x, y}]>
#reduce = #tofu.semantics<[m = 8, k = 13 : sum], (a[m, k], init r[m]) -> (r[m]), linear [{0, 1}]>

func.func @argument(%a: tensor<8x13xf32> {tofu.layout = #columns}, %init: tensor<8xf32> {tofu.layout = #rows}) -> (tensor<8xf32> {tofu.layout = #rows}) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x13xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #reduce, tofu.strategy = #tofu.strategy<@mesh, [{}, {x, y}]>, tofu.layouts = [#parts]}
  %1 = arith.negf %0 {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>,
      tofu.strategy = #tofu.strategy<@mesh, [{x, y}]>, tofu.layouts = [#rows]} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

func.func @splat(%a: tensor<8x13xi32> {tofu.layout = #columns}) -> (tensor<8xi32> {tofu.layout = #rows}) {
  %five = arith.constant dense<5> : tensor<8xi32>
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<8x13xi32>) outs(%five : tensor<8xi32>) dimensions = [1]
      {tofu.semantics = #reduce, tofu.strategy = #tofu.strategy<@mesh, [{}, {x, y}]>,
       tofu.layouts = [#tofu.layout<@mesh, [{x}], sum {y}>]}
  return %0 : tensor<8xi32>
}

func.func @passing(%a: tensor<8x13xf32> {tofu.layout = #columns}) -> (tensor<8xf32> {tofu.layout = #rows}) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x13xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #reduce, tofu.strategy = #tofu.strategy<@mesh, [{}, {x, y}]>, tofu.layouts = [#parts]}
  %1 = linalg.reduce { arith.addf } ins(%a : tensor<8x13xf32>) outs(%0 : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #reduce, tofu.strategy = #tofu.strategy<@mesh, [{}, {x, y}]>, tofu.layouts = [#parts]}
  return %1 : tensor<8xf32>
}
