// The bound that comes with a plan, and the same search as a linear program.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 charge=per-use json=%t.json" -o /dev/null
// RUN: FileCheck %s --input-file=%t.json
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 charge=per-use algorithm=exact json=%t.exact" -o /dev/null
// RUN: FileCheck %s --input-file=%t.exact
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 charge=per-use time-budget=0.000001 json=%t.late" -o /dev/null
// RUN: FileCheck %s --check-prefix=LATE --input-file=%t.late
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 algorithm=recursive json=%t.recursive" -o /dev/null
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t.recursive
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan="devices=4 time-budget=-1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan="devices=4 time-budget=nan" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 dump-ilp=-" -o /dev/null | FileCheck %s --check-prefix=ILP
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=32 json=%t.32" -o /dev/null
// RUN: FileCheck %s --check-prefix=ON32 --input-file=%t.32
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="mesh=x=4,y=8 json=%t.4x8" -o /dev/null
// RUN: FileCheck %s --check-prefix=ON32 --input-file=%t.4x8
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan="devices=4096 dump-ilp=-" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY

// The first product, 16x64 by 64x8, is cut along the 64: each of the 4 devices'
// sums are combined to where they lie, 3 x 16x8 elements. The second, by 8x32, is
// cut along the 32 and reads all of that: 4 x 3/4 x 16x8 elements. That is 3072
// bytes; cut along the 16, they would fetch 3 x 64x8 and 3 x 8x32 elements.
// Two operators, three arguments, two results: the last result lies as it is
// made only if that costs nothing, so it is a variable too. All differ.
// CHECK: "classes": 7
// CHECK: "exact": true
// CHECK: "gap": 0
// CHECK: "lower_bound_bytes": 3072
// CHECK: "space": {
// CHECK: "charge": "per-use"
// CHECK: "total_bytes": 3072
// CHECK: "variables": 7
// LATE: "gap":
// LATE: "lower_bound_bytes":
// NONE-NOT: lower_bound_bytes
// NEGATIVE: error: tofu-plan: time-budget must not be negative
// ILP: Minimize
// ILP: Subject To
// ILP: + x_0_0
// ILP: = 1
// ILP: Binary
// ILP: End
// All plans of a small program are looked at on many devices too. What cuts by 4
// and by 8 can be cut by 2 as well, and here no more is to be had.
// ON32: "gap": 0,
// ON32: "total_bytes": 16384,
// MANY: error: has too many plans for dump-ilp to list
func.func @main(%x: tensor<16x64xf32>, %w: tensor<64x8xf32>, %v: tensor<8x32xf32>) -> tensor<16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x8xf32>) outs(%z : tensor<16x8xf32>) -> tensor<16x8xf32>
  %f = tensor.empty() : tensor<16x32xf32>
  %u = linalg.fill ins(%zero : f32) outs(%f : tensor<16x32xf32>) -> tensor<16x32xf32>
  %y = linalg.matmul ins(%h, %v : tensor<16x8xf32>, tensor<8x32xf32>) outs(%u : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}
