// Functions as arithmetic, which LLVM vectorizes.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-expand-math | FileCheck %s

// CHECK-LABEL: func.func @expanded
// CHECK-NOT:     math.exp
// CHECK-NOT:     math.tanh
// CHECK-NOT:     math.log
// CHECK-NOT:     math.erf
// CHECK-NOT:     math.rsqrt
// CHECK:         math.sqrt
func.func @expanded(%a: f32) -> f32 {
  %0 = math.exp %a : f32
  %1 = math.tanh %0 : f32
  %2 = math.log %1 : f32
  %3 = math.erf %2 : f32
  %4 = math.rsqrt %3 : f32
  return %4 : f32
}

// No polynomial is accurate enough for these.
// CHECK-LABEL: func.func @kept
// CHECK:         math.exp %{{.*}} : f64
// CHECK:         math.sin
func.func @kept(%a: f64, %b: f32) -> (f64, f32) {
  %0 = math.exp %a : f64
  %1 = math.sin %b : f32
  return %0, %1 : f64, f32
}

// CHECK-LABEL: func.func @roundings
// CHECK-NOT:     arith.truncf
// CHECK:         arith.bitcast
func.func @roundings(%a: f32) -> bf16 {
  %0 = arith.truncf %a : f32 to bf16
  return %0 : bf16
}
