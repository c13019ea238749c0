// What scales a result by numbers along the dims of one input scales that input.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-fold-scales -split-input-file | FileCheck %s

#image = affine_map<(n, k, y, c, i) -> (n, c, y + i)>
#filter = affine_map<(n, k, y, c, i) -> (k, c, i)>
#result = affine_map<(n, k, y, c, i) -> (n, k, y)>
#nky = affine_map<(n, k, y) -> (n, k, y)>
#k = affine_map<(n, k, y) -> (k, 0)>
#n = affine_map<(n, k, y) -> (n)>

// A normalization as PyTorch exports it: (x - p) * q * r + t.
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[$IDENTITY:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$OFSCALE:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG: #[[$OFBIAS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1)>
// CHECK-LABEL: func.func @normalization
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3x40xf32>, %[[W:[a-z0-9]+]]: tensor<5x3x3xf32>, %[[P:[a-z0-9]+]]: tensor<5x1xf32>, %[[Q:[a-z0-9]+]]: tensor<5x1xf32>, %[[R:[a-z0-9]+]]: tensor<5x1xf32>, %[[T:[a-z0-9]+]]: tensor<5x1xf32>
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00
// CHECK:         %[[P0:.*]] = tensor.collapse_shape %[[P]] {{.*}} into tensor<5xf32>
// CHECK-NEXT:    %[[Q0:.*]] = tensor.collapse_shape %[[Q]] {{.*}} into tensor<5xf32>
// CHECK-NEXT:    %[[R0:.*]] = tensor.collapse_shape %[[R]] {{.*}} into tensor<5xf32>
// CHECK-NEXT:    %[[T0:.*]] = tensor.collapse_shape %[[T]] {{.*}} into tensor<5xf32>
// CHECK:         %[[B:.*]]:2 = linalg.generic {indexing_maps = [#[[$ROW]], #[[$ROW]], #[[$ROW]], #[[$ROW]], #[[$ROW]], #[[$ROW]]], iterator_types = ["parallel"]}
// CHECK-SAME:      ins(%[[P0]], %[[Q0]], %[[R0]], %[[T0]] :
// CHECK-NEXT:    ^bb0(%[[P1:.*]]: f32, %[[Q1:.*]]: f32, %[[R1:.*]]: f32, %[[T1:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[ZERO1:.*]] = arith.constant 0.000000e+00
// CHECK-NEXT:      %[[D:.*]] = arith.subf %[[ZERO1]], %[[P1]]
// CHECK-NEXT:      %[[E:.*]] = arith.mulf %[[D]], %[[Q1]]
// CHECK-NEXT:      %[[S:.*]] = arith.mulf %[[Q1]], %[[R1]]
// CHECK-NEXT:      %[[F:.*]] = arith.mulf %[[E]], %[[R1]]
// CHECK-NEXT:      %[[G:.*]] = arith.addf %[[F]], %[[T1]]
// CHECK-NEXT:      linalg.yield %[[S]], %[[G]]
// CHECK:         %[[V:.*]] = linalg.generic {indexing_maps = [#[[$IDENTITY]], #[[$OFSCALE]], #[[$IDENTITY]]]
// CHECK-SAME:      ins(%[[W]], %[[B]]#0 :
// CHECK:           arith.mulf
// CHECK:         %[[X:.*]] = tofu.contract %[[A]], %[[V]] into %{{.*}} bias %[[B]]#1 activation relu_nan maps [{{.*}}, #[[$OFBIAS]]]
// CHECK-NEXT:    return %[[X]]
func.func @normalization(%a: tensor<2x3x40xf32>, %w: tensor<5x3x3xf32>, %m: tensor<5x1xf32>, %s: tensor<5x1xf32>, %g: tensor<5x1xf32>,
                         %b: tensor<5x1xf32>) -> tensor<2x5x38xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x38xf32>
  %0 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %1 = linalg.generic {indexing_maps = [#nky, #k, #k, #k, #k, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %m, %s, %g, %b : tensor<2x5x38xf32>, tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %r: f32, %t: f32, %o: f32):
    %2 = arith.subf %x, %p : f32
    %3 = arith.mulf %2, %q : f32
    %4 = arith.mulf %3, %r : f32
    %5 = arith.addf %4, %t : f32
    %6 = arith.cmpf ugt, %5, %zero : f32
    %7 = arith.select %6, %5, %zero : f32
    linalg.yield %7 : f32
  } -> tensor<2x5x38xf32>
  return %1 : tensor<2x5x38xf32>
}

// The other way around, as a quotient, by a number of the body, in a product of
// matrices: -((p - x) / q) / r is x / q / r - p / q / r. What is computed from
// the inputs first goes along.
// CHECK-LABEL: func.func @quotient
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<64x4xf32>, %[[W:[a-z0-9]+]]: tensor<4x6xf32>
// CHECK:         %[[B:.*]]:2 = linalg.generic
// CHECK:           %[[ROOT:.*]] = math.sqrt
// CHECK-NEXT:      %[[ONE:.*]] = arith.constant 1.000000e+00
// CHECK-NEXT:      %[[MINUS:.*]] = arith.negf %[[ONE]]
// CHECK-NEXT:      %[[S:.*]] = arith.divf %[[MINUS]], %[[ROOT]]
// CHECK-NEXT:      %[[T:.*]] = arith.divf %{{.*}}, %[[ROOT]]
// CHECK-NEXT:      %[[S1:.*]] = arith.negf %[[S]]
// CHECK-NEXT:      %[[T1:.*]] = arith.negf %[[T]]
// CHECK-NEXT:      linalg.yield %[[S1]], %[[T1]]
// CHECK:         %[[V:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[B]]#0 :
// CHECK:         tofu.contract %[[A]], %[[V]] into %{{.*}} bias %[[B]]#1 maps
func.func @quotient(%a: tensor<64x4xf32>, %w: tensor<4x6xf32>, %p: tensor<6xf32>, %q: tensor<6xf32>) -> tensor<64x6xf32> {
  %e = tensor.empty() : tensor<64x6xf32>
  %0 = tofu.contract %a, %w into %e
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<64x4xf32>, tensor<4x6xf32>, tensor<64x6xf32> -> tensor<64x6xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%0, %p, %q : tensor<64x6xf32>, tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<64x6xf32>) {
  ^bb0(%x: f32, %r: f32, %s: f32, %o: f32):
    %2 = arith.subf %r, %x : f32
    %3 = math.sqrt %s : f32
    %4 = arith.divf %2, %3 : f32
    %5 = arith.negf %4 : f32
    linalg.yield %5 : f32
  } -> tensor<64x6xf32>
  return %1 : tensor<64x6xf32>
}

// -----

#image = affine_map<(n, k, y, c, i) -> (n, c, y + i)>
#filter = affine_map<(n, k, y, c, i) -> (k, c, i)>
#result = affine_map<(n, k, y, c, i) -> (n, k, y)>
#nky = affine_map<(n, k, y) -> (n, k, y)>
#k = affine_map<(n, k, y) -> (k)>
#n = affine_map<(n, k, y) -> (n)>

// By images, with the sum with what may not be written to, as x * x, and where
// relu isn't a library's.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     bias
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @others(%a: tensor<2x3x40xf32>, %w: tensor<5x3x3xf32>, %m: tensor<2xf32>, %r: tensor<2x5x38xf32> {bufferization.writable = false}, %s: tensor<5xf32>)
    -> (tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x38xf32>
  %0 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %1 = linalg.generic {indexing_maps = [#nky, #n, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %m : tensor<2x5x38xf32>, tensor<2xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %o: f32):
    %8 = arith.mulf %x, %p : f32
    linalg.yield %8 : f32
  } -> tensor<2x5x38xf32>
  %2 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %3 = linalg.generic {indexing_maps = [#nky, #k, #nky, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%2, %s, %r : tensor<2x5x38xf32>, tensor<5xf32>, tensor<2x5x38xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %o: f32):
    %8 = arith.mulf %x, %p : f32
    %9 = arith.addf %8, %q : f32
    linalg.yield %9 : f32
  } -> tensor<2x5x38xf32>
  %4 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %5 = linalg.generic {indexing_maps = [#nky, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%4 : tensor<2x5x38xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %o: f32):
    %8 = arith.mulf %x, %x : f32
    linalg.yield %8 : f32
  } -> tensor<2x5x38xf32>
  %6 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %7 = linalg.generic {indexing_maps = [#nky, #k, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%6, %s : tensor<2x5x38xf32>, tensor<5xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %o: f32):
    %8 = arith.mulf %x, %p : f32
    %9 = arith.maxnumf %8, %zero : f32
    linalg.yield %9 : f32
  } -> tensor<2x5x38xf32>
  return %1, %3, %5, %7 : tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>
}

// An assertion would be lost.
// CHECK-LABEL: func.func @assertion
// CHECK-NOT:     bias
// CHECK:         linalg.generic
// CHECK:           cf.assert
func.func @assertion(%a: tensor<2x3x40xf32>, %w: tensor<5x3x3xf32>, %s: tensor<5xf32>) -> tensor<2x5x38xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x38xf32>
  %0 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %1 = linalg.generic {indexing_maps = [#nky, #k, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %s : tensor<2x5x38xf32>, tensor<5xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %o: f32):
    %2 = arith.cmpf une, %p, %zero : f32
    cf.assert %2, "a scale is zero"
    %3 = arith.divf %x, %p : f32
    linalg.yield %3 : f32
  } -> tensor<2x5x38xf32>
  return %1 : tensor<2x5x38xf32>
}

// Where the filter is larger than the result, of unknown size, or short.
// CHECK-LABEL: func.func @not_worth_it
// CHECK-NOT:     bias
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @not_worth_it(%a: tensor<2x3x4xf32>, %w: tensor<5x3x3xf32>, %s: tensor<5xf32>, %b: tensor<?x3x40xf32>, %f: tensor<?x5x38xf32>,
                        %c: tensor<2x3x40xf16>, %v: tensor<5x3x3xf16>, %t: tensor<5xf16>)
    -> (tensor<2x5x2xf32>, tensor<?x5x38xf32>, tensor<2x5x38xf16>) {
  %e = tensor.empty() : tensor<2x5x2xf32>
  %0 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x4xf32>, tensor<5x3x3xf32>, tensor<2x5x2xf32> -> tensor<2x5x2xf32>
  %1 = linalg.generic {indexing_maps = [#nky, #k, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %s : tensor<2x5x2xf32>, tensor<5xf32>) outs(%e : tensor<2x5x2xf32>) {
  ^bb0(%x: f32, %p: f32, %o: f32):
    %8 = arith.mulf %x, %p : f32
    linalg.yield %8 : f32
  } -> tensor<2x5x2xf32>
  %2 = tofu.contract %b, %w into %f maps [#image, #filter, #result] : tensor<?x3x40xf32>, tensor<5x3x3xf32>, tensor<?x5x38xf32> -> tensor<?x5x38xf32>
  %3 = linalg.generic {indexing_maps = [#nky, #k, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%2, %s : tensor<?x5x38xf32>, tensor<5xf32>) outs(%f : tensor<?x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %o: f32):
    %8 = arith.mulf %x, %p : f32
    linalg.yield %8 : f32
  } -> tensor<?x5x38xf32>
  %g = tensor.empty() : tensor<2x5x38xf16>
  %4 = tofu.contract %c, %v into %g maps [#image, #filter, #result] : tensor<2x3x40xf16>, tensor<5x3x3xf16>, tensor<2x5x38xf16> -> tensor<2x5x38xf16>
  %5 = linalg.generic {indexing_maps = [#nky, #k, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%4, %t : tensor<2x5x38xf16>, tensor<5xf16>) outs(%g : tensor<2x5x38xf16>) {
  ^bb0(%x: f16, %p: f16, %o: f16):
    %8 = arith.mulf %x, %p : f16
    linalg.yield %8 : f16
  } -> tensor<2x5x38xf16>
  return %1, %3, %5 : tensor<2x5x2xf32>, tensor<?x5x38xf32>, tensor<2x5x38xf16>
}

// -----

#image = affine_map<(n, k, y, c, i) -> (n, c, y + i)>
#filter = affine_map<(n, k, y, c, i) -> (k, c, i)>
#result = affine_map<(n, k, y, c, i) -> (n, k, y)>
#nky = affine_map<(n, k, y) -> (n, k, y)>
#nyk = affine_map<(n, k, y) -> (n, y, k)>
#k = affine_map<(n, k, y) -> (k)>

// What is added besides is what the product is added to: relu((x * s + r) + t).
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1, d2) -> (d1, 0)>
// CHECK-LABEL: func.func @addend
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3x40xf32>, %[[W:[a-z0-9]+]]: tensor<5x3x3xf32>, %[[R:[a-z0-9]+]]: tensor<2x5x38xf32>, %[[S:[a-z0-9]+]]: tensor<5xf32>, %[[T:[a-z0-9]+]]: tensor<5xf32>
// CHECK:         %[[B:.*]]:2 = linalg.generic {{.*}} ins(%[[S]], %[[T]] :
// CHECK-NEXT:    ^bb0(%[[S1:.*]]: f32, %[[T1:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT:      linalg.yield %[[S1]], %[[T1]]
// CHECK:         %[[V:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[B]]#0 :
// CHECK:         %[[X:.*]] = tofu.contract accumulate %[[A]], %[[V]] into %[[R]] bias %[[B]]#1 activation relu_nan maps
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[X]]
func.func @addend(%a: tensor<2x3x40xf32>, %w: tensor<5x3x3xf32>, %r: tensor<2x5x38xf32>, %s: tensor<5xf32>, %t: tensor<5xf32>) -> tensor<2x5x38xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x38xf32>
  %0 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %1 = linalg.generic {indexing_maps = [#nky, #k, #nky, #k, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %s, %r, %t : tensor<2x5x38xf32>, tensor<5xf32>, tensor<2x5x38xf32>, tensor<5xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %u: f32, %o: f32):
    %2 = arith.mulf %x, %p : f32
    %3 = arith.addf %q, %2 : f32
    %4 = arith.addf %3, %u : f32
    %5 = arith.maximumf %4, %zero : f32
    linalg.yield %5 : f32
  } -> tensor<2x5x38xf32>
  return %1 : tensor<2x5x38xf32>
}

// Without a scale the bias is what is there, also of products. The call comes after
// all that reads what it writes to.
// CHECK-LABEL: func.func @without_scale
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<?x4xf32>, %[[W:[a-z0-9]+]]: tensor<4x6xf32>, %[[R:[a-z0-9]+]]: tensor<?x6xf32>, %[[T:[a-z0-9]+]]: tensor<6x1xf32>
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[R]] :
// CHECK:           math.exp
// CHECK:         %[[X:.*]] = tofu.contract accumulate %[[A]], %[[W]] into %[[R]] bias %[[T]] maps [{{.*}}, #[[$COLUMN]]]
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[X]], %[[Y]]
func.func @without_scale(%a: tensor<?x4xf32>, %w: tensor<4x6xf32>, %r: tensor<?x6xf32>, %t: tensor<6x1xf32>, %e: tensor<?x6xf32>, %m: index)
    -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  %f = tensor.empty(%m) : tensor<?x6xf32>
  %0 = tofu.contract %a, %w into %f
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<?x4xf32>, tensor<4x6xf32>, tensor<?x6xf32> -> tensor<?x6xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<?x6xf32>) outs(%e : tensor<?x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %4 = math.exp %x : f32
    linalg.yield %4 : f32
  } -> tensor<?x6xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n, 0)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%0, %t, %r : tensor<?x6xf32>, tensor<6x1xf32>, tensor<?x6xf32>) outs(%f : tensor<?x6xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %o: f32):
    %4 = arith.addf %x, %p : f32
    %5 = arith.addf %4, %q : f32
    linalg.yield %5 : f32
  } -> tensor<?x6xf32>
  return %2, %1 : tensor<?x6xf32>, tensor<?x6xf32>
}

// Also of short floats, where nothing is scaled: the call rounds at most as often.
// CHECK-LABEL: func.func @short_addend
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<8x4xbf16>, %[[W:[a-z0-9]+]]: tensor<4x6xbf16>, %[[R:[a-z0-9]+]]: tensor<8x6xbf16>, %[[T:[a-z0-9]+]]: tensor<6xbf16>
// CHECK-NOT:     linalg.generic
// CHECK:         %[[X:.*]] = tofu.contract accumulate %[[A]], %[[W]] into %[[R]] bias %[[T]] maps
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[X]]
func.func @short_addend(%a: tensor<8x4xbf16>, %w: tensor<4x6xbf16>, %r: tensor<8x6xbf16>, %t: tensor<6xbf16>) -> tensor<8x6xbf16> {
  %e = tensor.empty() : tensor<8x6xbf16>
  %0 = tofu.contract %a, %w into %e
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xbf16>, tensor<4x6xbf16>, tensor<8x6xbf16> -> tensor<8x6xbf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%0, %t, %r : tensor<8x6xbf16>, tensor<6xbf16>, tensor<8x6xbf16>) outs(%e : tensor<8x6xbf16>) {
  ^bb0(%x: bf16, %p: bf16, %q: bf16, %o: bf16):
    %2 = arith.addf %x, %p : bf16
    %3 = arith.addf %q, %2 : bf16
    linalg.yield %3 : bf16
  } -> tensor<8x6xbf16>
  return %1 : tensor<8x6xbf16>
}

// Not what is read afterwards, has other dims, is scaled together with the sum,
// depends on the result, which so has two readers, may not be written to, or is what
// the contraction reads; nor a partial result, which is combined first.
// CHECK-LABEL: func.func @other_addends
// CHECK-NOT:     accumulate
// CHECK-COUNT-8: linalg.generic
// CHECK-NOT:     accumulate
// CHECK:         tofu.all_reduce
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
tofu.mesh @mesh [x = 2]
func.func @other_addends(%a: tensor<2x3x40xf32>, %w: tensor<5x3x3xf32>, %r: tensor<2x5x38xf32>, %t: tensor<5xf32>, %d: tensor<2x38x5xf32>,
                         %g: tensor<2x5x38xf32>, %h: tensor<2x5x38xf32> {bufferization.writable = false}, %i: tensor<2x5x38xf32>,
                         %j: tensor<2x5x38xf32>, %k: tensor<5x5x1xf32>)
    -> (tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>,
        tensor<2x5x38xf32>) {
  %e = tensor.empty() : tensor<2x5x38xf32>
  %0 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %1 = linalg.generic {indexing_maps = [#nky, #k, #nky, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %t, %r : tensor<2x5x38xf32>, tensor<5xf32>, tensor<2x5x38xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %o: f32):
    %20 = arith.addf %x, %p : f32
    %21 = arith.addf %20, %q : f32
    linalg.yield %21 : f32
  } -> tensor<2x5x38xf32>
  %2 = linalg.generic {indexing_maps = [#nky, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r : tensor<2x5x38xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %o: f32):
    %20 = math.exp %x : f32
    linalg.yield %20 : f32
  } -> tensor<2x5x38xf32>
  %3 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %4 = linalg.generic {indexing_maps = [#nky, #k, #nyk, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%3, %t, %d : tensor<2x5x38xf32>, tensor<5xf32>, tensor<2x38x5xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %o: f32):
    %20 = arith.addf %x, %p : f32
    %21 = arith.addf %20, %q : f32
    linalg.yield %21 : f32
  } -> tensor<2x5x38xf32>
  %5 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %6 = linalg.generic {indexing_maps = [#nky, #k, #nky, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%5, %t, %g : tensor<2x5x38xf32>, tensor<5xf32>, tensor<2x5x38xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %o: f32):
    %20 = arith.addf %x, %q : f32
    %21 = arith.mulf %20, %p : f32
    linalg.yield %21 : f32
  } -> tensor<2x5x38xf32>
  %7 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %8 = linalg.generic {indexing_maps = [#nky, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%7 : tensor<2x5x38xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %o: f32):
    %20 = math.exp %x : f32
    linalg.yield %20 : f32
  } -> tensor<2x5x38xf32>
  %9 = linalg.generic {indexing_maps = [#nky, #k, #nky, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%7, %t, %8 : tensor<2x5x38xf32>, tensor<5xf32>, tensor<2x5x38xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %o: f32):
    %20 = arith.addf %x, %p : f32
    %21 = arith.addf %20, %q : f32
    linalg.yield %21 : f32
  } -> tensor<2x5x38xf32>
  %10 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %11 = linalg.generic {indexing_maps = [#nky, #k, #nky, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%10, %t, %h : tensor<2x5x38xf32>, tensor<5xf32>, tensor<2x5x38xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %o: f32):
    %20 = arith.addf %x, %p : f32
    %21 = arith.addf %20, %q : f32
    linalg.yield %21 : f32
  } -> tensor<2x5x38xf32>
  %12 = tofu.contract %j, %k into %e maps [#image, #filter, #result] : tensor<2x5x38xf32>, tensor<5x5x1xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %13 = linalg.generic {indexing_maps = [#nky, #k, #nky, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%12, %t, %j : tensor<2x5x38xf32>, tensor<5xf32>, tensor<2x5x38xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %o: f32):
    %20 = arith.addf %x, %p : f32
    %21 = arith.addf %20, %q : f32
    linalg.yield %21 : f32
  } -> tensor<2x5x38xf32>
  %14 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %15 = tofu.all_reduce %14 from #tofu.layout<@mesh, [{}, {}, {}], sum {x}> to #tofu.layout<@mesh, [{}, {}, {}]> in [2, 5, 38] : tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %16 = linalg.generic {indexing_maps = [#nky, #k, #nky, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%15, %t, %i : tensor<2x5x38xf32>, tensor<5xf32>, tensor<2x5x38xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %o: f32):
    %20 = arith.addf %x, %p : f32
    %21 = arith.addf %20, %q : f32
    linalg.yield %21 : f32
  } -> tensor<2x5x38xf32>
  return %1, %2, %4, %6, %9, %11, %13, %16 : tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<2x5x38xf32>
}

// The sum of two results, each of which is scaled: the second is added to the first.
// CHECK-LABEL: func.func @sum_of_two
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3x40xf32>, %[[W:[a-z0-9]+]]: tensor<5x3x3xf32>, %[[C:[a-z0-9]+]]: tensor<2x4x38xf32>, %[[V:[a-z0-9]+]]: tensor<5x4x1xf32>, %[[S:[a-z0-9]+]]: tensor<5xf32>, %[[T:[a-z0-9]+]]: tensor<5xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[T]], %[[S]] :
// CHECK:         %[[W1:.*]] = linalg.generic {{.*}} ins(%[[W]],
// CHECK:         %[[X:.*]] = tofu.contract %[[A]], %[[W1]] into %{{.*}} bias %{{[^ ]*}} maps
// CHECK:         linalg.generic {{.*}} ins(%[[S]] :
// CHECK:         %[[V1:.*]] = linalg.generic {{.*}} ins(%[[V]],
// CHECK:         %[[Y:.*]] = tofu.contract accumulate %[[C]], %[[V1]] into %[[X]] bias %{{.*}} activation relu_nan maps
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[Y]]
func.func @sum_of_two(%a: tensor<2x3x40xf32>, %w: tensor<5x3x3xf32>, %c: tensor<2x4x38xf32>, %v: tensor<5x4x1xf32>, %s: tensor<5xf32>, %t: tensor<5xf32>) -> tensor<2x5x38xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x38xf32>
  %0 = tofu.contract %a, %w into %e maps [#image, #filter, #result] : tensor<2x3x40xf32>, tensor<5x3x3xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %1 = tofu.contract %c, %v into %e maps [#image, #filter, #result] : tensor<2x4x38xf32>, tensor<5x4x1xf32>, tensor<2x5x38xf32> -> tensor<2x5x38xf32>
  %2 = linalg.generic {indexing_maps = [#nky, #nky, #k, #k, #nky], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%1, %0, %s, %t : tensor<2x5x38xf32>, tensor<2x5x38xf32>, tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<2x5x38xf32>) {
  ^bb0(%x: f32, %y: f32, %p: f32, %q: f32, %o: f32):
    %3 = arith.mulf %x, %p : f32
    %4 = arith.divf %y, %q : f32
    %5 = arith.subf %4, %p : f32
    %6 = arith.addf %3, %5 : f32
    %7 = arith.maximumf %6, %zero : f32
    linalg.yield %7 : f32
  } -> tensor<2x5x38xf32>
  return %2 : tensor<2x5x38xf32>
}
