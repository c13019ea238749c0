// What a program says beforehand is in the plan, whatever makes it.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{algorithm} = recursive
// DEFINE: %{check} = tofu-opt %s -tofu-annotate -tofu-plan="algorithm=%{algorithm} seed=3" -verify-diagnostics=only-expected | FileCheck %s
// RUN: %{check}
// REDEFINE: %{algorithm} = kbest
// RUN: %{check}
// REDEFINE: %{algorithm} = propagate
// RUN: %{check}
// REDEFINE: %{algorithm} = data-parallel
// RUN: %{check}
// REDEFINE: %{algorithm} = megatron
// RUN: %{check}
// REDEFINE: %{algorithm} = icml18
// RUN: %{check}
// REDEFINE: %{algorithm} = equal-chop
// RUN: %{check}
// REDEFINE: %{algorithm} = all-row-greedy
// RUN: %{check}
// REDEFINE: %{algorithm} = spartan
// RUN: %{check}
// REDEFINE: %{algorithm} = random
// RUN: %{check}
// REDEFINE: %{algorithm} = any
// RUN: %{check}

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="algorithm=propagate" -verify-diagnostics=only-expected | FileCheck %s --check-prefix=SPREAD
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="algorithm=recursive" -verify-diagnostics=only-expected | tofu-opt -tofu-plan="algorithm=all-row-greedy" | FileCheck %s

tofu.mesh @devices [x = 2, y = 3]

// CHECK-NOT: tofu.forbid
// CHECK-NOT: tofu.tie
// CHECK-NOT: tofu.priority

// Arguments, results and the results of operations.
// CHECK-LABEL: func.func @pinned(
// CHECK-SAME: tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{y, x}, {}]>}
// CHECK-SAME: -> (tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{}, {x}]>}, tensor<8x9xf32>
// CHECK: math.exp {{.*}}tofu.layouts = [#tofu.layout<@devices, [{}, {}]>]
// SPREAD-LABEL: func.func @pinned(
// SPREAD: math.sqrt {{.*}}tofu.strategy = #tofu.strategy<@devices, [{y, x}, {}]>
func.func @pinned(%a: tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{y, x}, {}]>})
    -> (tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{}, {x}]>}, tensor<8x9xf32>) {
  %0 = math.sqrt %a : tensor<8x9xf32>
  %1 = math.exp %0 {tofu.layouts = [#tofu.layout<@devices, [{}, {}]>]} : tensor<8x9xf32>
  %2 = math.absf %1 : tensor<8x9xf32>
  return %2, %0 : tensor<8x9xf32>, tensor<8x9xf32>
}

// A strategy needs semantics, which may be there already.
// CHECK-LABEL: func.func @strategy(
// CHECK: math.exp {{.*}}tofu.strategy = #tofu.strategy<@devices, [{x}, {y}]>
func.func @strategy(%a: tensor<8x9xf32>) -> tensor<8x9xf32> {
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8, n = 9], (a[m, n]) -> (out[m, n])>,
                    tofu.strategy = #tofu.strategy<@devices, [{x}, {y}]>} : tensor<8x9xf32>
  return %0 : tensor<8x9xf32>
}

// Dims that stay whole, by number and by name.
// CHECK-LABEL: func.func @forbidden(
// CHECK-SAME: tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{}, {{[{][^{}]*[}]}}]>}
// CHECK-SAME: -> (tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{{[{][^{}]*[}]}}, {}]>})
// CHECK: math.exp {{.*}}tofu.strategy = #tofu.strategy<@devices, [{{[{][^{}]*[}]}}, {}]>
// CHECK: math.sqrt {{.*}}tofu.strategy = #tofu.strategy<@devices, [{}, {{[{][^{}]*[}]}}]>
func.func @forbidden(%a: tensor<8x9xf32> {tofu.forbid = [0]}) -> (tensor<8x9xf32> {tofu.forbid = [1]}) {
  %0 = math.exp %a {tofu.semantics = #tofu.semantics<[m = 8, n = 9], (a[m, n]) -> (out[m, n])>, tofu.forbid = ["n"]} : tensor<8x9xf32>
  %1 = math.sqrt %0 {tofu.forbid = [0]} : tensor<8x9xf32>
  return %1 : tensor<8x9xf32>
}

// An argument lies as the result of an operation, and as a pin of one says.
// CHECK-LABEL: func.func @tied(
// CHECK-SAME: tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [[A:[^>]*]]>}, %{{.*}}: tensor<9x8xf32> {tofu.layout = #tofu.layout<@devices, [{x}, {}]>}
// CHECK: math.sqrt
// CHECK: math.exp {{.*}}tofu.layouts = [#tofu.layout<@devices, [[A]]>]
// CHECK: linalg.transpose {{.*}}tofu.layouts = [#tofu.layout<@devices, [{x}, {}]>]
func.func @tied(%a: tensor<8x9xf32> {tofu.tie = "a"}, %b: tensor<9x8xf32> {tofu.tie = "b", tofu.layout = #tofu.layout<@devices, [{x}, {}]>}) -> (tensor<9x8xf32>, tensor<9x8xf32>) {
  %0 = math.sqrt %a : tensor<8x9xf32>
  %1 = math.exp %0 {tofu.tie = "a"} : tensor<8x9xf32>
  %e = tensor.empty() : tensor<9x8xf32>
  %2 = linalg.transpose ins(%1 : tensor<8x9xf32>) outs(%e : tensor<9x8xf32>) permutation = [1, 0] {tofu.tie = "b"}
  %3 = math.absf %b : tensor<9x8xf32>
  return %2, %3 : tensor<9x8xf32>, tensor<9x8xf32>
}

// What is asked less firmly gives way.
// CHECK-LABEL: func.func @priorities(
// CHECK-SAME: tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{x}, {}]>}, %{{.*}}: tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{}, {{[{][^{}]*[}]}}]>}
// expected-remark@below {{result 0 gives way to argument 0, whose tofu.priority is higher: [x -] and [- y]}}
// expected-remark@below {{result 1 gives way to argument 1, whose tofu.priority is higher: dim 0 of [x -] is forbidden}}
func.func @priorities(%a: tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{x}, {}]>, tofu.priority = 1},
                      %b: tensor<8x9xf32> {tofu.forbid = [0], tofu.priority = 2})
    -> (tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{}, {y}]>}, tensor<8x9xf32> {tofu.layout = #tofu.layout<@devices, [{x}, {}]>, tofu.priority = -1}) {
  return %a, %b : tensor<8x9xf32>, tensor<8x9xf32>
}
