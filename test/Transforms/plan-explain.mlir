// What one operation costs and could, what differs between two plans, a plan as a
// graph, and remarks.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=all-row-greedy explain=product json=%t.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=all-row-greedy explain=@product json=%t.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=all-row-greedy explain=plan-explain.mlir:90" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=all-row-greedy explain=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=all-row-greedy explain=:90" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=all-row-greedy explain=3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan="devices=2 explain=nothing" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: tofu-opt %s -tofu-annotate -tofu-partition="devices=2 algorithm=all-row-greedy explain=product" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAME

// By rows, the 24 elements of %b move. Along the 4, half of each part of %a does,
// 16 elements, and half of each partial result, 48; along the 6, half of %a, 32,
// half of each part of %b, 12, and half of each part of the result, 24.
// NAME: operator 0 of @step: linalg.matmul at product, 8x6x4, [a0 - -]
// NAME-NEXT: operand 0 [a0 -] 0 bytes
// NAME-NEXT: operand 1 [a0 -] 96 bytes
// NAME-NEXT: result 0 [a0 -] 0 bytes
// NAME-NEXT: what the plan would cost with each strategy, all else as it is:
// NAME-NEXT: * 384 bytes +0 [a0 - -]
// NAME-NEXT: 544 bytes +160 [- - a0]
// NAME-NEXT: 560 bytes +176 [- a0 -]
// NAME-NOT: operator

// What is carried is charged to where it comes from.
// NUMBER: operator 1 of @step: linalg.transpose at :90, 6x8, [
// NUMBER: result 0 [a0 -] {{[0-9]+}} bytes
// NUMBER-NEXT: carried to argument 2 [a0 -] 0 bytes

// WHOLE: operator 3 of @step: tensor.extract_slice at :{{[0-9]+}}, -, replicated
// WHOLE-NEXT: operand 0 [a0 -] 192 bytes
// WHOLE-NEXT: result 0 [a0 -] 0 bytes
// WHOLE-NOT: strategy

// NONE: error: tofu-plan: explain: no operation of the plan is at nothing

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=data-parallel diff=%t.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DIFF
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="mesh=x=4 diff=%t.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="load=%t.json diff=%t.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: sed 's/8x6/10x6/g; s/\[8, 6\]/[10, 6]/g; s/8x4/10x4/g; s/6x8/6x10/g' %s | not tofu-opt -tofu-annotate -tofu-plan="devices=2 diff=%t.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan="devices=2 diff=%t.none" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FILE

// DIFF: plan of @step against the other: 384 -> 384 bytes, +0
// DIFF-NEXT: operator 0: linalg.matmul product [a0 - -] -> [- - a0], +288 bytes
// DIFF-NEXT: operator 1: linalg.transpose :[[#]] [a0 -] -> [- -], -96 bytes
// DIFF-NEXT: operator 2: math.exp :[[#]] [a0 -] -> [- -], +0 bytes
// DIFF-NEXT: operator 3: tensor.extract_slice :[[#]] replicated, -192 bytes
// DIFF-NEXT: argument 0 [a0 -] -> [- a0]
// DIFF-NEXT: argument 2 [a0 -] -> [- -]
// DIFF-NEXT: linalg.matmul product result 0 [a0 -] -> [- -]
// DIFF: 4 of 4 operators and 6 of 7 values differ
// MESH: plan of @step against the other: 384 -> {{[0-9]+}} bytes, {{[-+][0-9]+}}
// MESH-NEXT: mesh a0 = 2 -> x = 4
// MESH: argument 0 [a0 -] -> [{{.*}}x{{.*}}]
// SAME: plan of @step against the other: 384 -> 384 bytes, +0
// SAME-NEXT: 0 of 4 operators and 0 of 7 values differ
// OTHER: error: {{.*}}.json: the plan is of another program
// FILE: error: tofu-plan: {{.*}}No such file or directory

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=all-row-greedy graphviz=-" -o /dev/null 2> /dev/null | FileCheck %s --check-prefix=DOT
// RUN: not tofu-opt %s -tofu-annotate -tofu-plan="devices=2 graphviz=%t/no/such/folder.dot" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FILE

// DOT: digraph "step" {
// DOT: label="@step on 2 devices (a0 = 2): 384 bytes";
// DOT: v0 [shape=ellipse, label="argument 0\n[a0 -]"];
// DOT: o0 [shape=box, fillcolor=1, label="linalg.matmul product\n8x6x4\n[a0 - -]"];
// DOT-NEXT: v0 -> o0 [style=solid];
// DOT-NEXT: v1 -> o0 [style=solid, penwidth=2, label="96"];
// DOT: v{{[0-9]}} -> v2 [style=dashed];
// DOT-NEXT: }

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=2 algorithm=all-row-greedy" --remarks-filter=tofu-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The dearest first; what moves nothing has none.
// REMARK: remark: [Analysis] Bytes | Category:tofu-plan | Function=step | OperandBytes=192, Operator=tensor.extract_slice, ResultBytes=0, Strategy=replicated, TotalBytes=384
// REMARK: remark: {{.*}}[Analysis] Bytes | Category:tofu-plan | Function=step | OperandBytes=96, Operator=linalg.matmul, ResultBytes=0, RunnerUp="[- - a0]", RunnerUpTotalBytes=544, Strategy="[a0 - -]", TotalBytes=384
// REMARK-NOT: Operator=math.exp

func.func @step(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %c: tensor<6x8xf32> {tofu.carried_to = 1}, %i: index) -> (tensor<4x6xf32>, tensor<6x8xf32>) {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x6xf32>
  %turned = tensor.empty() : tensor<6x8xf32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32> loc("product")
  %1 = linalg.transpose ins(%0 : tensor<8x6xf32>) outs(%turned : tensor<6x8xf32>) permutation = [1, 0]
  %2 = math.exp %0 : tensor<8x6xf32>
  %3 = tensor.extract_slice %2[0, 0] [4, 6] [%i, 1] : tensor<8x6xf32> to tensor<4x6xf32>
  return %3, %1 : tensor<4x6xf32>, tensor<6x8xf32>
}
