// Semantics of reductions.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate | FileCheck %s

// How the parts of a reduction combine, and where they don't.

#id2 = affine_map<(m, k) -> (m, k)>
#rows = affine_map<(m, k) -> (m)>

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @floats(
func.func @floats(%a: tensor<8x4xf32>, %out: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: linalg.reduce { arith.addf {{.*}}#tofu.semantics<[d0 = 8, d1 = 4 : sum], (in0[d0, d1], init out0[d0]) -> (out0[d0])>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.maximumf {{.*}}[d0 = 8, d1 = 4 : max]
  %1 = linalg.reduce { arith.maximumf } ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.maxnumf {{.*}}[d0 = 8, d1 = 4 : maxnum]
  %2 = linalg.reduce { arith.maxnumf } ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.minimumf {{.*}}[d0 = 8, d1 = 4 : min]
  %3 = linalg.reduce { arith.minimumf } ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.minnumf {{.*}}[d0 = 8, d1 = 4 : minnum]
  %4 = linalg.reduce { arith.minnumf } ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.mulf {{.*}}[d0 = 8, d1 = 4 : prod], (in0[d0, d1], init out0[d0]) -> (out0[d0])>
  %5 = linalg.reduce { arith.mulf } ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) dimensions = [1]
  return %0, %1, %2, %3, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @integers(
func.func @integers(%a: tensor<8x4xi32>, %out: tensor<8xi32>)
    -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  // CHECK: linalg.reduce { arith.addi {{.*}}[d0 = 8, d1 = 4 : sum]
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<8x4xi32>) outs(%out : tensor<8xi32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.andi {{.*}}[d0 = 8, d1 = 4 : and]
  %1 = linalg.reduce { arith.andi } ins(%a : tensor<8x4xi32>) outs(%out : tensor<8xi32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.maxsi {{.*}}[d0 = 8, d1 = 4 : max]
  %2 = linalg.reduce { arith.maxsi } ins(%a : tensor<8x4xi32>) outs(%out : tensor<8xi32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.maxui {{.*}}[d0 = 8, d1 = 4 : maxui]
  %3 = linalg.reduce { arith.maxui } ins(%a : tensor<8x4xi32>) outs(%out : tensor<8xi32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.minsi {{.*}}[d0 = 8, d1 = 4 : min]
  %4 = linalg.reduce { arith.minsi } ins(%a : tensor<8x4xi32>) outs(%out : tensor<8xi32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.minui {{.*}}[d0 = 8, d1 = 4 : minui]
  %5 = linalg.reduce { arith.minui } ins(%a : tensor<8x4xi32>) outs(%out : tensor<8xi32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.muli {{.*}}[d0 = 8, d1 = 4 : prod]
  %6 = linalg.reduce { arith.muli } ins(%a : tensor<8x4xi32>) outs(%out : tensor<8xi32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.ori {{.*}}[d0 = 8, d1 = 4 : or]
  %7 = linalg.reduce { arith.ori } ins(%a : tensor<8x4xi32>) outs(%out : tensor<8xi32>) dimensions = [1]
  // CHECK: linalg.reduce { arith.xori {{.*}}[d0 = 8, d1 = 4 : xor]
  %8 = linalg.reduce { arith.xori } ins(%a : tensor<8x4xi32>) outs(%out : tensor<8xi32>) dimensions = [1]
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// The sum of single bits is their exclusive or: there is no room for a carry.
// CHECK-LABEL: func.func @bits(
// CHECK: linalg.reduce { arith.addi {{.*}}#tofu.semantics<[d0 = 8 : xor], (in0[d0], init out0[]) -> (out0[])>
func.func @bits(%a: tensor<8xi1>, %out: tensor<i1>) -> tensor<i1> {
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<8xi1>) outs(%out : tensor<i1>) dimensions = [0]
  return %0 : tensor<i1>
}

// Several results, combined alike.
// CHECK-LABEL: func.func @two_results(
// CHECK: linalg.reduce
// CHECK: #tofu.semantics<[d0 = 8, d1 = 4 : max], (in0[d0, d1], in1[d0, d1], init out0[d0], init out1[d0]) -> (out0[d0], out1[d0])>
func.func @two_results(%a: tensor<8x4xf32>, %b: tensor<8x4xi32>, %p: tensor<8xf32>, %q: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %0:2 = linalg.reduce ins(%a, %b : tensor<8x4xf32>, tensor<8x4xi32>) outs(%p, %q : tensor<8xf32>, tensor<8xi32>) dimensions = [1]
      (%x: f32, %y: i32, %s: f32, %t: i32) {
        %m = arith.maximumf %x, %s : f32
        %n = arith.maxsi %y, %t : i32
        linalg.yield %m, %n : f32, i32
      }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}

//===----------------------------------------------------------------------===//
// Other forms of the body
//===----------------------------------------------------------------------===//

// What is taken away adds up; canonicalization makes this of a negated sum.
// CHECK-LABEL: func.func @taken_away(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4 : sum], (in0[d0, d1], init out0[d0]) -> (out0[d0])
func.func @taken_away(%a: tensor<8x4xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [#id2, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %d = arith.subf %o, %x : f32
    linalg.yield %d : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @differences(
// CHECK: linalg.reduce { arith.subf {{.*}}#tofu.semantics<[d0 = 8, d1 = 4 : sum], (in0[d0, d1], init out0[d0]) -> (out0[d0])>
func.func @differences(%a: tensor<8x4xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.reduce { arith.subf } ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) dimensions = [1]
  return %0 : tensor<8xf32>
}

// A comparison and a selection are a maximum or minimum: of floats only if the
// first value is known to be a number and NaN is never taken.
// CHECK-LABEL: func.func @selections(
func.func @selections(%a: tensor<8x4xf32>, %b: tensor<8x4xi32>, %first: tensor<8xf32>, %ifirst: tensor<8xi32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  // CHECK: linalg.generic {{.*}}[d0 = 8, d1 = 4 : maxnum]
  %0 = linalg.generic {indexing_maps = [#id2, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c = arith.cmpf ogt, %x, %o : f32
    %m = arith.select %c, %x, %o : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  // CHECK: linalg.generic {{.*}}[d0 = 8, d1 = 4 : minnum]
  %1 = linalg.generic {indexing_maps = [#id2, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c = arith.cmpf oge, %o, %x : f32
    %m = arith.select %c, %x, %o : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  // CHECK: linalg.generic {{.*}}[d0 = 8, d1 = 4 : min]
  %2 = linalg.generic {indexing_maps = [#id2, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<8x4xi32>) outs(%ifirst : tensor<8xi32>) {
  ^bb0(%x: i32, %o: i32):
    %c = arith.cmpi sgt, %x, %o : i32
    %m = arith.select %c, %o, %x : i32
    linalg.yield %m : i32
  } -> tensor<8xi32>
  // CHECK: linalg.generic {{.*}}[d0 = 8, d1 = 4 : maxui]
  %3 = linalg.generic {indexing_maps = [#id2, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<8x4xi32>) outs(%ifirst : tensor<8xi32>) {
  ^bb0(%x: i32, %o: i32):
    %c = arith.cmpi ugt, %o, %x : i32
    %m = arith.select %c, %o, %x : i32
    linalg.yield %m : i32
  } -> tensor<8xi32>
  // CHECK: linalg.generic {{.*}}[d0 = 8, d1 = 4 : unsplittable]
  %4 = linalg.generic {indexing_maps = [#id2, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%first : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c = arith.cmpf ogt, %x, %o : f32
    %m = arith.select %c, %x, %o : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  // CHECK: linalg.generic {{.*}}[d0 = 8, d1 = 4 : unsplittable]
  %5 = linalg.generic {indexing_maps = [#id2, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c = arith.cmpf ogt, %o, %x : f32
    %m = arith.select %c, %o, %x : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>
}

//===----------------------------------------------------------------------===//
// Unsplittable
//===----------------------------------------------------------------------===//

// The largest value and where it is: two operations decide together.
// CHECK-LABEL: func.func @argmax(
// CHECK: linalg.reduce
// CHECK: #tofu.semantics<[d0 = 8, d1 = 4 : unsplittable], (in0[d0, d1], in1[d0, d1], init out0[d0], init out1[d0]) -> (out0[d0], out1[d0])>
func.func @argmax(%a: tensor<8x4xf32>, %b: tensor<8x4xi32>, %p: tensor<8xf32>, %q: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %0:2 = linalg.reduce ins(%a, %b : tensor<8x4xf32>, tensor<8x4xi32>) outs(%p, %q : tensor<8xf32>, tensor<8xi32>) dimensions = [1]
      (%x: f32, %y: i32, %s: f32, %t: i32) {
        %c = arith.cmpf ogt, %x, %s : f32
        %m = arith.select %c, %x, %s : f32
        %n = arith.select %c, %y, %t : i32
        linalg.yield %m, %n : f32, i32
      }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}

// A sum of k-dependent results isn't one: every step overwrites its own.
// CHECK-LABEL: func.func @indexes_result(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4 : unsplittable], (in0[d0, d1], init out0[d0, d1]) -> (out0[d0, d1])>
func.func @indexes_result(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// The last one wins: no sum, although linear.
// CHECK-LABEL: func.func @last(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4 : unsplittable], (in0[d0, d1], _) -> (out0[d0]), linear [{0}]>
func.func @last(%a: tensor<8x4xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [#id2, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Sums and maxima in one operation: each result has its combiner.
// CHECK-LABEL: func.func @mixed(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4 : (sum, max)], (in0[d0, d1], init out0[d0], init out1[d0]) -> (out0[d0], out1[d0])>
func.func @mixed(%a: tensor<8x4xf32>, %p: tensor<8xf32>, %q: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#id2, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%p, %q : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%x: f32, %s: f32, %t: f32):
    %m = arith.addf %x, %s : f32
    %n = arith.maximumf %x, %t : f32
    linalg.yield %m, %n : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// Three results of two element types, over two dims.
// CHECK-LABEL: func.func @three_results(
// CHECK: linalg.reduce
// CHECK: #tofu.semantics<[d0 = 8, d1 = 4 : (minnum, or, prod), d2 = 3 : (minnum, or, prod)],
func.func @three_results(%a: tensor<8x4x3xf32>, %b: tensor<8x4x3xi32>, %p: tensor<8xf32>, %q: tensor<8xi32>, %r: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xi32>, tensor<8xf32>) {
  %0:3 = linalg.reduce ins(%a, %b, %a : tensor<8x4x3xf32>, tensor<8x4x3xi32>, tensor<8x4x3xf32>)
      outs(%p, %q, %r : tensor<8xf32>, tensor<8xi32>, tensor<8xf32>) dimensions = [1, 2]
      (%x: f32, %y: i32, %z: f32, %s: f32, %t: i32, %u: f32) {
        %l = arith.minnumf %x, %s : f32
        %m = arith.ori %y, %t : i32
        %n = arith.mulf %z, %u : f32
        linalg.yield %l, %m, %n : f32, i32, f32
      }
  return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<8xi32>, tensor<8xf32>
}

// A sum of what is taken against the greatest so far depends on the order.
// CHECK-LABEL: func.func @online_softmax(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4 : unsplittable],
func.func @online_softmax(%a: tensor<8x4xf32>, %p: tensor<8xf32>, %q: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#id2, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%p, %q : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%x: f32, %max: f32, %sum: f32):
    %m = arith.maximumf %x, %max : f32
    %before = arith.subf %max, %m : f32
    %scale = math.exp %before : f32
    %scaled = arith.mulf %sum, %scale : f32
    %above = arith.subf %x, %m : f32
    %e = math.exp %above : f32
    %s = arith.addf %scaled, %e : f32
    linalg.yield %m, %s : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// Horner's rule: o * x + a.
// CHECK-LABEL: func.func @polynomial(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4 : unsplittable], (in0[d0, d1], in1[d0], init out0[d0]) -> (out0[d0])>
func.func @polynomial(%a: tensor<8x4xf32>, %x: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [#id2, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<8x4xf32>, tensor<8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%c: f32, %y: f32, %o: f32):
    %s = arith.mulf %o, %y : f32
    %t = arith.addf %s, %c : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Sums of sums so far.
// CHECK-LABEL: func.func @prefix_sums(
// CHECK: linalg.generic
// CHECK-SAME: #tofu.semantics<[d0 = 8, d1 = 4 : unsplittable], (in0[d0, d1], init out0[d0], init out1[d0]) -> (out0[d0], out1[d0])>
func.func @prefix_sums(%a: tensor<8x4xf32>, %p: tensor<8xf32>, %q: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#id2, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%p, %q : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%x: f32, %s: f32, %t: f32):
    %m = arith.addf %x, %s : f32
    %n = arith.addf %m, %t : f32
    linalg.yield %m, %n : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

//===----------------------------------------------------------------------===//
// What a partial sum may pass through
//===----------------------------------------------------------------------===//

// From zero, a sum of products is linear in either factor; from elsewhere it
// isn't.
// CHECK-LABEL: func.func @products(
func.func @products(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %out: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %c0 = arith.constant 0.0 : f32
  %zeros = linalg.fill ins(%c0 : f32) outs(%out : tensor<8x6xf32>) -> tensor<8x6xf32>
  // CHECK: linalg.matmul {{.*}}(in0[d0, d2], in1[d2, d1], init out0[d0, d1]) -> (out0[d0, d1]), linear [{0}, {1}]>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  // CHECK: linalg.matmul {{.*}}(in0[d0, d2], in1[d2, d1], init out0[d0, d1]) -> (out0[d0, d1])>
  %1 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%out : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}

// A product of parts is no sum of products, wherever it starts.
// CHECK-LABEL: func.func @product_not_linear(
// CHECK: linalg.reduce { arith.mulf {{.*}}(in0[d0, d1], init out0[d0]) -> (out0[d0])>
func.func @product_not_linear(%a: tensor<8x4xf32>) -> tensor<8xf32> {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.mulf } ins(%a : tensor<8x4xf32>) outs(%ones : tensor<8xf32>) dimensions = [1]
  return %0 : tensor<8xf32>
}

// Nor is x * (1 + o), although each step is linear in x.
// CHECK-LABEL: func.func @feedback_not_linear(
// CHECK: linalg.generic
// CHECK-SAME: (in0[d0, d1], init out0[d0]) -> (out0[d0])>
func.func @feedback_not_linear(%a: tensor<8x4xf32>) -> tensor<8xf32> {
  %one = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id2, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %one, %o : f32
    %t = arith.mulf %x, %s : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A multiple and a quotient are linear, what is added from elsewhere or rounded
// is not.
// CHECK-LABEL: func.func @affine(
func.func @affine(%a: tensor<8x4xf32>, %out: tensor<8x4xf32>, %half: tensor<8x4xf16>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf16>) {
  %two = arith.constant 2.0 : f32
  // CHECK: linalg.generic {{.*}}(in0[d0, d1], _) -> (out0[d0, d1]), linear [{0}]>
  %0 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.mulf %two, %x : f32
    %t = arith.divf %x, %two : f32
    %u = arith.subf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<8x4xf32>
  // CHECK: linalg.generic {{.*}}(in0[d0, d1], _) -> (out0[d0, d1])>
  %1 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x4xf32>) outs(%out : tensor<8x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %two : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  // CHECK: linalg.generic {{.*}}(in0[d0, d1], _) -> (out0[d0, d1])>
  %2 = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x4xf32>) outs(%half : tensor<8x4xf16>) {
  ^bb0(%x: f32, %o: f16):
    %s = arith.truncf %x : f32 to f16
    linalg.yield %s : f16
  } -> tensor<8x4xf16>
  return %0, %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf16>
}
