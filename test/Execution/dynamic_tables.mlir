// Gathers from tables of unknown size: a dim that data indexes is cut into parts
// whose rows add up, and one that a loop of the same size indexes with the loop.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-annotate | FileCheck %s

// DEFINE: %{k} = 1
// DEFINE: %{rows} = tofu-run %s --check --quiet --devices=%{k} -e rows
// DEFINE: %{pick} = tofu-run %s --check --quiet --devices=%{k} -e pick
// DEFINE: %{run} = %{rows} --input=0xi64=random:1 --input=0x6xf32=random:2 && %{rows} --input=7xi64=random:1:0:1 --input=1x6xf32=random:2 && %{rows} --input=1xi64=random:1:0:2 --input=2x6xf32=random:2 && %{rows} --input=2xi64=random:1:0:7 --input=7x6xf32=random:2 && %{rows} --input=64xi64=random:1:0:64 --input=64x6xf32=random:2 && %{pick} --input=0xi64=random:1 --input=0x5xf32=random:2 && %{pick} --input=1xi64=random:1:0:5 --input=1x5xf32=random:2 && %{pick} --input=2xi64=random:1:0:1 --input=2x1xf32=random:2 && %{pick} --input=7xi64=random:1:0:64 --input=7x64xf32=random:2 && %{pick} --input=64xi64=random:1:0:7 --input=64x7xf32=random:2
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
// REDEFINE: %{k} = 6 --partition-options='algorithm=any seed=2 partials=true'
// RUN: %{run}
// REDEFINE: %{k} = 8 --partition-options='algorithm=any seed=4 replication=true'
// RUN: %{run}

// A number for each device that has a part of the table to add.
// RUN: tofu-run %s -e rows --devices=4 --partition-options='algorithm=any seed=5' --input="3xi64=2 0 2" --input="3x6xf32=0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17" | FileCheck %s --check-prefix=ROWS
// ROWS: result 0: 3x6xf32=[12 13 14 15 16 17][0 1 2 3 4 5][12 13 14 15 16 17]

// CHECK-LABEL: @rows
// CHECK: [d0 = ?, d1 = 6, d2 = ? : sum], (in0[d0], _, in2[d2, d1]) -> (out0[d0, d1])
func.func @rows(%ids: tensor<?xi64>, %table: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x6xf32>) {
    ^bb0(%at: i64, %out: f32):
      %j = linalg.index 1 : index
      %row = arith.index_cast %at : i64 to index
      %r = tensor.extract %table[%row, %j] : tensor<?x6xf32>
      linalg.yield %r : f32
  } -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// One element of each row: as many as the table has.
// CHECK-LABEL: @pick
// CHECK: [d0 = ?, d1 = ? : sum], (in0[d0], _, in2[d0, d1]) -> (out0[d0])
func.func @pick(%ids: tensor<?xi64>, %table: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %table, %c0 : tensor<?x?xf32>
  %slice = tensor.extract_slice %ids[0] [%n] [1] : tensor<?xi64> to tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%slice : tensor<?xi64>) outs(%e : tensor<?xf32>) {
    ^bb0(%at: i64, %out: f32):
      %i = linalg.index 0 : index
      %column = arith.index_cast %at : i64 to index
      %r = tensor.extract %table[%i, %column] : tensor<?x?xf32>
      linalg.yield %r : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Nothing says that the table has as many rows.
// CHECK-LABEL: @other_rows
// CHECK: [d0 = ?], (in0[d0], in1[:]) -> (out0[d0])
func.func @other_rows(%x: tensor<?xf32>, %table: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : tensor<?xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %r = tensor.extract %table[%i] : tensor<?xf32>
      %s = arith.addf %r, %out : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
