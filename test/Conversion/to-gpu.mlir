// The pipeline from tensors to LLVM and PTX.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-to-gpu=chip=sm_80 | FileCheck %s -DPTX=7.0 -DCHIP=sm_80
// RUN: tofu-opt %s --tofu-to-gpu | FileCheck %s -DPTX=7.8 -DCHIP=sm_90
// RUN: tofu-opt %s --tofu-to-gpu=chip=sm_100 | FileCheck %s -DPTX=8.6 -DCHIP=sm_100
// RUN: tofu-opt %s --tofu-to-gpu=kernels=host | FileCheck %s --check-prefix=HOST
// RUN: not tofu-opt %s --tofu-to-gpu=kernels=fat 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: tofu-opt %s --tofu-to-gpu=min-contraction-work=1000000 | FileCheck %s --check-prefix=LOOPS

// KERNELS: error: format=fat: must be ptx or cubin

// Elements are stored with no more than an index and a comparison.
// CHECK:       llvm.mlir.global internal constant @kernels_image(
// CHECK-SAME:    .version [[PTX]]
// CHECK-SAME:    .target [[CHIP]]
// CHECK-SAME:    .visible .entry kernel(
// CHECK-SAME:    .maxntid 256
// CHECK-SAME:    .minnctapersm 4
// CHECK-SAME:    ld.global
// CHECK-SAME:    neg.f32
// CHECK-SAME:    st.global
// CHECK-NOT:   gpu.module
// CHECK:       llvm.mlir.global internal constant @kernel_record()
// CHECK:         llvm.mlir.addressof @kernels_image
// CHECK-LABEL: llvm.func @_mlir_ciface_main
// CHECK:         llvm.call @tofuAlloc
// CHECK:         llvm.call @tofuContract
// CHECK:         llvm.call @tofuLaunch
// HOST:        llvm.mlir.addressof @kernel_on_host
// HOST:        llvm.func internal @kernel_on_host
// LOOPS-NOT:   @tofuContract
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.negf ins(%0 : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
