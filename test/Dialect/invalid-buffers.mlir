// What the verifiers of the operations on buffers refuse.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// tofu.collective
//===----------------------------------------------------------------------===//

tofu.mesh @mesh [x = 2]
func.func @element_types(%a: memref<4xf32>, %b: memref<8xf16>) {
  // expected-error@below {{'tofu.collective' op source holds 'f32', dest holds 'f16'}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : memref<4xf32>, memref<8xf16>
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @negative_shape(%a: memref<4xf32>, %b: memref<8xf32>) {
  // expected-error@below {{'tofu.collective' op global dim 0 has size -8}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [-8] : memref<4xf32>, memref<8xf32>
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @source_rank(%a: memref<4xf32>, %b: memref<8x4xf32>) {
  // expected-error@below {{'tofu.collective' op source has 1 dims, the value has 2}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {}]> in [8, 4] : memref<4xf32>, memref<8x4xf32>
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @dest_rank(%a: memref<4x4xf32>, %b: memref<8xf32>) {
  // expected-error@below {{'tofu.collective' op dest has 1 dims, the value has 2}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}, {}]> in [8, 4] : memref<4x4xf32>, memref<8xf32>
  return
}

// -----

func.func @no_mesh(%a: memref<4xf32>, %b: memref<8xf32>) {
  // expected-error@below {{'tofu.collective' op unknown mesh: @mesh}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : memref<4xf32>, memref<8xf32>
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @placement(%a: memref<4xf32>, %b: memref<8xf32>) {
  // expected-error@below {{'tofu.collective' op dest: unknown axis: y}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{y}]> in [8] : memref<4xf32>, memref<8xf32>
  return
}

// -----

tofu.mesh @mesh [x = 2]
tofu.mesh @other [x = 2]
func.func @two_meshes(%a: memref<4xf32>, %b: memref<8xf32>) {
  // expected-error@below {{'tofu.collective' op from is on @mesh, to on @other}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@other, [{}]> in [8] : memref<4xf32>, memref<8xf32>
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @makes_partial(%a: memref<8xf32>, %b: memref<8xf32>) {
  // expected-error@below {{'tofu.collective' op dest is partial over x, source is not; only a fetch makes partial results}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{}], sum {x}> in [8] : memref<8xf32>, memref<8xf32>
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @reduces_nothing(%a: memref<8xf32>, %b: memref<4xf32>) {
  // expected-error@below {{'tofu.collective' op source is not partial over any axis that dest is not}}
  tofu.collective reduce_scatter %a, %b from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{x}]> in [8] : memref<8xf32>, memref<4xf32>
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @gathers_partial(%a: memref<8xf32>, %b: memref<8xf32>) {
  // expected-error@below {{'tofu.collective' op source is partial over x, dest is not; only reductions and fetches combine}}
  tofu.collective all_gather %a, %b from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}]> in [8] : memref<8xf32>, memref<8xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// tofu.contract
//===----------------------------------------------------------------------===//

func.func @two_maps(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error@below {{'tofu.contract' op has 2 maps instead of 3}}
  %0 = tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return
}

// -----

func.func @no_map_of_bias(%a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>, %d: memref<6xf32>) {
  // expected-error@below {{'tofu.contract' op has 3 maps instead of 4}}
  tofu.contract %a, %b into %c bias %d
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>, memref<6xf32>
  return
}

// -----

func.func @summed_bias(%a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>, %d: memref<4xf32>) {
  // expected-error@below {{'tofu.contract' op bias is indexed by d2, which out is not}}
  tofu.contract %a, %b into %c bias %d
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (k)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>, memref<4xf32>
  return
}

// -----

func.func @other_bias(%a: memref<8x4xf32>, %b: memref<4x6xf32>, %c: memref<8x6xf32>, %d: memref<6xf16>) {
  // expected-error@below {{'tofu.contract' op bias holds 'f16', out holds 'f32'}}
  tofu.contract %a, %b into %c bias %d
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (n)>]
      : memref<8x4xf32>, memref<4x6xf32>, memref<8x6xf32>, memref<6xf16>
  return
}

// -----

func.func @no_floats(%a: memref<8x4xi32>, %b: memref<4x6xi32>, %c: memref<8x6xi32>) {
  // expected-error@below {{'tofu.contract' op has an epilogue, which elements of type 'i32' don't have}}
  tofu.contract %a, %b into %c activation relu
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : memref<8x4xi32>, memref<4x6xi32>, memref<8x6xi32>
  return
}

// -----

func.func @rank(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error@below {{'tofu.contract' op map 1 has 1 results, operand has 2 dims}}
  %0 = tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return
}

// -----

func.func @other_dims(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error@below {{'tofu.contract' op map 2 is not over the dims of map 0}}
  %0 = tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return
}

// -----

func.func @dim_twice(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error@below {{'tofu.contract' op result 1 of map 1 is neither 0 nor made of dims of its own: affine_map<(d0, d1, d2) -> (d2, d2)>}}
  %0 = tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, k)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return
}

// -----

// Inputs may be read in windows, the output is not written so.
func.func @window_of_output(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error@below {{'tofu.contract' op result 0 of map 2 is neither 0 nor made of dims of its own: affine_map<(d0, d1, d2) -> (d0 + d2, d1)>}}
  %0 = tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m + k, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return
}

// -----

func.func @element_types(%a: tensor<8x4xf16>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error@below {{'tofu.contract' op lhs holds 'f16', rhs holds 'f32'}}
  %0 = tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf16>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x6xf32>
  return
}

// -----

func.func @no_result(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error@below {{'tofu.contract' op has 0 results, needs 1}}
  tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>
  return
}

// -----

func.func @result_type(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<8x6xf32>) {
  // expected-error@below {{'tofu.contract' op out is 'tensor<8x6xf32>', result is 'tensor<8x7xf32>'}}
  %0 = tofu.contract %a, %b into %c
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32> -> tensor<8x7xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// tofu.call
//===----------------------------------------------------------------------===//

func.func @no_callee(%a: memref<8xf32>) {
  // expected-error@below {{'tofu.call' op unknown function: @f}}
  tofu.call @f() into(%a : memref<8xf32>)
  return
}

// -----

func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func @body(%a: memref<8xf32>) {
  // expected-error@below {{'tofu.call' op @f has a body}}
  tofu.call @f(%a : memref<8xf32>) into(%a : memref<8xf32>)
  return
}

// -----

func.func private @f(tensor<8xf32>) -> tensor<8xf32>
func.func @number(%a: memref<8xf32>) {
  // expected-error@below {{'tofu.call' op has 2 inputs and 1 outs, @f has 1 arguments and 1 results}}
  tofu.call @f(%a, %a : memref<8xf32>, memref<8xf32>) into(%a : memref<8xf32>)
  return
}

// -----

func.func private @f(tensor<8xf32>, i32) -> tensor<8xf32>
func.func @scalar(%a: memref<8xf32>, %i: i64) {
  // expected-error@below {{'tofu.call' op input 1 is 'i64', @f declares 'i32'}}
  tofu.call @f(%a, %i : memref<8xf32>, i64) into(%a : memref<8xf32>)
  return
}

// -----

func.func private @f(tensor<8xf32>) -> tensor<8xf32>
func.func @undescribed(%a: memref<4xf32>) {
  // expected-error@below {{'tofu.call' op input 0 is 'memref<4xf32>', @f declares 'tensor<8xf32>'}}
  tofu.call @f(%a : memref<4xf32>) into(%a : memref<4xf32>)
  return
}

// -----

func.func private @f(tensor<8x4xf32>) -> tensor<8x4xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m, :]) -> (r[m, :])>
}
func.func @whole_dim(%a: tensor<3x4xf32>, %b: tensor<3x2xf32>) {
  // expected-error@below {{'tofu.call' op out 0 is 'tensor<3x2xf32>', @f declares 'tensor<8x4xf32>'}}
  %0 = tofu.call @f(%a : tensor<3x4xf32>) into(%b : tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func private @f(tensor<8xf32>) -> tensor<8xf32>
func.func @element_type(%a: memref<8xf64>) {
  // expected-error@below {{'tofu.call' op input 0 is 'memref<8xf64>', @f declares 'tensor<8xf32>'}}
  tofu.call @f(%a : memref<8xf64>) into(%a : memref<8xf64>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// tofu.global_memory
//===----------------------------------------------------------------------===//

func.func @global_sizes(%n: index) {
  // expected-error@below {{'tofu.global_memory' op has 1 sizes, 'memref<?x?xf32>' has 2 dims of unknown size}}
  %0, %1 = tofu.global_memory "state"(%n) : memref<?x?xf32>
  return
}

// -----

func.func @global_strides() {
  // expected-error@below {{'tofu.global_memory' op memory must be dense, not 'memref<4xf32, strided<[2]>>'}}
  %0, %1 = tofu.global_memory "state" : memref<4xf32, strided<[2]>>
  return
}
