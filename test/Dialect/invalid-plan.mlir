// What the verifiers of semantics, strategies and layouts refuse.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

// The attributes that hold semantics and plan, on operations and functions.

//===----------------------------------------------------------------------===//
// Semantics
//===----------------------------------------------------------------------===//

func.func @no_semantics(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op tofu.semantics must be a #tofu.semantics}}
  "test.op"(%a) {tofu.semantics = 1 : i64} : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @operands(%a: tensor<8xf32>, %i: index) {
  // expected-error@below {{'test.op' op semantics has 2 operands, operation has 1 tensors}}
  "test.op"(%a, %i) {tofu.semantics = #tofu.semantics<[m = 8], (a[m], i[]) -> ()>} : (tensor<8xf32>, index) -> ()
  return
}

// -----

// A tensor that a region uses is an operand as well.
func.func @captured(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op semantics has 0 operands, operation has 1 tensors}}
  "test.op"() ({
    "test.use"(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> ()
  }) {tofu.semantics = #tofu.semantics<[], () -> ()>} : () -> ()
  return
}

// -----

func.func @results(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op semantics has 1 results, operation has 2}}
  %0:2 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @operand_rank(%a: tensor<8x4xf32>) {
  // expected-error@below {{'test.op' op operand 0: semantics has 1 dims, tensor has 2}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>} : (tensor<8x4xf32>) -> tensor<8xf32>
  return
}

// -----

// Sizes need not be known for that.
func.func @operand_rank_dynamic(%a: tensor<?x4xf32>) {
  // expected-error@below {{'test.op' op operand 0: semantics has 1 dims, tensor has 2}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = ?], (a[m]) -> (r[m])>} : (tensor<?x4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @result_rank(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op result 0: semantics has 1 dims, tensor has 2}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>} : (tensor<8xf32>) -> tensor<8x1xf32>
  return
}

// -----

func.func @result_no_tensor(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op result 0: semantics of 'none', which is no ranked tensor}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>} : (tensor<8xf32>) -> none
  return
}

// -----

func.func @number_rank(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op result 0: semantics has 1 dims, a number has none}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>} : (tensor<8xf32>) -> index
  return
}

// -----

func.func @number_cut(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op result 0 is a number, which every device needs; dim m must be unsplittable}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8 : sum], (a[m]) -> (r[])>} : (tensor<8xf32>) -> complex<f32>
  return
}

// -----

func.func @combiner(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op result 0: values of 'f32' have no and}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8 : and], (a[m]) -> (r[])>} : (tensor<8xf32>) -> tensor<f32>
  return
}

// -----

func.func @combiner_of_floats(%a: tensor<8xi32>) {
  // expected-error@below {{'test.op' op result 0: values of 'i32' have no maxnum}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8 : maxnum], (a[m]) -> (r[])>} : (tensor<8xi32>) -> tensor<i32>
  return
}

// -----

// Only an operation that Tofu knows combines its results itself.
// expected-error@below {{'func.func' op result 0: values of 'f32' have no region}}
func.func private @combiner_of_function(tensor<8xf32>) -> tensor<f32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8 : region], (a[m]) -> (r[])>
}

// -----

func.func @initial_value(%a: tensor<8x4xf32>, %i: tensor<f32>) {
  // expected-error@below {{'test.op' op operand 1: is 'tensor<f32>', the result that it is the initial value of is 'tensor<4xf32>'}}
  %0 = "test.op"(%a, %i) {tofu.semantics = #tofu.semantics<[m = 8 : sum, n = 4], (a[m, n], init r[]) -> (r[n])>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @result_too_small(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op result 0: dim 0 is written in [2, 6), its size is 8}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 4], (a[m]) -> (r[m + 2])>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @result_constant_index(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op result 0: dim 1 is written in [1, 2), its size is 2}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m, 1])>} : (tensor<8xf32>) -> tensor<8x2xf32>
  return
}

// -----

// 0, 2, 4, 6 of 7.
func.func @result_has_holes(%a: tensor<4xf32>) {
  // expected-error@below {{'test.op' op result 0: dim 0 is not written at each index once}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 4], (a[m]) -> (r[2 * m])>} : (tensor<4xf32>) -> tensor<7xf32>
  return
}

// -----

// 2 is written by 0 + 2 and by 1 + 1 and by 2 + 0.
func.func @result_overlaps(%a: tensor<4x3xf32>) {
  // expected-error@below {{'test.op' op result 0: dim 0 is not written at each index once}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 4, n = 3], (a[m, n]) -> (r[m + n])>} : (tensor<4x3xf32>) -> tensor<6xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Semantics of declarations, and of what gets the parts that it reads only
//===----------------------------------------------------------------------===//

// expected-error@below {{'func.func' op semantics has 1 operands, function has 2 tensors}}
func.func private @operands(tensor<8xf32>, f32, tensor<8xf32>) -> tensor<8xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>
}

// -----

// expected-error@below {{'func.func' op semantics has 1 results, function has 2}}
func.func private @results(tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>
}

// -----

// expected-error@below {{'func.func' op operand 0: semantics has 1 dims, tensor has 2}}
func.func private @operand_rank(tensor<8x4xf32>) -> tensor<8xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>
}

// -----

// expected-error@below {{'func.func' op result 0: semantics has 1 dims, tensor has 2}}
func.func private @result_rank(tensor<8xf32>) -> tensor<8x1xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>
}

// -----

// expected-error@below {{'func.func' op result 0: semantics of 'f32', which is no ranked tensor}}
func.func private @result_scalar(tensor<8xf32>) -> f32 attributes {
  tofu.semantics = #tofu.semantics<[m = 8 : sum], (a[m]) -> (r[])>
}

// -----

// expected-error@below {{'func.func' op result 0: dim 0 is written in [0, 8), its size is 16}}
func.func private @result_size(tensor<8xf32>) -> tensor<16xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>
}

// -----

// expected-error@below {{'func.func' op operand 0: dim 0 is read in [0, 8), its size is 4}}
func.func private @operand_size(tensor<4xf32>) -> tensor<8xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>
}

// -----

// expected-error@below {{'func.func' op operand 0: dim 0 is read in [-1, 9), its size is 8}}
func.func private @padded(tensor<8xf32>) -> tensor<8xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8, i = 3 : unsplittable], (a[m + i - 1]) -> (r[m])>
}

// -----

// expected-error@below {{'func.func' op operand 0: dim 0 is read from 2 on; a part gets what it reads only, so that must start at 0}}
func.func private @shifted(tensor<10xf32>) -> tensor<8xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m + 2]) -> (r[m])>
}

// -----

// A part's three elements may be two windows of two, or one of three.
// expected-error@below {{'func.func' op dim i may be cut, but is nowhere an index by itself, so that the size of a part can't be told; make it unsplittable}}
func.func private @window(tensor<10xf32>) -> tensor<8xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8, i = 3 : sum], (a[m + i]) -> (r[m])>
}

// -----

func.func @window(%a: tensor<10xf32>) {
  // expected-error@below {{'test.op' op dim i may be cut, but is nowhere an index by itself, so that the size of a part can't be told; make it unsplittable}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8, i = 3 : sum], (a[m + i]) -> (r[m])>} : (tensor<10xf32>) -> tensor<8xf32>
  return
}

// -----

// expected-error@below {{'func.func' op has a body, by which its calls are cut; semantics stand on declarations}}
func.func private @body(%a: tensor<8xf32>) -> tensor<8xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>
} {
  return %a : tensor<8xf32>
}

// -----

// From the end, and with gaps; one that isn't linear is not cut.
func.func private @reversed(tensor<16xf32>, tensor<17xf32>, tensor<4xf32>) -> tensor<8xf32> attributes {
  tofu.semantics = #tofu.semantics<[m = 8], (a[15 - 2 * m - 1], b[2 * m], c[m floordiv 2]) -> (r[m])>
}

// -----

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

func.func @no_strategy(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op tofu.strategy must be a #tofu.strategy}}
  "test.op"(%a) {tofu.strategy = [0]} : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @no_mesh(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op unknown mesh: @mesh}}
  "test.op"(%a) {tofu.strategy = #tofu.strategy<@mesh, []>} : (tensor<8xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @needs_semantics(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op a strategy needs semantics}}
  "test.op"(%a) {tofu.strategy = #tofu.strategy<@mesh, []>} : (tensor<8xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @number_of_dims(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op strategy has 2 dims, semantics has 1}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> ()>,
                 tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>} : (tensor<8xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @not_linear(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op a strategy needs linear indices}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 16], (a[m floordiv 2]) -> ()>,
                 tofu.strategy = #tofu.strategy<@mesh, [{x}]>} : (tensor<8xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @too_large(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op a strategy needs linear indices}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m * 9223372036854775807]) -> ()>,
                 tofu.strategy = #tofu.strategy<@mesh, [{x}]>} : (tensor<8xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @unknown_size(%a: tensor<?xf32>) {
  // expected-error@below {{'test.op' op dim m is cut, but no tensor dim of unknown size is as large}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = ?, n = 2 : unsplittable], (a[m * 2 + n]) -> ()>,
                 tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>} : (tensor<?xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @known_size(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op dim m is cut, but no tensor dim of unknown size is as large}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = ?], (a[m]) -> ()>,
                 tofu.strategy = #tofu.strategy<@mesh, [{x}]>} : (tensor<8xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @partial_operand(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op no operand 1}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> ()>,
                 tofu.strategy = #tofu.strategy<@mesh, [{}], partial {x} in [1]>} : (tensor<8xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @no_partial_operand(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op partial axes go with partial operands}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> ()>,
                 tofu.strategy = #tofu.strategy<@mesh, [{}], partial {x} in []>} : (tensor<8xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @unsplittable(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op dim m is unsplittable}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8 : unsplittable], (a[m]) -> ()>,
                 tofu.strategy = #tofu.strategy<@mesh, [{x}]>} : (tensor<8xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @axis(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op strategy: unknown axis: y}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> ()>,
                 tofu.strategy = #tofu.strategy<@mesh, [{y}]>} : (tensor<8xf32>) -> ()
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @axis_twice(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op strategy: axis x is used twice}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> ()>,
                 tofu.strategy = #tofu.strategy<@mesh, [{x}], partial {x} in [0]>} : (tensor<8xf32>) -> ()
  return
}

// -----

//===----------------------------------------------------------------------===//
// Layouts of results
//===----------------------------------------------------------------------===//

func.func @no_array() {
  // expected-error@below {{'test.op' op layouts must be an array}}
  %0 = "test.op"() {tofu.layouts = #tofu.layout<@mesh, [{}]>} : () -> tensor<8xf32>
  return
}

// -----

func.func @number_of_layouts() {
  // expected-error@below {{'test.op' op 0 layouts for 1 results}}
  %0 = "test.op"() {tofu.layouts = []} : () -> tensor<8xf32>
  return
}

// -----

func.func @no_layout() {
  // expected-error@below {{'test.op' op result 1 has no #tofu.layout}}
  %0:2 = "test.op"() {tofu.layouts = [unit, "x"]} : () -> (index, tensor<8xf32>)
  return
}

// -----

func.func @no_tensor() {
  // expected-error@below {{'test.op' op result 0 has a layout, but is no ranked tensor}}
  %0 = "test.op"() {tofu.layouts = [#tofu.layout<@mesh, [{}]>]} : () -> index
  return
}

// -----

func.func @no_mesh() {
  // expected-error@below {{'test.op' op unknown mesh: @mesh}}
  %0 = "test.op"() {tofu.layouts = [#tofu.layout<@mesh, [{}]>]} : () -> tensor<8xf32>
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @layout_rank() {
  // expected-error@below {{'test.op' op result 0: layout has 2 dims, tensor has 1}}
  %0 = "test.op"() {tofu.layouts = [#tofu.layout<@mesh, [{}, {}]>]} : () -> tensor<8xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Arguments and results of functions
//===----------------------------------------------------------------------===//

tofu.mesh @mesh [x = 2]
// expected-error@below {{'func.func' op argument 1 is partial; a function takes and gives whole values}}
func.func private @partial_argument(index, tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}], sum {x}>})

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{'func.func' op result 0 is partial; a function takes and gives whole values}}
func.func private @partial_result() -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}], sum {x}>})

// -----

// expected-error@below {{'func.func' op argument 0 has no #tofu.layout}}
func.func private @no_layout(tensor<8xf32> {tofu.layout})

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{'func.func' op argument 0 has a layout, but is no ranked tensor}}
func.func private @no_tensor(tensor<*xf32> {tofu.layout = #tofu.layout<@mesh, []>})

// -----

// expected-error@below {{'func.func' op unknown mesh: @mesh}}
func.func private @no_mesh(tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>})

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{'func.func' op result 1: unknown axis: y}}
func.func private @axis() -> (index, tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{y}]>})

// -----

// expected-error@below {{'func.func' op argument 1: tofu.size_of must be the numbers of an argument and of a dim of it}}
func.func private @size_of_what(tensor<?xf32>, index {tofu.size_of = array<i64: 0>})

// -----

// expected-error@below {{'func.func' op argument 1 is 'f32', the size of a dim is an index}}
func.func private @no_size(tensor<?xf32>, f32 {tofu.size_of = array<i64: 0, 0>})

// -----

// expected-error@below {{'func.func' op argument 1 is a size of argument 2, function has 2}}
func.func private @size_of_no_argument(tensor<?xf32>, index {tofu.size_of = array<i64: 2, 0>})

// -----

// expected-error@below {{'func.func' op argument 1 is the size of dim 0 of argument 0, which has no such dim of unknown size}}
func.func private @size_of_known(tensor<?xf32> {tofu.global_type = tensor<8xf32>}, index {tofu.size_of = array<i64: 0, 0>})

// -----

// expected-error@below {{'func.func' op argument 1 is the size of dim 1 of argument 0, which has no such dim of unknown size}}
func.func private @size_of_no_dim(tensor<?xf32> {tofu.global_type = tensor<?xf32>}, index {tofu.size_of = array<i64: 0, 1>})

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{'func.func' op argument 0: type is 'tensor<5xf32>', boxes of 'tensor<8xf32>' have type 'tensor<4xf32>'}}
func.func private @other_local_type(tensor<5xf32> {tofu.global_type = tensor<8xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>})

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{'func.func' op result 0: type is 'tensor<4xf16>', boxes of 'tensor<8xf32>' have type 'tensor<4xf32>'}}
func.func private @other_element_type() -> (tensor<4xf16> {tofu.global_type = tensor<8xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>})

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{'func.func' op argument 0: layout has 1 dims, tensor has 2}}
func.func private @rank_of_global_type(tensor<8xf32> {tofu.global_type = tensor<8x1xf32>, tofu.layout = #tofu.layout<@mesh, [{}]>})

// -----

// expected-error@below {{'func.func' op argument 0: tofu.global_type must be a ranked tensor type}}
func.func private @global_type_no_type(tensor<8xf32> {tofu.global_type = 8 : i64})

// -----

// expected-error@below {{'func.func' op result 0: tofu.global_type must be a ranked tensor type}}
func.func private @global_type_no_tensor() -> (tensor<8xf32> {tofu.global_type = memref<8xf32>})

// -----

// expected-error@below {{'func.func' op argument 0: tofu.carried_to must be an integer}}
func.func private @carried(tensor<8xf32> {tofu.carried_to = "r"}) -> tensor<8xf32>

// -----

// expected-error@below {{'func.func' op argument 0 is carried to result 1 : i64, function has 1}}
func.func private @carried_too_far(tensor<8xf32> {tofu.carried_to = 1 : i64}) -> tensor<8xf32>

// -----

// expected-error@below {{'func.func' op argument 0 is carried to result -1 : i64, function has 1}}
func.func private @carried_to_negative(tensor<8xf32> {tofu.carried_to = -1 : i64}) -> tensor<8xf32>

// -----

// expected-error@below {{'func.func' op argument 0: unknown attribute: tofu.layuot}}
func.func private @unknown_argument_attribute(tensor<8xf32> {tofu.layuot = 1})

// -----

func.func @unknown_attribute() {
  // expected-error@below {{'test.op' op unknown attribute: tofu.strategies}}
  "test.op"() {tofu.strategies = []} : () -> ()
  return
}

// -----

func.func @arg_layouts_of_no_region(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op tofu.arg_layouts must be an array of one array per region}}
  "test.op"(%a) {tofu.arg_layouts = [[]]} : (tensor<8xf32>) -> ()
  return
}

// -----

// expected-error@below {{'func.func' op tofu.layout stands on arguments and results of functions and on globals only}}
func.func private @misplaced_layout() attributes {tofu.layout = #tofu.layout<@mesh, []>}

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{'ml_program.global' op value is partial; a global holds whole values}}
ml_program.global private @partial(dense<1.0> : tensor<8xf32>) : tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}], sum {x}>}

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{'ml_program.global' op value: layout has 2 dims, tensor has 1}}
ml_program.global private @rank(dense<1.0> : tensor<8xf32>) : tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}

// -----

// expected-error@below {{'ml_program.global' op value: tofu.global_type must be a ranked tensor type}}
ml_program.global private @type(dense<1.0> : tensor<8xf32>) : tensor<8xf32> {tofu.global_type = f32}

// -----

// 3 indices over 2 devices leave two in a part, of which the second dim's parts
// are no box.
tofu.mesh @mesh [x = 2, y = 2]
func.func @cut_within_many(%a: tensor<3x8xf32>) -> tensor<24xf32> {
  // expected-error@below {{'tensor.collapse_shape' op dim j is cut, but dim i before it has several indices in a part}}
  %0 = tensor.collapse_shape %a [[0, 1]] {
      tofu.semantics = #tofu.semantics<[i = 3, j = 8 after i], (in[i, j]) -> (out[i * 8 + j])>,
      tofu.strategy = #tofu.strategy<@mesh, [{x}, {y}]>} : tensor<3x8xf32> into tensor<24xf32>
  return %0 : tensor<24xf32>
}

// -----

//===----------------------------------------------------------------------===//
// What is asked of the plan
//===----------------------------------------------------------------------===//

// expected-error@below {{'func.func' op argument 0: tofu.forbid: no dim 1 : i64}}
func.func private @forbid_rank(tensor<8xf32> {tofu.forbid = [1]})

// -----

// expected-error@below {{'func.func' op result 0: tofu.forbid: no dim "m"}}
func.func private @forbid_name() -> (tensor<8xf32> {tofu.forbid = ["m"]})

// -----

// expected-error@below {{'func.func' op argument 0: tofu.forbid: no dim -1 : i64}}
func.func private @forbid_negative(tensor<8xf32> {tofu.forbid = [-1]})

// -----

// expected-error@below {{'func.func' op argument 0: tofu.forbid must be an array of dims}}
func.func private @forbid_number(tensor<8xf32> {tofu.forbid = 0})

// -----

// expected-error@below {{'func.func' op argument 0: tofu.forbid: no dim 0 : i64}}
func.func private @forbid_scalar(f32 {tofu.forbid = [0]})

// -----

// expected-error@below {{'func.func' op argument 0: tofu.tie must be a name}}
func.func private @tie(tensor<8xf32> {tofu.tie = ""})

// -----

// expected-error@below {{'func.func' op argument 0: tofu.priority must be an integer}}
func.func private @priority(tensor<8xf32> {tofu.priority = "high"})

// -----

func.func @forbid_dim(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op tofu.forbid: no dim "n"}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> ()>, tofu.forbid = ["n"]} : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @forbid_dim_number(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op tofu.forbid: no dim 1 : i64}}
  "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> ()>, tofu.forbid = [1]} : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @forbid_unit(%a: tensor<8xf32>) {
  // expected-error@below {{'test.op' op tofu.forbid: no dim unit}}
  "test.op"(%a) {tofu.forbid = [unit]} : (tensor<8xf32>) -> ()
  return
}

// -----

// expected-error@below {{'func.func' op unknown attribute: tofu.tie}}
func.func private @tied_function() attributes {tofu.tie = "t"}
