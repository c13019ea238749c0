// What the verifiers of meshes, bounds and moves refuse.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

// expected-error@below {{'tofu.mesh' op 2 names for 1 axes}}
"tofu.mesh"() {sym_name = "mesh", axis_names = ["x", "y"], axis_sizes = array<i64: 2>} : () -> ()

// -----

// expected-error@below {{'tofu.mesh' op has 33 axes, more than 32}}
tofu.mesh @mesh [a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, i = 1, j = 1, k = 1,
                 l = 1, m = 1, n = 1, o = 1, p = 1, q = 1, r = 1, s = 1, t = 1, u = 1, v = 1,
                 w = 1, x = 1, y = 1, z = 1, aa = 1, bb = 1, cc = 1, dd = 1, ee = 1, ff = 1, gg = 1]

// -----

// expected-error@below {{'tofu.mesh' op two axes are called x}}
tofu.mesh @mesh [x = 2, y = 3, x = 4]

// -----

// expected-error@below {{'tofu.mesh' op axis 1 has size 0, not at least 1}}
tofu.mesh @mesh [x = 2, y = 0]

// -----

// expected-error@below {{'tofu.mesh' op axis 0 has size -2, not at least 1}}
tofu.mesh @mesh [x = -2]

// -----

// expected-error@below {{'tofu.mesh' op more than 4096 devices}}
tofu.mesh @mesh [x = 4097]

// -----

// A product that a word doesn't hold.
// expected-error@below {{'tofu.mesh' op more than 4096 devices}}
tofu.mesh @mesh [x = 2, y = 9223372036854775807]

// -----

// A mesh is verified after its users: they must not trip over it.
func.func private @f(tensor<4xf32> {tofu.global_type = tensor<8xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>})

// expected-error@below {{'tofu.mesh' op axis 0 has size 0, not at least 1}}
tofu.mesh @mesh [x = 0]

// -----

tofu.mesh @mesh [x = 2]
func.func @dim_without_size(%n: index) {
  // expected-error@below {{'tofu.shard_size' op placement: nothing says how large g is}}
  %0 = tofu.shard_size 0 of #tofu.boxes<@mesh, [g = ? {x}, i = ?], [g * 4 + i]> in [%n] : index
  return
}

// -----

tofu.mesh @mesh [x = 2]
func.func @missing_size() {
  // expected-error@below {{'tofu.shard_size' op 0 values for 1 unknown sizes}}
  %0 = "tofu.shard_size"() {dim = 0, global_shape = array<i64: -9223372036854775808>, placement = #tofu.layout<@mesh, [{x}]>} : () -> index
  return
}

// -----

// Over x and y, the parts of any size are those over x and y, not over y and x.
tofu.mesh @mesh [x = 2, y = 2]
func.func @no_part(%a: tensor<?xf32>, %n: index) {
  // expected-error@below {{'tofu.all_gather' op input must be a part of the result}}
  %0 = tofu.all_gather %a from #tofu.layout<@mesh, [{y, x}]> to #tofu.layout<@mesh, [{x}]> in [%n] : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Shard bounds
//===----------------------------------------------------------------------===//

tofu.mesh @mesh [x = 2]
func.func @negative_shape() -> index {
  // expected-error@below {{'tofu.shard_size' op global dim 1 has size -4}}
  %0 = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}, {}]> in [8, -4] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @too_large() -> index {
  // expected-error@below {{'tofu.shard_size' op placement: tensor has too many elements}}
  %0 = tofu.shard_size 0 of #tofu.layout<@mesh, [{x}, {}]> in [4611686018427387904, 4] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @boxes_too_large() -> index {
  // expected-error@below {{'tofu.shard_size' op placement: tensor has too many elements}}
  %0 = tofu.shard_size 0 of #tofu.boxes<@mesh, [m = 4 {x}], [m, :]> in [4611686018427387904, 4] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @no_such_dim() -> index {
  // expected-error@below {{'tofu.shard_size' op no dim 2 in a tensor of 2 dims}}
  %0 = tofu.shard_size 2 of #tofu.layout<@mesh, [{x}, {}]> in [8, 4] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @negative_dim() -> index {
  // expected-error@below {{'tofu.shard_offset' op no dim 18446744073709551615 in a tensor of 1 dims}}
  %0 = tofu.shard_offset -1 of #tofu.layout<@mesh, [{x}]> in [8] : index
  return %0 : index
}

// -----

func.func @no_mesh() -> index {
  // expected-error@below {{'tofu.shard_offset' op unknown mesh: @mesh}}
  %0 = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}]> in [8] : index
  return %0 : index
}

// -----

func.func private @mesh()
func.func @no_mesh_of_that_name() -> index {
  // expected-error@below {{'tofu.shard_offset' op unknown mesh: @mesh}}
  %0 = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}]> in [8] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @rank() -> index {
  // expected-error@below {{'tofu.shard_offset' op placement: layout has 1 dims, tensor has 2}}
  %0 = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}]> in [8, 4] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @rank_of_boxes() -> index {
  // expected-error@below {{'tofu.shard_offset' op placement: boxes have 2 dims, tensor has 1}}
  %0 = tofu.shard_offset 0 of #tofu.boxes<@mesh, [m = 8 {x}], [m, :]> in [8] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @axis() -> index {
  // expected-error@below {{'tofu.shard_offset' op placement: unknown axis: z}}
  %0 = tofu.shard_offset 0 of #tofu.layout<@mesh, [{z}]> in [8] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @axis_of_boxes() -> index {
  // expected-error@below {{'tofu.shard_offset' op placement: unknown axis: z}}
  %0 = tofu.shard_offset 0 of #tofu.boxes<@mesh, [m = 8 {z}], [m]> in [8] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @axis_twice() -> index {
  // expected-error@below {{'tofu.shard_offset' op placement: axis x is used twice}}
  %0 = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}, {x}]> in [8, 8] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @axis_cuts_and_is_partial() -> index {
  // expected-error@below {{'tofu.shard_offset' op placement: axis x is used twice}}
  %0 = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}], sum {x}> in [8] : index
  return %0 : index
}

// -----

tofu.mesh @mesh [x = 2]
func.func @combiner_without_axes() -> index {
  // expected-error@below {{a combiner needs partial axes}}
  %0 = tofu.shard_offset 0 of #tofu.layout<@mesh, [{x}], sum {}> in [8] : index
  return %0 : index
}

// -----

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

tofu.mesh @mesh [x = 2]
func.func @negative_shape(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.reshard' op global dim 0 has size -8}}
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [-8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @no_mesh(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.reshard' op unknown mesh: @mesh}}
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @rank_of_from(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.reshard' op from: layout has 2 dims, tensor has 1}}
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}, {}]> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @axis_of_to(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.reshard' op to: unknown axis: y}}
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{y}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
tofu.mesh @other [x = 2]
func.func @two_meshes(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.reshard' op from is on @mesh, to on @other}}
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@other, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @element_types(%x: tensor<8xf32>) -> tensor<8xf16> {
  // expected-error@below {{'tofu.reshard' op input holds 'f32', result holds 'f16'}}
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf16>
  return %0 : tensor<8xf16>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @other_combiner(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.reshard' op input is a partial sum, result a partial max}}
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}], max {x}> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2, y = 2]
func.func @fetch_to_other_combiner(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.fetch' op input is a partial sum, result a partial max}}
  %0 = tofu.fetch %x from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}], max {y}> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @input_type(%x: tensor<5xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.reshard' op input has type 'tensor<5xf32>', its boxes have type 'tensor<4xf32>'}}
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : tensor<5xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// 7 over 2 is 4 and 3: not known before the device is.
tofu.mesh @mesh [x = 2]
func.func @result_type(%x: tensor<7xf32>) -> tensor<1x4xf32> {
  // expected-error@below {{'tofu.all_gather' op result has type 'tensor<1x4xf32>', its boxes have type 'tensor<?xf32>'}}
  %0 = tofu.all_gather %x from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{x}]> in [7] : tensor<7xf32> -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// Unlike a reshard, a collective is on local types only.
tofu.mesh @mesh [x = 2]
func.func @global_types(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.all_gather' op input has type 'tensor<8xf32>', its boxes have type 'tensor<4xf32>'}}
  %0 = tofu.all_gather %x from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

tofu.mesh @mesh [x = 2, y = 2]
func.func @all_reduce_makes_partial(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.all_reduce' op result is partial over y, input is not; only a fetch makes partial results}}
  %0 = tofu.all_reduce %x from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}], sum {y}> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @all_reduce_of_whole(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.all_reduce' op input is not partial over any axis that result is not}}
  %0 = tofu.all_reduce %x from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @all_reduce_cuts(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tofu.all_reduce' op result must have the boxes of the input}}
  %0 = tofu.all_reduce %x from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{x}]> in [8] : tensor<8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @reduce_scatter_of_whole(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tofu.reduce_scatter' op input is not partial over any axis that result is not}}
  %0 = tofu.reduce_scatter %x from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{x}]> in [8] : tensor<8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

tofu.mesh @mesh [x = 2, y = 2]
func.func @reduce_scatter_elsewhere(%x: tensor<4x8xf32>) -> tensor<8x2xf32> {
  // expected-error@below {{'tofu.reduce_scatter' op result must be a part of the input}}
  %0 = tofu.reduce_scatter %x from #tofu.layout<@mesh, [{x}, {}], sum {y}> to #tofu.layout<@mesh, [{}, {x, y}]> in [8, 8] : tensor<4x8xf32> -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @all_gather_of_partial(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.all_gather' op input is partial over x, result is not; only reductions and fetches combine}}
  %0 = tofu.all_gather %x from #tofu.layout<@mesh, [{}], sum {x}> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @all_gather_that_slices(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tofu.all_gather' op input must be a part of the result}}
  %0 = tofu.all_gather %x from #tofu.layout<@mesh, [{}]> to #tofu.layout<@mesh, [{x}]> in [8] : tensor<8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @all_to_all_of_partial(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.all_to_all' op input is partial over x, result is not; only reductions and fetches combine}}
  %0 = tofu.all_to_all %x from #tofu.layout<@mesh, [{}], max {x}> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @unranked(%x: tensor<*xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.fetch' op operand #0 must be ranked tensor of any type values, but got 'tensor<*xf32>'}}
  %0 = "tofu.fetch"(%x) {global_shape = array<i64: 8>, from = #tofu.layout<@mesh, [{}]>, to = #tofu.layout<@mesh, [{}]>} : (tensor<*xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @no_placement(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.fetch' op attribute 'from' failed to satisfy constraint}}
  %0 = "tofu.fetch"(%x) {global_shape = array<i64: 8>, from = #tofu.axes<{x}>, to = #tofu.layout<@mesh, [{}]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// What an operation combines itself doesn't move before it is merged.
tofu.mesh @mesh [x = 2]
func.func @moves_region(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.reshard' op moves partial results that their operation combines itself; tofu-insert-reshards has them merged}}
  %0 = tofu.reshard %x from #tofu.layout<@mesh, [{}], region {x}> to #tofu.layout<@mesh, [{x}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @stacks_sum(%x: tensor<8xf32>) -> tensor<2x8xf32> {
  // expected-error@below {{'tofu.stack' op input is no partial result that its operation combines}}
  %0 = tofu.stack %x at 0 from <@mesh, [{}], sum {x}> to <@mesh, [{x}, {}]> : tensor<8xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

tofu.mesh @mesh [x = 2]
func.func @stacks_beyond(%x: tensor<8xf32>) -> tensor<8x2xf32> {
  // expected-error@below {{'tofu.stack' op has no dim 2}}
  %0 = tofu.stack %x at 2 from <@mesh, [{}], region {x}> to <@mesh, [{}, {x}]> : tensor<8xf32> -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

// Not numbered by the axis over which it is partial.
tofu.mesh @mesh [x = 2, y = 2]
func.func @stacks_other_axis(%x: tensor<8xf32>) -> tensor<2x8xf32> {
  // expected-error@below {{'tofu.stack' op result is not the input with a dim 0 that the partial axes cut}}
  %0 = tofu.stack %x at 0 from <@mesh, [{}], region {x}> to <@mesh, [{y}, {}]> : tensor<8xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

// Two devices, but three parts.
tofu.mesh @mesh [x = 2]
func.func @stacks_too_many(%x: tensor<8xf32>) -> tensor<3x8xf32> {
  // expected-error@below {{'tofu.stack' op result is not the input with a dim 0 that the partial axes cut}}
  %0 = tofu.stack %x at 0 from <@mesh, [{}], region {x}> to <@mesh, [{x}, {}]> : tensor<8xf32> -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
