// Two results of a cut reduction that begin with the same value, which both
// need at the same other place.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --quiet
// RUN: tofu-opt %s --tofu-annotate --tofu-plan=devices=3 --tofu-insert-reshards | FileCheck %s

// One reshard of the initial value, in front of both combinations.
// CHECK:      func.func @main
// CHECK-SAME: %[[INIT:[^:]+]]: tensor<7xf32>
// CHECK:      linalg.generic {{.*}}tofu.strategy = #tofu.strategy<@mesh, [{}, {a0}]>
// CHECK:      tofu.reshard %[[INIT]]
// CHECK-NOT:  tofu.reshard %[[INIT]]
// CHECK:      return

tofu.mesh @mesh [a0 = 3]
func.func @main(%a: tensor<7x11xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {a0}]>},
                %init: tensor<7xf32> {tofu.layout = #tofu.layout<@mesh, [{a0}]>})
    -> (tensor<7xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}, tensor<7xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x11xf32>) outs(%init, %init : tensor<7xf32>, tensor<7xf32>) {
  ^bb0(%in: f32, %out: f32, %out2: f32):
    %1 = arith.addf %out, %in : f32
    %2 = arith.maximumf %out2, %in : f32
    linalg.yield %1, %2 : f32, f32
  } -> (tensor<7xf32>, tensor<7xf32>)
  return %0#0, %0#1 : tensor<7xf32>, tensor<7xf32>
}
