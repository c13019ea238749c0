// Plans as tables.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 print charge=per-use algorithm=recursive" -o /dev/null 2>&1 | FileCheck %s
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 print charge=per-use algorithm=recursive" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOUR

// The numbers after the layouts of all lines, compared with the totals.
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=6 print algorithm=recursive" -o /dev/null 2> %t.one
// RUN: tofu-opt %S/../Execution/Inputs/mlp_train.mlir -tofu-annotate -tofu-plan="devices=6 algorithm=random seed=4 print" -o /dev/null 2> %t.two
// RUN: cat %t.one %t.two | awk '/^plan of/ { sum = 0 } match($0, /[])-] +[0-9]+ +[0-9]+ +[-+]/) { split(substr($0, RSTART + 1), n, " "); sum += n[1] + n[2] } \
// RUN:   /^  total:/ { print sum == $2 ? "same" : "other" }' | FileCheck %s --check-prefix=SUMS
// SUMS-COUNT-6: same
// SUMS-NOT: other

// The plan as a table: one line per operator, or for a run of them that differ in
// nothing but their place; the lines sum to the total.

// FOUR: plan of @layer on 4 devices (a0 = 2, a1 = 2); bytes are received, summed over devices

// B's 24 elements move, then all that the slice could need, 48 elements. Cut
// along the 4 instead, half of each part of A would move, 16 elements, and half
// of each partial result, 48, but none of B. Cutting an element-wise operator
// otherwise moves half of its parts to it and from it, 24 elements each time.
// CHECK: plan of @layer on 2 devices (a0 = 2); bytes are received, summed over devices
// CHECK-NEXT: where operator iteration space strategy result layout operand bytes result bytes runner-up costs runner-up
// CHECK-NEXT: :[[@LINE+11]] linalg.matmul 8x6x4 [a0 - -] [a0 -] 96 0 +160 [- - a0]
// CHECK-NEXT: act math.exp x3 8x6 [a0 -] [a0 -] 0 0 +192 [- a0]
// CHECK-NEXT: callee tensor.extract_slice - replicated [{{a0 -|- a0}}] 192 0 - -
// CHECK-NEXT: total: 288 bytes
// Of A 16 elements, of B 12, 24 of the whole values that the slice takes and their
// 48, and the 24 that it gives.
// CHECK-NEXT: memory: 496 bytes per device, most at callee tensor.extract_slice
func.func @layer(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %i: index) -> tensor<4x6xf32> {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x6xf32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = math.exp %0 : tensor<8x6xf32> loc("act")
  %2 = math.exp %1 : tensor<8x6xf32>
  %3 = math.exp %2 : tensor<8x6xf32>
  %4 = tensor.extract_slice %3[0, 0] [4, 6] [%i, 1] : tensor<8x6xf32> to tensor<4x6xf32> loc(callsite("callee" at "caller"))
  return %4 : tensor<4x6xf32>
}

// A reduction to one element: each of two devices gets one from the other, or
// one does and sends the result.
// CHECK: plan of @scalar on 2 devices
// CHECK-NEXT: where
// CHECK-NEXT: :[[@LINE+7]] linalg.reduce 8 [a0] [] 0 8
// CHECK-NEXT: total: 8 bytes
// CHECK-NEXT: memory: 24 bytes per device, most at :[[@LINE+5]] linalg.reduce
func.func @scalar(%a: tensor<8xf32>) -> tensor<f32> {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8xf32>) outs(%zeros : tensor<f32>) dimensions = [0]
  return %0 : tensor<f32>
}

// Each is carried to the other, and added in transposed form: either both lie
// alike, and each of three uses moves 8 elements, or each moves 8 when it is
// carried.
// CHECK: plan of @swap on 2 devices
// CHECK-NEXT: where
// CHECK-NEXT: linalg.generic x3 4x4 [{{.*}}] [{{.*}}] 0 0
// CHECK-NEXT: - carried value [{{a0 -|- a0}}] 32 0 - -
// CHECK-NEXT: - carried value [{{a0 -|- a0}}] 32 0 - -
// CHECK-NEXT: total: 64 bytes
#id = affine_map<(m, n) -> (m, n)>
#swapped = affine_map<(m, n) -> (n, m)>
func.func @swap(%a: tensor<4x4xf32> {tofu.carried_to = 1}, %b: tensor<4x4xf32> {tofu.carried_to = 0})
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %empty = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #swapped, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #swapped, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.mulf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #swapped, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %a, %b, %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// A function without operators has nothing to move.
// CHECK: plan of @nothing on 2 devices
// CHECK-NEXT: where
// CHECK-NEXT: total: 0 bytes
// CHECK-NEXT: memory: 0 bytes per device{{$}}
func.func @nothing() {
  return
}

func.func private @cholesky(tensor<4x3x3xf32>) -> tensor<4x3x3xf32> attributes {
  tofu.semantics = #tofu.semantics<[b = 4], (mat[b, :, :]) -> (out[b, :, :])>
}

// CHECK: plan of @calls
// CHECK: :[[@LINE+2]] func.call @cholesky 4 [a0] [a0 - -] 0 0 - -
func.func @calls(%a: tensor<4x3x3xf32>) -> tensor<4x3x3xf32> {
  %0 = call @cholesky(%a) : (tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
  return %0 : tensor<4x3x3xf32>
}
