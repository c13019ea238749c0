// Kernels for a GPU that are chosen by sizes when the program runs: threads have
// four neighbours each where sizes, strides and offsets allow for it and elements
// are many, else one. Memory without gaps, a row beside it, a part of a larger
// tensor, two results of several types, and rows of a known length.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{m} = 516
// DEFINE: %{n} = 1032
// DEFINE: %{offset} = 4
// DEFINE: %{run} = tofu-run %s --quiet --opt-level=0 --input=%{m}x%{n}xf32=random:1 --input=%{n}xf32=random:2 \
// DEFINE:   --input=%{m}x1024xbf16=random:3 --input=index=%{offset} --input=index=4
// DEFINE: %{check} = %{run} --check --backend=gpu-on-host --devices=1 && %{run} --check --backend=gpu-on-host --devices=2 && \
// DEFINE:   %{run} --check --backend=gpu-on-host --devices=3 && %{run} --check --backend=gpu-on-host --devices=4

// 516 x 1032 elements take 521 blocks of 256 threads, 516 x 1028 of the part 519.
// RUN: %{check}
// RUN: %{run} --backend=recording --record=%t.json && FileCheck %s < %t.json
// CHECK-NOT:    "call": "launch"
// CHECK:        "call": "launch", {{.*}} "shape": [521, 1, 1, 256, 1, 1]
// CHECK-NOT:    "call": "launch"
// CHECK:        "call": "launch", {{.*}} "shape": [521, 1, 1, 256, 1, 1]
// CHECK-NOT:    "call": "launch"
// CHECK:        "call": "launch", {{.*}} "shape": [519, 1, 1, 256, 1, 1]
// CHECK-NOT:    "call": "launch"
// CHECK:        "call": "launch", {{.*}} "shape": [258, 1, 1, 256, 1, 1]
// CHECK-NOT:    "call": "launch"

// An offset between multiples: one each in the part alone.
// REDEFINE: %{offset} = 3
// RUN: %{check}
// RUN: %{run} --backend=recording --record=%t.json && FileCheck %s --check-prefix=OFFSET < %t.json
// OFFSET-COUNT-2: "shape": [521, 1, 1, 256, 1, 1]
// OFFSET:         "shape": [2073, 1, 1, 256, 1, 1]
// OFFSET:         "shape": [258, 1, 1, 256, 1, 1]

// Rows that aren't multiples, of which all together are: where they are one loop.
// REDEFINE: %{n} = 1031
// RUN: %{check}
// RUN: %{run} --backend=recording --record=%t.json && FileCheck %s --check-prefix=ROWS < %t.json
// ROWS:           "shape": [520, 1, 1, 256, 1, 1]
// ROWS-COUNT-2:   "shape": [20{{..}}, 1, 1, 256, 1, 1]
// ROWS:           "shape": [258, 1, 1, 256, 1, 1]

// No multiples at all, few elements, one, and none.
// REDEFINE: %{m} = 517
// RUN: %{check}
// REDEFINE: %{m} = 8
// REDEFINE: %{n} = 16
// REDEFINE: %{offset} = 4
// RUN: %{check}
// RUN: %{run} --backend=recording --record=%t.json && FileCheck %s --check-prefix=FEW < %t.json
// FEW-COUNT-3:    "shape": [1, 1, 1, 256, 1, 1]
// REDEFINE: %{m} = 1
// REDEFINE: %{n} = 5
// RUN: %{check}
// REDEFINE: %{m} = 0
// RUN: %{run} --check --backend=gpu-on-host --devices=1

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

func.func @main(%a: tensor<?x?xf32>, %r: tensor<?xf32>, %b: tensor<?x1024xbf16>, %offset: index, %less: index)
    -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf16>, tensor<?x?xf32>, tensor<?x1024xbf16>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tensor.dim %a, %zero : tensor<?x?xf32>
  %n = tensor.dim %a, %one : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %9 = math.absf %x : f32
    linalg.yield %9 : f32
  } -> tensor<?x?xf32>

  %f = tensor.empty(%m, %n) : tensor<?x?xf16>
  %1:2 = linalg.generic {indexing_maps = [#id, #row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %r : tensor<?x?xf32>, tensor<?xf32>) outs(%e, %f : tensor<?x?xf32>, tensor<?x?xf16>) {
  ^bb0(%x: f32, %y: f32, %o: f32, %p: f16):
    %9 = arith.addf %x, %y : f32
    %10 = arith.truncf %9 : f32 to f16
    linalg.yield %9, %10 : f32, f16
  } -> (tensor<?x?xf32>, tensor<?x?xf16>)

  %size = arith.subi %n, %less : index
  %part = tensor.extract_slice %a[0, %offset] [%m, %size] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %g = tensor.empty(%m, %size) : tensor<?x?xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%part : tensor<?x?xf32>) outs(%g : tensor<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %9 = arith.mulf %x, %x : f32
    linalg.yield %9 : f32
  } -> tensor<?x?xf32>

  %h = tensor.empty(%m) : tensor<?x1024xbf16>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?x1024xbf16>) outs(%h : tensor<?x1024xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %9 = arith.negf %x : bf16
    linalg.yield %9 : bf16
  } -> tensor<?x1024xbf16>
  return %0, %1#0, %1#1, %2, %3 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf16>, tensor<?x?xf32>, tensor<?x1024xbf16>
}
