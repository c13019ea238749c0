// Plans written to files and read again.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 algorithm=recursive" -o %t.mlir
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 json=%t.json algorithm=recursive" | diff %t.mlir -
// RUN: FileCheck %s --input-file=%t.json

// A plan that was written gives the same program when it is read again, with or
// without a mesh in the program.
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="load=%t.json algorithm=recursive" | diff %t.mlir -
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="load=%t.json devices=4 algorithm=recursive" | diff %t.mlir -
// RUN: tofu-opt %t.mlir -tofu-plan="load=%t.json algorithm=recursive" | diff %t.mlir -
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="load=%t.json json=%t.again.json algorithm=recursive"
// RUN: grep -v search_seconds %t.json > %t.before
// RUN: grep -v search_seconds %t.again.json | diff %t.before -

// RUN: tofu-opt %s -tofu-annotate -tofu-plan="devices=4 json=- algorithm=recursive" -o %t.none | FileCheck %s

// A plan may be edited, and bytes are counted anew. With m over a0 and k over a1,
// a device needs rows a1 of B and has rows a0, columns a1 of it: of 12 elements
// it lacks 6 if a0 is a1, else 12, 36 in all (144 bytes). Each then combines 12
// elements of C with those of one other device: 48 (192 bytes).
// RUN: sed -e 's/"#tofu.strategy<@mesh, \[{a0}, {a1}, {}\]>"/"#tofu.strategy<@mesh, [{a0}, {}, {a1}]>"/' \
// RUN:     -e 's/"#tofu.layout<@mesh, \[{a0, a1}, {}\]>"/"#tofu.layout<@mesh, [{a0}, {a1}]>"/' %t.json > %t.edited.json
// RUN: tofu-opt %s -tofu-annotate -tofu-plan="load=%t.edited.json json=%t.counted.json algorithm=recursive" | FileCheck %s --check-prefix=EDITED
// RUN: FileCheck %s --check-prefix=COUNTED --input-file=%t.counted.json

// CHECK: "devices": 4,
// CHECK-NEXT: "exact": {{true|false}},
// CHECK-NEXT: "format": 1,
// CHECK-NEXT: "functions": [
// CHECK-NEXT: {
// CHECK-NEXT: "arguments": [
// CHECK-NEXT: "#tofu.layout<@mesh, [{a0, a1}, {}]>",
// CHECK-NEXT: "#tofu.layout<@mesh, [{a0}, {a1}]>",
// CHECK-NEXT: null
// CHECK-NEXT: ],
// CHECK-NEXT: "branches": [],
// CHECK-NEXT: "carried_bytes": [],
// CHECK-NEXT: "globals": [],
// CHECK-NEXT: "hash": "{{[0-9a-f]+}}",
// CHECK-NEXT: "name": "matmul",
// CHECK-NEXT: "operators": [
// CHECK-NEXT: {
// CHECK-NEXT: "layouts": [
// CHECK-NEXT: "#tofu.layout<@mesh, [{a0}, {a1}]>"
// CHECK-NEXT: ],
// CHECK-NEXT: "location": "loc({{.*}}plan-json.mlir{{.*}})",
// CHECK-NEXT: "operand_bytes": [
// CHECK-NEXT: 128,
// CHECK-NEXT: 96
// CHECK-NEXT: ],
// CHECK-NEXT: "operator": "linalg.matmul",
// CHECK-NEXT: "result_bytes": [
// CHECK-NEXT: 0
// CHECK-NEXT: ],
// CHECK-NEXT: "strategy": "#tofu.strategy<@mesh, [{a0}, {a1}, {}]>"
// CHECK-NEXT: }
// CHECK-NEXT: ],
// Of A 8 elements and the 16 that are needed, of B 6 and 12, of C 12.
// CHECK-NEXT: "peak_bytes_per_device": 216,
// CHECK-NEXT: "peak_operator": 0,
// CHECK-NEXT: "results": [
// CHECK-NEXT: "#tofu.layout<@mesh, [{a0}, {a1}]>",
// CHECK-NEXT: null
// CHECK-NEXT: ],
// CHECK-NEXT: "total_bytes": 224
// CHECK-NEXT: },
// The second function is planned on its own.
// CHECK: "name": "transpose",
// CHECK: "total_bytes": 32
// CHECK: "mesh": [
// CHECK-NEXT: {
// CHECK-NEXT: "name": "a0",
// CHECK-NEXT: "size": 2
// CHECK-NEXT: },
// CHECK-NEXT: {
// CHECK-NEXT: "name": "a1",
// CHECK-NEXT: "size": 2
// CHECK-NEXT: }
// CHECK-NEXT: ],
// CHECK-NEXT: "objective": "bytes",
// CHECK-NEXT: "options": {
// CHECK: "charge": "once",
// CHECK-NEXT: "partials": false,
// CHECK-NEXT: "replication": false,
// CHECK-NEXT: "size_hint": 1024
// CHECK-NEXT: },
// CHECK-NEXT: "peak_bytes_per_device": 216,
// CHECK-NEXT: "search_seconds":
// CHECK-NEXT: "total_bytes": 256

// COUNTED: "operand_bytes": [
// COUNTED-NEXT: 0,
// COUNTED-NEXT: 144
// COUNTED-NEXT: ],
// COUNTED-NEXT: "operator": "linalg.matmul",
// COUNTED-NEXT: "result_bytes": [
// COUNTED-NEXT: 192
// COUNTED-NEXT: ],
// Of A 8 elements, of B 6 and 12, of C 24 that are parts of sums.
// COUNTED: "peak_bytes_per_device": 200
// COUNTED: "total_bytes": 336
// COUNTED: "total_bytes": 368

// EDITED: linalg.matmul
// EDITED-SAME: tofu.strategy = #tofu.strategy<@mesh, [{a0}, {}, {a1}]>

func.func @matmul(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %i: index) -> (tensor<8x6xf32>, index) {
  %c0 = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x6xf32>
  %zeros = linalg.fill ins(%c0 : f32) outs(%empty : tensor<8x6xf32>) -> tensor<8x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0, %i : tensor<8x6xf32>, index
}

func.func @transpose(%w: tensor<4x4xf32> {tofu.carried_to = 0}) -> tensor<4x4xf32> {
  %empty = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.transpose ins(%w : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
  return %0 : tensor<4x4xf32>
}
