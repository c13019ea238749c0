// A function that no library has.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: not tofu-opt %s --tofu-serialize-kernels 2>&1 | FileCheck %s

// CHECK: error: kernels call a function that is nowhere:
// CHECK: elsewhere
gpu.module @kernels {
  llvm.func @elsewhere(f32) -> f32
  llvm.func @kernel(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.load %a : !llvm.ptr -> f32
    %1 = llvm.call @elsewhere(%0) : (f32) -> f32
    llvm.store %1, %a : f32, !llvm.ptr
    llvm.return
  }
}
