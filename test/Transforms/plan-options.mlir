// What the options of tofu-plan change.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 print" -o %t.default 2> %t.default.txt
// RUN: FileCheck %s --check-prefix=CUT --input-file=%t.default
// RUN: FileCheck %s --check-prefix=ONCE --input-file=%t.default.txt
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 charge=per-use print" 2>&1 >/dev/null | FileCheck %s --check-prefix=PER-USE
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 replication print" -o %t.replication 2> %t.replication.txt
// RUN: FileCheck %s --check-prefix=REPLICATION --input-file=%t.replication
// RUN: FileCheck %s --check-prefix=REPLICATION-BYTES --input-file=%t.replication.txt
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 partials print" -o %t.partials 2> %t.partials.txt
// RUN: FileCheck %s --check-prefix=PARTIALS --input-file=%t.partials
// RUN: FileCheck %s --check-prefix=PARTIALS-BYTES --input-file=%t.partials.txt

// The 24 elements of B (96 bytes) move once for both products if they are
// charged as they move, twice if they are charged for each use. A weight that
// may be whole needn't move.
// ONCE: plan of @two_uses
// ONCE: total: 96 bytes
// PER-USE: plan of @two_uses
// PER-USE: total: 192 bytes
// CUT-LABEL: func.func @two_uses(
// CUT-SAME: %{{[^:]*}}: tensor<8x4xf32> {{[^:]*}}: tensor<8x4xf32> {{[^:]*}}: tensor<4x6xf32> {tofu.layout = #tofu.layout<@mesh, [{{({a0}, {}|{}, {a0})}}]>}
// REPLICATION-BYTES: plan of @two_uses
// REPLICATION-BYTES: total: 0 bytes
// REPLICATION-LABEL: func.func @two_uses(
// REPLICATION-SAME: %{{[^:]*}}: tensor<8x4xf32> {{[^:]*}}: tensor<8x4xf32> {{[^:]*}}: tensor<4x6xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {}]>}
func.func @two_uses(%a: tensor<8x4xf32>, %c: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x6xf32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = linalg.matmul ins(%c, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}

// Two products over a long k are combined one by one, 16 elements each, or
// added while they are partial and then combined, once.
// ONCE: plan of @sum_of_products
// ONCE: total: 128 bytes
// PARTIALS-BYTES: plan of @sum_of_products
// PARTIALS-BYTES: total: 64 bytes
// CUT-LABEL: func.func @sum_of_products(
// CUT-COUNT-2: linalg.matmul {tofu.layouts = [#tofu.layout<@mesh, [{{({a0}, {}|{}, {a0})}}]>]
// CUT: linalg.map
// CUT-NOT: partial
// CUT: return
// PARTIALS-LABEL: func.func @sum_of_products(
// PARTIALS-SAME: -> (tensor<4x4xf32> {tofu.layout = #tofu.layout<@mesh, [{{({a0}, {}|{}, {a0})}}]>})
// PARTIALS-COUNT-2: linalg.matmul {tofu.layouts = [#tofu.layout<@mesh, [{}, {}], sum {a0}>]{{.*}} tofu.strategy = #tofu.strategy<@mesh, [{}, {}, {a0}]>}
// PARTIALS: linalg.map
// PARTIALS-SAME: tofu.layouts = [#tofu.layout<@mesh, [{{({a0}, {}|{}, {a0})}}]>]
// PARTIALS-SAME: tofu.strategy = #tofu.strategy<@mesh, [{}, {}], partial {a0} in [0, 1]>
func.func @sum_of_products(%a: tensor<4x64xf32>, %b: tensor<64x4xf32>, %c: tensor<4x64xf32>, %d: tensor<64x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x64xf32>, tensor<64x4xf32>) outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%c, %d : tensor<4x64xf32>, tensor<64x4xf32>) outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.map { arith.addf } ins(%0, %1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>)
  return %2 : tensor<4x4xf32>
}

// A function gives whole values: what it returns is never partial, nor is a
// maximum, which doesn't add up. Two devices combine one element: each
// gets one, or one gets it and sends it back.
// PARTIALS-LABEL: func.func @maximum(
// PARTIALS: linalg.reduce
// PARTIALS-SAME: tofu.layouts = [#tofu.layout<@mesh, []>]
// PARTIALS-SAME: tofu.strategy = #tofu.strategy<@mesh, [{a0}]>
// PARTIALS-BYTES: plan of @maximum
// PARTIALS-BYTES: total: 8 bytes
func.func @maximum(%a: tensor<64xf32>) -> tensor<f32> {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<64xf32>) outs(%zeros : tensor<f32>) dimensions = [0]
  %1 = math.exp %0 : tensor<f32>
  return %1 : tensor<f32>
}

// PARTIALS-LABEL: func.func @returned(
// PARTIALS-SAME: -> (tensor<f32> {tofu.layout = #tofu.layout<@mesh, []>})
// PARTIALS: linalg.reduce
// PARTIALS-SAME: tofu.layouts = [#tofu.layout<@mesh, []>]
func.func @returned(%a: tensor<64xf32>) -> tensor<f32> {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<64xf32>) outs(%zeros : tensor<f32>) dimensions = [0]
  return %0 : tensor<f32>
}
