// Operations near the runtime.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s | tofu-opt | FileCheck %s

tofu.mesh @mesh[x = 2]

// CHECK-LABEL: func.func @collective
// CHECK:         tofu.collective all_gather %{{.*}}, %{{.*}} from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : memref<4xf32>, memref<8xf32>
func.func @collective(%a: memref<4xf32>, %b: memref<8xf32>) {
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  return
}

// CHECK-LABEL: func.func @contract
// CHECK:         tofu.contract accumulate %{{.*}}, %{{.*}} into %{{.*}} maps [#{{.*}}, #{{.*}}, #{{.*}}] : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} maps [#{{.*}}, #{{.*}}, #{{.*}}] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
func.func @contract(%a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>,
                    %d: tensor<8x4xf32>, %e: tensor<4x6xf32>, %f: tensor<8x6xf32>) -> tensor<8x6xf32> {
  tofu.contract accumulate %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>
  %0 = tofu.contract %d, %e into %f
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
