// Globals that several functions use: the first plan settles where they lie, with
// regard to what all functions ask of them.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: tofu-opt %t/first.mlir --tofu-annotate --tofu-plan=json=%t/first.json --tofu-verify-plan=resharded=false > %t/first.planned
// RUN: FileCheck %t/first.mlir --check-prefix=PLAN < %t/first.planned
// RUN: tofu-opt %t/first.planned --tofu-insert-reshards --tofu-verify-plan --tofu-localize | FileCheck %t/first.mlir --check-prefix=LOCAL
// RUN: tofu-opt %t/asked.mlir --tofu-annotate --tofu-plan --tofu-verify-plan=resharded=false | FileCheck %t/asked.mlir
// RUN: tofu-opt %t/firmer.mlir --tofu-annotate --tofu-plan -verify-diagnostics | FileCheck %t/firmer.mlir
// RUN: tofu-opt %t/whole.mlir --tofu-annotate --tofu-plan --tofu-verify-plan=resharded=false --tofu-insert-reshards --tofu-localize | FileCheck %t/whole.mlir

// A plan that was made for what another plan had chosen has no bound. One that goes
// by what the program says has.
// RUN: FileCheck %s --check-prefix=JSON --implicit-check-not=lower_bound < %t/first.json
// RUN: tofu-opt %t/pinned.mlir --tofu-annotate --tofu-plan=json=%t/pinned.json -o /dev/null
// RUN: FileCheck %s --check-prefix=PINNED < %t/pinned.json
// JSON: "functions"
// PINNED: "lower_bound_bytes": 64,
// PINNED: "total_bytes": 64

// The plan is the same after a round trip, and refused if its functions disagree.
// RUN: tofu-opt %t/first.mlir --tofu-annotate --tofu-plan=load=%t/first.json | diff %t/first.planned -
// RUN: sed -e '0,/"layout": .*/s//"layout": "#tofu.layout<@mesh, [{}, {x}]>",/' %t/first.json > %t/other.json
// RUN: not tofu-opt %t/first.mlir --tofu-annotate --tofu-plan=load=%t/other.json 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: other.json: global @state lies as #tofu.layout<@mesh, [{x}, {}]>, in the plan of @f as #tofu.layout<@mesh, [{}, {x}]>

//--- first.mlir
// Alone, @g would have @state in columns.
tofu.mesh @mesh[x = 2]
// PLAN: ml_program.global private mutable @state({{.*}}) : tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}
// LOCAL: ml_program.global private mutable @state({{.*}}) : tensor<2x4xf32>
ml_program.global private mutable @state(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32>

// LOCAL-LABEL: func.func @f(
// LOCAL-NOT: tofu.reshard
// LOCAL: ml_program.global_store @state = %{{.*}} : tensor<2x4xf32>
func.func @f(%a: tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}) {
  ml_program.global_store @state = %a : tensor<4x4xf32>
  return
}
// LOCAL-LABEL: func.func @g(
// LOCAL: %[[STATE:.*]] = ml_program.global_load @state : tensor<2x4xf32>
// LOCAL: tofu.reshard %[[STATE]]
// LOCAL-SAME: tensor<2x4xf32> -> tensor<4x2xf32>
func.func @g(%a: tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>})
    -> (tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) {
  %state = ml_program.global_load @state : tensor<4x4xf32>
  %sum = arith.addf %a, %state : tensor<4x4xf32>
  return %sum : tensor<4x4xf32>
}

//--- pinned.mlir
// 8 of 16 elements move, of 4 bytes, in @f and in @g.
tofu.mesh @mesh[x = 2]
ml_program.global private mutable @state(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}
func.func @f(%a: tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) {
  ml_program.global_store @state = %a : tensor<4x4xf32>
  return
}
func.func @g(%a: tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>})
    -> (tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) {
  %state = ml_program.global_load @state : tensor<4x4xf32>
  %sum = arith.addf %a, %state : tensor<4x4xf32>
  return %sum : tensor<4x4xf32>
}

//--- asked.mlir
// What the last function asks of @state, and of what it ties to it, holds from the
// first one on.
tofu.mesh @mesh[x = 2]
// CHECK: ml_program.global private mutable @state({{.*}}) : tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}
// CHECK: ml_program.global private mutable @tied({{.*}}) : tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}
ml_program.global private mutable @state(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32>
ml_program.global private mutable @tied(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32>
func.func @f(%a: tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}) {
  ml_program.global_store @tied = %a : tensor<4x4xf32>
  return
}
func.func @g(%a: tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}) {
  ml_program.global_store @state = %a : tensor<4x4xf32>
  return
}
func.func @h() -> (tensor<4x4xf32> {tofu.forbid = [0]}, tensor<4x4xf32>) {
  %state = ml_program.global_load @state : tensor<4x4xf32> {tofu.tie = "state"}
  %tied = ml_program.global_load @tied : tensor<4x4xf32> {tofu.tie = "state"}
  return %state, %tied : tensor<4x4xf32>, tensor<4x4xf32>
}

//--- firmer.mlir
// A higher priority counts in whichever function it is.
tofu.mesh @mesh[x = 2]
// CHECK: ml_program.global private mutable @state({{.*}}) : tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}
ml_program.global private mutable @state(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32>
func.func @f() -> tensor<4x4xf32> {
  // expected-remark @below {{result 0 gives way to result 0, whose tofu.priority is higher: [- x] and [x -]}}
  %0 = ml_program.global_load @state : tensor<4x4xf32> {tofu.layouts = [#tofu.layout<@mesh, [{x}, {}]>]}
  return %0 : tensor<4x4xf32>
}
func.func @g() -> tensor<4x4xf32> {
  %0 = ml_program.global_load @state : tensor<4x4xf32> {tofu.layouts = [#tofu.layout<@mesh, [{}, {x}]>], tofu.priority = 1}
  return %0 : tensor<4x4xf32>
}

//--- whole.mlir
// A function of several blocks is not planned, and finds all of @state.
tofu.mesh @mesh[x = 2]
// CHECK: ml_program.global private mutable @state({{.*}}) : tensor<4x4xf32> {tofu.global_type = tensor<4x4xf32>, tofu.layout = #tofu.layout<@mesh, [{}, {}]>}
ml_program.global private mutable @state(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32>
func.func @f(%a: tensor<4x4xf32>) {
  ml_program.global_store @state = %a : tensor<4x4xf32>
  return
}
func.func @blocks() -> tensor<4x4xf32> {
  cf.br ^bb1
^bb1:
  %0 = ml_program.global_load @state : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
