// The interface that runners call.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-lower-entry-points -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @_mlir_ciface_two
// CHECK-SAME:    %[[RESULTS:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr, %[[A:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: f32)
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[A]][0, 1]
// CHECK:         llvm.load %[[AT]]
// CHECK:         llvm.getelementptr %[[RESULTS]][0, 0]
// CHECK:         llvm.store
// CHECK:         llvm.getelementptr %[[RESULTS]][0, 1]
// CHECK:         llvm.store
// CHECK:         return{{$}}
func.func @two(%context: !llvm.ptr, %a: memref<4xf32>, %s: f32) -> (memref<4xf32>, f32) {
  return %a, %s : memref<4xf32>, f32
}

// CHECK-LABEL: func.func @_mlir_ciface_scalar
// CHECK-SAME:    (%{{.*}}: !llvm.ptr, %[[S:[a-z0-9]+]]: f32) -> f32
// CHECK:         return %[[S]] : f32
func.func @scalar(%context: !llvm.ptr, %s: f32) -> f32 {
  return %s : f32
}

// Others call it: it stays, and a copy is the entry point.
// CHECK-LABEL: func.func private @called(
// CHECK-SAME:    memref<4xf32>
// CHECK-LABEL: func.func private @caller
func.func @called(%context: !llvm.ptr, %a: memref<4xf32>) {
  return
}
func.func private @caller(%context: !llvm.ptr, %a: memref<4xf32>) {
  call @called(%context, %a) : (!llvm.ptr, memref<4xf32>) -> ()
  return
}
// CHECK-LABEL: func.func @_mlir_ciface_called
// CHECK-SAME:    (%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)

// -----

// expected-error@+1 {{'func.func' op argument 0 has no form on the host: 'memref<*xf32>'}}
func.func @unranked(%a: memref<*xf32>) {
  return
}

// -----

// expected-error@+1 {{'func.func' op result 0 has no form on the host: 'tensor<4xf32>'}}
func.func @tensor(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op needs the name of another symbol: _mlir_ciface_f}}
func.func @f() {
  return
}
func.func private @_mlir_ciface_f() {
  return
}
