// A program whose arguments have layouts here and there is planned, and keeps
// them: x is cut along its columns, which are summed over.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --quiet
// RUN: tofu-run %s --check --quiet --devices=6
// RUN: tofu-run %s --check --print-plan --quiet 2>&1 | FileCheck %s
// RUN: not tofu-run %s --check --devices=4 2>&1 | FileCheck %s --check-prefix=DEVICES

// CHECK: linalg.matmul {{.*}} [- y x]
// DEVICES: program is for 6 devices, --devices says 4

tofu.mesh @mesh [x = 2, y = 3]
func.func @main(%x: tensor<7x8xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}, %w: tensor<8x5xf32>) -> tensor<7x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<7x5xf32>) -> tensor<7x5xf32>
  %p = linalg.matmul ins(%x, %w : tensor<7x8xf32>, tensor<8x5xf32>) outs(%z : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %p : tensor<7x5xf32>
}
