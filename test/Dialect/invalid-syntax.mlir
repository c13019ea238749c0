// What the parser of attributes refuses.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// What the parser says of attributes.

//===----------------------------------------------------------------------===//
// Layouts and strategies
//===----------------------------------------------------------------------===//

// expected-error@below {{unknown combiner: avg}}
"test.op"() {a = #tofu.layout<@mesh, [{}], avg {x}>} : () -> ()

// -----

// expected-error@below {{unknown combiner: none}}
"test.op"() {a = #tofu.layout<@mesh, [{}], none {x}>} : () -> ()

// -----

// expected-error@below {{expected '['}}
"test.op"() {a = #tofu.layout<@mesh, {x}>} : () -> ()

// -----

// expected-error@below {{expected '{'}}
"test.op"() {a = #tofu.layout<@mesh, [x]>} : () -> ()

// -----

// expected-error@below {{invalid kind of attribute specified}}
"test.op"() {a = #tofu.layout<"mesh", [{x}]>} : () -> ()

// -----

// expected-error@below {{expected 'partial'}}
"test.op"() {a = #tofu.strategy<@mesh, [{}], sum {x}>} : () -> ()

// -----

// expected-error@below {{expected 'in'}}
"test.op"() {a = #tofu.strategy<@mesh, [{}], partial {x}>} : () -> ()

// -----

// expected-error@below {{expected integer value}}
"test.op"() {a = #tofu.strategy<@mesh, [{}], partial {x} in [a]>} : () -> ()

// -----

// expected-error@below {{partial operands need partial axes}}
"test.op"() {a = #tofu.strategy<@mesh, [{}], partial {} in [0]>} : () -> ()

// -----

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

// expected-error@below {{index is not linear, or too large}}
"test.op"() {a = #tofu.boxes<@mesh, [m = 4 {x}], [m mod 2]>} : () -> ()

// -----

// expected-error@below {{index is too large}}
"test.op"() {a = #tofu.boxes<@mesh, [y = 4 {x}], [y + 4611686018427387904 + 4611686018427387904]>} : () -> ()

// -----

// expected-error@below {{index is too large}}
"test.op"() {a = #tofu.semantics<[m = 8], (a[m * 4611686018427387904 * 2]) -> (r[m])>} : () -> ()

// -----

// expected-error@below {{index is not linear, or too large}}
"test.op"() {a = #tofu.boxes<@mesh, [m = 4, n = 2], [m floordiv 2 + n]>} : () -> ()

// -----

// expected-error@below {{index is not linear, or too large}}
"test.op"() {a = #tofu.boxes<@mesh, [m = 3], [m * 4611686018427387904]>} : () -> ()

// -----

// expected-error@below {{index is not linear, or too large}}
"test.op"() {a = #tofu.boxes<@mesh, [m = 9223372036854775807], [m + 1]>} : () -> ()

// -----

// expected-error@below {{two dims are called m}}
"test.op"() {a = #tofu.boxes<@mesh, [m = 4, m = 2], [m]>} : () -> ()

// -----

// expected-error@below {{size of m is negative: -4}}
"test.op"() {a = #tofu.boxes<@mesh, [m = -4], [m]>} : () -> ()

// -----

// expected-error@below {{integer value too large}}
"test.op"() {a = #tofu.boxes<@mesh, [m = 18446744073709551616], [m]>} : () -> ()

// -----

//===----------------------------------------------------------------------===//
// Semantics
//===----------------------------------------------------------------------===//

// expected-error@below {{#tofu.access stands inside of #tofu.semantics only}}
"test.op"() {a = #tofu.access<a[d0]>} : () -> ()

// -----

// expected-error@below {{unknown combiner: parallel}}
"test.op"() {a = #tofu.semantics<[m = 4 : parallel], (a[m]) -> (r[m])>} : () -> ()

// -----

// expected-error@below {{size of m is negative: -4}}
"test.op"() {a = #tofu.semantics<[m = -4], (a[m]) -> (r[m])>} : () -> ()

// -----

// Names stand in index expressions, so they are no strings.
// expected-error@below {{expected valid keyword}}
"test.op"() {a = #tofu.semantics<["a dim" = 4], (a[:]) -> (r[:])>} : () -> ()

// -----

// expected-error@below {{expected valid keyword}}
"test.op"() {a = #tofu.semantics<[m = 4], ("a tensor"[m]) -> (r[m])>} : () -> ()

// -----

// expected-error@below {{two dims are called m}}
"test.op"() {a = #tofu.semantics<[m = 4, m = 5], (a[m]) -> (r[m])>} : () -> ()

// -----

// expected-error@below {{use of undeclared identifier}}
"test.op"() {a = #tofu.semantics<[m = 4], (a[n]) -> (r[m])>} : () -> ()

// -----

// expected-error@below {{non-affine expression: at least one of the multiply operands has to be either a constant or symbolic}}
"test.op"() {a = #tofu.semantics<[m = 4, n = 4], (a[m * n]) -> (r[m, n])>} : () -> ()

// -----

// expected-error@below {{initial value of an unknown result: C}}
"test.op"() {a = #tofu.semantics<[m = 4], (init C[m]) -> (r[m])>} : () -> ()

// -----

// expected-error@below {{result 0 has no index}}
"test.op"() {a = #tofu.semantics<[m = 4], (a[m]) -> (_)>} : () -> ()

// -----

// expected-error@below {{no operand 1}}
"test.op"() {a = #tofu.semantics<[m = 4], (a[m]) -> (r[m]), linear [{1}]>} : () -> ()

// -----

// expected-error@below {{no operand -1}}
"test.op"() {a = #tofu.semantics<[m = 4], (a[m]) -> (r[m]), linear [{-1}]>} : () -> ()

// -----

// expected-error@below {{expected 'linear'}}
"test.op"() {a = #tofu.semantics<[m = 4], (a[m]) -> (r[m]), partial [{0}]>} : () -> ()

// -----

// Cutting m would cut the square along its diagonal.
// expected-error@below {{dim m indexes 2 dims of result 0}}
"test.op"() {a = #tofu.semantics<[m = 4], (a[m]) -> (r[m, m])>} : () -> ()

// -----

// expected-error@below {{dim k is a reduction, but indexes result 0}}
"test.op"() {a = #tofu.semantics<[m = 4, k = 2 : sum], (a[m, k]) -> (r[m, k])>} : () -> ()

// -----

// expected-error@below {{dim k is parallel, but doesn't index result 1}}
"test.op"() {a = #tofu.semantics<[m = 4, k = 2], (a[m, k]) -> (r[m, k], s[m])>} : () -> ()

// -----

// expected-error@below {{dim k combines by sum, dim l by max}}
"test.op"() {a = #tofu.semantics<[k = 4 : sum, l = 2 : max], (a[k, l]) -> (r[])>} : () -> ()

// -----

// expected-error@below {{dim k combines by sum, max, dim l by max, sum}}
"test.op"() {a = #tofu.semantics<[k = 4 : (sum, max), l = 2 : (max, sum)], (a[k, l]) -> (r[], s[])>} : () -> ()

// -----

// expected-error@below {{dim k has 2 combiners, there are 3 results}}
"test.op"() {a = #tofu.semantics<[k = 4 : (sum, max)], (a[k]) -> (r[], s[], t[])>} : () -> ()

// -----

// expected-error@below {{dim k combines by region, max, but a region combines all results}}
"test.op"() {a = #tofu.semantics<[k = 4 : (region, max)], (a[k]) -> (r[], s[])>} : () -> ()

// -----

// expected-error@below {{linear, but dim k combines by sum, max}}
"test.op"() {a = #tofu.semantics<[k = 4 : (sum, max)], (a[k]) -> (r[], s[]), linear [{0}]>} : () -> ()

// -----

// expected-error@below {{expected ')'}}
"test.op"() {a = #tofu.semantics<[k = 4 : (sum max)], (a[k]) -> (r[], s[])>} : () -> ()

// -----

// expected-error@below {{linear, but dim k combines by max}}
"test.op"() {a = #tofu.semantics<[k = 4 : max], (a[k]) -> (r[]), linear [{0}]>} : () -> ()

// -----

// expected-error@below {{a combiner needs partial axes}}
"test.op"() {a = #tofu.layout<@mesh, [{x}], sum {}>} : () -> ()

// -----

// expected-error@below {{dim i is after j, which is no dim before it}}
"test.op"() {a = #tofu.semantics<[i = 2 after j, j = 8], (in[i, j]) -> (out[i * 8 + j])>} : () -> ()
