// Gathers of an unknown number of rows, and from an unknown number.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --quiet --devices=3 --input=1xi64=random:1:0:7 --input=random:2 --input=20x6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=1 --input=7xi64=random:1:0:7 --input=random:2 --input=20x6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=2 --input=7xi64=random:1:0:7 --input=random:2 --input=20x6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=3 --input=7xi64=random:1:0:7 --input=random:2 --input=20x6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=any seed=1' --input=7xi64=random:1:0:7 --input=random:2 --input=20x6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=6 --partition-options='algorithm=any seed=2' --input=7xi64=random:1:0:7 --input=random:2 --input=20x6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=8 --partition-options='algorithm=random seed=3 replication=true partials=true' --input=7xi64=random:1:0:7 --input=random:2 --input=20x6xf32=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --input=16xi64=random:1:0:7 --input=random:2 --input=20x6xf32=random:3

func.func @main(%ids: tensor<?xi64>, %table: tensor<7x6xf32>, %big: tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x6xf32>) {
    ^bb0(%at: i64, %out: f32):
      %j = linalg.index 1 : index
      %row = arith.index_cast %at : i64 to index
      %r = tensor.extract %table[%row, %j] : tensor<7x6xf32>
      linalg.yield %r : f32
  } -> tensor<?x6xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x6xf32>) {
    ^bb0(%at: i64, %out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %r = tensor.extract %big[%i, %j] : tensor<?x6xf32>
      linalg.yield %r : f32
  } -> tensor<?x6xf32>
  return %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
}
