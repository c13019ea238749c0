// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: tofu-opt %t/plan.mlir --tofu-annotate --tofu-plan=devices=2 -verify-diagnostics -split-input-file
// RUN: tofu-opt %t/localize.mlir --tofu-insert-reshards --tofu-localize -verify-diagnostics -split-input-file
// RUN: tofu-opt %t/verify.mlir --tofu-verify-plan -verify-diagnostics -split-input-file

//--- plan.mlir
// expected-error @below {{'ml_program.global' op is used by @f and @g, which are planned apart; make one of them private}}
ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
func.func @f() -> tensor<4xf32> {
  %0 = ml_program.global_load @state : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @g(%a: tensor<4xf32>) {
  ml_program.global_store @state = %a : tensor<4xf32>
  return
}

//--- localize.mlir
tofu.mesh @mesh[x = 2]
ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
func.func @f(%a: tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error @below {{'ml_program.global_store' op global @state has no tofu.layout; run tofu-plan}}
  ml_program.global_store @state = %a : tensor<4xf32>
  return
}

// -----

tofu.mesh @mesh[x = 2]
ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}
func.func @f(%a: tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  ml_program.global_store @state = %a : tensor<4xf32>
  return
}
func.func private @whole() {
  cf.br ^bb1
^bb1:
  // expected-error @below {{'ml_program.global_load' op is in a region or function that is not cut, but global @state is}}
  %0 = ml_program.global_load @state : tensor<4xf32>
  return
}

//--- verify.mlir
tofu.mesh @mesh[x = 2]
ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
func.func @f(%a: tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  // expected-error @below {{'ml_program.global_store' op global @state has no tofu.layout; run tofu-plan}}
  ml_program.global_store @state = %a : tensor<4xf32>
  return
}

// -----

tofu.mesh @mesh[x = 2]
ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<2xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>, tofu.global_type = tensor<4xf32>}
func.func @f() {
  // expected-error @below {{'ml_program.global_load' op global @state has a local type; verify before tofu-localize}}
  %0 = ml_program.global_load @state : tensor<2xf32>
  return
}
