// Copies as loop nests.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-generalize-copies -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @strided
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<4xf32>, %[[B:[a-z0-9]+]]: memref<4xf32, strided<[2]>>
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[B]] :
// CHECK-NOT:     memref.copy
func.func @strided(%a: memref<4xf32>, %b: memref<4xf32, strided<[2]>>) {
  memref.copy %a, %b : memref<4xf32> to memref<4xf32, strided<[2]>>
  return
}

// -----

func.func @unranked(%a: memref<*xf32>, %b: memref<*xf32>) {
  // expected-error@+1 {{'memref.copy' op copies a buffer of unknown rank}}
  memref.copy %a, %b : memref<*xf32> to memref<*xf32>
  return
}
