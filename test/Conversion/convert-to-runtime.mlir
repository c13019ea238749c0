// Calls of the runtime's C ABI.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-convert-to-runtime -split-input-file -verify-diagnostics | FileCheck %s

// version, all_gather, no combiner, f32, rank 1, 2 devices, 1 addend, 1 slot;
// families, addends, slots; boxes that are held; boxes that are wanted.
// CHECK-DAG:   llvm.mlir.global internal constant @[[$GATHER:[a-z_0-9]+]](dense<[4, 1, 0, 0, 1, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 4, 4, 8, 0, 8, 0, 8]> : tensor<22xi64>)
// Partial sums: an addend on each device.
// CHECK-DAG:   llvm.mlir.global internal constant @[[$REDUCE:[a-z_0-9]+]](dense<[4, 0, 1, 0, 1, 2, 2, 1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 8, 0, 8, 0, 8]> : tensor<22xi64>)
// version, rank 2, 1 axis of 2, rows unknown, 4 columns; 2 dims: unknown over axis
// 0, and 3; rows of 2 terms, 3 * dim 0 + dim 1; all columns.
// CHECK-DAG:   llvm.mlir.global internal constant @{{[a-z_0-9]+}}(dense<[4, 2, 1, 2, -1, 4, 2, -1, 1, 0, 3, 0, 2, 0, 0, 3, 1, 1, -1, 0]> : tensor<20xi64>)
// The same of rank 1, whose tiles of 8 cover it.
// CHECK-DAG:   llvm.mlir.global internal constant @{{[a-z_0-9]+}}(dense<[4, 1, 1, 2, -1, 2, -2, 1, 0, 8, 0, 2, 0, 0, 8, 1, 1]> : tensor<17xi64>)
// version, all_gather, no combiner, f32, rank 2, 2 devices, 1 addend, 1 slot;
// families, addends, slots; rank 2, 1 axis of 2, rows unknown, 4 columns; twice 2
// dims of these sizes, the first one cut over axis 0 or none, each an index.
// CHECK-DAG:   llvm.mlir.global internal constant @{{[a-z_0-9]+}}(dense<[4, 1, 0, 0, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 2, 1, 2, -1, 4, 2, -1, 1, 0, 4, 0, 1, 0, 0, 1, 1, 0, 1, 1, 2, -1, 0, 4, 0, 1, 0, 0, 1, 1, 0, 1, 1]> : tensor<46xi64>)
// version, f32, f32, no accumulation, 3 loops, ranks, then the loop of each dim.
// CHECK-DAG:   llvm.mlir.global internal constant @[[$PRODUCT:[a-z_0-9]+]](dense<[4, 0, 0, 0, 3, 2, 2, 2, 0, 2, 2, 1, 0, 1]> : tensor<14xi64>)
// CHECK-DAG:   llvm.mlir.global internal constant @[[$WHERE:[a-z_0-9]+]]("here\00")
// CHECK-DAG:   llvm.mlir.global internal constant @[[$MESSAGE:[a-z_0-9]+]]("too large\00")
// CHECK-NOT:   tofu.mesh
tofu.mesh @mesh[x = 2]

// CHECK-LABEL: func.func @collectives
// CHECK-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
// CHECK-DAG:     llvm.alloca
// CHECK:         %[[STREAM:.*]] = llvm.call @tofuStream(%[[CONTEXT]])
// CHECK:         %[[TABLE:.*]] = llvm.mlir.addressof @[[$GATHER]]
// CHECK:         %[[TEXT:.*]] = llvm.mlir.addressof @[[$WHERE]]
// CHECK:         llvm.call @tofuCollective(%[[CONTEXT]], %[[STREAM]], %[[TABLE]], %[[TEXT]],
// CHECK:         llvm.mlir.addressof @[[$REDUCE]]
// CHECK:         llvm.call @tofuCollective
func.func @collectives(%context: !llvm.ptr, %a: memref<4xf32>, %b: memref<8xf32>, %c: memref<8xf32>) {
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8]
      : memref<4xf32>, memref<8xf32> loc("here")
  tofu.collective all_reduce %b, %c from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}]> in [8]
      : memref<8xf32>, memref<8xf32> loc("here")
  return
}

// Sizes that are known only when the program runs come in an array, and tables
// have the cuts in the place of boxes.
// CHECK-LABEL: func.func @unknown_sizes
// CHECK-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
// CHECK:         llvm.store %{{.*}}, %[[AT:.*]] : i64, !llvm.ptr
// CHECK:         %[[SIZE:.*]] = llvm.call @tofuShardSize(%[[CONTEXT]], %{{.*}}, %[[SIZES:.*]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> i64
// CHECK:         llvm.call @tofuShardOffset(%[[CONTEXT]], %{{.*}}, %[[SIZES]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> i64
// CHECK:         llvm.call @tofuCollectiveOfSizes(%[[CONTEXT]], %{{.*}}, %{{.*}}, %[[SIZES]], %{{.*}},
func.func @unknown_sizes(%context: !llvm.ptr, %n: index, %a: memref<?x4xf32>, %b: memref<?x4xf32>) -> (index, index) {
  %0 = tofu.shard_size 0 of #tofu.boxes<@mesh, [g = ? {x}, i = 3], [g * 3 + i, :]> in [%n, 4] : index
  %1 = tofu.shard_offset 0 of #tofu.boxes<@mesh, [g = ? {x}, i = 3], [g * 3 + i, :]> in [%n, 4] : index
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {}]> in [%n, 4]
      : memref<?x4xf32>, memref<?x4xf32> loc("here")
  return %0, %1 : index, index
}

// CHECK-LABEL: func.func @covering
// CHECK:         llvm.call @tofuShardSize
func.func @covering(%context: !llvm.ptr, %n: index) -> index {
  %0 = tofu.shard_size 0 of #tofu.boxes<@mesh, [g = ? covering {x}, i = 8], [g * 8 + i]> in [%n] : index
  return %0 : index
}

// CHECK-LABEL: func.func @contract
// CHECK:         llvm.mlir.addressof @[[$PRODUCT]]
// CHECK:         llvm.call @tofuContract
func.func @contract(%context: !llvm.ptr, %a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>) {
  tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32> loc("here")
  return
}

// CHECK-LABEL: func.func @memory
// CHECK:         %[[MEMORY:.*]] = llvm.call @tofuAlloc(%{{.*}}, %{{.*}}) : (!llvm.ptr, i64) -> !llvm.ptr
// CHECK:         llvm.call @tofuFree
func.func @memory(%context: !llvm.ptr, %n: index) {
  %a = memref.alloc(%n) : memref<?x4xf32>
  memref.dealloc %a : memref<?x4xf32>
  return
}

// CHECK-LABEL: func.func @global
// CHECK-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
// CHECK:         %[[FLAG:.*]] = llvm.alloca %{{.*}} x i8
// CHECK:         %[[NAME:.*]] = llvm.mlir.addressof @text
// CHECK:         llvm.call @tofuGlobal(%[[CONTEXT]], %[[NAME]], %{{.*}}, %[[FLAG]]) : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK:         %[[NEW:.*]] = llvm.load %[[FLAG]] : !llvm.ptr -> i8
// CHECK:         %[[BIT:.*]] = arith.trunci %[[NEW]] : i8 to i1
// CHECK:         return %{{.*}}, %[[BIT]]
func.func @global(%context: !llvm.ptr, %n: index) -> (memref<?x4xcomplex<f64>>, i1) {
  %0, %1 = tofu.global_memory "state"(%n) : memref<?x4xcomplex<f64>>
  return %0, %1 : memref<?x4xcomplex<f64>>, i1
}

// CHECK-LABEL: func.func @fails
// CHECK:         scf.if
// CHECK:           llvm.mlir.addressof @[[$MESSAGE]]
// CHECK:           llvm.call @tofuFail
func.func @fails(%context: !llvm.ptr, %c: i1) {
  cf.assert %c, "too large" loc("here")
  return
}

// A size that differs between devices is looked up by the device's number.
// CHECK-LABEL: func.func @shard
// CHECK:         llvm.call @tofuDeviceId
// CHECK:         llvm.getelementptr
// CHECK:         llvm.load
func.func @shard(%context: !llvm.ptr) -> index {
  %0 = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}]> in [5] : index
  return %0 : index
}

// -----

func.func @no_context() {
  // expected-error@+1 {{'memref.alloc' op is in a function without a device context}}
  %0 = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @no_numbers(%context: !llvm.ptr) {
  // expected-error@+1 {{'memref.alloc' op cannot be allocated by the runtime: 'memref<4xvector<2xf32>>'}}
  %0 = memref.alloc() : memref<4xvector<2xf32>>
  return
}

// -----

tofu.mesh @mesh[x = 2]

func.func @odd_type(%context: !llvm.ptr, %a: memref<4xi7>, %b: memref<8xi7>) {
  // expected-error@+1 {{'tofu.collective' op the runtime does not know elements of type 'i7'}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8]
      : memref<4xi7>, memref<8xi7>
  return
}

// -----

func.func @odd_product(%context: !llvm.ptr, %a: memref<8x4xi7>, %b: memref<4x6xi7>, %c: memref<8x6xi7>) {
  // expected-error@+1 {{'tofu.contract' op the runtime does not know elements of type 'i7'}}
  tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : memref<8x4xi7>, memref<4x6xi7>, memref<8x6xi7>
  return
}
