// Residual sums of transformers, as programs for a GPU have them: within the call of
// the product before them, although its result is reshaped in between and a
// normalization reads the sum several times; and the same of bf16, with the sum
// kept, and an addend that is an argument.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{in} = --input=random:1
// DEFINE: %{short} = --input=random:2:0:1
// DEFINE: %{run} = tofu-run %s --quiet --opt-level=0 --check %{in} %{in} %{in} %{short} %{short} %{short}
// RUN: %{run} --backend=gpu-on-host --devices=1 && %{run} --backend=gpu-on-host --devices=2
// RUN: %{run} --backend=gpu-on-host --devices=3 && %{run} --backend=gpu-on-host --devices=4
// RUN: %{run} --backend=recording --devices=1 && %{run} --backend=recording --devices=2
// RUN: %{run} --backend=recording --devices=3 && %{run} --backend=recording --devices=4
// RUN: %if cuda-on-host %{ %{run} --backend=cuda_on_host --devices=1 --iters=3 && %{run} --backend=cuda_on_host --devices=2 %}
// RUN: %if cuda-on-host %{ %{run} --backend=cuda_on_host --devices=3 && %{run} --backend=cuda_on_host --devices=4 %}

// Launches compute the first addend, a normalization, and the second addend; nothing
// comes between the last three products, or after them.
// RUN: %{run} --backend=recording --record=%t.json && FileCheck %s < %t.json
// CHECK-NOT:     "call": "contract"
// CHECK:         "call": "launch"
// CHECK-NOT:     "call": "launch"
// CHECK:         "call": "contract"
// CHECK-COUNT-2: "call": "launch"
// CHECK-NOT:     "call": "launch"
// CHECK-COUNT-3: "call": "contract"
// CHECK-NOT:     "call": "{{contract|launch}}"

#id3 = affine_map<(b, s, n) -> (b, s, n)>
#last = affine_map<(b, s, n) -> (n)>
#rows = affine_map<(b, s, n) -> (b, s, 0)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

func.func @main(%a: tensor<5x7x34xf32>, %b: tensor<34x34xf32>, %t: tensor<34xf32>,
                %p: tensor<37x34xbf16>, %q: tensor<34x34xbf16>, %u: tensor<34xbf16>)
    -> (tensor<5x7x34xf32>, tensor<37x34xbf16>, tensor<37x34xbf16>) {
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 34.0 : f32
  %e = tensor.empty() : tensor<5x7x34xf32>
  %f = tensor.empty() : tensor<35x34xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<35x34xf32>) -> tensor<35x34xf32>
  %h = tensor.empty() : tensor<5x7x1xf32>
  %i = linalg.fill ins(%zero : f32) outs(%h : tensor<5x7x1xf32>) -> tensor<5x7x1xf32>

  %0 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<5x7x34xf32>) outs(%e : tensor<5x7x34xf32>) {
  ^bb0(%x: f32, %o: f32):
    %20 = math.absf %x : f32
    linalg.yield %20 : f32
  } -> tensor<5x7x34xf32>
  %flat = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<5x7x34xf32> into tensor<35x34xf32>
  %1 = linalg.matmul ins(%flat, %b : tensor<35x34xf32>, tensor<34x34xf32>) outs(%g : tensor<35x34xf32>) -> tensor<35x34xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1, %t : tensor<35x34xf32>, tensor<34xf32>) outs(%f : tensor<35x34xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %20 = arith.addf %x, %y : f32
    linalg.yield %20 : f32
  } -> tensor<35x34xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [5, 7, 34] : tensor<35x34xf32> into tensor<5x7x34xf32>
  %4 = linalg.generic {indexing_maps = [#id3, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%3, %0 : tensor<5x7x34xf32>, tensor<5x7x34xf32>) outs(%e : tensor<5x7x34xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %20 = arith.addf %x, %y : f32
    linalg.yield %20 : f32
  } -> tensor<5x7x34xf32>
  %5 = linalg.generic {indexing_maps = [#id3, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%4 : tensor<5x7x34xf32>) outs(%i : tensor<5x7x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %20 = arith.addf %o, %x : f32
    linalg.yield %20 : f32
  } -> tensor<5x7x1xf32>
  %6 = linalg.generic {indexing_maps = [#id3, #rows, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%4, %5 : tensor<5x7x34xf32>, tensor<5x7x1xf32>) outs(%e : tensor<5x7x34xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %20 = arith.divf %y, %size : f32
    %21 = arith.subf %x, %20 : f32
    linalg.yield %21 : f32
  } -> tensor<5x7x34xf32>

  %short = arith.constant 0.0 : bf16
  %j = tensor.empty() : tensor<37x34xbf16>
  %k = linalg.fill ins(%short : bf16) outs(%j : tensor<37x34xbf16>) -> tensor<37x34xbf16>
  %7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<37x34xbf16>) outs(%j : tensor<37x34xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %20 = arith.addf %x, %x : bf16
    linalg.yield %20 : bf16
  } -> tensor<37x34xbf16>
  %inner = linalg.matmul ins(%7, %q : tensor<37x34xbf16>, tensor<34x34xbf16>) outs(%k : tensor<37x34xbf16>) -> tensor<37x34xbf16>
  %8 = linalg.matmul ins(%inner, %q : tensor<37x34xbf16>, tensor<34x34xbf16>) outs(%k : tensor<37x34xbf16>) -> tensor<37x34xbf16>
  %9 = linalg.generic {indexing_maps = [#id, #row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%8, %u, %7 : tensor<37x34xbf16>, tensor<34xbf16>, tensor<37x34xbf16>) outs(%j : tensor<37x34xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16, %o: bf16):
    %20 = arith.addf %x, %y : bf16
    %21 = arith.addf %z, %20 : bf16
    linalg.yield %21 : bf16
  } -> tensor<37x34xbf16>
  %10 = linalg.matmul ins(%9, %q : tensor<37x34xbf16>, tensor<34x34xbf16>) outs(%k : tensor<37x34xbf16>) -> tensor<37x34xbf16>
  %11 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%10, %p : tensor<37x34xbf16>, tensor<37x34xbf16>) outs(%j : tensor<37x34xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %o: bf16):
    %20 = arith.addf %y, %x : bf16
    linalg.yield %20 : bf16
  } -> tensor<37x34xbf16>
  return %6, %9, %11 : tensor<5x7x34xf32>, tensor<37x34xbf16>, tensor<37x34xbf16>
}
