// Plans and their bytes on several meshes.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=1 print algorithm=recursive" 2>&1 >/dev/null | FileCheck %s --check-prefix=BYTES-1
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 print algorithm=recursive" 2>&1 >/dev/null | FileCheck %s --check-prefix=BYTES-2
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=3 print algorithm=recursive" 2>&1 >/dev/null | FileCheck %s --check-prefix=BYTES-3
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 print algorithm=recursive" 2>&1 >/dev/null | FileCheck %s --check-prefix=BYTES-4
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=6 print algorithm=recursive" 2>&1 >/dev/null | FileCheck %s --check-prefix=BYTES-6
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=1 algorithm=recursive" | FileCheck %s --check-prefix=ONE
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=recursive" | FileCheck %s --check-prefix=TWO
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 algorithm=recursive" | FileCheck %s --check-prefix=FOUR
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=6 algorithm=recursive" | FileCheck %s --check-prefix=SIX
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="mesh=node=3,gpu=2 algorithm=recursive" | FileCheck %s --check-prefix=NAMED
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=6 mesh=node=3,gpu=2 algorithm=recursive" | FileCheck %s --check-prefix=NAMED

// One device has no axes, six have three and two: the largest factor first.
// ONE: tofu.mesh @mesh []
// TWO: tofu.mesh @mesh [a0 = 2]
// FOUR: tofu.mesh @mesh [a0 = 2, a1 = 2]
// SIX: tofu.mesh @mesh [a0 = 3, a1 = 2]
// NAMED: tofu.mesh @mesh [node = 3, gpu = 2]

// A has 32 elements, B 24, the product 48. Over two devices, cutting
// m moves B (24 elements), n moves A (32), k combines the result (48).
// Over three m moves B twice. Over 2 x 2, m and n move 32 of A and 24 of B; m
// twice moves 72, m and k 24 + 48. Over 3 x 2, m and n move 32 of A and
// 6 * 12 - 24 of B. An element has four bytes.

// BYTES-1: plan of @matmul on 1 devices
// BYTES-1: total: 0 bytes
// BYTES-2: plan of @matmul on 2 devices
// BYTES-2: total: 96 bytes
// BYTES-3: plan of @matmul on 3 devices
// BYTES-3: total: 192 bytes
// BYTES-4: plan of @matmul on 4 devices
// BYTES-4: total: 224 bytes
// BYTES-6: plan of @matmul on 6 devices
// BYTES-6: total: 320 bytes

// ONE-LABEL: func.func @matmul(
// ONE-SAME: %{{.*}}: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {}]>}
// ONE: linalg.matmul
// ONE-SAME: tofu.layouts = [#tofu.layout<@mesh, [{}, {}]>]
// ONE-SAME: tofu.strategy = #tofu.strategy<@mesh, [{}, {}, {}]>

// TWO-LABEL: func.func @matmul(
// TWO-SAME: %{{.*}}: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>}
// TWO-SAME: -> (tensor<8x6xf32> {tofu.layout = #tofu.layout<@mesh, [{a0}, {}]>})
// TWO: linalg.matmul
// TWO-SAME: tofu.layouts = [#tofu.layout<@mesh, [{a0}, {}]>]
// TWO-SAME: tofu.strategy = #tofu.strategy<@mesh, [{a0}, {}, {}]>

// FOUR-LABEL: func.func @matmul(
// FOUR-SAME: -> (tensor<8x6xf32> {tofu.layout = #tofu.layout<@mesh, [{[[M:a[01]]]}, {[[N:a[01]]]}]>})
// FOUR: linalg.matmul
// FOUR-SAME: tofu.layouts = [#tofu.layout<@mesh, [{[[M]]}, {[[N]]}]>]
// FOUR-SAME: tofu.strategy = #tofu.strategy<@mesh, [{[[M]]}, {[[N]]}, {}]>

// SIX-LABEL: func.func @matmul(
// SIX-SAME: -> (tensor<8x6xf32> {tofu.layout = #tofu.layout<@mesh, [{a0}, {a1}]>})
// SIX: linalg.matmul
// SIX-SAME: tofu.strategy = #tofu.strategy<@mesh, [{a0}, {a1}, {}]>

// NAMED-LABEL: func.func @matmul(
// NAMED-SAME: -> (tensor<8x6xf32> {tofu.layout = #tofu.layout<@mesh, [{node}, {gpu}]>})
// NAMED: linalg.matmul
// NAMED-SAME: tofu.strategy = #tofu.strategy<@mesh, [{node}, {gpu}, {}]>

func.func @matmul(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x6xf32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// A chain of element-wise operations moves nothing.
// BYTES-2: plan of @elementwise on 2 devices
// BYTES-2: total: 0 bytes
// BYTES-6: plan of @elementwise on 6 devices
// BYTES-6: total: 0 bytes
func.func @elementwise(%a: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %0 = math.exp %a : tensor<12x12xf32>
  %1 = arith.addf %0, %a : tensor<12x12xf32>
  %2 = arith.negf %1 : tensor<12x12xf32>
  return %2 : tensor<12x12xf32>
}

// What is replicated needs 12 elements on each of two devices, and half of them
// are there: 2 * 6 * 4 bytes. Its result is cut for free.
// TWO-LABEL: func.func @replicated(
// TWO: tensor.extract_slice
// TWO-SAME: {tofu.layouts = [#tofu.layout<@mesh, [{a0}]>]}
// BYTES-2: plan of @replicated on 2 devices
// BYTES-2: tensor.extract_slice {{.*}} replicated {{.*}} 48 0
// BYTES-2: total: 48 bytes
func.func @replicated(%a: tensor<12xf32>, %i: index) -> tensor<4xf32> {
  %0 = tensor.extract_slice %a[0] [4] [%i] : tensor<12xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What is too small to be cut is whole. An unknown size is one to be cut.
// SIX-LABEL: func.func @not_cut(
// SIX-SAME: %{{.*}}: tensor<f32> {tofu.layout = #tofu.layout<@mesh, []>}
// SIX-SAME: %{{.*}}: tensor<1x1xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {}]>}
// SIX-SAME: %{{.*}}: tensor<2xf32> {tofu.layout = #tofu.layout<@mesh, [{a1}]>}
// SIX-SAME: %{{.*}}: tensor<?xf32> {tofu.layout = #tofu.layout<@mesh, [{a0, a1}]>}
// SIX-SAME: %{{[^:]*}}: index, %{{[^:]*}}: tensor<*xf32>)
// SIX: math.exp
// SIX-SAME: tofu.strategy = #tofu.strategy<@mesh, [{a1}]>
func.func @not_cut(%s: tensor<f32>, %one: tensor<1x1xf32>, %two: tensor<2xf32>, %dynamic: tensor<?xf32>,
                   %i: index, %unranked: tensor<*xf32>) -> (tensor<2xf32>, tensor<?xf32>) {
  %0 = math.exp %two : tensor<2xf32>
  return %0, %dynamic : tensor<2xf32>, tensor<?xf32>
}

// Nothing has no elements to move.
// BYTES-6: plan of @empty on 6 devices
// BYTES-6: total: 0 bytes
func.func @empty(%a: tensor<0x4xf32>, %b: tensor<4x6xf32>) -> tensor<0x6xf32> {
  %empty = tensor.empty() : tensor<0x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<0x4xf32>, tensor<4x6xf32>) outs(%empty : tensor<0x6xf32>) -> tensor<0x6xf32>
  return %0 : tensor<0x6xf32>
}

// What a fill writes over is not read: %a is only read by exp.
// BYTES-2: plan of @fill_over on 2 devices
// BYTES-2: total: 0 bytes
func.func @fill_over(%a: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 1.0 : f32
  %0 = linalg.fill ins(%c0 : f32) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  %1 = math.exp %a : tensor<8xf32>
  %2 = arith.addf %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A private function has no plan of its own.
// TWO-LABEL: func.func private @not_planned(
// TWO-SAME: %{{[^:]*}}: tensor<8xf32>) -> tensor<8xf32> {
func.func private @not_planned(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
