// Plans that take the least time give the serial results, also where they
// replicate work: both vectors that are made of p are needed whole, and moving
// anything takes long.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --check --devices=2 --partition-options="objective=time algorithm=kbest" --print-plan 2>&1 | FileCheck %s
// CHECK: linalg.generic x2 7 [-] [-]
// RUN: tofu-run %s --check --devices=3 --partition-options="objective=time algorithm=kbest" --print-plan 2>&1 | FileCheck %s
// RUN: tofu-run %s --check --devices=4 --partition-options="objective=time algorithm=kbest"
// RUN: tofu-run %s --check --devices=4 --partition-options="objective=time"
// RUN: tofu-run %s --check --devices=6 --partition-options="objective=time algorithm=kbest"
// RUN: tofu-run %s --check --devices=3 --partition-options="objective=time replication=true algorithm=random seed=3"
// RUN: tofu-run %S/Inputs/mlp_train.mlir --check --devices=2 --partition-options="objective=time machine=dgx-h100"
// RUN: tofu-run %S/Inputs/mlp_train.mlir --check --devices=3 --partition-options="objective=time machine=dgx-h100 algorithm=kbest"
// RUN: tofu-run %S/Inputs/mlp_train.mlir --check --devices=4 --partition-options="objective=time machine=p2.8xlarge replication=true"
// RUN: tofu-run %S/Inputs/mlp_train.mlir --check --devices=6 --partition-options="objective=time machine=p2.8xlarge partials=true algorithm=kbest"
// RUN: tofu-run %S/Inputs/mlp_train.mlir --check --devices=8 --partition-options="objective=time machine=h100x8x16"

#id = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<
  "flops_f32" = 1.0e9, "memory_bandwidth" = 1.0e12, "link_latency" = 1.0e-6, "link_bandwidth" = 1.0e9>>} {
func.func @main(%p: tensor<7xf32>, %x: tensor<13x7xf32> {tofu.forbid = [1]}) -> tensor<13x7xf32> {
  %e = tensor.empty() : tensor<7xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<7xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.mulf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<7xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<7xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<7xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %q, %r : tensor<13x7xf32>, tensor<7xf32>, tensor<7xf32>) outs(%x : tensor<13x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<13x7xf32>
  return %y : tensor<13x7xf32>
}
}
