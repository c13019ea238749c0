// Reshapes cut along several of the dims that they join.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The first dim is cut into single indices, the second one after that.
// RUN: tofu-opt %s -tofu-annotate -tofu-plan=mesh=x=2,y=2 | FileCheck %s
// RUN: tofu-run %s --mesh=x=2,y=2 --check
// RUN: tofu-run %s --mesh=x=2,y=3 --check
// RUN: tofu-run %s --mesh=x=2,y=5 --check
// RUN: tofu-run %s --mesh=x=2,y=2,z=2 --check
// RUN: tofu-run %s --mesh=x=2,y=2,z=3 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=8 --check

// Both dims of unknown size, and parts without elements.
// RUN: tofu-run %s --mesh=x=2,y=2,z=2 --partition-options='algorithm=any seed=2' --check

// CHECK: tensor.collapse_shape {{.*}}#tofu.semantics<[d0 = 2, d1 = 7 after d0, d2 = 5 after d1], (in0[d0, d1, d2]) -> (out0[(d0 * 7 + d1) * 5 + d2]), linear [{0}]>
// CHECK-SAME: tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}, {}]>
// CHECK: tensor.expand_shape {{.*}}#tofu.semantics<[d0 = 2, d1 = 35 after d0], (in0[d0 * 35 + d1]) -> (out0[d0, d1]), linear [{0}]>
// CHECK-SAME: tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}]>
func.func @main(%x: tensor<2x7x5xf32>) -> tensor<2x35xf32> {
  %0 = math.exp %x : tensor<2x7x5xf32>
  %1 = tensor.collapse_shape %0 [[0, 1, 2]] : tensor<2x7x5xf32> into tensor<70xf32>
  %2 = math.absf %1 : tensor<70xf32>
  %3 = tensor.expand_shape %2 [[0, 1]] output_shape [2, 35] : tensor<70xf32> into tensor<2x35xf32>
  return %3 : tensor<2x35xf32>
}
