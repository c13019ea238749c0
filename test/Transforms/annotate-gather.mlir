// Semantics of bodies that extract from tensors, where they aren't cut.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s

// Two places of one tensor that differ are read from all of it, and so is what
// may be out of bounds but for a condition.
// CHECK-LABEL: func.func @neighbours(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 7], (_, in1[:], in2[:]) -> (out0[d0])>
func.func @neighbours(%a: tensor<8xf32>, %b: tensor<4xf32>, %out: tensor<7xf32>) -> tensor<7xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      outs(%out : tensor<7xf32>) {
  ^bb0(%o: f32):
    %m = linalg.index 0 : index
    %next = arith.addi %m, %c1 : index
    %x = tensor.extract %a[%m] : tensor<8xf32>
    %y = tensor.extract %a[%next] : tensor<8xf32>
    %inside = arith.cmpi ult, %m, %c4 : index
    %z = scf.if %inside -> f32 {
      %v = tensor.extract %b[%m] : tensor<4xf32>
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %s = arith.addf %x, %y : f32
    %t = arith.addf %s, %z : f32
    linalg.yield %t : f32
  } -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// Whoever else sees the element must see it on all devices: the table is not cut.
// CHECK-LABEL: func.func @checked
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 7], (in0[d0], _, in2[:]) -> (out0[d0])>
func.func @checked(%i: tensor<7xindex>, %table: tensor<4xf32>, %out: tensor<7xf32>) -> tensor<7xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%i : tensor<7xindex>) outs(%out : tensor<7xf32>) {
  ^bb0(%at: index, %o: f32):
    %x = tensor.extract %table[%at] : tensor<4xf32>
    %good = arith.cmpf one, %x, %zero : f32
    cf.assert %good, "zero"
    linalg.yield %x : f32
  } -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
