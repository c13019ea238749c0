// How the threads of a row combine what they have.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-to-gpu=kernels=host --mlir-print-ir-after=tofu-lower-kernels-to-gpu -o /dev/null 2>&1 | FileCheck %s

// All threads of a warp take part, also where they have several rows: 12 shuffles of
// rows of 768 elements, 10 of rows of 100.
// RUN: tofu-opt %s --tofu-to-gpu | grep -oE 'shfl.sync[^;]*' > %t
// RUN: not grep -v ', 31, -1$' %t
// RUN: grep -c . %t | FileCheck %s --check-prefix=NUMBER
// NUMBER: {{^22$}}

// A block has two rows. The warps of a row leave what they have where all of its
// threads look: there is one barrier for the maximum.
// CHECK-LABEL: gpu.func @kernel(
// CHECK-SAME:    workgroup(%[[MAXIMA:.*]] : memref<8xf32, #gpu.address_space<workgroup>>, %[[SUMS:.*]] : memref<8xf32, #gpu.address_space<workgroup>>)
// CHECK:         %[[THREAD:.*]] = gpu.thread_id x
// CHECK:         %[[SHARER:.*]] = arith.remui %[[THREAD]], %c128
// CHECK:         scf.for
// CHECK-COUNT-5: gpu.shuffle down %{{.*}}, %{{.*}}, %c32
// CHECK:         %[[OF_WARP:.*]], %{{.*}} = gpu.shuffle idx %{{.*}}, %{{.*}}, %c32
// CHECK:         %[[WARP:.*]] = arith.divui %[[THREAD]], %c32
// CHECK-NEXT:    memref.store %[[OF_WARP]], %[[MAXIMA]][%[[WARP]]]
// CHECK-NEXT:    gpu.barrier
// CHECK:         %[[BEGIN:.*]] = arith.subi %[[THREAD]], %[[SHARER]]
// CHECK:         %[[FIRST:.*]] = arith.divui %[[BEGIN]], %c32
// CHECK:         %[[MAX0:.*]] = memref.load %[[MAXIMA]][%[[FIRST]]]
// CHECK:         %[[SECOND:.*]] = arith.addi %[[FIRST]], %c1
// CHECK:         %[[NEXT1:.*]] = memref.load %[[MAXIMA]][%[[SECOND]]]
// CHECK-NEXT:    %[[MAX1:.*]] = arith.maxnumf %[[NEXT1]], %[[MAX0]]
// CHECK:         %[[THIRD:.*]] = arith.addi %[[FIRST]], %c2
// CHECK:         %[[NEXT2:.*]] = memref.load %[[MAXIMA]][%[[THIRD]]]
// CHECK-NEXT:    %[[MAX2:.*]] = arith.maxnumf %[[NEXT2]], %[[MAX1]]
// CHECK:         memref.load %[[MAXIMA]]
// CHECK-NOT:     memref.load %[[MAXIMA]]
// CHECK:         memref.store %{{.*}}, %[[SUMS]]
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
func.func @long(%a: tensor<64x768xf32>) -> tensor<64x768xf32> {
  %e = tensor.empty() : tensor<64x768xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<64x768xf32>) outs(%e : tensor<64x768xf32>) -> tensor<64x768xf32>
  return %0 : tensor<64x768xf32>
}

// What is no register for shuffles has a place in memory for each thread.
// CHECK-LABEL: gpu.func @kernel_0(
// CHECK-SAME:    workgroup(%[[MAXIMA:.*]] : memref<256xf64, #gpu.address_space<workgroup>>, %{{.*}} : memref<256xf64, #gpu.address_space<workgroup>>)
// CHECK:         %[[THREAD:.*]] = gpu.thread_id x
// CHECK-NOT:     gpu.shuffle
// CHECK:         gpu.barrier
// CHECK:         %[[PLACE:.*]] = arith.subi %[[THREAD]],
// CHECK-NEXT:    memref.load %[[MAXIMA]][%[[PLACE]]]
// CHECK-NOT:     gpu.shuffle
// CHECK:         gpu.return
func.func @doubles(%a: tensor<64x100xf64>) -> tensor<64x100xf64> {
  %e = tensor.empty() : tensor<64x100xf64>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<64x100xf64>) outs(%e : tensor<64x100xf64>) -> tensor<64x100xf64>
  return %0 : tensor<64x100xf64>
}

func.func @short(%a: tensor<60x100xf32>) -> tensor<60x100xf32> {
  %e = tensor.empty() : tensor<60x100xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<60x100xf32>) outs(%e : tensor<60x100xf32>) -> tensor<60x100xf32>
  return %0 : tensor<60x100xf32>
}
