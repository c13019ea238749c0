// What kernels can't be compiled for, or without.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: not tofu-opt %s --tofu-serialize-kernels=chip=sm_75 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tofu-opt %s '--tofu-serialize-kernels=format=cubin chip=sm_80,sm_75' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tofu-opt %s --tofu-serialize-kernels=chip=sm_80,sm_90 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not tofu-opt %s --tofu-serialize-kernels=format=fatbin 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not env -u CUDA_ROOT -u CUDA_HOME -u CUDA_PATH tofu-opt %s --tofu-serialize-kernels 2>&1 | FileCheck %s --check-prefix=LIBDEVICE
// RUN: not env -u CUDA_ROOT -u CUDA_PATH CUDA_HOME=%S tofu-opt %s --tofu-serialize-kernels 2>&1 | FileCheck %s --check-prefix=LIBDEVICE

// CHIP: serialize-kernels-errors.mlir:{{.*}}: error: chip=sm_75: must be sm_80, sm_90 or sm_100
// SEVERAL: serialize-kernels-errors.mlir:{{.*}}: error: format=ptx is for one chip, and later ones run it too; several take format=cubin
// FORMAT: serialize-kernels-errors.mlir:{{.*}}: error: format=fatbin: must be ptx or cubin
gpu.module @kernels {
  llvm.func @__nv_sinf(f32) -> f32
  llvm.func @kernel(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %0 = llvm.load %a : !llvm.ptr -> f32
    // LIBDEVICE: serialize-kernels-errors.mlir:[[#@LINE+1]]:{{.*}}: error: kernel calls __nv_sinf of libdevice, which was not found: CUDA_HOME must name a CUDA toolkit
    %1 = llvm.call @__nv_sinf(%0) : (f32) -> f32
    llvm.store %1, %a : f32, !llvm.ptr
    llvm.return
  }
}
