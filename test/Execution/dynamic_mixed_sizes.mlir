// Where one tensor tells a size and another does not, both have the size; so do
// both sides of a cast.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --quiet --devices=1 --input=6x8xf32=random:1 --input=random:2 --input=6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=2 --input=6x8xf32=random:1 --input=random:2 --input=6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=3 --input=6x8xf32=random:1 --input=random:2 --input=6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=8 --input=6x8xf32=random:1 --input=random:2 --input=6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=any seed=1' --input=6x8xf32=random:1 --input=random:2 --input=6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=6 --partition-options='algorithm=any seed=2' --input=6x8xf32=random:1 --input=random:2 --input=6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=random seed=5 replication=true partials=true' --input=6x8xf32=random:1 --input=random:2 --input=6xf32=random:3

#id = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf32>, %y: tensor<6x8xf32>, %z: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<6x8xf32>, tensor<6x?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %a = linalg.generic {indexing_maps = [#id, #id, #r, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %z : tensor<?x?xf32>, tensor<6x8xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32, %o: f32):
      %t = arith.addf %p, %q : f32
      %u = arith.mulf %t, %s : f32
      linalg.yield %u : f32
  } -> tensor<?x?xf32>
  %b = tensor.cast %a : tensor<?x?xf32> to tensor<6x8xf32>
  %c = math.exp %b : tensor<6x8xf32>
  %d = tensor.cast %c : tensor<6x8xf32> to tensor<6x?xf32>
  %g = math.absf %d : tensor<6x?xf32>
  %s = tensor.dim %g, %c1 : tensor<6x?xf32>
  return %a, %c, %g, %s : tensor<?x?xf32>, tensor<6x8xf32>, tensor<6x?xf32>, index
}
