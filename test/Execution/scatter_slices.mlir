// Scatters of which the slices are cut: each device puts its part of them into the places that the
// others leave, exactly, NaN and zeros of both signs included.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bits are compared as integers.
// DEFINE: %{k} = 1
// DEFINE: %{plan} =
// DEFINE: %{run} = tofu-run %s --check --devices=%{k} %{plan} -e rows && tofu-run %s --check --devices=%{k} %{plan} -e points && tofu-run %s --check --devices=%{k} %{plan} -e bits && tofu-run %s --check --devices=%{k} %{plan} -e numbers
// RUN: %{run}
// REDEFINE: %{k} = 2
// RUN: %{run}
// REDEFINE: %{k} = 3
// RUN: %{run}
// REDEFINE: %{k} = 4
// RUN: %{run}
// REDEFINE: %{k} = 8
// RUN: %{run}
// REDEFINE: %{plan} = --partition-options=partials=true
// RUN: %{run}
// REDEFINE: %{k} = 6
// REDEFINE: %{plan} = --partition-options='algorithm=any seed=3'
// RUN: %{run}
// REDEFINE: %{plan} = --partition-options='algorithm=any seed=4'
// RUN: %{run}

#id = affine_map<(d0, d1) -> (d0, d1)>
#at = affine_map<(d0) -> (d0)>

// Only the slices can be cut in several parts.
func.func @rows(%t: tensor<1x13xf32>, %s: tensor<7x1xf32>) -> tensor<1x13xf32> {
  %i = arith.constant dense<[[1], [12], [3], [0], [7], [8], [5]]> : tensor<7x1xi32>
  %0 = tensor.scatter %s into %t[%i] scatter_dims([1]) unique : (tensor<7x1xf32>, tensor<1x13xf32>, tensor<7x1xi32>) -> tensor<1x13xf32>
  return %0 : tensor<1x13xf32>
}

func.func @points(%t: tensor<3x4xf64>, %s: tensor<2x3x1x1xf64>) -> tensor<3x4xf64> {
  %i = arith.constant dense<[[[0, 3], [2, 1], [1, 1]], [[2, 2], [2, 3], [0, 0]]]> : tensor<2x3x2xindex>
  %0 = tensor.scatter %s into %t[%i] scatter_dims([0, 1]) unique : (tensor<2x3x1x1xf64>, tensor<3x4xf64>, tensor<2x3x2xindex>) -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

func.func @bits() -> tensor<9xi32> {
  %t = arith.constant dense<[-0.0, 0.0, 0x7FC00000, 1.0, -0.0, 0xFF800000, 0.0, -0.0, 2.0]> : tensor<9xf32>
  %s = arith.constant dense<[-0.0, 0x7FC00000, 0.0, 0x7F800000, -0.0]> : tensor<5xf32>
  %i = arith.constant dense<[[2], [0], [7], [5], [1]]> : tensor<5x1xindex>
  %0 = tensor.scatter %s into %t[%i] scatter_dims([0]) unique : (tensor<5xf32>, tensor<9xf32>, tensor<5x1xindex>) -> tensor<9xf32>
  %1 = tensor.bitcast %0 : tensor<9xf32> to tensor<9xi32>
  return %1 : tensor<9xi32>
}

// Of other kinds of numbers.
func.func @numbers(%t: tensor<5xi1>, %s: tensor<3xi1>, %c: tensor<2x5xcomplex<f32>>, %d: tensor<2x3xcomplex<f32>>) -> (tensor<5xi1>, tensor<2x5xcomplex<f32>>) {
  %i = arith.constant dense<[[2], [0], [4]]> : tensor<3x1xindex>
  %0 = tensor.scatter %s into %t[%i] scatter_dims([0]) unique : (tensor<3xi1>, tensor<5xi1>, tensor<3x1xindex>) -> tensor<5xi1>
  %e = tensor.empty() : tensor<3x2xcomplex<f32>>
  %u = linalg.transpose ins(%d : tensor<2x3xcomplex<f32>>) outs(%e : tensor<3x2xcomplex<f32>>) permutation = [1, 0]
  %1 = tensor.scatter %u into %c[%i] scatter_dims([1]) unique : (tensor<3x2xcomplex<f32>>, tensor<2x5xcomplex<f32>>, tensor<3x1xindex>) -> tensor<2x5xcomplex<f32>>
  return %0, %1 : tensor<5xi1>, tensor<2x5xcomplex<f32>>
}
