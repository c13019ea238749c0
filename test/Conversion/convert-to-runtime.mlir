// Calls of the runtime's C ABI.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-convert-to-runtime -split-input-file -verify-diagnostics | FileCheck %s
// RUN: tofu-opt %s --tofu-convert-to-runtime=device-memory -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=DEVICE

// The table of a contraction of 3 loops; gelu_tanh, and a bias that is indexed by
// 0 and dim 1; relu into a sum, and no bias.
// CHECK-DAG:   llvm.mlir.global internal constant @[[$EPILOGUE:[a-z_0-9]+]](dense<[5, 0, 0, 0, 3, 2, 2, 2, 0, 2, 2, 1, 0, 1, 2, -1, 1]> : tensor<17xi64>)
// CHECK-DAG:   llvm.mlir.global internal constant @[[$RELU:[a-z_0-9]+]](dense<[5, 0, 0, 1, 3, 2, 2, 2, 0, 2, 2, 1, 0, 1, 1]> : tensor<15xi64>)
// version, all_gather, no combiner, f32, rank 1, 2 devices, 1 addend, 1 slot;
// families, addends, slots; boxes that are held; boxes that are wanted.
// CHECK-DAG:   llvm.mlir.global internal constant @[[$GATHER:[a-z_0-9]+]](dense<[5, 1, 0, 0, 1, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 4, 4, 8, 0, 8, 0, 8]> : tensor<22xi64>)
// Partial sums: an addend on each device.
// CHECK-DAG:   llvm.mlir.global internal constant @[[$REDUCE:[a-z_0-9]+]](dense<[5, 0, 1, 0, 1, 2, 2, 1, 0, 0, 0, 1, 0, 0, 0, 8, 0, 8, 0, 8, 0, 8]> : tensor<22xi64>)
// version, rank 2, 1 axis of 2, rows unknown, 4 columns; 2 dims: unknown over axis
// 0, and 3; rows of 2 terms, 3 * dim 0 + dim 1; all columns.
// CHECK-DAG:   llvm.mlir.global internal constant @{{[a-z_0-9]+}}(dense<[5, 2, 1, 2, -1, 4, 2, -1, 1, 0, 3, 0, 2, 0, 0, 3, 1, 1, -1, 0]> : tensor<20xi64>)
// The same of rank 1, whose tiles of 8 cover it.
// CHECK-DAG:   llvm.mlir.global internal constant @{{[a-z_0-9]+}}(dense<[5, 1, 1, 2, -1, 2, -2, 1, 0, 8, 0, 2, 0, 0, 8, 1, 1]> : tensor<17xi64>)
// version, all_gather, no combiner, f32, rank 2, 2 devices, 1 addend, 1 slot;
// families, addends, slots; rank 2, 1 axis of 2, rows unknown, 4 columns; twice 2
// dims of these sizes, the first one cut over axis 0 or none, each an index.
// CHECK-DAG:   llvm.mlir.global internal constant @{{[a-z_0-9]+}}(dense<[5, 1, 0, 0, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 2, 1, 2, -1, 4, 2, -1, 1, 0, 4, 0, 1, 0, 0, 1, 1, 0, 1, 1, 2, -1, 0, 4, 0, 1, 0, 0, 1, 1, 0, 1, 1]> : tensor<46xi64>)
// version, f32, f32, no accumulation, 3 loops, ranks, then the loop of each dim.
// CHECK-DAG:   llvm.mlir.global internal constant @[[$PRODUCT:[a-z_0-9]+]](dense<[5, 0, 0, 0, 3, 2, 2, 2, 0, 2, 2, 1, 0, 1]> : tensor<14xi64>)
// CHECK-DAG:   llvm.mlir.global internal constant @[[$WHERE:[a-z_0-9]+]]("here\00")
// CHECK-DAG:   llvm.mlir.global internal constant @[[$MESSAGE:[a-z_0-9]+]]("too large\00")
// CHECK-NOT:   tofu.mesh
tofu.mesh @mesh[x = 2]

// CHECK-LABEL: func.func @collectives
// CHECK-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
// CHECK-DAG:     llvm.alloca
// CHECK:         %[[STREAM:.*]] = llvm.call @tofuStream(%[[CONTEXT]], %{{.*}})
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

// CHECK-LABEL: func.func @epilogue
// CHECK:         llvm.mlir.addressof @[[$EPILOGUE]]
// CHECK:         llvm.call @tofuContractWithEpilogue({{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr) -> ()
// CHECK:         llvm.mlir.addressof @[[$RELU]]
// CHECK:         %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         llvm.call @tofuContractWithEpilogue({{.*}}, %[[NONE]])
func.func @epilogue(%context: !llvm.ptr, %a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>, %d: memref<1x6xf32>) {
  tofu.contract %a, %b into %c bias %d activation gelu_tanh
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (0, n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>, memref<1x6xf32>
  tofu.contract accumulate %a, %b into %c activation relu
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>
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

// Kernels get the address of a buffer, and what isn't known of its descriptor.
// CHECK:       llvm.mlir.global external constant @scale_record() {{.*}} : !llvm.struct<(i64, ptr, ptr, i64, ptr, i64, ptr)>
// CHECK:         gpu.func @scale(%[[A:.*]]: !llvm.ptr {llvm.noalias}, %[[OFFSET:.*]]: i64, %[[SIZE:.*]]: i64, %[[B:.*]]: !llvm.ptr, %{{.*}}: f32, %[[N:.*]]: index)
// CHECK-SAME:      record = @scale_record
// Bytes of each argument, and 1 for what is read, 2 for what is written.
// CHECK-SAME:      record_arguments = array<i64: 8, 1, 8, 0, 8, 0, 8, 2, 4, 0, 8, 0>
// CHECK:           llvm.insertvalue %[[A]], %{{.*}}[1]
// CHECK:           llvm.insertvalue %[[OFFSET]], %{{.*}}[2]
// CHECK:           llvm.insertvalue %[[SIZE]], %{{.*}}[3, 0]
// CHECK-LABEL: func.func @launch
// CHECK-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
// CHECK:         %[[STREAM:.*]] = llvm.call @tofuStream(%[[CONTEXT]], %{{.*}})
// CHECK:         %[[ALIGNED:.*]] = llvm.getelementptr %[[D:.*]][0, 1]
// CHECK:         llvm.getelementptr %[[D]][0, 2]
// CHECK:         llvm.getelementptr %[[D]][0, 3, 0]
// CHECK:         llvm.store %{{.*}}, %[[F:.*]] : f32, !llvm.ptr
// CHECK:         %[[RECORD:.*]] = llvm.mlir.addressof @scale_record
// CHECK:         llvm.store %[[ALIGNED]], %[[ARGS:.*]] : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.store %[[F]], %{{.*}} : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.call @tofuLaunch(%[[CONTEXT]], %[[STREAM]], %[[RECORD]], %{{.*}}, %{{.*}}, %{{.*}})
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @scale(%a: memref<?x8xf32, strided<[8, 1], offset: ?>> {llvm.noalias}, %b: memref<4xf32>, %f: f32, %n: index)
        workgroup(%w : memref<256xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %a[%n, %c0] : memref<?x8xf32, strided<[8, 1], offset: ?>>
      memref.store %x, %b[%c0] : memref<4xf32>
      gpu.return
    }
  }
  func.func @launch(%context: !llvm.ptr, %a: memref<?x8xf32, strided<[8, 1], offset: ?>>, %b: memref<4xf32>, %f: f32, %n: index) {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func @kernels::@scale blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%a : memref<?x8xf32, strided<[8, 1], offset: ?>>, %b : memref<4xf32>, %f : f32, %n : index)
    return
  }
}

// -----

// Where the host can't access the device's memory, the runtime does.
// CHECK-LABEL:  func.func @elements
// CHECK:          memref.load
// CHECK:          memref.store
// DEVICE-LABEL: func.func @elements
// DEVICE-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: memref<?x8xi1>, %[[I:[a-z0-9]+]]: index
// DEVICE:         %[[FIRST:.*]] = builtin.unrealized_conversion_cast %[[I]] : index to i64
// DEVICE:         llvm.mul %[[FIRST]]
// DEVICE:         %[[AT:.*]] = llvm.getelementptr
// DEVICE:         llvm.call @tofuRead(%[[CONTEXT]], %{{.*}}, %[[HOST:.*]], %[[AT]], %{{.*}})
// DEVICE:         llvm.load %[[HOST]] : !llvm.ptr -> i1
// DEVICE-NOT:     memref
// DEVICE:         llvm.store %{{.*}}, %[[HOST:.*]] : i1, !llvm.ptr
// DEVICE:         llvm.call @tofuWrite(%[[CONTEXT]], %{{.*}}, %{{.*}}, %[[HOST]], %{{.*}})
// DEVICE:         memref.get_global @numbers
// DEVICE:         llvm.call @tofuConstant(%[[CONTEXT]]
memref.global "private" constant @numbers : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]>
func.func @elements(%context: !llvm.ptr, %a: memref<?x8xi1>, %i: index, %j: index) -> memref<2x2xf32> {
  %0 = memref.load %a[%i, %j] : memref<?x8xi1>
  memref.store %0, %a[%j, %i] : memref<?x8xi1>
  %1 = memref.get_global @numbers : memref<2x2xf32>
  return %1 : memref<2x2xf32>
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @shared(%context: !llvm.ptr, %n: index, %bytes: i32) {
    // expected-error@+1 {{has more than a grid and arguments}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %bytes
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%a: memref<*xf32>) kernel {
      gpu.return
    }
  }
  func.func @unranked(%context: !llvm.ptr, %n: index, %a: memref<*xf32>) {
    // expected-error@+1 {{can't pass a value of 'memref<*xf32>'}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<*xf32>)
    return
  }
}

// -----

func.func @no_context() {
  // expected-error@+1 {{'memref.alloc' op is in a function without a device context}}
  %0 = memref.alloc() : memref<4xf32>
  return
}

// -----

// A function of the user's has no stream: all must be done before.
// CHECK-LABEL:  func.func @outside
// CHECK-NOT:      tofuSynchronize
// CHECK:          tofu.call
// DEVICE-LABEL: func.func @outside
// DEVICE-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
// DEVICE:         llvm.call @tofuSynchronize(%[[CONTEXT]])
// DEVICE-NEXT:    tofu.call @cholesky
func.func @outside(%context: !llvm.ptr, %a: memref<4xf32>) {
  tofu.call @cholesky() into(%a : memref<4xf32>)
  return
}
func.func private @cholesky() -> tensor<4xf32>

// -----

// Nor does one without memory, of which each call may give something else.
// CHECK-LABEL:  func.func @outside_without_memory
// CHECK-NOT:      tofuSynchronize
// CHECK:          call @rand
// DEVICE-LABEL: func.func @outside_without_memory
// DEVICE-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
// DEVICE-NEXT:    llvm.call @tofuSynchronize(%[[CONTEXT]])
// DEVICE-NEXT:    call @rand
// DEVICE-NEXT:    call @inside
func.func @outside_without_memory(%context: !llvm.ptr) -> i32 {
  %0 = func.call @rand() : () -> i32
  func.call @inside() : () -> ()
  return %0 : i32
}
func.func private @rand() -> i32
func.func private @inside() {
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
