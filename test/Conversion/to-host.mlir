// The pipeline from tensors to LLVM.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-to-host -split-input-file -verify-diagnostics | FileCheck %s
// RUN: tofu-opt %s --tofu-to-host=min-contraction-work=1 -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=CALL

// CHECK-LABEL: llvm.func @_mlir_ciface_main
// CHECK:         llvm.call @tofuAlloc
// CHECK:         llvm.call @kernel
// CALL-LABEL:  llvm.func @_mlir_ciface_main
// CALL:          llvm.call @tofuContract
func.func @main(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%f : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

func.func @unknown(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{op was not bufferized}}
  %0 = "tosa.abs"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
