// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-annotate --tofu-plan=devices=2 | FileCheck %s --check-prefix=PLAN
// RUN: tofu-opt %s --tofu-annotate --tofu-plan=devices=2 --tofu-verify-plan --tofu-insert-reshards --tofu-verify-plan=resharded --tofu-localize | FileCheck %s --check-prefix=LOCAL

// The plan is the same after a round trip.
// RUN: tofu-opt %s --tofu-annotate --tofu-plan="devices=2 json=%t.json" > %t.searched
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: tofu-opt %s --tofu-annotate --tofu-plan=load=%t.json > %t.loaded
// RUN: diff %t.searched %t.loaded
// JSON: "globals": [
// JSON: "layout": "#tofu.layout<@mesh, [{a0}, {}]>",
// JSON-NEXT: "name": "state"
// JSON: "layout": "#tofu.layout<@mesh, [{a0}, {}]>",
// JSON-NEXT: "name": "weight"

// RUN: sed -e 's/"name": "weight"/"name": "other"/' %t.json > %t.renamed.json
// RUN: not tofu-opt %s --tofu-annotate --tofu-plan=load=%t.renamed.json 2>&1 | FileCheck %s --check-prefix=RENAMED
// RENAMED: renamed.json: global @weight has no layout

// PLAN: ml_program.global private mutable @state(dense<1.000000e+00> : tensor<5x4xf32>) : tensor<5x4xf32> {tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>}
// PLAN: ml_program.global private @weight({{.*}}) : tensor<5x4xf32> {tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>}
// PLAN: ml_program.global private mutable @number(7 : i64) : i64{{$}}

// LOCAL: ml_program.global private mutable @state(dense<1.000000e+00> : tensor<5x4xf32>) : tensor<?x4xf32> {tofu.global_type = tensor<5x4xf32>, tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>}
// LOCAL: ml_program.global private @weight({{.*}}) : tensor<?x4xf32>
// LOCAL: ml_program.global private mutable @number(7 : i64) : i64{{$}}
ml_program.global private mutable @state(dense<1.0> : tensor<5x4xf32>) : tensor<5x4xf32>
ml_program.global private @weight(dense<2.0> : tensor<5x4xf32>) : tensor<5x4xf32>
ml_program.global private mutable @number(7 : i64) : i64

// LOCAL-LABEL: func.func @main
// LOCAL-SAME: (%[[A:.*]]: tensor<?x4xf32>
// LOCAL: %[[OLD:.*]] = ml_program.global_load @state : tensor<?x4xf32>
// LOCAL: %[[W:.*]] = ml_program.global_load_const @weight : tensor<?x4xf32>
// LOCAL: %[[NEW:.*]] = arith.addf %[[A]], %[[OLD]]
// LOCAL: ml_program.global_store @state = %[[NEW]] : tensor<?x4xf32>
// LOCAL: arith.mulf %[[OLD]], %[[W]]
// LOCAL: ml_program.global_load @number : i64
func.func @main(%a: tensor<5x4xf32>) -> (tensor<5x4xf32>, i64) {
  %old = ml_program.global_load @state : tensor<5x4xf32>
  %weight = ml_program.global_load_const @weight : tensor<5x4xf32>
  %new = arith.addf %a, %old : tensor<5x4xf32>
  ml_program.global_store @state = %new : tensor<5x4xf32>
  %product = arith.mulf %old, %weight : tensor<5x4xf32>
  %number = ml_program.global_load @number : i64
  return %product, %number : tensor<5x4xf32>, i64
}
