// Constant-0 indices on operands and on results (a kept dim of size one).
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check
// RUN: tofu-run %s --devices=7 --check

#id = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0, 0)>
func.func @main(%x: tensor<37x6xf32>) -> (tensor<37x6xf32>, tensor<37x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<37x1xf32>) -> tensor<37x1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<37x6xf32>) outs(%init : tensor<37x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %r = arith.addf %out, %in : f32
      linalg.yield %r : f32
  } -> tensor<37x1xf32>
  %e2 = tensor.empty() : tensor<37x6xf32>
  %0 = linalg.generic {indexing_maps = [#id, #kept, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<37x6xf32>, tensor<37x1xf32>) outs(%e2 : tensor<37x6xf32>) {
    ^bb0(%in: f32, %s: f32, %out: f32):
      %r = arith.subf %in, %s : f32
      linalg.yield %r : f32
  } -> tensor<37x6xf32>
  return %0, %sum : tensor<37x6xf32>, tensor<37x1xf32>
}
