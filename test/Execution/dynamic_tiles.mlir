// Softmax, packing, unpacking and scattering of tensors of unknown sizes.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{k} = 2
// DEFINE: %{softmax} = tofu-run %s --check --quiet --devices=%{k} -e softmax
// DEFINE: %{pack} = tofu-run %s --check --quiet --devices=%{k} -e pack
// DEFINE: %{unpack} = tofu-run %s --check --quiet --devices=%{k} -e unpack
// DEFINE: %{scatter} = tofu-run %s --check --quiet --devices=%{k} -e scatter
// DEFINE: %{run} = %{softmax} --input=7x5x3xf32=random:1 && %{softmax} --input=1x5x9xf32=random:1 && %{softmax} --input=0x5x4xf32=random:1 && %{pack} --input=13x11xf32=random:1 --input=2x3x8x4xf32=random:2 && %{pack} --input=1x11xf32=random:1 --input=1x3x8x4xf32=random:2 && %{unpack} --input=2x3x8x4x5xf32=random:1 --input=13x11x5xf32=random:2 && %{unpack} --input=1x3x8x4x1xf32=random:1 --input=8x11x1xf32=random:2 && %{scatter} --input=9x2xf32=random:1 --input=5x2xf32=random:2 --input="5x1xindex=2 8 0 3 7" && %{scatter} --input=1x1xf32=random:1 --input=1x1xf32=random:2 --input=1x1xindex=0 && %{scatter} --input=2x5xf32=random:1 --input=0x5xf32=random:2 --input="0x1xindex="
// RUN: %{run}
// REDEFINE: %{k} = 3
// RUN: %{run}
// REDEFINE: %{k} = 4
// RUN: %{run}
// REDEFINE: %{k} = 8
// RUN: %{run}
// REDEFINE: %{k} = 6 --partition-options='algorithm=any seed=1'
// RUN: %{run}
// REDEFINE: %{k} = 4 --partition-options='algorithm=any seed=2'
// RUN: %{run}

func.func @softmax(%x: tensor<?x5x?xf32>) -> tensor<?x5x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x5x?xf32>
  %m = tensor.dim %x, %c2 : tensor<?x5x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x5x?xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<?x5x?xf32>) outs(%e : tensor<?x5x?xf32>) -> tensor<?x5x?xf32>
  return %0 : tensor<?x5x?xf32>
}

func.func @pack(%x: tensor<?x11xf32>, %dest: tensor<?x3x8x4xf32>) -> tensor<?x3x8x4xf32> {
  %c = arith.constant 0.5 : f32
  %0 = linalg.pack %x padding_value(%c : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %dest : tensor<?x11xf32> -> tensor<?x3x8x4xf32>
  return %0 : tensor<?x3x8x4xf32>
}

func.func @unpack(%x: tensor<?x3x8x4x?xf32>, %dest: tensor<?x11x?xf32>) -> tensor<?x11x?xf32> {
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3x8x4x?xf32>
  %m = tensor.dim %x, %c4 : tensor<?x3x8x4x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x3x?x8x4xf32>
  %y = linalg.transpose ins(%x : tensor<?x3x8x4x?xf32>) outs(%e : tensor<?x3x?x8x4xf32>) permutation = [0, 1, 4, 2, 3]
  %0 = linalg.unpack %y inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %dest : tensor<?x3x?x8x4xf32> -> tensor<?x11x?xf32>
  return %0 : tensor<?x11x?xf32>
}

func.func @scatter(%t: tensor<?x?xf32>, %s: tensor<?x?xf32>, %i: tensor<?x1xindex>) -> tensor<?x?xf32> {
  %0 = tensor.scatter %s into %t[%i] scatter_dims([0]) unique : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x1xindex>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
