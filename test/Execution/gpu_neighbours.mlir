// Kernels for a GPU whose threads have several elements, run on the host: of types
// of several sizes, with broadcast operands, booleans, complex numbers, indices,
// results that are updated, and several results; also in uneven parts.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{run} = tofu-run %s --backend=gpu-on-host --quiet --opt-level=0
// RUN: %{run} --check --devices=1 && %{run} --check --devices=2 && %{run} --check --devices=3
// RUN: tofu-opt %s --tofu-to-gpu=kernels=host --mlir-print-ir-after=tofu-lower-kernels-to-gpu 2>&1 | FileCheck %s

// CHECK-COUNT-2: memref.assume_alignment %{{.*}}, 16 : memref<1024x1024xf32>
// CHECK:         memref.assume_alignment %{{.*}}, 4 : memref<1024x1024xi1>
// CHECK:         memref.assume_alignment %{{.*}}, 16 : memref<1024x2048xbf16>
// CHECK:         memref.assume_alignment %{{.*}}, 16 : memref<512x512xcomplex<f32>>

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i, j) -> (0, j)>

func.func @main(%a: tensor<1024x1024xf32>, %r: tensor<1024xf32>, %c: tensor<1x1024xbf16>, %b: tensor<1024x2048xbf16>, %z: tensor<512x512xcomplex<f32>>)
    -> (tensor<1024x1024xf32>, tensor<1024x1024xi1>, tensor<1024x2048xbf16>, tensor<512x512xcomplex<f32>>) {
  %e0 = tensor.empty() : tensor<1024x1024xf32>
  %e1 = tensor.empty() : tensor<1024x1024xi1>
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #one, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %r, %c : tensor<1024x1024xf32>, tensor<1024xf32>, tensor<1x1024xbf16>) outs(%e0, %e1 : tensor<1024x1024xf32>, tensor<1024x1024xi1>) {
  ^bb0(%x: f32, %y: f32, %w: bf16, %o: f32, %p: i1):
    %w32 = arith.extf %w : bf16 to f32
    %j = linalg.index 1 : index
    %j32 = arith.index_cast %j : index to i32
    %jf = arith.sitofp %j32 : i32 to f32
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %1, %w32 : f32
    %3 = arith.addf %2, %jf : f32
    %4 = arith.cmpf ogt, %3, %jf : f32
    linalg.yield %3, %4 : f32, i1
  } -> (tensor<1024x1024xf32>, tensor<1024x1024xi1>)
  %5 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%b : tensor<1024x2048xbf16>) {
  ^bb0(%o: bf16):
    %6 = arith.mulf %o, %o : bf16
    linalg.yield %6 : bf16
  } -> tensor<1024x2048xbf16>
  %e2 = tensor.empty() : tensor<512x512xcomplex<f32>>
  %7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<512x512xcomplex<f32>>) outs(%e2 : tensor<512x512xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    %8 = complex.mul %x, %x : complex<f32>
    linalg.yield %8 : complex<f32>
  } -> tensor<512x512xcomplex<f32>>
  return %0#0, %0#1, %5, %7 : tensor<1024x1024xf32>, tensor<1024x1024xi1>, tensor<1024x2048xbf16>, tensor<512x512xcomplex<f32>>
}
