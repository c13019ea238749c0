// Slices, padding, joins and insertions along a dim of unknown size and along the
// others; an argument says how long a slice is.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --quiet --devices=4 --input=3x10xf32=random:1 --input=index=2
// RUN: tofu-run %s --check --quiet --devices=1 --input=7x10xf32=random:1 --input=index=2
// RUN: tofu-run %s --check --quiet --devices=2 --input=7x10xf32=random:1 --input=index=2
// RUN: tofu-run %s --check --quiet --devices=3 --input=7x10xf32=random:1 --input=index=2
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=any seed=1' --input=7x10xf32=random:1 --input=index=2
// RUN: tofu-run %s --check --quiet --devices=6 --partition-options='algorithm=any seed=2' --input=7x10xf32=random:1 --input=index=2
// RUN: tofu-run %s --check --quiet --devices=8 --partition-options='algorithm=any seed=3' --input=7x10xf32=random:1 --input=index=2
// RUN: tofu-run %s --check --quiet --devices=4 --input=16x10xf32=random:1 --input=index=2
// RUN: tofu-run %s --check --quiet --devices=3 --partition-options='algorithm=random seed=5 replication=true partials=true' --input=16x10xf32=random:1 --input=index=2

func.func @main(%x: tensor<?x10xf32>, %k: index) -> (tensor<?x4xf32>, tensor<1x10xf32>, tensor<?x10xf32>, tensor<?x13xf32>, tensor<?x10xf32>, tensor<?x20xf32>, tensor<?x10xf32>, tensor<?x10xf32>, tensor<?x10xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x10xf32>
  %y = math.exp %x : tensor<?x10xf32>
  // columns of all rows
  %a = tensor.extract_slice %y[0, 3] [%n, 4] [1, 1] : tensor<?x10xf32> to tensor<?x4xf32>
  // the first row
  %b = tensor.extract_slice %y[0, 0] [1, 10] [1, 1] : tensor<?x10xf32> to tensor<1x10xf32>
  // some rows from the start
  %c = tensor.extract_slice %y[0, 0] [%k, 10] [1, 1] : tensor<?x10xf32> to tensor<?x10xf32>
  %c2 = math.absf %c : tensor<?x10xf32>
  // padded columns; padded rows
  %d = tensor.pad %y low[0, 1] high[0, 2] { ^bb0(%i: index, %j: index): tensor.yield %zero : f32 } : tensor<?x10xf32> to tensor<?x13xf32>
  %e = tensor.pad %y low[1, 0] high[2, 0] { ^bb0(%i: index, %j: index): tensor.yield %zero : f32 } : tensor<?x10xf32> to tensor<?x10xf32>
  %e2 = math.absf %e : tensor<?x10xf32>
  // side by side; on top of each other
  %f = tensor.concat dim(1) %x, %y : (tensor<?x10xf32>, tensor<?x10xf32>) -> tensor<?x20xf32>
  %g = tensor.concat dim(0) %x, %b, %y : (tensor<?x10xf32>, tensor<1x10xf32>, tensor<?x10xf32>) -> tensor<?x10xf32>
  %g2 = math.absf %g : tensor<?x10xf32>
  // columns into zeros; rows into zeros
  %ze = tensor.empty(%n) : tensor<?x10xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%ze : tensor<?x10xf32>) -> tensor<?x10xf32>
  %h = tensor.insert_slice %a into %zf[0, 5] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x10xf32>
  %i = tensor.insert_slice %b into %y[0, 0] [1, 10] [1, 1] : tensor<1x10xf32> into tensor<?x10xf32>
  return %a, %b, %c2, %d, %e2, %f, %g2, %h, %i : tensor<?x4xf32>, tensor<1x10xf32>, tensor<?x10xf32>, tensor<?x13xf32>, tensor<?x10xf32>, tensor<?x20xf32>, tensor<?x10xf32>, tensor<?x10xf32>, tensor<?x10xf32>
}
