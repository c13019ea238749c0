// A body that extracts from a captured tensor reads all of it.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check
// RUN: tofu-run %s --devices=5 --check
// RUN: tofu-run %s --devices=6 --check
// RUN: tofu-run %s --devices=7 --check
// RUN: tofu-run %s --devices=8 --check

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%table: tensor<2x9xf32>, %index: tensor<19xi1>) -> tensor<19x9xf32> {
  %e = tensor.empty() : tensor<19x9xf32>
  %0 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%index : tensor<19xi1>) outs(%e : tensor<19x9xf32>) {
    ^bb0(%in: i1, %out: f32):
      %i = arith.index_castui %in : i1 to index
      %j = linalg.index 1 : index
      %r = tensor.extract %table[%i, %j] : tensor<2x9xf32>
      linalg.yield %r : f32
  } -> tensor<19x9xf32>
  return %0 : tensor<19x9xf32>
}
