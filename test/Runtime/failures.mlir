// Failures of the program name the device and where it failed; all devices end.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %s --input="4xf32=1 2 3 4" --input="4xi32=3 2 1 7" 2>&1 | FileCheck %s -DDEVICE=0
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %s --devices=4 --input="4xf32=1 2 3 4" --input="4xi32=3 2 1 7" 2>&1 | FileCheck %s -DDEVICE=3
// RUN: tofu-run %s --devices=4 --check --input="4xf32=1 2 3 4" --input="4xi32=3 2 1 0"

// CHECK: error: device [[DEVICE]], {{.*}}failures.mlir:[[#@LINE+11]]:5: index out of range
func.func @main(%table: tensor<4xf32>, %indices: tensor<4xi32>) -> tensor<f32> {
  %size = arith.constant 4 : i32
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%indices : tensor<4xi32>) outs(%init : tensor<f32>) {
  ^bb0(%index: i32, %so_far: f32):
    %good = arith.cmpi ult, %index, %size : i32
    cf.assert %good, "index out of range"
    %at = arith.index_cast %index : i32 to index
    %value = tensor.extract %table[%at] : tensor<4xf32>
    %next = arith.addf %so_far, %value : f32
    linalg.yield %next : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}
