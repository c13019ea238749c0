// Which arguments bufferization may write to.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-protect-arguments | FileCheck %s

// CHECK-LABEL: func.func @kept
// CHECK-SAME:    %{{.*}}: tensor<4xf32> {bufferization.writable = false}
// CHECK-SAME:    %{{.*}}: tensor<4xf32> {tf.aliasing_output = 0 : i32}
// CHECK-SAME:    %{{[a-z0-9]+}}: index)
func.func @kept(%a: tensor<4xf32>,
                %b: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %n: index)
    -> tensor<4xf32> {
  return %b : tensor<4xf32>
}

// CHECK-LABEL: func.func private @helper
// CHECK-NOT:     bufferization.writable
func.func private @helper(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
