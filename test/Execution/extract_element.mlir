// An element that is extracted outside of operators: by indices that are known,
// from what another operator made, in a loop, and by those that are not; from a
// tensor without dims, and as a condition.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check --input=random:1 --input=index=4
// RUN: tofu-run %s --devices=2 --check --input=random:1 --input=index=4
// RUN: tofu-run %s --devices=3 --check --input=random:1 --input=index=4
// RUN: tofu-run %s --devices=4 --check --input=random:1 --input=index=4
// RUN: tofu-run %s --devices=5 --check --input=random:1 --input=index=4

// One element goes to each device but the one that has it, a row of six
// likewise. There is no remark.
// RUN: tofu-opt %s --tofu-partition="devices=3 print" 2>&1 >/dev/null | FileCheck %s --implicit-check-not=remark
// CHECK: tensor.extract x2 {{.*}} 56 0

#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%a: tensor<8x6xf32>, %i: index) -> (f32, f32, tensor<8x6xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %0 = tensor.extract %a[%c5, %c3] : tensor<8x6xf32>
  %1 = tensor.extract %a[%c5, %i] : tensor<8x6xf32>
  %e = tensor.empty() : tensor<8x6xf32>
  %b = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> ()>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %0 : tensor<8x6xf32>, f32) outs(%e : tensor<8x6xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.mulf %x, %y : f32
      linalg.yield %s : f32
  } -> tensor<8x6xf32>
  %empty = tensor.empty() : tensor<f32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%b : tensor<8x6xf32>) outs(%fill : tensor<f32>) dimensions = [0, 1]
  %total = tensor.extract %sum[] : tensor<f32>
  %positive = arith.cmpf ogt, %total, %zero : f32
  %c = scf.if %positive -> tensor<8x6xf32> {
    %n = arith.negf %b : tensor<8x6xf32>
    scf.yield %n : tensor<8x6xf32>
  } else {
    scf.yield %b : tensor<8x6xf32>
  }
  %last:2 = scf.for %j = %c0 to %c3 step %c1 iter_args(%t = %c, %r = %zero) -> (tensor<8x6xf32>, f32) {
    %x = tensor.extract %t[%c7, %c0] : tensor<8x6xf32>
    %u = arith.addf %t, %a : tensor<8x6xf32>
    %v = arith.addf %r, %x : f32
    scf.yield %u, %v : tensor<8x6xf32>, f32
  }
  return %1, %total, %last#0, %last#1 : f32, f32, tensor<8x6xf32>, f32
}
