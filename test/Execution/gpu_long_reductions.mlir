// Kernels for a GPU in which several blocks share the reductions of an element,
// run on the host: to one element and to a few, of one dim and of several, with
// initial values, in the middle of a tensor, several results, and numbers that no
// number of blocks divides.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{run} = tofu-run %s --backend=gpu-on-host --quiet --opt-level=0
// RUN: %{run} --check --devices=1 && %{run} --check --devices=2 && %{run} --check --devices=3
// RUN: tofu-run %s --backend=recording --quiet --opt-level=0 --check --devices=2
// RUN: tofu-opt %s --tofu-to-gpu=kernels=host --mlir-print-ir-after=tofu-lower-kernels-to-gpu 2>&1 | FileCheck %s

// The sum of all: 64 blocks of 256 threads, and one for the parts.
// CHECK-LABEL: func.func private @kernel(
// CHECK:         %[[PARTS:.*]] = memref.alloc() : memref<64xf32>
// CHECK:         gpu.launch_func @kernels::@kernel blocks in (%c64{{[,_]}}
// CHECK:         gpu.launch_func @kernels::@kernel_0 blocks in (%c1{{[,_]}}
// CHECK:         memref.dealloc %[[PARTS]]

func.func @main(%a: tensor<401x907xf32>, %b: tensor<3x9000x5xf32>, %init: tensor<3x5xf32>, %n: tensor<100003xi32>)
    -> (tensor<f32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<i32>, tensor<i32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<401x907xf32>) outs(%f : tensor<f32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.mulf %x, %x : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %1:2 = linalg.generic {indexing_maps = [affine_map<(i, k, j) -> (i, k, j)>, affine_map<(i, k, j) -> (i, j)>, affine_map<(i, k, j) -> (i, j)>],
                         iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%b : tensor<3x9000x5xf32>) outs(%init, %init : tensor<3x5xf32>, tensor<3x5xf32>) {
  ^bb0(%x: f32, %o: f32, %p: f32):
    %s = arith.addf %o, %x : f32
    %m = arith.maximumf %x, %p : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %c = arith.constant 7 : i32
  %ei = tensor.empty() : tensor<i32>
  %fi = linalg.fill ins(%c : i32) outs(%ei : tensor<i32>) -> tensor<i32>
  %2:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%n : tensor<100003xi32>) outs(%fi, %fi : tensor<i32>, tensor<i32>) {
  ^bb0(%x: i32, %o: i32, %p: i32):
    %s = arith.addi %o, %x : i32
    %m = arith.xori %p, %x : i32
    linalg.yield %s, %m : i32, i32
  } -> (tensor<i32>, tensor<i32>)
  return %0, %1#0, %1#1, %2#0, %2#1 : tensor<f32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<i32>, tensor<i32>
}
