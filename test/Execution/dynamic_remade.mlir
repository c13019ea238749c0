// Values whose elements are all the same, of unknown size.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=2 --check --input=7x6xf32=random:1 --input=random:2
// RUN: tofu-run %s --devices=3 --check --input=10x6xf32=random:1 --input=random:2
// RUN: tofu-run %s --devices=4 --check --input=2x6xf32=random:1 --input=random:2

#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>

func.func @main(%x: tensor<?x6xf32>, %w: tensor<6x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  %s = arith.constant 0.375 : f32
  %quarter = arith.constant dense<0.25> : tensor<f32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %e = tensor.empty(%n) : tensor<?x6xf32>
  %quarters = linalg.generic {indexing_maps = [#none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%quarter : tensor<f32>) outs(%e : tensor<?x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x6xf32>
  %captured = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x6xf32>) {
  ^bb0(%out: f32):
    linalg.yield %s : f32
  } -> tensor<?x6xf32>
  %row = tensor.splat %s : tensor<6xf32>
  %rows = linalg.broadcast ins(%row : tensor<6xf32>) outs(%e : tensor<?x6xf32>) dimensions = [0]
  %p = linalg.matmul ins(%x, %w : tensor<?x6xf32>, tensor<6x6xf32>) outs(%quarters : tensor<?x6xf32>) -> tensor<?x6xf32>
  %r = linalg.max ins(%p, %quarters : tensor<?x6xf32>, tensor<?x6xf32>) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
  %q = linalg.matmul ins(%r, %w : tensor<?x6xf32>, tensor<6x6xf32>) outs(%captured : tensor<?x6xf32>) -> tensor<?x6xf32>
  %u = linalg.add ins(%q, %captured : tensor<?x6xf32>, tensor<?x6xf32>) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
  %v = linalg.mul ins(%u, %rows : tensor<?x6xf32>, tensor<?x6xf32>) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %v, %rows : tensor<?x6xf32>, tensor<?x6xf32>
}
