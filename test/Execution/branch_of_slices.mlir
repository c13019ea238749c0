// A branch hands on parts of larger tensors, whose rows are further apart than a
// copy's would be.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --quiet "--input=3x3xf32=1 2 3 4 5 6 7 8 9" --input=i1=0 "--expected_output=3x3xf32=0 1 1 1 0 1 0 1 0"
// RUN: tofu-run %s --quiet "--input=3x3xf32=1 2 3 4 5 6 7 8 9" --input=i1=1 "--expected_output=3x3xf32=-1 -2 -3 -4 -5 -6 -7 -8 -9"
// RUN: tofu-run %s --quiet --backend=recording "--input=3x3xf32=1 2 3 4 5 6 7 8 9" --input=i1=0 "--expected_output=3x3xf32=0 1 1 1 0 1 0 1 0"
// RUN: tofu-run %s --quiet --backend=recording "--input=3x3xf32=1 2 3 4 5 6 7 8 9" --input=i1=1 "--expected_output=3x3xf32=-1 -2 -3 -4 -5 -6 -7 -8 -9"

tofu.mesh @mesh [a0 = 2]
func.func @main(%arg0: tensor<3x?xf32> {tofu.global_type = tensor<3x3xf32>, tofu.layout = #tofu.layout<@mesh, [{}, {a0}]>}, %arg1: i1) -> (tensor<3x?xf32> {tofu.global_type = tensor<3x3xf32>, tofu.layout = #tofu.layout<@mesh, [{}, {a0}]>}) {
  %cst = arith.constant dense<[[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]> : tensor<3x3xf32>
  %0 = tofu.all_to_all %arg0 from #tofu.layout<@mesh, [{}, {a0}]> to #tofu.layout<@mesh, [{a0}, {}]> in [3, 3] : tensor<3x?xf32> -> tensor<?x3xf32>
  %1 = tofu.shard_offset 1 of #tofu.layout<@mesh, [{}, {a0}]> in [3, 3] : index
  %2 = tofu.shard_size 1 of #tofu.layout<@mesh, [{}, {a0}]> in [3, 3] : index
  %extracted_slice = tensor.extract_slice %cst[0, %1] [3, %2] [1, 1] : tensor<3x3xf32> to tensor<3x?xf32>
  %3 = scf.if %arg1 -> (tensor<3x?xf32>) {
    %4 = arith.negf %0 : tensor<?x3xf32>
    %5 = tofu.all_gather %4 from #tofu.layout<@mesh, [{a0}, {}]> to #tofu.layout<@mesh, [{}, {}]> in [3, 3] : tensor<?x3xf32> -> tensor<3x3xf32>
    %6 = tensor.extract_slice %5[0, %1] [3, %2] [1, 1] : tensor<3x3xf32> to tensor<3x?xf32>
    scf.yield %6 : tensor<3x?xf32>
  } else {
    scf.yield %extracted_slice : tensor<3x?xf32>
  }
  return %3 : tensor<3x?xf32>
}
