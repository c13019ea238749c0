// Errors planted in plans.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -verify-diagnostics -tofu-verify-plan -allow-unregistered-dialect

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

// Rows 4 to 7 are needed on device 1, and it gets but three of them.
tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
#short = #tofu.boxes<@mesh, [m = 7 {x}], [m]>
func.func @lost_row(%a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %0 = tofu.reshard %a from #x1 to #short in [8] : tensor<8xf32> -> tensor<8xf32>
  // expected-error@below {{'math.exp' op operand 0: device 1 doesn't hold (7), which it reads}}
  %1 = math.exp %0 {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
#off = #tofu.boxes<@mesh, [m = 8 {x}], [m + 1]>
func.func @off_by_one(%a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %0 = tofu.reshard %a from #x1 to #off in [8] : tensor<8xf32> -> tensor<8xf32>
  // expected-error@below {{'math.exp' op operand 0: device 0 doesn't hold (0), which it reads}}
  %1 = math.exp %0 {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// 6 columns in windows of 3 over y: device 0 reads 0 to 4, but the box that it
// gets is that of windows of 2. All rows are its own.
tofu.mesh @mesh [x = 1, y = 2]
#columns = #tofu.layout<@mesh, [{}, {y}]>
#narrow = #tofu.boxes<@mesh, [r = 4, c = 6 {y}, j = 2], [r, c + j]>
func.func @missing_halo_column(%a: tensor<4x8xf32> {tofu.layout = #columns}, %w: tensor<3xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) -> (tensor<4x6xf32> {tofu.layout = #columns}) {
  %0 = tofu.reshard %a from #columns to #narrow in [4, 8] : tensor<4x8xf32> -> tensor<4x8xf32>
  // expected-error@below {{'test.conv' op operand 0: device 0 doesn't hold (0, 4), which it reads}}
  %1 = "test.conv"(%0, %w) {tofu.semantics = #tofu.semantics<[r = 4, c = 6, j = 3 : sum], (a[r, c + j], w[j]) -> (o[r, c])>,
                            tofu.strategy = #tofu.strategy<@mesh, [{}, {y}, {}]>, tofu.layouts = [#columns]} : (tensor<4x8xf32>, tensor<3xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// The second operand of two that lie alike.
tofu.mesh @mesh [x = 2]
#rows = #tofu.layout<@mesh, [{x}, {}]>
func.func @transposed(%a: tensor<4x4xf32> {tofu.layout = #rows}) -> (tensor<4x4xf32> {tofu.layout = #rows}) {
  // expected-error@below {{'test.op' op operand 1: device 0 doesn't hold (2, 0), which it reads}}
  %0 = "test.op"(%a, %a) {tofu.semantics = #tofu.semantics<[m = 4, n = 4], (a[m, n], b[n, m]) -> (r[m, n])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#rows]}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// An error is reported for each operation, also for one like an earlier one.
tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
func.func @alike(%a: tensor<4xf32> {tofu.layout = #x1}) -> (tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  // expected-error@below {{'test.op' op operand 0: device 0 doesn't hold (2), which it reads}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 4], (a[:]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}]>, tofu.layouts = [#x1]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@below {{'test.op' op operand 0: device 0 doesn't hold (2), which it reads}}
  %1 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[m = 4], (a[:]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}]>, tofu.layouts = [#x1]} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
func.func @whole_operand(%a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  // expected-error@below {{'test.op' op operand 0: device 0 doesn't hold (4), which it needs}}
  %0 = "test.op"(%a) {tofu.layouts = [#tofu.layout<@mesh, [{}]>]} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

tofu.mesh @mesh [x = 2]
func.func @dropped_partial(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>,
       tofu.layouts = [#tofu.layout<@mesh, [{}]>]}
  // expected-error@below {{'func.return' op operand 0 is partial over {x}, is taken as partial over {}}}
  return %0 : tensor<8xf32>
}

// -----

// One of two axes is forgotten.
tofu.mesh @mesh [x = 2, y = 2]
func.func @dropped_axis(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x, y}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x, y}]>,
       tofu.layouts = [#tofu.layout<@mesh, [{}]>]}
  // expected-error@below {{'tofu.reshard' op input is partial over {x, y}, is taken as partial over {y}}}
  %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{}], sum {y}> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// All of it is summed on both devices, and then twice.
tofu.mesh @mesh [x = 2]
func.func @doubled_sum(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {}]>,
       tofu.layouts = [#tofu.layout<@mesh, [{}]>]}
  // expected-error@below {{'tofu.reshard' op input is partial over {}, is taken as partial over {x}}}
  %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @wrong_combiner(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>,
       tofu.layouts = [#tofu.layout<@mesh, [{}]>]}
  // expected-error@below {{'tofu.reshard' op input is a partial sum, is taken as a partial max}}
  %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{}], max {x}> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A partial maximum is no partial sum that may pass.
tofu.mesh @mesh [x = 2]
#max = #tofu.layout<@mesh, [{}], max {x}>
func.func @maximum_as_sum(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %0 = "test.max"(%a) {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : max], (a[m, k]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#max]}
      : (tensor<8x4xf32>) -> tensor<8xf32>
  // expected-error@below {{'math.absf' op operand 0 is a partial max, is taken as a partial sum}}
  %1 = math.absf %0 {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m]), linear [{0}]>, tofu.strategy = #tofu.strategy<@mesh, [{}], partial {x} in [0]>,
                     tofu.layouts = [#tofu.layout<@mesh, [{}], sum {x}>]} : tensor<8xf32>
  %2 = tofu.reshard %1 from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#sum = #tofu.layout<@mesh, [{}], sum {x}>
func.func @partial_where_none_passes(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %0 = "test.sum"(%a) {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#sum]}
      : (tensor<8x4xf32>) -> tensor<8xf32>
  // expected-error@below {{'math.exp' op operand 0 is partial over {x}, is taken as partial over {}}}
  %1 = math.exp %0 {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}]>, tofu.layouts = [#tofu.layout<@mesh, [{}]>]} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#sum = #tofu.layout<@mesh, [{}], sum {x}>
func.func @not_linear(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %0 = "test.sum"(%a) {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#sum]}
      : (tensor<8x4xf32>) -> tensor<8xf32>
  // expected-error@below {{'math.exp' op is not linear in the operands that are partial over {x}}}
  %1 = math.exp %0 {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}], partial {x} in [0]>, tofu.layouts = [#sum]} : tensor<8xf32>
  %2 = tofu.reshard %1 from #sum to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// The initial value counts on the first device along y, not on that along x.
tofu.mesh @mesh [x = 2, y = 2]
#sum = #tofu.layout<@mesh, [{}], sum {x}>
func.func @first_along_another_axis(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}, %init: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>})
    -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %zero = arith.constant 0 : index
  %empty = tensor.empty() : tensor<8xf32>
  %0 = "test.sum"(%a) {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#sum]}
      : (tensor<8x4xf32>) -> tensor<8xf32>
  %number = tofu.shard_offset 0 of #tofu.layout<@mesh, [{y}]> in [2] : index
  %first = arith.cmpi eq, %number, %zero : index
  // expected-error@below {{'linalg.generic' op is not linear in the operands that are partial over {x}}}
  %1 = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%init, %0 : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>)
      attrs = {tofu.semantics = #tofu.semantics<[m = 8], (a[m], b[m], _) -> (r[m]), linear [{0, 1}]>,
               tofu.strategy = #tofu.strategy<@mesh, [{}], partial {x} in [1]>, tofu.layouts = [#sum]} {
  ^bb0(%i: f32, %p: f32, %o: f32):
    %none = arith.constant 0.0 : f32
    %once = arith.select %first, %i, %none : f32
    %s = arith.addf %once, %p : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %2 = tofu.reshard %1 from #sum to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Each device adds the ones, and then the sums are added.
tofu.mesh @mesh [x = 2]
#sum = #tofu.layout<@mesh, [{}], sum {x}>
func.func @ones_as_partial(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %0 = "test.sum"(%a) {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>, tofu.layouts = [#sum]}
      : (tensor<8x4xf32>) -> tensor<8xf32>
  // expected-error@below {{'test.add' op operand 1 is the same on all devices, is taken as a partial sum over {x}}}
  %1 = "test.add"(%0, %ones) {tofu.semantics = #tofu.semantics<[m = 8], (a[m], b[m]) -> (r[m]), linear [{0, 1}]>, tofu.strategy = #tofu.strategy<@mesh, [{}], partial {x} in [0, 1]>,
                              tofu.layouts = [#sum]} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = tofu.reshard %1 from #sum to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @ones_resharded() -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error@below {{'tofu.reshard' op input is the same on all devices, is taken as a partial sum over {x}}}
  %0 = tofu.reshard %ones from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Both devices start their sum from what is to be added once.
tofu.mesh @mesh [x = 2]
func.func @initial_value(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}, %init: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>})
    -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  // expected-error@below {{'linalg.reduce' op operand 1 would be combined by every part of the reduction, not once}}
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%init : tensor<8xf32>) dimensions = [1]
      {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : sum], (a[m, k], init r[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>,
       tofu.layouts = [#tofu.layout<@mesh, [{}]>]}
  %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

// Device 1 has an empty part of b, and so computes nothing.
tofu.mesh @mesh [x = 2]
#whole2 = #tofu.layout<@mesh, [{}, {}]>
func.func @idle_device(%a: tensor<1x4xf32> {tofu.layout = #whole2}) -> (tensor<4xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  // expected-error@below {{'test.op' op result 0: device 1 doesn't make (0), which it is to hold}}
  %0 = "test.op"(%a) {tofu.semantics = #tofu.semantics<[b = 1, m = 4], (a[b, m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}, {}]>, tofu.layouts = [#tofu.layout<@mesh, [{}]>]}
      : (tensor<1x4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @combiner_of_layout(%a: tensor<8x4xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  // expected-error@below {{'test.max' op result 0 is a partial max, is to be a partial sum}}
  %0 = "test.max"(%a) {tofu.semantics = #tofu.semantics<[m = 8, k = 4 : max], (a[m, k]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{}, {x}]>,
                       tofu.layouts = [#tofu.layout<@mesh, [{}], sum {x}>]} : (tensor<8x4xf32>) -> tensor<8xf32>
  %1 = tofu.reshard %0 from #tofu.layout<@mesh, [{}], max {x}> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
func.func @no_layout(%a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  // expected-error@below {{'math.exp' op result 0 has no layout; run tofu-plan}}
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>, tofu.strategy = #tofu.strategy<@mesh, [{x}]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

// Row 7 of what is to be whole again is nowhere.
tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
#short = #tofu.boxes<@mesh, [m = 7 {x}], [m]>
func.func @not_covered(%a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %0 = tofu.reshard %a from #x1 to #short in [8] : tensor<8xf32> -> tensor<8xf32>
  // expected-error@below {{'tofu.reshard' op input: no device holds (7), which device 1 needs}}
  %1 = tofu.reshard %0 from #short to #x1 in [8] : tensor<8xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
#whole1 = #tofu.layout<@mesh, [{}]>
func.func @from_too_much(%a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  // expected-error@below {{'tofu.reshard' op input: device 0 doesn't hold (4), which it needs}}
  %0 = tofu.reshard %a from #whole1 to #x1 in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
#whole1 = #tofu.layout<@mesh, [{}]>
func.func @from_too_little(%a: tensor<8xf32> {tofu.layout = #whole1}) -> (tensor<8xf32> {tofu.layout = #whole1}) {
  // expected-error@below {{'tofu.reshard' op input: device 0 holds (4), by from it doesn't}}
  %0 = tofu.reshard %a from #x1 to #whole1 in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
tofu.mesh @other [x = 4]
#x1 = #tofu.layout<@mesh, [{x}]>
func.func @other_mesh(%a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  // expected-error@below {{'tofu.reshard' op is on @other, the plan on @mesh}}
  %0 = tofu.reshard %a from #tofu.layout<@other, [{x}]> to #tofu.layout<@other, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
func.func @local_types() -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %0 = "test.op"() {tofu.layouts = [#tofu.layout<@mesh, [{}]>]} : () -> tensor<4xf32>
  // expected-error@below {{'tofu.reshard' op has local types; verify before tofu-localize}}
  %1 = tofu.reshard %0 from #x1 to #tofu.layout<@mesh, [{}]> in [8] : tensor<4xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

tofu.mesh @mesh [x = 2]
// expected-error@below {{'func.func' op argument 1 has no tofu.layout; run tofu-plan}}
func.func @argument(%i: index, %a: tensor<8xf32>) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  return %a : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
// expected-error@below {{'func.func' op result 1 has no tofu.layout; run tofu-plan}}
func.func @result(%i: index, %a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (index, tensor<8xf32>) {
  return %i, %a : index, tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @returned(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  // expected-error@below {{'func.return' op operand 0: device 0 doesn't hold (4), which it needs}}
  return %a : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
#whole1 = #tofu.layout<@mesh, [{}]>
// expected-error@below {{'func.func' op result 0 lies as #tofu.layout<@mesh, [{x}]>, argument 0, which it replaces, as #tofu.layout<@mesh, [{}]>}}
func.func @replaced(%w: tensor<8xf32> {tofu.layout = #whole1, tf.aliasing_output = 0 : i32}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %0 = tofu.reshard %w from #whole1 to #x1 in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
// expected-error@below {{'func.func' op argument 0 has a local type; verify before tofu-localize}}
func.func @localized(%a: tensor<4xf32> {tofu.layout = #x1, tofu.global_type = tensor<8xf32>}) -> (tensor<4xf32> {tofu.layout = #x1, tofu.global_type = tensor<8xf32>}) {
  return %a : tensor<4xf32>
}

// -----

tofu.mesh @mesh [x = 2]
tofu.mesh @other [x = 2]
// expected-error@below {{the plan is on @mesh and on @other}}
func.func @two_meshes(%a: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{x}]>}) -> (tensor<8xf32> {tofu.layout = #tofu.layout<@other, [{x}]>}) {
  return %a : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
#x1 = #tofu.layout<@mesh, [{x}]>
#short = #tofu.boxes<@mesh, [m = 7 {x}], [m]>
#kernel = #tofu.semantics<[m = 8], (a[m]) -> (r[m])>
func.func private @kernel(tensor<8xf32>) -> tensor<8xf32> attributes {tofu.semantics = #kernel}
func.func @call(%a: tensor<8xf32> {tofu.layout = #x1}) -> (tensor<8xf32> {tofu.layout = #x1}) {
  %0 = tofu.reshard %a from #x1 to #short in [8] : tensor<8xf32> -> tensor<8xf32>
  // expected-error@below {{'func.call' op @kernel: operand 0: device 1 doesn't hold (7), which it reads}}
  %1 = call @kernel(%0) {tofu.semantics = #kernel, tofu.strategy = #tofu.strategy<@mesh, [{x}]>, tofu.layouts = [#x1]} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
