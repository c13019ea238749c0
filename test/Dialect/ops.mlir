// Operations print as they are parsed.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s | tofu-opt | FileCheck %s
// RUN: tofu-opt -mlir-print-op-generic %s | tofu-opt | FileCheck %s
// RUN: tofu-opt -emit-bytecode %s | tofu-opt | FileCheck %s

// Every operation prints as it is parsed, from the pretty, the generic and the
// bytecode form.

// CHECK: tofu.mesh @mesh [x = 2, y = 3]
tofu.mesh @mesh [x = 2, y = 3]

// One device is a mesh without axes.
// CHECK-NEXT: tofu.mesh @one []
tofu.mesh @one []

// CHECK-NEXT: tofu.mesh @odd ["an axis" = 4] {note = "any name will do"}
tofu.mesh @odd ["an axis" = 4] {note = "any name will do"}

// CHECK-LABEL: func.func @device_id
func.func @device_id() -> index {
  // CHECK-NEXT: %[[ID:.*]] = tofu.device_id : index
  %0 = tofu.device_id : index
  // CHECK-NEXT: return %[[ID]] : index
  return %0 : index
}

// CHECK-LABEL: func.func @shard_bounds
func.func @shard_bounds() -> (index, index, index) {
  // CHECK-NEXT: tofu.shard_offset 0 of #tofu.layout<@mesh, [{x, y}, {}]> in [66, 4] : index
  %0 = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x, y}, {}]> in [66, 4] : index
  // CHECK-NEXT: tofu.shard_size 1 of #tofu.layout<@mesh, [{}, {y}]> in [66, 4] : index
  %1 = tofu.shard_size 1 of #tofu.layout<@mesh, [{}, {y}]> in [66, 4] : index
  // CHECK-NEXT: tofu.shard_size 0 of #tofu.boxes<@mesh, [g = 3 {y}, i = 22], [g * 22 + i, :]> in [66, 4] : index
  %2 = tofu.shard_size 0 of #tofu.boxes<@mesh, [g = 3 {y}, i = 22], [g * 22 + i, :]> in [66, 4] : index
  return %0, %1, %2 : index, index, index
}

// CHECK-LABEL: func.func @reshard
// CHECK-SAME: %[[X:.*]]: tensor<66x4xf32>
func.func @reshard(%x: tensor<66x4xf32>) -> tensor<66x4xf32> {
  // CHECK-NEXT: %[[R:.*]] = tofu.reshard %[[X]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [66, 4] {hint = 1 : i64} : tensor<66x4xf32> -> tensor<66x4xf32>
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [66, 4] {hint = 1 : i64} : tensor<66x4xf32> -> tensor<66x4xf32>
  // CHECK-NEXT: return %[[R]]
  return %0 : tensor<66x4xf32>
}

// A localized reshard has local types; a dim is `?` where sizes differ: 4
// columns over x = 2 are 2 each, 67 rows are 34 and 33.
// CHECK-LABEL: func.func @local_reshard
func.func @local_reshard(%x: tensor<?x4xf32>) -> tensor<67x2xf32> {
  // CHECK-NEXT: tofu.reshard %{{.*}} from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [67, 4] : tensor<?x4xf32> -> tensor<67x2xf32>
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [67, 4] : tensor<?x4xf32> -> tensor<67x2xf32>
  return %0 : tensor<67x2xf32>
}

// A reshard may leave a value partial over some of its axes.
// CHECK-LABEL: func.func @reshard_of_partial
func.func @reshard_of_partial(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: tofu.reshard %{{.*}} from #tofu.layout<@mesh, [{}], max {x, y}> to #tofu.layout<@mesh, [{}], max {y}> in [8] : tensor<8xf32> -> tensor<8xf32>
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{}], max {x, y}> to #tofu.layout<@mesh, [{}], max {y}> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @all_reduce
func.func @all_reduce(%x: tensor<33x4xf32>, %s: tensor<i64>) -> (tensor<33x4xf32>, tensor<i64>) {
  // CHECK-NEXT: tofu.all_reduce %{{.*}} from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x}, {}]> in [66, 4] : tensor<33x4xf32> -> tensor<33x4xf32>
  %0 = tofu.all_reduce %x from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x}, {}]> in [66, 4] : tensor<33x4xf32> -> tensor<33x4xf32>
  // CHECK-NEXT: tofu.all_reduce %{{.*}} from #tofu.layout<@mesh, [], maxui {x, y}> to #tofu.layout<@mesh, []> in [] : tensor<i64> -> tensor<i64>
  %1 = tofu.all_reduce %s from #tofu.layout<@mesh, [], maxui {x, y}> to #tofu.layout<@mesh, []> in [] : tensor<i64> -> tensor<i64>
  return %0, %1 : tensor<33x4xf32>, tensor<i64>
}

// 66 rows over x are 33; over x and y they are 11.
// CHECK-LABEL: func.func @reduce_scatter
func.func @reduce_scatter(%x: tensor<33x4xf32>) -> tensor<11x4xf32> {
  // CHECK-NEXT: tofu.reduce_scatter %{{.*}} from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x, y}, {}]> in [66, 4] : tensor<33x4xf32> -> tensor<11x4xf32>
  %0 = tofu.reduce_scatter %x from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{x, y}, {}]> in [66, 4] : tensor<33x4xf32> -> tensor<11x4xf32>
  return %0 : tensor<11x4xf32>
}

// CHECK-LABEL: func.func @all_gather
func.func @all_gather(%x: tensor<11x4xf32>) -> tensor<33x4xf32> {
  // CHECK-NEXT: tofu.all_gather %{{.*}} from #tofu.layout<@mesh, [{x, y}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [66, 4] : tensor<11x4xf32> -> tensor<33x4xf32>
  %0 = tofu.all_gather %x from #tofu.layout<@mesh, [{x, y}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [66, 4] : tensor<11x4xf32> -> tensor<33x4xf32>
  return %0 : tensor<33x4xf32>
}

// CHECK-LABEL: func.func @all_to_all
func.func @all_to_all(%x: tensor<33x4xf32>) -> tensor<66x2xf32> {
  // CHECK-NEXT: tofu.all_to_all %{{.*}} from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [66, 4] : tensor<33x4xf32> -> tensor<66x2xf32>
  %0 = tofu.all_to_all %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [66, 4] : tensor<33x4xf32> -> tensor<66x2xf32>
  return %0 : tensor<66x2xf32>
}

// Halos: output rows 0..2 and 3..5 of a window of 3 over 8 rows need rows 0..4
// and 3..7.
// CHECK-LABEL: func.func @fetch
func.func @fetch(%x: tensor<4xf32>) -> tensor<5xf32> {
  // CHECK-NEXT: tofu.fetch %{{.*}} from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [r = 6 {x}, w = 3], [r + w]> in [8] : tensor<4xf32> -> tensor<5xf32>
  %0 = tofu.fetch %x from #tofu.layout<@mesh, [{x}]> to #tofu.boxes<@mesh, [r = 6 {x}, w = 3], [r + w]> in [8] : tensor<4xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Sizes that are known only when the program runs.
// CHECK-LABEL: func.func @stack
func.func @stack(%x: tensor<8xf32>) -> tensor<8x2xf32> {
  // CHECK-NEXT: tofu.stack %{{.*}} at 1 from <@mesh, [{y}], region {x}> to <@mesh, [{y}, {x}]> : tensor<8xf32> -> tensor<8x2xf32>
  %0 = tofu.stack %x at 1 from <@mesh, [{y}], region {x}> to <@mesh, [{y}, {x}]> : tensor<8xf32> -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// CHECK-LABEL: func.func @unknown_sizes
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[N:.*]]: index, %[[A:.*]]: memref<?x4xf32>, %[[B:.*]]: memref<?x4xf32>
func.func @unknown_sizes(%x: tensor<?x4xf32>, %n: index, %a: memref<?x4xf32>, %b: memref<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, index, index) {
  // CHECK-NEXT: tofu.reshard %[[X]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [%[[N]], 4] : tensor<?x4xf32> -> tensor<?x4xf32>
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {x}]> in [%n, 4] : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK-NEXT: tofu.all_gather %[[X]] from #tofu.layout<@mesh, [{x, y}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [%[[N]], 4] : tensor<?x4xf32> -> tensor<?x4xf32>
  %1 = tofu.all_gather %x from #tofu.layout<@mesh, [{x, y}, {}]> to #tofu.layout<@mesh, [{x}, {}]> in [%n, 4] : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK-NEXT: tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}, {}]> in [%[[N]], 4] : index
  %2 = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}, {}]> in [%n, 4] : index
  // CHECK-NEXT: tofu.shard_size 1 of #tofu.boxes<@mesh, [g = ? {x}, i = 3], [:, g * 3 + i]> in [4, %[[N]]] : index
  %3 = tofu.shard_size 1 of #tofu.boxes<@mesh, [g = ? {x}, i = 3], [:, g * 3 + i]> in [4, %n] : index
  // CHECK-NEXT: tofu.collective all_gather %[[A]], %[[B]] from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {}]> in [%[[N]], 4] : memref<?x4xf32>, memref<?x4xf32>
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {}]> in [%n, 4] : memref<?x4xf32>, memref<?x4xf32>
  return %0, %1, %2, %3 : tensor<?x4xf32>, tensor<?x4xf32>, index, index
}

// CHECK-LABEL: func.func @collective
func.func @collective(%a: memref<33x4xf32>, %b: memref<66x4xf32, strided<[?, 1], offset: ?>>) {
  // CHECK-NEXT: tofu.collective all_gather %{{.*}}, %{{.*}} from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {}]> in [66, 4] : memref<33x4xf32>, memref<66x4xf32, strided<[?, 1], offset: ?>>
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {}]> in [66, 4] : memref<33x4xf32>, memref<66x4xf32, strided<[?, 1], offset: ?>>
  return
}

// CHECK-LABEL: func.func @epilogue
func.func @epilogue(%a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>, %d: memref<6xf32>) {
  // CHECK: tofu.contract %{{.*}}, %{{.*}} into %{{.*}} bias %{{.*}} activation gelu_tanh maps [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}] : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>, memref<6xf32>
  tofu.contract %a, %b into %c bias %d activation gelu_tanh
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>, memref<6xf32>
  // CHECK: tofu.contract accumulate %{{.*}}, %{{.*}} into %{{.*}} activation relu maps [#{{.*}}, #{{.*}}, #{{.*}}] : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>
  tofu.contract accumulate %a, %b into %c activation relu
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>
  return
}

// CHECK-LABEL: func.func @contract
func.func @contract(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>, %m: memref<8x6xf32>) -> tensor<8x6xf32> {
  // CHECK: tofu.contract %{{.*}}, %{{.*}} into %{{.*}} maps [#{{.*}}, #{{.*}}, #{{.*}}] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  // CHECK: tofu.contract accumulate %{{.*}}, %{{.*}} into %{{.*}} maps [#{{.*}}, #{{.*}}, #{{.*}}] : tensor<8x4xf32>, tensor<4x6xf32>, memref<8x6xf32>
  tofu.contract accumulate %a, %b into %m
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, memref<8x6xf32>
  return %0 : tensor<8x6xf32>
}

func.func private @outside(tensor<8x6xf32>, f32, tensor<2xf32>) -> (tensor<6xf32>, tensor<6xf32>) attributes {
  tofu.semantics = #tofu.semantics<[m = 8 : sum, n = 6], (a[m, n], _) -> (r[n], s[n])>
}
func.func private @nothing()

// Dims that may be cut have any size, operands that aren't read too.
// CHECK-LABEL: func.func @call
func.func @call(%a: tensor<3x5xf32>, %f: f32, %u: tensor<0xf32>, %r: tensor<5xf32>, %s: tensor<5xf32>, %c: i1, %m: memref<?x6xf32>, %n: memref<?xf32>) {
  // CHECK-NEXT: %{{.*}}:2 = tofu.call @outside(%{{.*}}, %{{.*}}, %{{.*}} : tensor<3x5xf32>, f32, tensor<0xf32>) into(%{{.*}}, %{{.*}} : tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>, tensor<5xf32>
  %0:2 = tofu.call @outside(%a, %f, %u : tensor<3x5xf32>, f32, tensor<0xf32>) into(%r, %s : tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>, tensor<5xf32>
  // CHECK-NEXT: tofu.call @outside(%{{.*}}, %{{.*}}, %{{.*}} : memref<?x6xf32>, f32, memref<?xf32>) into(%{{.*}}, %{{.*}} : memref<?xf32>, memref<?xf32>) if %{{.*$}}
  tofu.call @outside(%m, %f, %n : memref<?x6xf32>, f32, memref<?xf32>) into(%n, %n : memref<?xf32>, memref<?xf32>) if %c
  // CHECK-NEXT: tofu.call @nothing() into(){{$}}
  tofu.call @nothing() into()
  return
}

// CHECK-LABEL: func.func @global_memory
func.func @global_memory(%n: index) -> (i1, i1) {
  // CHECK-NEXT: tofu.global_memory "state" : memref<4xf32>
  %0, %1 = tofu.global_memory "state" : memref<4xf32>
  // CHECK-NEXT: tofu.global_memory "a weight"(%{{.*}}) : memref<?x4xf32>
  %2, %3 = tofu.global_memory "a weight"(%n) : memref<?x4xf32>
  return %1, %3 : i1, i1
}
