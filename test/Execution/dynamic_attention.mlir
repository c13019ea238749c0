// Causal attention over sequences of unknown length: queries, keys and what both
// make are cut, softmax included.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --quiet --devices=3 --input=2x1x8xf32=random:1 --input=2x1x8xf32=random:2 --input=2x1x8xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --input=2x2x8xf32=random:1 --input=2x2x8xf32=random:2 --input=2x2x8xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=1 --input=2x7x8xf32=random:1 --input=2x7x8xf32=random:2 --input=2x7x8xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=2 --input=2x7x8xf32=random:1 --input=2x7x8xf32=random:2 --input=2x7x8xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=3 --input=2x7x8xf32=random:1 --input=2x7x8xf32=random:2 --input=2x7x8xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=8 --input=2x7x8xf32=random:1 --input=2x7x8xf32=random:2 --input=2x7x8xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=any seed=1' --input=2x7x8xf32=random:1 --input=2x7x8xf32=random:2 --input=2x7x8xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=6 --partition-options='algorithm=any seed=2' --input=2x7x8xf32=random:1 --input=2x7x8xf32=random:2 --input=2x7x8xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=random seed=3 replication=true partials=true' --input=2x7x8xf32=random:1 --input=2x7x8xf32=random:2 --input=2x7x8xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=8 --input=2x16x8xf32=random:1 --input=2x16x8xf32=random:2 --input=2x16x8xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=8 --partition-options='algorithm=any seed=4' --input=2x16x8xf32=random:1 --input=2x16x8xf32=random:2 --input=2x16x8xf32=random:3

#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#p = affine_map<(b, i, d, j) -> (b, i, j)>
#v = affine_map<(b, i, d, j) -> (b, j, d)>
#o = affine_map<(b, i, d, j) -> (b, i, d)>
func.func @main(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>, %v: tensor<2x?x8xf32>) -> tensor<2x?x8xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.35 : f32
  %n = tensor.dim %q, %c1 : tensor<2x?x8xf32>
  %m = tensor.dim %k, %c1 : tensor<2x?x8xf32>
  %e = tensor.empty(%n, %m) : tensor<2x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x?x8xf32>, tensor<2x?x8xf32>) outs(%f : tensor<2x?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %t = arith.mulf %a, %b : f32
      %u = arith.addf %c, %t : f32
      linalg.yield %u : f32
  } -> tensor<2x?x?xf32>
  // causal mask
  %masked = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x?x?xf32>) outs(%e : tensor<2x?x?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %in = arith.cmpi sle, %j, %i : index
      %t = arith.mulf %a, %scale : f32
      %r = arith.select %in, %t, %low : f32
      linalg.yield %r : f32
  } -> tensor<2x?x?xf32>
  %re = tensor.empty(%n) : tensor<2x?xf32>
  %rl = linalg.fill ins(%low : f32) outs(%re : tensor<2x?xf32>) -> tensor<2x?xf32>
  %max = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%masked : tensor<2x?x?xf32>) outs(%rl : tensor<2x?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.maximumf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<2x?xf32>
  %ex = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%masked, %max : tensor<2x?x?xf32>, tensor<2x?xf32>) outs(%e : tensor<2x?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %t = arith.subf %a, %b : f32
      %r = math.exp %t : f32
      linalg.yield %r : f32
  } -> tensor<2x?x?xf32>
  %rz = linalg.fill ins(%zero : f32) outs(%re : tensor<2x?xf32>) -> tensor<2x?xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%ex : tensor<2x?x?xf32>) outs(%rz : tensor<2x?xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<2x?xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ex, %sum : tensor<2x?x?xf32>, tensor<2x?xf32>) outs(%e : tensor<2x?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<2x?x?xf32>
  %oe = tensor.empty(%n) : tensor<2x?x8xf32>
  %of = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<2x?x?xf32>, tensor<2x?x8xf32>) outs(%of : tensor<2x?x8xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %t = arith.mulf %a, %b : f32
      %u = arith.addf %c, %t : f32
      linalg.yield %u : f32
  } -> tensor<2x?x8xf32>
  return %o : tensor<2x?x8xf32>
}
