// Sizes that data decides, and tensors that only themselves tell how large they
// are: these are whole.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --quiet --devices=3 --input=1x4xf32=random:1 --input=1xi64=5 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=1 --input=7x4xf32=random:1 --input=1xi64=5 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=2 --input=7x4xf32=random:1 --input=1xi64=5 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=3 --input=7x4xf32=random:1 --input=1xi64=5 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --partition-options='algorithm=any seed=1' --input=7x4xf32=random:1 --input=1xi64=5 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=6 --partition-options='algorithm=any seed=2' --input=7x4xf32=random:1 --input=1xi64=5 --input=random:3
// RUN: tofu-run %s --check --quiet --devices=4 --input=16x4xf32=random:1 --input=1xi64=5 --input=random:3

// sizes that data decides; unknown producers
func.func @main(%x: tensor<?x4xf32>, %c: tensor<1xi64>, %p: tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %k = tensor.extract %c[%c0] : tensor<1xi64>
  %n = arith.index_cast %k : i64 to index
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.broadcast ins(%p : tensor<4xf32>) outs(%e : tensor<?x4xf32>) dimensions = [0]
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %g = tensor.generate %m {
    ^bb0(%i: index):
      %v = arith.index_cast %i : index to i32
      %f = arith.sitofp %v : i32 to f32
      tensor.yield %f : f32
  } : tensor<?xf32>
  %h = math.exp %g : tensor<?xf32>
  %h0 = arith.constant 2.0 : f32
  %s = tensor.splat %h0[%m] : tensor<?xf32>
  %t = arith.addf %s, %g : tensor<?xf32>
  return %r, %h, %t : tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>
}
