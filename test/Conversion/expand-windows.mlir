// Convolutions as contractions of views.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-expand-windows=min-batch-work=1 -split-input-file -verify-diagnostics | FileCheck %s
// RUN: tofu-opt %s --tofu-expand-windows -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=SMALL

#in = affine_map<(n, x, f, i, c) -> (n, x * 2 + i, c)>
#w = affine_map<(n, x, f, i, c) -> (i, c, f)>
#out = affine_map<(n, x, f, i, c) -> (n, x, f)>

// CHECK-DAG:   #[[$IN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
// CHECK-DAG:   #[[$W:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>
// CHECK-LABEL: func.func @strided
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<2x9x5xf32>, %[[B:[a-z0-9]+]]: memref<3x5x8xf32>
// CHECK:         %[[WINDOWS:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [2, 4, 3, 5], strides: [45, 10, 5, 1]
// CHECK:         %[[WEIGHTS:.*]] = memref.reinterpret_cast %[[B]] to offset: [0], sizes: [2, 8, 3, 5], strides: [0, 1, 40, 8]
// CHECK:         tofu.contract %[[WINDOWS]], %[[WEIGHTS]] into %{{.*}} maps [#[[$IN]], #[[$W]],

// Images too small for a product each.
// SMALL-LABEL: func.func @strided
// SMALL-SAME:    %{{.*}}: memref<2x9x5xf32>, %[[B:[a-z0-9]+]]: memref<3x5x8xf32>
// SMALL:         tofu.contract %{{.*}}, %[[B]] into
func.func @strided(%a: memref<2x9x5xf32>, %w: memref<3x5x8xf32>, %c: memref<2x4x8xf32>) {
  tofu.contract %a, %w into %c maps [#in, #w, #out] : memref<2x9x5xf32>, memref<3x5x8xf32>, memref<2x4x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic
// CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%{{.*}}, 4, 3, 5], strides: [45, 10, 5, 1]
func.func @dynamic(%a: memref<?x9x5xf32>, %w: memref<3x5x8xf32>, %c: memref<?x4x8xf32>) {
  tofu.contract %a, %w into %c maps [#in, #w, #out] : memref<?x9x5xf32>, memref<3x5x8xf32>, memref<?x4x8xf32>
  return
}

// -----

func.func @on_tensors(%a: tensor<9xf32>, %w: tensor<3x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{'tofu.contract' op is not on buffers}}
  %0 = tofu.contract %a, %w into %c
      maps [affine_map<(x, f, i) -> (x * 2 + i)>, affine_map<(x, f, i) -> (i, f)>, affine_map<(x, f, i) -> (x, f)>]
      : tensor<9xf32>, tensor<3x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
