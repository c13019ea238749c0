// Attributes print as they are parsed.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt -allow-unregistered-dialect %s | tofu-opt -allow-unregistered-dialect | FileCheck %s
// RUN: tofu-opt -allow-unregistered-dialect -mlir-print-op-generic %s | tofu-opt -allow-unregistered-dialect | FileCheck %s
// RUN: tofu-opt -allow-unregistered-dialect -emit-bytecode %s | tofu-opt -allow-unregistered-dialect | FileCheck %s

// Attributes print as they are parsed, wherever they stand.

tofu.mesh @mesh [x = 2, y = 3]

//===----------------------------------------------------------------------===//
// Alone
//===----------------------------------------------------------------------===//

// CHECK-LABEL: "test.attributes"
"test.attributes"() {
  // CHECK-SAME: axes = #tofu.axes<{x, y}>
  axes = #tofu.axes<{x, y}>,
  // CHECK-SAME: axes_none = #tofu.axes<{}>
  axes_none = #tofu.axes<{}>,
  // CHECK-SAME: axes_quoted = #tofu.axes<{"an axis"}>
  axes_quoted = #tofu.axes<{"an axis"}>,
  // CHECK-SAME: boxes = #tofu.boxes<@mesh, [m = 3 {x}, n = 20], [m * 20 + n, :]>
  boxes = #tofu.boxes<@mesh, [m = 3 {x}, n = 20], [20 * m + n, :]>,
  // CHECK-SAME: boxes_covering = #tofu.boxes<@mesh, [m = ? covering {x}, n = 20], [m * 20 + n]>
  boxes_covering = #tofu.boxes<@mesh, [m = ? covering {x}, n = 20], [m * 20 + n]>,
  // CHECK-SAME: boxes_partial = #tofu.boxes<@mesh, [m = 3 {x}], [m], prod {y}>
  boxes_partial = #tofu.boxes<@mesh, [m = 3 {x}], [m], prod {y}>,
  // CHECK-SAME: boxes_scalar = #tofu.boxes<@mesh, [], []>
  boxes_scalar = #tofu.boxes<@mesh, [], []>,
  // CHECK-SAME: boxes_slice = #tofu.boxes<@mesh, [m = 3 {x, y}], [m * 2 + 5, 7]>
  boxes_slice = #tofu.boxes<@mesh, [m = 3 {x, y}], [m + m + 5, 7]>,
  // CHECK-SAME: dim = #tofu.iteration_dim<m = 8>
  dim = #tofu.iteration_dim<m = 8>,
  // CHECK-SAME: dim_covering = #tofu.iteration_dim<m = ? covering>
  dim_covering = #tofu.iteration_dim<m = ? covering>,
  // CHECK-SAME: dim_fixed = #tofu.iteration_dim<m = 8 : unsplittable>
  dim_fixed = #tofu.iteration_dim<m = 8 : unsplittable>,
  // CHECK-SAME: dim_results = #tofu.iteration_dim<k = 8 : (sum, max, sum)>
  dim_results = #tofu.iteration_dim<k = 8 : (sum, max, sum)>,
  // CHECK-SAME: dim_results_alike = #tofu.iteration_dim<k = 8 : max>
  dim_results_alike = #tofu.iteration_dim<k = 8 : (max, max)>,
  // CHECK-SAME: dim_sum = #tofu.iteration_dim<k = ? : sum>
  dim_sum = #tofu.iteration_dim<k = ? : sum>,
  // CHECK-SAME: layout = #tofu.layout<@mesh, [{x}, {}]>
  layout = #tofu.layout<@mesh, [{x}, {}]>,
  // CHECK-SAME: layout_partial = #tofu.layout<@mesh, [{}, {x}], sum {y}>
  layout_partial = #tofu.layout<@mesh, [{}, {x}], sum {y}>,
  // CHECK-SAME: layout_scalar = #tofu.layout<@mesh, []>
  layout_scalar = #tofu.layout<@mesh, []>,
  // CHECK-SAME: strategy = #tofu.strategy<@mesh, [{x}, {}, {y}]>
  strategy = #tofu.strategy<@mesh, [{x}, {}, {y}]>,
  // CHECK-SAME: strategy_partial = #tofu.strategy<@mesh, [{x}], partial {y} in [0, 2]>
  strategy_partial = #tofu.strategy<@mesh, [{x}], partial {y} in [0, 2]>
} : () -> ()

// CHECK-LABEL: "test.combiners"
"test.combiners"() {
  // CHECK-SAME: #tofu.layout<@mesh, [], sum {x}>, #tofu.layout<@mesh, [], prod {x}>, #tofu.layout<@mesh, [], min {x}>, #tofu.layout<@mesh, [], max {x}>
  // CHECK-SAME: #tofu.layout<@mesh, [], and {x}>, #tofu.layout<@mesh, [], or {x}>, #tofu.layout<@mesh, [], xor {x}>
  // CHECK-SAME: #tofu.layout<@mesh, [], minnum {x}>, #tofu.layout<@mesh, [], maxnum {x}>, #tofu.layout<@mesh, [], minui {x}>, #tofu.layout<@mesh, [], maxui {x}>
  all = [#tofu.layout<@mesh, [], sum {x}>, #tofu.layout<@mesh, [], prod {x}>,
         #tofu.layout<@mesh, [], min {x}>, #tofu.layout<@mesh, [], max {x}>,
         #tofu.layout<@mesh, [], and {x}>, #tofu.layout<@mesh, [], or {x}>,
         #tofu.layout<@mesh, [], xor {x}>, #tofu.layout<@mesh, [], minnum {x}>,
         #tofu.layout<@mesh, [], maxnum {x}>, #tofu.layout<@mesh, [], minui {x}>,
         #tofu.layout<@mesh, [], maxui {x}>]
} : () -> ()

// CHECK-LABEL: "test.semantics"
"test.semantics"() {
  // CHECK-SAME: all_whole = #tofu.semantics<[], (in[:, :]) -> (out[:])>
  all_whole = #tofu.semantics<[], (in[:, :]) -> (out[:])>,
  // CHECK-SAME: arithmetic = #tofu.semantics<[a = 4, b = 3], (in[(a + 1) * 2, a + b * -1 + 2, a mod 2, (a + b) floordiv 2, a ceildiv 2]) -> (out[a, b])>
  arithmetic = #tofu.semantics<[a = 4, b = 3],
      (in[2 * (a + 1), a - b + 2, a mod 2, (a + b) floordiv 2, a ceildiv 2]) -> (out[a, b])>,
  // CHECK-SAME: black_box = #tofu.semantics<[b = 16], (mat[b, :, :]) -> (out[b, :, :])>
  black_box = #tofu.semantics<[b = 16], (mat[b, :, :]) -> (out[b, :, :])>,
  // CHECK-SAME: convolution = #tofu.semantics<[n = 32, y = 112, x = 112, f = 64, i = 7 : sum, j = 7 : sum, c = 3 : sum], (in[n, y * 2 + i, x * 2 + j, c], w[i, j, c, f]) -> (out[n, y, x, f])>
  convolution = #tofu.semantics<[n = 32, y = 112, x = 112, f = 64, i = 7 : sum, j = 7 : sum, c = 3 : sum],
      (in[n, 2*y + i, 2*x + j, c], w[i, j, c, f]) -> (out[n, y, x, f])>,
  // CHECK-SAME: covering = #tofu.semantics<[t = ? covering, i = 8 : unsplittable], (in[t, i]) -> (out[t * 8 + i])>
  covering = #tofu.semantics<[t = ? covering, i = 8 : unsplittable], (in[t, i]) -> (out[t * 8 + i])>,
  // CHECK-SAME: dynamic = #tofu.semantics<[b = ?, k = ? : max, u = ? : unsplittable], (in[b, k, u]) -> (out[b])>
  dynamic = #tofu.semantics<[b = ?, k = ? : max, u = ? : unsplittable], (in[b, k, u]) -> (out[b])>,
  // CHECK-SAME: init_name = #tofu.semantics<[m = 8], (init[m]) -> (out[m])>
  init_name = #tofu.semantics<[m = 8], (init[m]) -> (out[m])>,
  // CHECK-SAME: linear = #tofu.semantics<[m = 8], (a[m], b[m]) -> (c[m]), linear [{0}, {0, 1}]>
  linear = #tofu.semantics<[m = 8], (a[m], b[m]) -> (c[m]), linear [{0}, {1, 0}]>,
  // CHECK-SAME: matmul = #tofu.semantics<[m = 128, n = 512, k = 256 : sum], (A[m, k], B[k, n], init C[m, n]) -> (C[m, n])>
  matmul = #tofu.semantics<[m = 128, n = 512, k = 256 : sum], (A[m, k], B[k, n], init C[m, n]) -> (C[m, n])>,
  // CHECK-SAME: nothing = #tofu.semantics<[], () -> ()>
  nothing = #tofu.semantics<[], () -> ()>,
  // CHECK-SAME: results = #tofu.semantics<[m = 8, k = 4 : min], (a[m, k], init p[m], init q[m]) -> (p[m], q[m])>
  results = #tofu.semantics<[m = 8, k = 4 : min], (a[m, k], init p[m], init q[m]) -> (p[m], q[m])>,
  // CHECK-SAME: scalar = #tofu.semantics<[k = 4 : sum], (a[k]) -> (s[])>
  scalar = #tofu.semantics<[k = 4 : sum], (a[k]) -> (s[])>,
  // CHECK-SAME: unread = #tofu.semantics<[m = 8], (_, a[m]) -> (c[m])>
  unread = #tofu.semantics<[m = 8], (_, a[m]) -> (c[m])>
} : () -> ()

//===----------------------------------------------------------------------===//
// On operations and functions
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @planned
// CHECK-SAME: %{{.*}}: tensor<66x4xf32> {tofu.carried_to = 0 : i64, tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}
// CHECK-SAME: -> (tensor<66x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>})
func.func @planned(%a: tensor<66x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>, tofu.carried_to = 0 : i64})
    -> (tensor<66x4xf32> {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}) {
  // CHECK-NEXT: tofu.layouts = [#tofu.layout<@mesh, [{x}, {}]>]
  // CHECK-SAME: tofu.semantics = #tofu.semantics<[m = 66, n = 4], (a[m, n]) -> (r[m, n]), linear [{0}]>
  // CHECK-SAME: tofu.strategy = #tofu.strategy<@mesh, [{x}, {}], partial {y} in [0]>
  %0 = "test.op"(%a) {
    tofu.semantics = #tofu.semantics<[m = 66, n = 4], (a[m, n]) -> (r[m, n]), linear [{0}]>,
    tofu.strategy = #tofu.strategy<@mesh, [{x}, {}], partial {y} in [0]>,
    tofu.layouts = [#tofu.layout<@mesh, [{x}, {}]>]} : (tensor<66x4xf32>) -> tensor<66x4xf32>
  // What is no tensor has a unit in the place of its layout.
  // CHECK-NEXT: tofu.layouts = [unit, #tofu.layout<@mesh, [{}]>]
  %1:2 = "test.op"(%0) {tofu.layouts = [unit, #tofu.layout<@mesh, [{}]>]} : (tensor<66x4xf32>) -> (index, tensor<4xf32>)
  return %0 : tensor<66x4xf32>
}

// What is asked of a plan.
// CHECK-LABEL: func.func @asked
// CHECK-SAME: %{{.*}}: tensor<66x4xf32> {tofu.forbid = [0, 1], tofu.priority = -1 : i64, tofu.tie = "a"}
// CHECK-SAME: -> (tensor<66x4xf32> {tofu.forbid = [], tofu.priority = 2 : i64, tofu.tie = "a"})
func.func @asked(%a: tensor<66x4xf32> {tofu.forbid = [0, 1], tofu.tie = "a", tofu.priority = -1})
    -> (tensor<66x4xf32> {tofu.forbid = [], tofu.tie = "a", tofu.priority = 2}) {
  // CHECK-NEXT: "test.op"(%{{.*}}) {tofu.forbid = ["m", 1], tofu.priority = 1 : i64, tofu.semantics = {{.*}}, tofu.tie = "b"}
  %0 = "test.op"(%a) {
    tofu.semantics = #tofu.semantics<[m = 66, n = 4], (a[m, n]) -> (r[m, n])>,
    tofu.forbid = ["m", 1], tofu.tie = "b", tofu.priority = 1} : (tensor<66x4xf32>) -> tensor<66x4xf32>
  return %0 : tensor<66x4xf32>
}

// 67 rows over x are 34 and 33: the local dim is not known. Over y they are 23,
// 22 and 22.
// CHECK-LABEL: func.func private @partitioned
// CHECK-SAME: tensor<?x4xf32> {tofu.global_type = tensor<67x4xf32>, tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}
// CHECK-SAME: memref<?xf32> {tofu.global_type = tensor<67xf32>, tofu.layout = #tofu.layout<@mesh, [{y}]>}
// CHECK-SAME: -> (tensor<67x2xf32> {tofu.global_type = tensor<67x4xf32>, tofu.layout = #tofu.layout<@mesh, [{}, {x}]>})
func.func private @partitioned(
    tensor<?x4xf32> {tofu.global_type = tensor<67x4xf32>, tofu.layout = #tofu.layout<@mesh, [{x}, {}]>},
    memref<?xf32> {tofu.global_type = tensor<67xf32>, tofu.layout = #tofu.layout<@mesh, [{y}]>})
    -> (tensor<67x2xf32> {tofu.global_type = tensor<67x4xf32>, tofu.layout = #tofu.layout<@mesh, [{}, {x}]>})

// A declaration may describe what its calls do.
// CHECK-LABEL: func.func private @kernel
// CHECK-SAME: attributes {tofu.semantics = #tofu.semantics<[b = 4], (x[b, :]) -> (y[b, :])>}
func.func private @kernel(tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {tofu.semantics = #tofu.semantics<[b = 4], (x[b, :]) -> (y[b, :])>}
