// Operations without semantics, and wrong semantics.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -tofu-annotate -verify-diagnostics -allow-unregistered-dialect

// An operation without semantics is replicated, with one remark per kind of
// operation that says why; semantics that contradict the operation are an error.

func.func @unknown(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-remark@below {{is replicated: it has no semantics; further ones alike are not reported}}
  %0 = "test.unknown"(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // Not again.
  %1 = "test.unknown"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark@below {{is replicated: it has no semantics; further ones alike are not reported}}
  %2 = "test.other"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// Nor in the next function.
func.func @unknown_again(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "test.unknown"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @unranked(%a: tensor<*xf32>) -> (tensor<*xf32>, tensor<8xf32>, tensor<*xf32>) {
  // expected-remark@below {{is replicated: not on tensors; further ones alike are not reported}}
  %0 = math.exp %a : tensor<*xf32>
  // expected-remark@below {{is replicated: not on tensors of known rank; further ones alike are not reported}}
  %1 = tensor.cast %0 : tensor<*xf32> to tensor<8xf32>
  %2 = tensor.cast %1 : tensor<8xf32> to tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<8xf32>, tensor<*xf32>
}

// -----

// A loop with several blocks, or one that is no branch, is replicated with all
// that is in it.
func.func @loop(%n: index, %a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark@below {{is replicated: it has no semantics; further ones alike are not reported}}
  %0 = scf.execute_region -> tensor<8xf32> {
    cf.br ^next(%a : tensor<8xf32>)
  ^next(%x: tensor<8xf32>):
    %1 = math.exp %x : tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  %2 = scf.execute_region -> tensor<8xf32> {
    cf.br ^next
  ^next:
    scf.yield %0 : tensor<8xf32>
  }
  return %2 : tensor<8xf32>
}

// -----

func.func @unknown(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark@below {{is replicated: it has no semantics; further ones alike are not reported}}
  %0 = "test.op"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-remark@below {{is replicated: it has several blocks}}
func.func @branches(%c: i1, %a: tensor<8xf32>) -> tensor<8xf32> {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = math.exp %a : tensor<8xf32>
  return %0 : tensor<8xf32>
^bb2:
  return %a : tensor<8xf32>
}

// -----

// An unknown operation may end a function: what it does with its operands isn't known.
// expected-remark@below {{is replicated: it doesn't end with func.return}}
func.func @unknown_end(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  "test.end"(%0) {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> ()>} : (tensor<8xf32>) -> ()
}

// -----

func.func private @elsewhere(tensor<8xf32>) -> tensor<8xf32>

func.func @call(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark@below {{is replicated: the declaration of its callee has no tofu.semantics; further ones alike are not reported}}
  %0 = call @elsewhere(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @unknown_slice(%a: tensor<8xf32>, %i: index) -> tensor<4xf32> {
  // expected-remark@below {{is replicated: the slice is not known; further ones alike are not reported}}
  %0 = tensor.extract_slice %a[0] [4] [%i] : tensor<8xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @backwards(%a: tensor<8xf32>) -> tensor<4xf32> {
  // expected-remark@below {{is replicated: the slice runs backwards; further ones alike are not reported}}
  %0 = tensor.extract_slice %a[7] [4] [-1] : tensor<8xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @index_padding(%a: tensor<8xindex>) -> tensor<10xindex> {
  // expected-remark@below {{is replicated: the padding depends on the index; further ones alike are not reported}}
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<8xindex> to tensor<10xindex>
  return %0 : tensor<10xindex>
}

// -----

// Only the diagonal is written; the rest is what it was.
func.func @diagonal(%a: tensor<8xf32>, %out: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark@below {{is replicated: a result is not indexed by dims, each once; further ones alike are not reported}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m, m)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%out : tensor<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @on_buffers(%a: memref<8xf32>, %b: tensor<8xf32>, %c: memref<8xf32>) -> tensor<8xf32> {
  // Without tensors there is nothing to say.
  linalg.exp ins(%a : memref<8xf32>) outs(%c : memref<8xf32>)
  return %b : tensor<8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Semantics that the program comes with
//===----------------------------------------------------------------------===//

func.func @unread(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'math.exp' op semantics contradict those of the operation: #tofu.semantics<[d0 = 8], (in0[d0]) -> (out0[d0])>}}
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8], (_) -> (r[m])>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @another_index(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@below {{'math.exp' op semantics contradict those of the operation: #tofu.semantics<[d0 = 8, d1 = 8], (in0[d0, d1]) -> (out0[d0, d1])>}}
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8, n = 8], (a[n, m]) -> (r[m, n])>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// A whole operand next to a cut result.
func.func @whole(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@below {{'math.exp' op semantics contradict those of the operation: #tofu.semantics<[d0 = 8, d1 = 8], (in0[d0, d1]) -> (out0[d0, d1])>}}
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8, n = 8], (a[:, :]) -> (r[m, n])>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @another_combiner(%a: tensor<8x4xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'linalg.reduce' op semantics contradict those of the operation: #tofu.semantics<[d0 = 8, d1 = 4 : max], (in0[d0, d1], init out0[d0]) -> (out0[d0])>}}
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>}
  return %0 : tensor<8xf32>
}

// -----

// The parts would each start from the initial value.
func.func @no_initial_value(%a: tensor<8x4xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'linalg.reduce' op semantics contradict those of the operation: #tofu.semantics<[d0 = 8, d1 = 4 : sum], (in0[d0, d1], init out0[d0]) -> (out0[d0])>}}
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%out : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], o[m]) -> (r[m])>}
  return %0 : tensor<8xf32>
}

// -----

func.func @indescribable(%a: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tensor.extract_slice' op can't be cut, semantics or not: the slice runs backwards}}
  %0 = tensor.extract_slice %a[7] [4] [-1] {tofu.semantics = #tofu.semantics<[m = 4], (a[-m + 7]) -> (r[m])>} : tensor<8xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @materialize(%a: tensor<8xf32>, %m: memref<8xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  // expected-remark@below {{is replicated: it writes to a buffer; further ones alike are not reported}}
  bufferization.materialize_in_destination %a in writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
  return %b : tensor<?xf32>
}

// -----

func.func @extract_dynamic(%a: tensor<?xf32>, %i: index) -> f32 {
  // expected-remark@below {{is replicated: sizes are not known; further ones alike are not reported}}
  %0 = tensor.extract %a[%i] : tensor<?xf32>
  return %0 : f32
}

// -----

func.func @no_such_dim(%a: tensor<4x?xf32>) -> index {
  %c2 = arith.constant 2 : index
  // expected-error@below {{index 2: tensor has 2 dims}}
  %0 = tensor.dim %a, %c2 : tensor<4x?xf32>
  return %0 : index
}

// -----

func.func @dim_before_the_first(%a: tensor<?xf32>) -> tensor<?xf32> {
  %m = arith.constant -1 : index
  // expected-error@below {{index -1: tensor has 1 dims}}
  %n = tensor.dim %a, %m : tensor<?xf32>
  %0 = tensor.empty(%n) : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// What could the parts of a reduction combine to?
func.func @no_results(%a: tensor<8x4xf32>) {
  // expected-remark@below {{keeps dim d1 whole: it has no results; further ones alike are not reported}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x4xf32>) {
    ^bb0(%x: f32):
      %zero = arith.constant 0.0 : f32
      %good = arith.cmpf oge, %x, %zero : f32
      cf.assert %good, "negative"
      linalg.yield
  }
  return
}
