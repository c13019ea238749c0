// What the algorithms of tofu-plan make of a training step.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 charge=per-use print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=kbest charge=per-use print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=data-parallel print json=%t.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DATA
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=megatron print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEGATRON
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=icml18 print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ICML18
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 algorithm=equal-chop" | FileCheck %s --check-prefix=EQUAL
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=all-row-greedy print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=spartan print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SPARTAN
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=random seed=1" -o %t.one
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=random seed=1" -o %t.again
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=random seed=2" -o %t.two
// RUN: cmp %t.one %t.again
// RUN: not cmp %t.one %t.two
// RUN: tofu-opt %t.two -tofu-insert-reshards -tofu-localize -tofu-lower-reshards -o /dev/null

// A batch of 4 and a weight of 8x6. Cut along the 8, the first product is
// combined into a cut y, the second fetches the other half of dy: 24 elements of
// 4 bytes each time. Data parallelism combines the gradient, 48 elements there
// and back.
// RECURSIVE: total: 192 bytes
// DATA: total: 384 bytes
// JSON: "algorithm": "data-parallel"

// There is but one weight. With it and what comes from it cut along the 6, each
// device fetches the half of x, 16 elements, once for both products. By rows,
// it does so too, and combines y and fetches dy, 24 elements each; starting from
// the largest, the weight, x is cut as its rows need it.
// MEGATRON: remark: no two products with weights share a dim that could be cut within a block: the plan is that of data parallelism
// MEGATRON: total: 384 bytes
// ICML18: total: 128 bytes
// EQUAL-NOT: {{[{]a[01][}]}}
// EQUAL: {a0, a1}
// EQUAL-NOT: {{[{]a[01][}]}}
// EQUAL: return
// ROWS: linalg.matmul 4x6x8 [- - a0] [a0 -] 64 96
// ROWS: linalg.matmul 8x6x4 [a0 - -] [a0 -] 96 0
// ROWS: total: 256 bytes
// SPARTAN: total: 192 bytes
func.func @step(%w: tensor<8x6xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<4x8xf32>, %t: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  %dy = linalg.sub ins(%y, %t : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %ew = tensor.empty() : tensor<8x6xf32>
  %zw = linalg.fill ins(%zero : f32) outs(%ew : tensor<8x6xf32>) -> tensor<8x6xf32>
  %dw = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %dy : tensor<4x8xf32>, tensor<4x6xf32>) outs(%zw : tensor<8x6xf32>) -> tensor<8x6xf32>
  %new = linalg.sub ins(%w, %dw : tensor<8x6xf32>, tensor<8x6xf32>) outs(%ew : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %new : tensor<8x6xf32>
}
