// Bias and activation within the calls of contractions, as programs for a GPU have
// them: gelu and relu after a bias, into a sum, sums in f32 rounded to f16, and a
// bias of two dims.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{in} = --input=random:1
// DEFINE: %{run} = tofu-run %s --quiet --opt-level=0 --check %{in} %{in} %{in} %{in} %{in} %{in} %{in} %{in} %{in} %{in} %{in}
// RUN: %{run} --backend=gpu-on-host --devices=1 && %{run} --backend=gpu-on-host --devices=2
// RUN: %{run} --backend=gpu-on-host --devices=3 && %{run} --backend=gpu-on-host --devices=4
// RUN: %{run} --backend=recording --devices=1 && %{run} --backend=recording --devices=2
// RUN: %{run} --backend=recording --devices=3 && %{run} --backend=recording --devices=4
// RUN: %if cuda-on-host %{ %{run} --backend=cuda_on_host --devices=1 && %{run} --backend=cuda_on_host --devices=3 %}

// What is added to isn't copied either.
// RUN: %{run} --backend=recording --record=%t.json && FileCheck %s < %t.json
// CHECK-NOT:     "call": "launch"
// CHECK-COUNT-5: "call": "contract"
// CHECK-NOT:     "call": "{{contract|launch}}"

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

func.func @main(%a: tensor<37x34xf32>, %b: tensor<34x46xf32>, %c: tensor<46xf32>, %d: tensor<46x38xf32>, %e: tensor<38xf32>,
                %f: tensor<37x38xf32>, %g: tensor<37x34xf16>, %h: tensor<34x46xf16>,
                %p: tensor<3x17x34xf32>, %q: tensor<34x5x9xf32>, %r: tensor<5x9xf32>)
    -> (tensor<37x38xf32>, tensor<37x38xf32>, tensor<37x46xf16>, tensor<3x17x5x9xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %scale = arith.constant 0.797884583 : f32
  %cubic = arith.constant 4.471500e-02 : f32
  %e0 = tensor.empty() : tensor<37x46xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<37x46xf32>) -> tensor<37x46xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<37x34xf32>, tensor<34x46xf32>) outs(%f0 : tensor<37x46xf32>) -> tensor<37x46xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %c : tensor<37x46xf32>, tensor<46xf32>) outs(%e0 : tensor<37x46xf32>) {
  ^bb0(%in: f32, %y: f32, %o: f32):
    %x = arith.addf %in, %y : f32
    %x2 = arith.mulf %x, %x : f32
    %x3 = arith.mulf %x2, %x : f32
    %s = arith.mulf %x3, %cubic : f32
    %t = arith.addf %x, %s : f32
    %u = arith.mulf %t, %scale : f32
    %v = math.tanh %u : f32
    %w = arith.addf %v, %one : f32
    %z = arith.mulf %w, %half : f32
    %l = arith.mulf %x, %z : f32
    linalg.yield %l : f32
  } -> tensor<37x46xf32>
  %e2 = tensor.empty() : tensor<37x38xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<37x38xf32>) -> tensor<37x38xf32>
  %2 = linalg.matmul ins(%1, %d : tensor<37x46xf32>, tensor<46x38xf32>) outs(%f2 : tensor<37x38xf32>) -> tensor<37x38xf32>
  %3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2, %e : tensor<37x38xf32>, tensor<38xf32>) outs(%e2 : tensor<37x38xf32>) {
  ^bb0(%in: f32, %y: f32, %o: f32):
    %x = arith.addf %in, %y : f32
    %m = arith.maxnumf %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<37x38xf32>
  %4 = linalg.matmul ins(%1, %d : tensor<37x46xf32>, tensor<46x38xf32>) outs(%f : tensor<37x38xf32>) -> tensor<37x38xf32>
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%4 : tensor<37x38xf32>) outs(%e2 : tensor<37x38xf32>) {
  ^bb0(%in: f32, %o: f32):
    %m = arith.maxnumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<37x38xf32>
  %6 = linalg.matmul ins(%g, %h : tensor<37x34xf16>, tensor<34x46xf16>) outs(%f0 : tensor<37x46xf32>) -> tensor<37x46xf32>
  %e7 = tensor.empty() : tensor<37x46xf16>
  %7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%6 : tensor<37x46xf32>) outs(%e7 : tensor<37x46xf16>) {
  ^bb0(%in: f32, %o: f16):
    %s = arith.maxnumf %in, %zero : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<37x46xf16>
  %e8 = tensor.empty() : tensor<3x17x5x9xf32>
  %f8 = linalg.fill ins(%zero : f32) outs(%e8 : tensor<3x17x5x9xf32>) -> tensor<3x17x5x9xf32>
  %8 = linalg.generic {indexing_maps = [affine_map<(i, j, m, n, k) -> (i, j, k)>, affine_map<(i, j, m, n, k) -> (k, m, n)>,
                                        affine_map<(i, j, m, n, k) -> (i, j, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %q : tensor<3x17x34xf32>, tensor<34x5x9xf32>) outs(%f8 : tensor<3x17x5x9xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.mulf %x, %y : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  } -> tensor<3x17x5x9xf32>
  %9 = linalg.generic {indexing_maps = [affine_map<(i, j, m, n) -> (i, j, m, n)>, affine_map<(i, j, m, n) -> (m, n)>,
                                        affine_map<(i, j, m, n) -> (i, j, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%8, %r : tensor<3x17x5x9xf32>, tensor<5x9xf32>) outs(%e8 : tensor<3x17x5x9xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<3x17x5x9xf32>
  return %3, %5, %7, %9 : tensor<37x38xf32>, tensor<37x38xf32>, tensor<37x46xf16>, tensor<3x17x5x9xf32>
}
