// What the verifiers of the buffer level refuse.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -verify-diagnostics

tofu.mesh @mesh[x = 2]
func.func @types(%a: memref<4xf32>, %b: memref<8xf64>) {
  // expected-error@+1 {{'tofu.collective' op source holds 'f32', dest holds 'f64'}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : memref<4xf32>, memref<8xf64>
  return
}

// -----

tofu.mesh @mesh[x = 2]
func.func @rank(%a: memref<4x1xf32>, %b: memref<8xf32>) {
  // expected-error@+1 {{'tofu.collective' op source has 2 dims, the value has 1}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : memref<4x1xf32>, memref<8xf32>
  return
}

// -----

func.func @mesh(%a: memref<4xf32>, %b: memref<8xf32>) {
  // expected-error@+1 {{'tofu.collective' op unknown mesh: @other}}
  tofu.collective all_gather %a, %b from #tofu.layout<@other, [{x}]> to #tofu.layout<@other, [{}]> in [8] : memref<4xf32>, memref<8xf32>
  return
}

// -----

func.func @map_count(%a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tofu.contract' op has 2 maps instead of 3}}
  tofu.contract %a, %b into %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>
  return
}

// -----

func.func @map_results(%a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tofu.contract' op map 1 has 1 results, operand has 2 dims}}
  tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (m, n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>
  return
}

// -----

func.func @map_dims(%a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tofu.contract' op map 2 is not over the dims of map 0}}
  tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n) -> (m, n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>
  return
}

// -----

func.func @map_index(%a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>) {
  // expected-error@+1 {{'tofu.contract' op result 1 of map 2 is neither 0 nor made of dims of its own: affine_map<(d0, d1, d2) -> (d0, d0)>}}
  tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, m)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>
  return
}

// -----

func.func @input_types(%a: memref<8x4xf32>, %b: memref<4x6xf64>, %c: memref<8x6xf64>) {
  // expected-error@+1 {{'tofu.contract' op lhs holds 'f32', rhs holds 'f64'}}
  tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : memref<8x4xf32>, memref<4x6xf64>, memref<8x6xf64>
  return
}

// -----

func.func @result_count(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error@+1 {{'tofu.contract' op has 0 results, needs 1}}
  tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>
  return
}

// -----

func.func @result_type(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error@+1 {{'tofu.contract' op out is 'tensor<8x6xf32>', result is 'tensor<?x6xf32>'}}
  %0 = tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<?x6xf32>
  return
}
