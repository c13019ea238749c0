// Who gets the device context.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-add-context | FileCheck %s
// RUN: tofu-opt %s --tofu-add-context=device-memory | FileCheck %s --check-prefix=DEVICE

tofu.mesh @mesh[x = 2]

// CHECK-LABEL: func.func @entry
// CHECK-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr, %[[A:[a-z0-9]+]]: memref<4xf32>)
// CHECK:         call @allocates(%[[CONTEXT]]) : (!llvm.ptr) -> ()
// CHECK:         call @plain(%[[A]]) : (memref<4xf32>) -> ()
func.func @entry(%a: memref<4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>, tofu.global_type = tensor<8xf32>}) {
  call @allocates() : () -> ()
  call @plain(%a) : (memref<4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @allocates(
// CHECK-SAME:    !llvm.ptr
func.func private @allocates() {
  %0 = memref.alloc() : memref<4xf32>
  return
}

// CHECK-LABEL: func.func private @plain(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<4xf32> {llvm.noalias})
func.func private @plain(%a: memref<4xf32> {llvm.noalias}) {
  return
}

// The host reads an element itself, or has the runtime do it.
// CHECK-LABEL:  func.func private @reads(
// CHECK-SAME:     %{{[a-z0-9]+}}: memref<f32>)
// DEVICE-LABEL: func.func private @reads(
// DEVICE-SAME:    !llvm.ptr, %{{[a-z0-9]+}}: memref<f32>)
func.func private @reads(%a: memref<f32>) -> f32 {
  %0 = memref.load %a[] : memref<f32>
  return %0 : f32
}
