// What tofu's operations on tensors become on buffers.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

tofu.mesh @mesh[x = 2]

#mm = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]

// The operand is read, the result is memory of its own.
// CHECK-LABEL: func.func @gather
// CHECK:         %[[TO:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK:         tofu.collective all_gather %{{.*}}, %[[TO]] from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8]
// CHECK:         return %{{.*}}, %[[TO]]
func.func @gather(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %0 = tofu.all_gather %a from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : tensor<4xf32> -> tensor<8xf32>
  return %a, %0 : tensor<4xf32>, tensor<8xf32>
}

// The size of an uneven shard.
// CHECK-LABEL: func.func @uneven
// CHECK:         %[[SIZE:.*]] = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}]> in [5]
// CHECK:         memref.alloc(%[[SIZE]])
// CHECK:         tofu.collective fetch
func.func @uneven(%a: tensor<5xf32>) -> tensor<?xf32> {
  %0 = tofu.fetch %a from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{x}]> in [5] : tensor<5xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// What the output held is not read: nothing is copied.
// CHECK-LABEL: func.func @contract
// CHECK-NOT:     memref.copy
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} maps
func.func @contract(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32> {bufferization.writable = false})
    -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %0 = tofu.contract %a, %b into %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return %c, %0 : tensor<8x6xf32>, tensor<8x6xf32>
}

// CHECK-LABEL: func.func @epilogue
// CHECK-SAME:    %{{.*}}, %{{.*}}, %[[D:[a-z0-9]+]]: memref<6xf32
// CHECK-NOT:     memref.copy
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} bias %[[D]] activation relu maps [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}]
func.func @epilogue(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %d: tensor<6xf32>) -> tensor<8x6xf32> {
  %c = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %c bias %d activation relu
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>, tensor<6xf32> -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// CHECK-LABEL: func.func @accumulate
// CHECK:         memref.copy
// CHECK:         tofu.contract accumulate
func.func @accumulate(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32> {bufferization.writable = false})
    -> tensor<8x6xf32> {
  %0 = tofu.contract accumulate %a, %b into %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

func.func private @outside(tensor<8x4xf32>) -> tensor<8x4xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8, n = 4], (a[m, n]) -> (r[m, n])>
}

// A function gets elements that lie one after the other; what its results held is not read.
// CHECK-LABEL: func.func @call
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<8x4xf32
// CHECK:         %[[VIEW:.*]] = memref.subview %[[A]]
// CHECK:         %[[OUT:.*]] = memref.alloc() {{.*}} : memref<8x2xf32>
// CHECK:         %[[COPY:.*]] = memref.alloc() {{.*}} : memref<8x2xf32>
// CHECK-NEXT:    memref.copy %[[VIEW]], %[[COPY]]
// CHECK-NEXT:    tofu.call @outside(%[[COPY]] : memref<8x2xf32>) into(%[[OUT]] : memref<8x2xf32>){{$}}
func.func @call(%a: tensor<8x4xf32>, %b: tensor<8x2xf32> {bufferization.writable = false}) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  %0 = tensor.extract_slice %a[0, 1] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %1 = tofu.call @outside(%0 : tensor<8x2xf32>) into(%b : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %b, %1 : tensor<8x2xf32>, tensor<8x2xf32>
}

// Where nothing may be called it is: so it is copied, here and there.
// CHECK-LABEL: func.func @condition
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<8x4xf32
// CHECK:         %[[VIEW:.*]] = memref.subview %[[A]]
// CHECK:         memref.copy %[[VIEW]], %[[COPY:[a-z0-9_]+]] :
// CHECK-NEXT:    tofu.call @outside({{.*}}) into(%[[COPY]] : memref<8x2xf32>) if %{{.*}}
// CHECK-NEXT:    memref.copy %[[COPY]], %[[VIEW]]
func.func @condition(%a: tensor<8x4xf32>, %b: tensor<8x2xf32>, %c: i1) -> tensor<8x4xf32> {
  %0 = tensor.extract_slice %a[0, 1] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %1 = tofu.call @outside(%b : tensor<8x2xf32>) into(%0 : tensor<8x2xf32>) if %c -> tensor<8x2xf32>
  %2 = tensor.insert_slice %1 into %a[0, 1] [8, 2] [1, 1] : tensor<8x2xf32> into tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
