// A plan that takes what is whole or cut as partial sums: one device keeps each
// element, the others have zeros there.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check
// RUN: tofu-run %s --input=random:1 --input=random:2 | FileCheck %s

// To make them partial is free. To combine the sum of 5x4 floats over x into the
// parts takes one addend each: 20 floats. Within y they are replicated, and one
// device of two adds up, the other receives the sum: 20 more.
// CHECK: received by all devices: 160 bytes

#rows = #tofu.layout<@mesh, [{x}, {}]>
#whole = #tofu.layout<@mesh, [{}, {}]>
tofu.mesh @mesh [x = 2, y = 2]

func.func @main(%a: tensor<5x4xf32> {tofu.layout = #rows}, %b: tensor<5x4xf32> {tofu.layout = #whole}) -> (tensor<5x4xf32> {tofu.layout = #rows}) {
  %0 = arith.subf %a, %b {tofu.semantics = #tofu.semantics<[m = 5, n = 4], (a[m, n], b[m, n]) -> (r[m, n]), linear [{0, 1}]>,
                          tofu.strategy = #tofu.strategy<@mesh, [{}, {}], partial {x} in [0, 1]>,
                          tofu.layouts = [#tofu.layout<@mesh, [{}, {}], sum {x}>]} : tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}
