// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: tofu-opt %t/plan.mlir --tofu-annotate --tofu-plan -verify-diagnostics -split-input-file
// RUN: tofu-opt %t/localize.mlir --tofu-insert-reshards --tofu-localize -verify-diagnostics -split-input-file
// RUN: tofu-opt %t/verify.mlir --tofu-verify-plan -verify-diagnostics -split-input-file

//--- plan.mlir
tofu.mesh @mesh[x = 2]
ml_program.global private mutable @state(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32>
func.func @f() -> tensor<4x4xf32> {
  // expected-error @below {{result 0 contradicts result 0: [- x] and [x -]; change one, or give one a higher tofu.priority}}
  %0 = ml_program.global_load @state : tensor<4x4xf32> {tofu.layouts = [#tofu.layout<@mesh, [{x}, {}]>]}
  return %0 : tensor<4x4xf32>
}
func.func @g() -> tensor<4x4xf32> {
  // expected-note @below {{result 0 is here}}
  %0 = ml_program.global_load @state : tensor<4x4xf32> {tofu.layouts = [#tofu.layout<@mesh, [{}, {x}]>]}
  return %0 : tensor<4x4xf32>
}

// -----

// What is not planned takes all of a global.
tofu.mesh @mesh[x = 2]
// expected-note @below {{global @state is here}}
ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}
func.func @f(%a: tensor<4xf32>) {
  ml_program.global_store @state = %a : tensor<4xf32>
  return
}
// expected-remark @below {{is replicated: it has several blocks}}
func.func @blocks() -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  // expected-error @below {{ml_program.global_load of @state in a region or function that is not planned contradicts global @state: [x] and [-]; change one, or give one a higher tofu.priority}}
  %0 = ml_program.global_load @state : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Two globals that one function ties are tied in the other one, too.
tofu.mesh @mesh[x = 2]
// expected-note @below {{global @a is here}}
ml_program.global private mutable @a(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}
// expected-error @below {{global @b contradicts global @a: [x -] and [- x]; change one, or give one a higher tofu.priority}}
ml_program.global private mutable @b(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}
func.func @f(%a: tensor<4x4xf32>) {
  ml_program.global_store @a = %a : tensor<4x4xf32>
  return
}
func.func @g() -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = ml_program.global_load @a : tensor<4x4xf32> {tofu.tie = "state"}
  %1 = ml_program.global_load @b : tensor<4x4xf32> {tofu.tie = "state"}
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
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

// -----

// Each function has a plan, but not on one mesh.
tofu.mesh @mesh[x = 2]
tofu.mesh @other[y = 2]
ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}
func.func @f(%a: tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  ml_program.global_store @state = %a : tensor<4xf32>
  return
}
func.func @g(%a: tensor<4xf32> {tofu.layout = #tofu.layout<@other, [{y}]>}) {
  // expected-error @below {{the plan is on @other and on @mesh}}
  ml_program.global_store @state = %a : tensor<4xf32>
  return
}

// -----

// A function without a plan takes all of @state.
tofu.mesh @mesh[x = 2]
ml_program.global private mutable @state(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}
func.func @f() -> (tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  %0 = ml_program.global_load @state : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @blocks() -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  // expected-error @below {{'ml_program.global_load' op is in a region or function that is not planned, but global @state is cut: #tofu.layout<@mesh, [{x}]>}}
  %0 = ml_program.global_load @state : tensor<4xf32>
  return %0 : tensor<4xf32>
}
