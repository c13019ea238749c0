// Unpacking tiles whose number only the result tells, or that the program shows to
// be in the result in full. Else the dim stays whole, as the last tile may be cut
// off anywhere.
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
// DEFINE: %{run} = %{full} --input=0x3x8xf32=random:1 && %{full} --input=1x3x8xf32=random:1 && %{full} --input=2x3x8xf32=random:1 && %{full} --input=7x3x8xf32=random:1 && %{full} --input=64x3x8xf32=random:1 && %{unpack} --input=0x3x8xf32=random:1 --input=0x3xf32=random:2 && %{unpack} --input=1x3x8xf32=random:1 --input=7x3xf32=random:2 && %{unpack} --input=3x3x8xf32=random:1 --input=17x3xf32=random:2 && %{rows} --input=2x8xf32=random:1 --input=random:2 && %{tiles} --input=random:1 --input=33x3xf32=random:2 && %{tiles} --input=random:1 --input=40x3xf32=random:2
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

// CHECK-LABEL: @unpack
// CHECK: [d0 = 3], (in0[:, d0, :], _) -> (out0[:, d0]), linear [{0}]
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
// CHECK: [d0 = 3], (in0[:, d0, :], _) -> (out0[:, d0]), linear [{0}]
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
