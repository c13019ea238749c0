// Reductions that an operation of another dialect merges itself, over an unknown
// number of rows and of columns.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// REQUIRES: unsanitized
// RUN: tofu-opt --load-dialect-plugin=%tofu_libs/TilingTest.so %s -tofu-annotate | FileCheck %s

// DEFINE: %{k} = 1
// DEFINE: %{norms} = tofu-run %s --load-dialect-plugin=%tofu_libs/TilingTest.so --check --quiet --devices=%{k} -e norms
// DEFINE: %{columns} = tofu-run %s --load-dialect-plugin=%tofu_libs/TilingTest.so --check --quiet --devices=%{k} -e columns
// DEFINE: %{run} = %{norms} --input=6x0xf32=random:1 --input=6xf32=random:2 && %{norms} --input=1x1xf32=random:1 --input=1xf32=random:2 && %{norms} --input=0x2xf32=random:1 --input=0xf32=random:2 && %{norms} --input=2x7xf32=random:1 --input=2xf32=random:2 && %{norms} --input=7x64xf32=random:1 --input=7xf32=random:2 && %{columns} --input=2x0xf32=random:1 --input=random:2 && %{columns} --input=2x1xf32=random:1 --input=random:2 && %{columns} --input=2x2xf32=random:1 --input=random:2 && %{columns} --input=2x7xf32=random:1 --input=random:2 && %{columns} --input=2x64xf32=random:1 --input=random:2
// RUN: %{run}
// REDEFINE: %{k} = 2
// RUN: %{run}
// REDEFINE: %{k} = 3
// RUN: %{run}
// REDEFINE: %{k} = 4
// RUN: %{run}
// REDEFINE: %{k} = 8
// RUN: %{run}
// REDEFINE: %{k} = 4 --partition-options='algorithm=any seed=1'
// RUN: %{run}
// REDEFINE: %{k} = 6 --partition-options='algorithm=any seed=2'
// RUN: %{run}
// REDEFINE: %{k} = 8 --partition-options='algorithm=random seed=3 replication=true'
// RUN: %{run}

// 1 and seven squares of 2, or 64, by parts of the columns.
// RUN: tofu-run %s --load-dialect-plugin=%tofu_libs/TilingTest.so -e columns --devices=8 --input=2x7xf32=2 --input=2xf32=1 | FileCheck %s --check-prefix=SEVEN
// SEVEN: result 0: 2xf32=29 29
// RUN: tofu-run %s --load-dialect-plugin=%tofu_libs/TilingTest.so -e columns --devices=3 --input=2x64xf32=2 --input=2xf32=1 | FileCheck %s --check-prefix=MANY
// MANY: result 0: 2xf32=257 257
// RUN: tofu-run %s --load-dialect-plugin=%tofu_libs/TilingTest.so -e columns --devices=3 --input=2x0xf32=2 --input=2xf32=1 | FileCheck %s --check-prefix=NONE
// NONE: result 0: 2xf32=1 1

// CHECK-LABEL: @norms
// CHECK: [d0 = ?, d1 = ? : region], (in0[d0, d1], init out0[d0]) -> (out0[d0])
func.func @norms(%x: tensor<?x?xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tiling_test.norms %x into %init : tensor<?x?xf32> into tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @columns
// CHECK: [d0 = 2, d1 = ? : region], (in0[d0, d1], init out0[d0]) -> (out0[d0])
func.func @columns(%x: tensor<2x?xf32>, %init: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tiling_test.norms %x into %init : tensor<2x?xf32> into tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
