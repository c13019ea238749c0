// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-lower-globals -verify-diagnostics -split-input-file

// expected-error @below {{'ml_program.global' op is defined outside of the program; give it a value to run it}}
ml_program.global private mutable @state(#ml_program.extern<tensor<4xf32>>) : tensor<4xf32>
func.func @main() -> tensor<4xf32> {
  %0 = ml_program.global_load @state : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{'ml_program.global' op has a size that is not known: 'tensor<?xf32>'}}
ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<?xf32>
func.func @main() -> tensor<?xf32> {
  %0 = ml_program.global_load @state : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error @below {{'ml_program.global' op initial value is dense<1.000000e+00> : tensor<3xf32>, must be of type 'tensor<4xf32>'}}
ml_program.global private mutable @state(dense<1.0> : tensor<3xf32>) : tensor<4xf32>
func.func @main() -> tensor<4xf32> {
  %0 = ml_program.global_load @state : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{'ml_program.global' op must be a ranked tensor or a number to run, not 'tuple<f32>'}}
ml_program.global private mutable @state : tuple<f32>
func.func @main() -> tuple<f32> {
  %0 = ml_program.global_load @state : tuple<f32>
  return %0 : tuple<f32>
}
