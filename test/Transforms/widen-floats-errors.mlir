// What isn't the same in f64.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --split-input-file --tofu-widen-floats -verify-diagnostics

func.func @bits(%x: tensor<4xf32>) -> tensor<4xi32> {
  // expected-error @below {{can't be widened: it looks at bits of short floats}}
  %0 = tensor.bitcast %x : tensor<4xf32> to tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @bits_of_wide(%x: tensor<4xf64>) -> tensor<4xi64> {
  %0 = tensor.bitcast %x : tensor<4xf64> to tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @bits_alike(%x: f16) -> bf16 {
  // expected-error @below {{can't be widened: it looks at bits of short floats}}
  %0 = arith.bitcast %x : f16 to bf16
  return %0 : bf16
}

// -----

// expected-error @below {{can't be widened: it is elsewhere}}
func.func private @elsewhere(tensor<4xf32>) -> i32
func.func @main(%x: tensor<4xf32>) -> i32 {
  %0 = call @elsewhere(%x) : (tensor<4xf32>) -> i32
  return %0 : i32
}

// -----

func.func @bytes() -> tensor<2xf32> {
  // expected-error @below {{can't be widened: its numbers are kept as bytes}}
  %0 = arith.constant dense_resource<numbers> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x040000000000803F00000040"
    }
  }
#-}
