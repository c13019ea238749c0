// Bias and activation become part of the contraction before them, by what the
// body computes; what libraries don't compute alike stays.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-fuse-epilogues -split-input-file | FileCheck %s

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>

// CHECK-DAG: #[[$BIAS:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func.func @bias
// CHECK-SAME:    %[[A:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4x6xf32>, %[[C:.*]]: tensor<6xf32>
// CHECK-NEXT:    %[[E:.*]] = tensor.empty
// CHECK-NEXT:    %[[R:.*]] = tofu.contract %[[A]], %[[B]] into %[[E]] bias %[[C]] maps [#{{.*}}, #{{.*}}, #{{.*}}, #[[$BIAS]]]
// CHECK-SAME:      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>, tensor<6xf32> -> tensor<8x6xf32>
// CHECK-NEXT:    return %[[R]]
func.func @bias(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %f = tensor.empty() : tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %0 : tensor<6xf32>, tensor<8x6xf32>) outs(%f : tensor<8x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// What the function writes its result to is written to.
// CHECK-LABEL: func.func @relu
// CHECK-SAME:    %[[D:[a-z0-9]+]]: tensor<8x6xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %[[D]] bias %{{.*}} activation relu maps
// CHECK-NOT:     linalg.generic
func.func @relu(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<6xf32>, %d: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %c : tensor<8x6xf32>, tensor<6xf32>) outs(%d : tensor<8x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %m = arith.maxnumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// Without bias, into a sum, by a comparison and with the promise that there is no NaN.
// CHECK-LABEL: func.func @relus
// CHECK-NOT:     linalg.generic
// CHECK:         tofu.contract accumulate %{{.*}}, %{{.*}} into %{{.*}} activation relu maps
// CHECK-NOT:     linalg.generic
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} activation relu maps
// CHECK-NOT:     linalg.generic
func.func @relus(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract accumulate %a, %b into %c maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.cmpf ogt, %x, %zero : f32
    %m = arith.select %p, %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x6xf32>
  %2 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %zero, %x fastmath<nnan> : f32
    linalg.yield %m : f32
  } -> tensor<8x6xf32>
  return %1, %3 : tensor<8x6xf32>, tensor<8x6xf32>
}

// As JAX writes it, and multiplied out.
// CHECK-LABEL: func.func @gelu
// CHECK-NOT:     linalg.generic
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} bias %{{.*}} activation gelu_tanh maps
// CHECK-NOT:     linalg.generic
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} activation gelu_tanh maps
// CHECK-NOT:     linalg.generic
func.func @gelu(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %scale = arith.constant 0.797884583 : f32
  %cubic = arith.constant 4.471500e-02 : f32
  %both = arith.constant 0.0356774069 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %c : tensor<8x6xf32>, tensor<6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%in: f32, %y: f32, %o: f32):
    %x = arith.addf %in, %y : f32
    %x2 = arith.mulf %x, %x : f32
    %x3 = arith.mulf %x2, %x : f32
    %p = arith.mulf %x3, %cubic : f32
    %q = arith.addf %x, %p : f32
    %r = arith.mulf %q, %scale : f32
    %t = math.tanh %r : f32
    %u = arith.addf %t, %one : f32
    %v = arith.mulf %u, %half : f32
    %w = arith.mulf %x, %v : f32
    linalg.yield %w : f32
  } -> tensor<8x6xf32>
  %2 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %x2 = arith.mulf %x, %x : f32
    %p = arith.mulf %x2, %both : f32
    %q = arith.addf %scale, %p : f32
    %r = arith.mulf %q, %x : f32
    %t = math.tanh %r : f32
    %h = arith.mulf %half, %x : f32
    %u = arith.mulf %t, %h : f32
    %v = arith.addf %h, %u : f32
    linalg.yield %v : f32
  } -> tensor<8x6xf32>
  return %1, %3 : tensor<8x6xf32>, tensor<8x6xf32>
}

// A bias that comes later, but before all that the contraction might wait for.
// CHECK-LABEL: func.func @later
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<1x6xf32>)
// CHECK-NEXT:    %[[E:.*]] = tensor.empty
// CHECK-NEXT:    %[[S:.*]] = tensor.collapse_shape %[[C]]
// CHECK-NEXT:    tofu.contract %{{.*}}, %{{.*}} into %[[E]] bias %[[S]] maps
// CHECK-NEXT:    return
func.func @later(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<1x6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %s = tensor.collapse_shape %c [[0, 1]] : tensor<1x6xf32> into tensor<6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %s : tensor<8x6xf32>, tensor<6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %t = arith.addf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// Sums in f32 that become what the inputs are.
// CHECK-LABEL: func.func @rounded
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<8x6xf16>
// CHECK-NEXT:    tofu.contract %{{.*}}, %{{.*}} into %[[E]] maps {{.*}} -> tensor<8x6xf16>
// CHECK-NEXT:    return
func.func @rounded(%a: tensor<8x4xf16>, %b: tensor<4x6xf16>) -> tensor<8x6xf16> {
  %f = tensor.empty() : tensor<8x6xf16>
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf16>, tensor<4x6xf16>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<8x6xf32>) outs(%f : tensor<8x6xf16>) {
  ^bb0(%x: f32, %o: f16):
    %u = arith.truncf %x : f32 to f16
    linalg.yield %u : f16
  } -> tensor<8x6xf16>
  return %1 : tensor<8x6xf16>
}

// With a bias of what isn't rounded yet.
// CHECK-LABEL: func.func @rounded_later
// CHECK:         tofu.contract
// CHECK-NOT:     bias
// CHECK:         linalg.generic
func.func @rounded_later(%a: tensor<8x4xf16>, %b: tensor<4x6xf16>, %c: tensor<6xf16>) -> tensor<8x6xf16> {
  %e = tensor.empty() : tensor<8x6xf32>
  %f = tensor.empty() : tensor<8x6xf16>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf16>, tensor<4x6xf16>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %c : tensor<8x6xf32>, tensor<6xf16>) outs(%f : tensor<8x6xf16>) {
  ^bb0(%x: f32, %y: f16, %o: f16):
    %z = arith.extf %y : f16 to f32
    %t = arith.addf %x, %z : f32
    %u = arith.truncf %t : f32 to f16
    linalg.yield %u : f16
  } -> tensor<8x6xf16>
  return %1 : tensor<8x6xf16>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>

// What has an element for each of the result is added to from elsewhere.
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @whole
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<8x6xf32>)
// CHECK-NEXT:    %[[E:.*]] = tensor.empty
// CHECK-NEXT:    tofu.contract %{{.*}}, %{{.*}} into %[[E]] bias %[[C]] maps [#{{.*}}, #{{.*}}, #[[$OUT]], #[[$OUT]]]
// CHECK-NEXT:    return
func.func @whole(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %0 : tensor<8x6xf32>, tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// Sums with what may not be written to, and with what is read later; but neither
// of shorter types nor with what is free.
// CHECK-LABEL: func.func @kept
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<?x6xf32> {bufferization.writable = false}, %[[D:[a-z0-9]+]]: tensor<?x6xf32>, %[[G:[a-z0-9]+]]: tensor<?x6xf16> {bufferization.writable = false}
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[C]]
// CHECK:         %[[E:.*]] = tensor.empty(%[[SIZE]]) : tensor<?x6xf32>
// CHECK:         %[[X:.*]] = tofu.contract %{{.*}}, %{{.*}} into %[[E]] bias %[[C]] maps
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} bias %[[X]] maps
// CHECK:         tofu.contract accumulate %{{.*}}, %[[X]] into %[[D]] maps
// CHECK:         tofu.contract accumulate %{{.*}}, %{{.*}} into %[[G]] maps
func.func @kept(%a: tensor<?x4xf32>, %b: tensor<4x6xf32>, %f: tensor<?x?xf32>, %c: tensor<?x6xf32> {bufferization.writable = false}, %d: tensor<?x6xf32>,
                %g: tensor<?x6xf16> {bufferization.writable = false}, %h: tensor<?x4xf16>, %i: tensor<4x6xf16>)
    -> (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf16>) {
  %0 = tofu.contract accumulate %a, %b into %c maps [#lhs, #rhs, #out] : tensor<?x4xf32>, tensor<4x6xf32>, tensor<?x6xf32> -> tensor<?x6xf32>
  %1 = tofu.contract accumulate %a, %b into %0 maps [#lhs, #rhs, #out] : tensor<?x4xf32>, tensor<4x6xf32>, tensor<?x6xf32> -> tensor<?x6xf32>
  %2 = tofu.contract accumulate %f, %0 into %d maps [#lhs, #rhs, #out] : tensor<?x?xf32>, tensor<?x6xf32>, tensor<?x6xf32> -> tensor<?x6xf32>
  %3 = tofu.contract accumulate %h, %i into %g maps [#lhs, #rhs, #out] : tensor<?x4xf16>, tensor<4x6xf16>, tensor<?x6xf16> -> tensor<?x6xf16>
  return %1, %2, %3 : tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf16>
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @two_readers
// CHECK:         tofu.contract
// CHECK-NOT:     bias
// CHECK:         linalg.generic
func.func @two_readers(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %c : tensor<8x6xf32>, tensor<6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}

// A library's bias is a vector along the innermost dim.
// CHECK-LABEL: func.func @other_dims
// CHECK:         tofu.contract
// CHECK-NOT:     bias
// CHECK:         linalg.generic
func.func @other_dims(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %c : tensor<8x6xf32>, tensor<8xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// NaN stays NaN, by maximumf and by a comparison that is true for it.
// CHECK-LABEL: func.func @keeps_nan
// CHECK-NOT:     activation
// CHECK-COUNT-2: linalg.generic
func.func @keeps_nan(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x6xf32>
  %2 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.cmpf ugt, %x, %zero : f32
    %m = arith.select %p, %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x6xf32>
  return %1, %3 : tensor<8x6xf32>, tensor<8x6xf32>
}

// By erf, and with another coefficient.
// CHECK-LABEL: func.func @other_gelu
// CHECK-NOT:     activation
// CHECK-COUNT-2: linalg.generic
func.func @other_gelu(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %scale = arith.constant 0.797884583 : f32
  %cubic = arith.constant 4.472000e-02 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.mulf %x, %root : f32
    %q = math.erf %p : f32
    %r = arith.addf %q, %one : f32
    %s = arith.mulf %x, %half : f32
    %t = arith.mulf %r, %s : f32
    linalg.yield %t : f32
  } -> tensor<8x6xf32>
  %2 = tofu.contract %a, %b into %e maps [#lhs, #rhs, #out] : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2 : tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %x2 = arith.mulf %x, %x : f32
    %x3 = arith.mulf %x2, %x : f32
    %p = arith.mulf %x3, %cubic : f32
    %q = arith.addf %x, %p : f32
    %r = arith.mulf %q, %scale : f32
    %t = math.tanh %r : f32
    %u = arith.addf %t, %one : f32
    %v = arith.mulf %u, %half : f32
    %w = arith.mulf %x, %v : f32
    linalg.yield %w : f32
  } -> tensor<8x6xf32>
  return %1, %3 : tensor<8x6xf32>, tensor<8x6xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
tofu.mesh @mesh [x = 2]

// A partial result is combined first.
// CHECK-LABEL: func.func @partial
// CHECK:         tofu.contract
// CHECK-NOT:     bias
// CHECK:         tofu.all_reduce
// CHECK:         linalg.generic
func.func @partial(%a: tensor<8x2xf32>, %b: tensor<2x6xf32>, %c: tensor<6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = tofu.contract %a, %b into %e
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x2xf32>, tensor<2x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  %1 = tofu.all_reduce %0 from #tofu.layout<@mesh, [{}, {}], sum {x}> to #tofu.layout<@mesh, [{}, {}]> in [8, 6] : tensor<8x6xf32> -> tensor<8x6xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1, %c : tensor<8x6xf32>, tensor<6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}

// -----

// A convolution's bias is for each filter, and NaN stays NaN in its relu.
// CHECK-DAG: #[[$FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d2)>
// CHECK-LABEL: func.func @convolution
// CHECK-NOT:     linalg.generic
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} bias %{{.*}} activation relu_nan maps [#{{.*}}, #{{.*}}, #{{.*}}, #[[$FILTER]]]
// CHECK-NOT:     linalg.generic
func.func @convolution(%a: tensor<2x9x3xf32>, %w: tensor<2x3x5xf32>, %c: tensor<5xf32>) -> tensor<2x8x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x5xf32>
  %0 = tofu.contract %a, %w into %e
      maps [affine_map<(n, y, f, i, c) -> (n, y + i, c)>, affine_map<(n, y, f, i, c) -> (i, c, f)>, affine_map<(n, y, f, i, c) -> (n, y, f)>]
      : tensor<2x9x3xf32>, tensor<2x3x5xf32>, tensor<2x8x5xf32> -> tensor<2x8x5xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(n, y, f) -> (n, y, f)>, affine_map<(n, y, f) -> (f)>, affine_map<(n, y, f) -> (n, y, f)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %c : tensor<2x8x5xf32>, tensor<5xf32>) outs(%e : tensor<2x8x5xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x8x5xf32>
  return %1 : tensor<2x8x5xf32>
}

// Groups, channels first, with the filters as the first operand; by comparisons
// either way around, which are true for NaN or choose 0 if they hold.
// CHECK-LABEL: func.func @groups
// CHECK-NOT:     linalg.generic
// CHECK-COUNT-2: tofu.contract %{{.*}}, %{{.*}} into %{{.*}} bias %{{.*}} activation relu_nan maps
// CHECK-NOT:     linalg.generic
#filters = affine_map<(n, g, f, y, c, i) -> (g, f, c, i)>
#images = affine_map<(n, g, f, y, c, i) -> (n, g, c, y * 2 + i)>
#results = affine_map<(n, g, f, y, c, i) -> (n, g, f, y)>
#all = affine_map<(n, g, f, y) -> (n, g, f, y)>
#both = affine_map<(n, g, f, y) -> (g, f)>
func.func @groups(%w: tensor<4x5x3x2xf32>, %a: tensor<2x4x3x10xf32>, %c: tensor<4x5xf32>) -> (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x5x5xf32>
  %0 = tofu.contract %w, %a into %e maps [#filters, #images, #results] : tensor<4x5x3x2xf32>, tensor<2x4x3x10xf32>, tensor<2x4x5x5xf32> -> tensor<2x4x5x5xf32>
  %1 = linalg.generic {indexing_maps = [#both, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %0 : tensor<4x5xf32>, tensor<2x4x5x5xf32>) outs(%e : tensor<2x4x5x5xf32>) {
  ^bb0(%y: f32, %x: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %p = arith.cmpf ult, %zero, %s : f32
    %m = arith.select %p, %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x4x5x5xf32>
  %2 = tofu.contract %w, %a into %e maps [#filters, #images, #results] : tensor<4x5x3x2xf32>, tensor<2x4x3x10xf32>, tensor<2x4x5x5xf32> -> tensor<2x4x5x5xf32>
  %3 = linalg.generic {indexing_maps = [#both, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %2 : tensor<4x5xf32>, tensor<2x4x5x5xf32>) outs(%e : tensor<2x4x5x5xf32>) {
  ^bb0(%y: f32, %x: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %p = arith.cmpf ole, %s, %zero : f32
    %m = arith.select %p, %zero, %s : f32
    linalg.yield %m : f32
  } -> tensor<2x4x5x5xf32>
  return %1, %3 : tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>
}

// What the library of convolutions has for short floats only: relu without bias.
// CHECK-LABEL: func.func @short
// CHECK-NOT:     linalg.generic
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} activation relu_nan maps {{.*}} -> tensor<2x8x5xbf16>
// CHECK-NOT:     activation
// CHECK:         linalg.generic
#window = affine_map<(n, y, f, i, c) -> (n, y + i, c)>
#filter = affine_map<(n, y, f, i, c) -> (i, c, f)>
#result = affine_map<(n, y, f, i, c) -> (n, y, f)>
#nyf = affine_map<(n, y, f) -> (n, y, f)>
func.func @short(%a: tensor<2x9x3xbf16>, %w: tensor<2x3x5xbf16>, %d: tensor<2x9x3xf32>, %v: tensor<2x3x5xf32>) -> (tensor<2x8x5xbf16>, tensor<2x8x5xf32>) {
  %zero = arith.constant 0.0 : bf16
  %zero32 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x5xbf16>
  %f = tensor.empty() : tensor<2x8x5xf32>
  %0 = tofu.contract %a, %w into %e maps [#window, #filter, #result] : tensor<2x9x3xbf16>, tensor<2x3x5xbf16>, tensor<2x8x5xbf16> -> tensor<2x8x5xbf16>
  %1 = linalg.generic {indexing_maps = [#nyf, #nyf], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0 : tensor<2x8x5xbf16>) outs(%e : tensor<2x8x5xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %m = arith.maximumf %x, %zero : bf16
    linalg.yield %m : bf16
  } -> tensor<2x8x5xbf16>
  %2 = tofu.contract %d, %v into %f maps [#window, #filter, #result] : tensor<2x9x3xf32>, tensor<2x3x5xf32>, tensor<2x8x5xf32> -> tensor<2x8x5xf32>
  %3 = linalg.generic {indexing_maps = [#nyf, #nyf], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%2 : tensor<2x8x5xf32>) outs(%f : tensor<2x8x5xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %x, %zero32 : f32
    linalg.yield %m : f32
  } -> tensor<2x8x5xf32>
  return %1, %3 : tensor<2x8x5xbf16>, tensor<2x8x5xf32>
}

// Where NaN becomes 0, where the bias is for each position, and where what is added
// to something has no bias; only what can't be NaN is relu of either kind.
// CHECK-LABEL: func.func @not_of_convolutions
// CHECK-NOT:     activation
// CHECK-COUNT-2: linalg.generic
// CHECK:         tofu.contract accumulate %{{.*}}, %{{.*}} into %{{.*}} maps
// CHECK:         linalg.generic
// CHECK:         tofu.contract %{{.*}}, %{{.*}} into %{{.*}} bias %{{.*}} activation relu_nan maps
// CHECK-NOT:     linalg.generic
// CHECK:         tofu.contract accumulate %{{.*}}, %{{.*}} into %{{.*}} bias %{{.*}} activation relu_nan maps
// CHECK-NOT:     linalg.generic
#f = affine_map<(n, y, f) -> (f)>
#y = affine_map<(n, y, f) -> (y)>
func.func @not_of_convolutions(%a: tensor<2x9x3xf32>, %w: tensor<2x3x5xf32>, %c: tensor<5xf32>, %d: tensor<8xf32>, %g: tensor<2x8x5xf32>,
                               %h: tensor<2x8x5xf32>)
    -> (tensor<2x8x5xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x5xf32>
  %0 = tofu.contract %a, %w into %e maps [#window, #filter, #result] : tensor<2x9x3xf32>, tensor<2x3x5xf32>, tensor<2x8x5xf32> -> tensor<2x8x5xf32>
  %1 = linalg.generic {indexing_maps = [#nyf, #f, #nyf], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %c : tensor<2x8x5xf32>, tensor<5xf32>) outs(%e : tensor<2x8x5xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %m = arith.maxnumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x8x5xf32>
  %2 = tofu.contract %a, %w into %e maps [#window, #filter, #result] : tensor<2x9x3xf32>, tensor<2x3x5xf32>, tensor<2x8x5xf32> -> tensor<2x8x5xf32>
  %3 = linalg.generic {indexing_maps = [#nyf, #y, #nyf], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%2, %d : tensor<2x8x5xf32>, tensor<8xf32>) outs(%e : tensor<2x8x5xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x8x5xf32>
  %4 = tofu.contract accumulate %a, %w into %g maps [#window, #filter, #result] : tensor<2x9x3xf32>, tensor<2x3x5xf32>, tensor<2x8x5xf32> -> tensor<2x8x5xf32>
  %5 = linalg.generic {indexing_maps = [#nyf, #nyf], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%4 : tensor<2x8x5xf32>) outs(%e : tensor<2x8x5xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x8x5xf32>
  %6 = tofu.contract %a, %w into %e maps [#window, #filter, #result] : tensor<2x9x3xf32>, tensor<2x3x5xf32>, tensor<2x8x5xf32> -> tensor<2x8x5xf32>
  %7 = linalg.generic {indexing_maps = [#nyf, #f, #nyf], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%6, %c : tensor<2x8x5xf32>, tensor<5xf32>) outs(%e : tensor<2x8x5xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %m = arith.maxnumf %s, %zero fastmath<nnan> : f32
    linalg.yield %m : f32
  } -> tensor<2x8x5xf32>
  %8 = tofu.contract accumulate %a, %w into %h maps [#window, #filter, #result] : tensor<2x9x3xf32>, tensor<2x3x5xf32>, tensor<2x8x5xf32> -> tensor<2x8x5xf32>
  %9 = linalg.generic {indexing_maps = [#nyf, #f, #nyf], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%8, %c : tensor<2x8x5xf32>, tensor<5xf32>) outs(%e : tensor<2x8x5xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x8x5xf32>
  return %1, %3, %5, %7, %9 : tensor<2x8x5xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32>, tensor<2x8x5xf32>
}
