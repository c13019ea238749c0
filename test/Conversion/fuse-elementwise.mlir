// What is fused, and what would repeat work.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-fuse-elementwise | FileCheck %s
// RUN: tofu-opt %s --tofu-fuse-elementwise=rows=true | FileCheck %s --check-prefix=ROWS

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#id1 = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @chain
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK-NEXT:      arith.negf
// CHECK-NOT:     linalg.generic
func.func @chain(%a: tensor<4x8xf32>, %e: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Nor are producers kept whose results are only a place to write to, of whatever
// size: element-wise operations on tensors are lowered like that.
// CHECK-LABEL: func.func @places
// CHECK-SAME:    %[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<?x8xf32>
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[A]]
// CHECK:         %[[PLACE:.*]] = tensor.empty(%[[SIZE]])
// CHECK:         linalg.generic {{.*}} outs(%[[PLACE]] : tensor<?x8xf32>)
// CHECK:           arith.mulf
// CHECK-NEXT:      arith.negf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @places(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x8xf32>, tensor<?x8xf32>) outs(%a : tensor<?x8xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %y = arith.mulf %x, %z : f32
    linalg.yield %y : f32
  } -> tensor<?x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<?x8xf32>) outs(%0 : tensor<?x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// An exponential per row is not computed once per element.
// CHECK-LABEL: func.func @broadcast
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK:         linalg.generic
// CHECK:           arith.mulf
func.func @broadcast(%a: tensor<4xf32>, %b: tensor<4x8xf32>, %e: tensor<4xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %b : tensor<4xf32>, tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %y = arith.mulf %x, %z : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// A producer with two users is computed with the first of them.
// CHECK-LABEL: func.func @stands_in
// CHECK:         %[[BOTH:.*]]:2 = linalg.generic
// CHECK:           %[[E:.*]] = math.exp
// CHECK-NEXT:      %[[N:.*]] = arith.negf %[[E]]
// CHECK-NEXT:      linalg.yield %[[E]], %[[N]]
// CHECK:         return %[[BOTH]]#0, %[[BOTH]]#1
func.func @stands_in(%a: tensor<4x8xf32>, %e: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Unless that only widens it: those that read that will read what it reads.
// CHECK-LABEL: func.func @widens
// CHECK:         %[[E:.*]] = linalg.generic
// CHECK:           math.exp
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%[[E]] : tensor<4x8xbf16>)
// CHECK:           arith.extf
// CHECK:         linalg.generic {{.*}} ins(%[[E]], %[[S]] : tensor<4x8xbf16>, tensor<4xf32>)
// CHECK:           arith.extf
// CHECK:           arith.mulf
// CHECK-NOT:     linalg.generic
// CHECK:         return %{{.*}}, %[[E]]
func.func @widens(%a: tensor<4x8xbf16>, %e: tensor<4x8xbf16>, %f: tensor<4x8xf32>, %g: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xbf16>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xbf16>) outs(%e : tensor<4x8xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %y = math.exp %x : bf16
    linalg.yield %y : bf16
  } -> tensor<4x8xbf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x8xbf16>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%x: bf16, %o: f32):
    %y = arith.extf %x : bf16 to f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%1 : tensor<4x8xf32>) outs(%g : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2 : tensor<4x8xf32>, tensor<4xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %y = arith.mulf %x, %s : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  return %3, %0 : tensor<4x8xf32>, tensor<4x8xbf16>
}

// Numbers that are the same everywhere and repeated inputs become one.
// CHECK-LABEL: func.func @inputs
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : tensor<4x8xf32>)
// CHECK-NEXT:    ^bb0(%[[X:[a-z0-9]+]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      arith.mulf %[[X]], %[[X]]
func.func @inputs(%a: tensor<4x8xf32>, %e: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = arith.constant dense<2.0> : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// The index of a maximum that nobody asks for.
// CHECK-LABEL: func.func @dead_index
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4xf32>)
// CHECK-NOT:     linalg.index
func.func @dead_index(%a: tensor<4x8xf32>, %e: tensor<4xf32>, %f: tensor<4xi32>) -> tensor<4xf32> {
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x8xf32>) outs(%e, %f : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%x: f32, %m: f32, %i: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %n = arith.maximumf %x, %m : f32
    %c = arith.cmpf ogt, %x, %m : f32
    %s = arith.select %c, %k, %i : i32
    linalg.yield %n, %s : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %0#0 : tensor<4xf32>
}

// An assertion holds for every element, also where only one is read.
// CHECK-LABEL: func.func @assertion
// CHECK:         linalg.generic
// CHECK:           cf.assert
// CHECK:         linalg.generic
func.func @assertion(%a: tensor<4xf32>, %e: tensor<4xf32>, %f: tensor<4xf32>, %good: i1) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    cf.assert %good, "bad"
    linalg.yield %x : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (0)>, #id1], iterator_types = ["parallel"]}
      ins(%0 : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// With `rows`, what a group over the same rows alone reads is computed by each of
// its operations; not what something else reads too.
// ROWS-LABEL: func.func @rows(
// ROWS-SAME:    %[[A:[a-z0-9]+]]: tensor<8x9xf32>,
// ROWS:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<8x9xf32>)
// ROWS:           math.exp
// ROWS-NEXT:      arith.addf
// ROWS:         linalg.generic {{.*}} ins(%[[A]], %[[SUM]] :
// ROWS:           math.exp
// ROWS-NEXT:      arith.divf
// ROWS:         return
// CHECK-LABEL: func.func @rows(
// CHECK:         math.exp
// CHECK-NOT:     math.exp
// CHECK:         return
func.func @rows(%a: tensor<8x9xf32>, %e: tensor<8x9xf32>, %s: tensor<8xf32>) -> tensor<8x9xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x9xf32>) outs(%e : tensor<8x9xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<8x9xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<8x9xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %1 : tensor<8x9xf32>, tensor<8xf32>) outs(%e : tensor<8x9xf32>) {
  ^bb0(%x: f32, %t: f32, %o: f32):
    %y = arith.divf %x, %t : f32
    linalg.yield %y : f32
  } -> tensor<8x9xf32>
  return %2 : tensor<8x9xf32>
}

// ROWS-LABEL: func.func @read_elsewhere(
// ROWS:         math.exp
// ROWS-NOT:     math.exp
// ROWS:         return
func.func @read_elsewhere(%a: tensor<8x9xf32>, %e: tensor<8x9xf32>, %s: tensor<8xf32>) -> (tensor<8x9xf32>, tensor<8xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x9xf32>) outs(%e : tensor<8x9xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<8x9xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<8x9xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8x9xf32>, tensor<8xf32>
}
