// Bias and activation within the calls of convolutions, as programs for a GPU have
// them: channels last and first, in groups, gelu of f16, one whose two dims of
// windows are cut.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of f16 are far from 0, since parts of them are rounded.
// DEFINE: %{in} = --input=random:1
// DEFINE: %{f16} = --input=random:1:0:0.3
// DEFINE: %{run} = tofu-run %s --quiet --opt-level=0 --check %{in} %{in} %{in} %{in} %{in} %{f16} %{f16} %{f16} %{in} %{in}
// RUN: %{run} --backend=gpu-on-host --devices=1 && %{run} --backend=gpu-on-host --devices=2
// RUN: %{run} --backend=gpu-on-host --devices=3 && %{run} --backend=gpu-on-host --devices=4
// RUN: %{run} --backend=recording --devices=1 && %{run} --backend=recording --devices=3
// RUN: %if cuda-on-host %{ %{run} --backend=cuda_on_host --devices=1 --iters=3 && %{run} --backend=cuda_on_host --devices=2 && %{run} --backend=cuda_on_host --devices=3 %}

// RUN: %{run} --backend=recording --record=%t.json && FileCheck %s < %t.json
// CHECK-NOT:     "call": "launch"
// CHECK-COUNT-4: "call": "contract"
// CHECK-NOT:     "call": "{{contract|launch}}"

#nhwk = affine_map<(n, h, w, k) -> (n, h, w, k)>
#k = affine_map<(n, h, w, k) -> (k)>
#second = affine_map<(n, h, w, k) -> (h)>

func.func @main(%a: tensor<2x11x12x3xf32>, %b: tensor<3x3x3x7xf32>, %c: tensor<7xf32>,
                %d: tensor<2x3x11x12xf32>, %e: tensor<7x3x3x2xf32>,
                %f: tensor<2x11x12x4xf16>, %g: tensor<3x3x4x6xf16>, %h: tensor<6xf16>,
                %p: tensor<4x3x5x3x2xf32>, %q: tensor<2x4x5x11x12xf32>)
    -> (tensor<2x9x10x7xf32>, tensor<2x7x9x11xf32>, tensor<2x5x5x6xf16>, tensor<2x4x3x9x11xf32>) {
  %zero = arith.constant 0.0 : f32
  %zero16 = arith.constant 0.0 : f16
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %scale = arith.constant 0.797884583 : f32
  %cubic = arith.constant 4.471500e-02 : f32

  %e0 = tensor.empty() : tensor<2x9x10x7xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x9x10x7xf32>) -> tensor<2x9x10x7xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<2x11x12x3xf32>, tensor<3x3x3x7xf32>) outs(%f0 : tensor<2x9x10x7xf32>) -> tensor<2x9x10x7xf32>
  %1 = linalg.generic {indexing_maps = [#nhwk, #k, #nhwk], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %c : tensor<2x9x10x7xf32>, tensor<7xf32>) outs(%e0 : tensor<2x9x10x7xf32>) {
  ^bb0(%in: f32, %y: f32, %o: f32):
    %x = arith.addf %in, %y : f32
    %m = arith.maximumf %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x9x10x7xf32>

  %e2 = tensor.empty() : tensor<2x7x9x11xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x7x9x11xf32>) -> tensor<2x7x9x11xf32>
  %2 = linalg.conv_2d_nchw_fchw ins(%d, %e : tensor<2x3x11x12xf32>, tensor<7x3x3x2xf32>) outs(%f2 : tensor<2x7x9x11xf32>) -> tensor<2x7x9x11xf32>
  %3 = linalg.generic {indexing_maps = [#nhwk, #second, #nhwk], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%2, %c : tensor<2x7x9x11xf32>, tensor<7xf32>) outs(%e2 : tensor<2x7x9x11xf32>) {
  ^bb0(%in: f32, %y: f32, %o: f32):
    %x = arith.addf %y, %in : f32
    %p1 = arith.cmpf ugt, %x, %zero : f32
    %m = arith.select %p1, %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x7x9x11xf32>

  %e4 = tensor.empty() : tensor<2x5x5x6xf16>
  %f4 = linalg.fill ins(%zero16 : f16) outs(%e4 : tensor<2x5x5x6xf16>) -> tensor<2x5x5x6xf16>
  %4 = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>}
      ins(%f, %g : tensor<2x11x12x4xf16>, tensor<3x3x4x6xf16>) outs(%f4 : tensor<2x5x5x6xf16>) -> tensor<2x5x5x6xf16>
  %5 = linalg.generic {indexing_maps = [#nhwk, #k, #nhwk], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%4, %h : tensor<2x5x5x6xf16>, tensor<6xf16>) outs(%e4 : tensor<2x5x5x6xf16>) {
  ^bb0(%in: f16, %y: f16, %o: f16):
    %in32 = arith.extf %in : f16 to f32
    %y32 = arith.extf %y : f16 to f32
    %x = arith.addf %in32, %y32 : f32
    %x2 = arith.mulf %x, %x : f32
    %x3 = arith.mulf %x2, %x : f32
    %s = arith.mulf %x3, %cubic : f32
    %t = arith.addf %x, %s : f32
    %u = arith.mulf %t, %scale : f32
    %v = math.tanh %u : f32
    %w = arith.addf %v, %one : f32
    %z = arith.mulf %w, %half : f32
    %l = arith.mulf %x, %z : f32
    %r = arith.truncf %l : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x5x5x6xf16>

  %e6 = tensor.empty() : tensor<2x4x3x9x11xf32>
  %f6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<2x4x3x9x11xf32>) -> tensor<2x4x3x9x11xf32>
  %6 = linalg.conv_2d_ngchw_gfchw ins(%q, %p : tensor<2x4x5x11x12xf32>, tensor<4x3x5x3x2xf32>) outs(%f6 : tensor<2x4x3x9x11xf32>) -> tensor<2x4x3x9x11xf32>
  %slice = tensor.extract_slice %p[0, 0, 0, 0, 0] [4, 3, 1, 1, 1] [1, 1, 1, 1, 1] : tensor<4x3x5x3x2xf32> to tensor<4x3xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(n, g, k, h, w) -> (n, g, k, h, w)>, affine_map<(n, g, k, h, w) -> (g, k)>,
                                        affine_map<(n, g, k, h, w) -> (n, g, k, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%6, %slice : tensor<2x4x3x9x11xf32>, tensor<4x3xf32>) outs(%e6 : tensor<2x4x3x9x11xf32>) {
  ^bb0(%in: f32, %y: f32, %o: f32):
    %x = arith.addf %in, %y : f32
    linalg.yield %x : f32
  } -> tensor<2x4x3x9x11xf32>
  return %1, %3, %5, %7 : tensor<2x9x10x7xf32>, tensor<2x7x9x11xf32>, tensor<2x5x5x6xf16>, tensor<2x4x3x9x11xf32>
}
