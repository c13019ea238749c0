// Values whose elements are all the same, as initial values of reductions, as
// operands and as results.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check
// RUN: tofu-run %s --devices=8 --check
// RUN: tofu-run %s --devices=3 --backend=gpu-on-host --check

#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>

func.func @main(%x: tensor<10x6xf32>, %w: tensor<6x6xf32>) -> (tensor<10x6xf32>, tensor<10x6xf32>) {
  %s = arith.constant 0.375 : f32
  %quarter = arith.constant dense<0.25> : tensor<f32>
  %e = tensor.empty() : tensor<10x6xf32>
  %quarters = linalg.generic {indexing_maps = [#none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%quarter : tensor<f32>) outs(%e : tensor<10x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<10x6xf32>
  %captured = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<10x6xf32>) {
  ^bb0(%out: f32):
    linalg.yield %s : f32
  } -> tensor<10x6xf32>
  %row = tensor.splat %s : tensor<6xf32>
  %rows = linalg.broadcast ins(%row : tensor<6xf32>) outs(%e : tensor<10x6xf32>) dimensions = [0]
  %p = linalg.matmul ins(%x, %w : tensor<10x6xf32>, tensor<6x6xf32>) outs(%quarters : tensor<10x6xf32>) -> tensor<10x6xf32>
  %r = linalg.max ins(%p, %quarters : tensor<10x6xf32>, tensor<10x6xf32>) outs(%e : tensor<10x6xf32>) -> tensor<10x6xf32>
  %q = linalg.matmul ins(%r, %w : tensor<10x6xf32>, tensor<6x6xf32>) outs(%captured : tensor<10x6xf32>) -> tensor<10x6xf32>
  %u = linalg.add ins(%q, %captured : tensor<10x6xf32>, tensor<10x6xf32>) outs(%e : tensor<10x6xf32>) -> tensor<10x6xf32>
  %v = linalg.mul ins(%u, %rows : tensor<10x6xf32>, tensor<10x6xf32>) outs(%e : tensor<10x6xf32>) -> tensor<10x6xf32>
  return %v, %rows : tensor<10x6xf32>, tensor<10x6xf32>
}
