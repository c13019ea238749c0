// Convolutions of each channel by itself, which programs for a GPU leave to the
// runtime, run on the host: with strides and dilations, of one dim, with channels
// before the spatial dims, of f16, and the gradient to the filter.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops round each sum of f16: without cancellation they may be compared.
// DEFINE: %{in} = --input=random:1:0.5:1
// DEFINE: %{run} = tofu-run %s --quiet --opt-level=0 --check %{in} %{in} %{in} %{in} %{in} %{in} %{in} %{in}
// RUN: %{run} --backend=gpu-on-host --devices=1 && %{run} --backend=gpu-on-host --devices=3
// RUN: %{run} --backend=recording --devices=2 && %{run} --backend=recording --devices=4
// RUN: %{run} --backend=recording --record=%t.json && grep -c '"call": "contract"' %t.json | FileCheck %s
// CHECK: {{^5$}}

func.func @main(%a: tensor<3x15x14x7xf32>, %w: tensor<3x2x7xf32>, %b: tensor<2x5x140xf32>, %v: tensor<5x3xf32>,
                %h: tensor<2x9x9x6xf16>, %u: tensor<3x3x6xf16>, %d: tensor<2x6x9x9xf32>, %t: tensor<6x3x3xf32>)
    -> (tensor<3x7x11x7xf32>, tensor<2x5x138xf32>, tensor<2x7x7x6xf16>, tensor<2x6x7x7xf32>, tensor<6x3x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %zeroh = arith.constant 0.0 : f16
  %e0 = tensor.empty() : tensor<3x7x11x7xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<3x7x11x7xf32>) -> tensor<3x7x11x7xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 3]> : tensor<2xi64>}
      ins(%a, %w : tensor<3x15x14x7xf32>, tensor<3x2x7xf32>) outs(%f0 : tensor<3x7x11x7xf32>) -> tensor<3x7x11x7xf32>
  %e1 = tensor.empty() : tensor<2x5x138xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x5x138xf32>) -> tensor<2x5x138xf32>
  %1 = linalg.depthwise_conv_1d_ncw_cw ins(%b, %v : tensor<2x5x140xf32>, tensor<5x3xf32>)
                                       outs(%f1 : tensor<2x5x138xf32>) -> tensor<2x5x138xf32>
  %e2 = tensor.empty() : tensor<2x7x7x6xf16>
  %f2 = linalg.fill ins(%zeroh : f16) outs(%e2 : tensor<2x7x7x6xf16>) -> tensor<2x7x7x6xf16>
  %2 = linalg.depthwise_conv_2d_nhwc_hwc ins(%h, %u : tensor<2x9x9x6xf16>, tensor<3x3x6xf16>)
                                         outs(%f2 : tensor<2x7x7x6xf16>) -> tensor<2x7x7x6xf16>
  %e3 = tensor.empty() : tensor<2x6x7x7xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x6x7x7xf32>) -> tensor<2x6x7x7xf32>
  %3 = linalg.depthwise_conv_2d_nchw_chw ins(%d, %t : tensor<2x6x9x9xf32>, tensor<6x3x3xf32>)
                                         outs(%f3 : tensor<2x6x7x7xf32>) -> tensor<2x6x7x7xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(c, i, j, n, y, x) -> (n, c, y + i, x + j)>, affine_map<(c, i, j, n, y, x) -> (n, c, y, x)>,
                                        affine_map<(c, i, j, n, y, x) -> (c, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%d, %3 : tensor<2x6x9x9xf32>, tensor<2x6x7x7xf32>) outs(%t : tensor<6x3x3xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.mulf %p, %q : f32
    %s = arith.addf %o, %r : f32
    linalg.yield %s : f32
  } -> tensor<6x3x3xf32>
  return %0, %1, %2, %3, %4 : tensor<3x7x11x7xf32>, tensor<2x5x138xf32>, tensor<2x7x7x6xf16>, tensor<2x6x7x7xf32>, tensor<6x3x3xf32>
}
