// Unpacking tiles that the program shows to be in the result in full, tiles whose
// number is known, and tiles of unknown number that cover the result, of which the
// last one may be cut off anywhere.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-annotate | FileCheck %s

// DEFINE: %{k} = 1
// DEFINE: %{unpack} = tofu-run %s --check --quiet --devices=%{k} -e unpack
// DEFINE: %{full} = tofu-run %s --check --quiet --devices=%{k} -e full
// DEFINE: %{rows} = tofu-run %s --check --quiet --devices=%{k} -e known_rows
// DEFINE: %{tiles} = tofu-run %s --check --quiet --devices=%{k} -e known_tiles
// DEFINE: %{both} = tofu-run %s --check --quiet --devices=%{k} -e both
// DEFINE: %{again} = tofu-run %s --check --quiet --devices=%{k} -e again
// DEFINE: %{run} = %{full} --input=0x3x8xf32=random:1 && %{full} --input=1x3x8xf32=random:1 && %{full} --input=2x3x8xf32=random:1 && %{full} --input=7x3x8xf32=random:1 && %{full} --input=64x3x8xf32=random:1 && %{unpack} --input=0x3x8xf32=random:1 --input=0x3xf32=random:2 && %{unpack} --input=1x3x8xf32=random:1 --input=1x3xf32=random:2 && %{unpack} --input=1x3x8xf32=random:1 --input=2x3xf32=random:2 && %{unpack} --input=1x3x8xf32=random:1 --input=7x3xf32=random:2 && %{unpack} --input=3x3x8xf32=random:1 --input=17x3xf32=random:2 && %{unpack} --input=8x3x8xf32=random:1 --input=64x3xf32=random:2 && %{both} --input=2x1x4x8xf32=random:1 --input=9x3xf32=random:2 && %{both} --input=3x2x4x8xf32=random:1 --input=17x7xf32=random:2 && %{both} --input=0x1x4x8xf32=random:1 --input=0x2xf32=random:2 && %{again} --input=0xf32=random:1 && %{again} --input=13xf32=random:1 && %{rows} --input=2x8xf32=random:1 --input=random:2 && %{tiles} --input=random:1 --input=33x3xf32=random:2 && %{tiles} --input=random:1 --input=40x3xf32=random:2
// RUN: %{run}
// REDEFINE: %{k} = 2
// RUN: %{run}
// REDEFINE: %{k} = 3
// RUN: %{run}
// REDEFINE: %{k} = 4
// RUN: %{run}
// REDEFINE: %{k} = 8
// RUN: %{run}
// REDEFINE: %{k} = 6 --partition-options='algorithm=any seed=1'
// RUN: %{run}
// REDEFINE: %{k} = 8 --partition-options='algorithm=random seed=2 replication=true partials=true'
// RUN: %{run}

// Parts that are found by the number of tiles and parts that are found by the size
// of the result must be of the same.
// RUN: not tofu-run %s --quiet --devices=2 -e unpack --input=2x3x8xf32=random:1 --input=17x3xf32=random:2 2>&1 | FileCheck %s --check-prefix=FIT
// RUN: not tofu-run %s --quiet --devices=2 -e unpack --input=4x3x8xf32=random:1 --input=17x3xf32=random:2 2>&1 | FileCheck %s --check-prefix=FIT
// RUN: not tofu-run %s --quiet --devices=2 -e known_tiles --input=random:1 --input=41x3xf32=random:2 2>&1 | FileCheck %s --check-prefix=FIT
// FIT: dynamic_unpack.mlir:[[#]]:8: {{.*}}linalg.unpack: the tiles don't fit dim 0 of the result

// CHECK-LABEL: @unpack
// CHECK: [d0 = ? covering, d1 = 3, d2 = 8 : unsplittable], (in0[d0, d1, d2], _) -> (out0[d0 * 8 + d2, d1]), linear [{0}]
func.func @unpack(%x: tensor<?x3x8xf32>, %dest: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = math.exp %x : tensor<?x3x8xf32>
  %0 = linalg.unpack %y inner_dims_pos = [0] inner_tiles = [8] into %dest : tensor<?x3x8xf32> -> tensor<?x3xf32>
  %1 = math.absf %0 : tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// CHECK-LABEL: @full
// CHECK: [d0 = ?, d1 = 3, d2 = 8 : unsplittable], (in0[d0, d1, d2], _) -> (out0[d0 * 8 + d2, d1]), linear [{0}]
func.func @full(%x: tensor<?x3x8xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %tiles = tensor.dim %x, %c0 : tensor<?x3x8xf32>
  %e = tensor.empty(%tiles) : tensor<?x3x8xf32>
  %y = linalg.exp ins(%x : tensor<?x3x8xf32>) outs(%e : tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  %rows = arith.muli %tiles, %c8 : index
  %dest = tensor.empty(%rows) : tensor<?x3xf32>
  %0 = linalg.unpack %y inner_dims_pos = [0] inner_tiles = [8] into %dest : tensor<?x3x8xf32> -> tensor<?x3xf32>
  %1 = math.absf %0 : tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// CHECK-LABEL: @known_rows
// CHECK: [d0 = 2, d1 = 8 : unsplittable], (in0[d0, d1], _) -> (out0[d0 * 8 + d1]), linear [{0}]
func.func @known_rows(%x: tensor<?x8xf32>, %dest: tensor<13xf32>) -> tensor<13xf32> {
  %0 = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [8] into %dest : tensor<?x8xf32> -> tensor<13xf32>
  return %0 : tensor<13xf32>
}

// CHECK-LABEL: @known_tiles
// CHECK: [d0 = 5, d1 = 3, d2 = 8 : unsplittable], (in0[d0, d1, d2], _) -> (out0[d0 * 8 + d2, d1]), linear [{0}]
func.func @known_tiles(%x: tensor<5x3x8xf32>, %dest: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [8] into %dest : tensor<5x3x8xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// The size of a tile is a factor, which must be known.
// CHECK-LABEL: @unknown_tile
// CHECK: [d0 = 3], (in0[:, d0, :], _) -> (out0[:, d0]), linear [{0}]
func.func @unknown_tile(%x: tensor<?x3x?xf32>, %dest: tensor<?x3xf32>, %n: index) -> tensor<?x3xf32> {
  %0 = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [%n] into %dest : tensor<?x3x?xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: @both
// CHECK: [d0 = ? covering, d1 = ? covering, d2 = 4 : unsplittable, d3 = 8 : unsplittable], (in0[d0, d1, d2, d3], _) -> (out0[d0 * 8 + d3, d1 * 4 + d2]), linear [{0}]
func.func @both(%x: tensor<?x?x4x8xf32>, %dest: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.unpack %x inner_dims_pos = [1, 0] inner_tiles = [4, 8] into %dest : tensor<?x?x4x8xf32> -> tensor<?x?xf32>
  %1 = math.absf %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// CHECK-LABEL: @again
func.func @again(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %tiles = arith.ceildivui %n, %c8 : index
  %packed = tensor.empty(%tiles) : tensor<?x8xf32>
  %0 = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0] inner_tiles = [8] into %packed : tensor<?xf32> -> tensor<?x8xf32>
  %1 = math.absf %0 : tensor<?x8xf32>
  %dest = tensor.empty(%n) : tensor<?xf32>
  // CHECK: linalg.unpack
  // CHECK-SAME: [d0 = ? covering, d1 = 8 : unsplittable]
  %2 = linalg.unpack %1 inner_dims_pos = [0] inner_tiles = [8] into %dest : tensor<?x8xf32> -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
