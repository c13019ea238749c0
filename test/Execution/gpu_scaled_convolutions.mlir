// Normalizations by known means and variances behind convolutions, as programs for
// a GPU have them: the filters are scaled, and bias and relu are part of the calls.
// The second one has what else is added to it, and stays a kernel.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{in} = --input=random:1
// DEFINE: %{run} = tofu-run %s --quiet --opt-level=0 --check %{in} %{in} %{in} %{in} --input=random:1:1:2 %{in} %{in} %{in}
// RUN: %{run} --backend=gpu-on-host --devices=1 && %{run} --backend=gpu-on-host --devices=2
// RUN: %{run} --backend=gpu-on-host --devices=3 && %{run} --backend=gpu-on-host --devices=4
// RUN: %{run} --backend=recording --devices=1 && %{run} --backend=recording --devices=3
// RUN: %if cuda-on-host %{ %{run} --backend=cuda_on_host --devices=1 && %{run} --backend=cuda_on_host --devices=3 %}

// Before the first contraction its scale and bias, and the filter, are computed.
// RUN: %{run} --backend=recording --record=%t.json && FileCheck %s < %t.json
// CHECK-COUNT-2: "call": "launch"
// CHECK-NOT:     "call": "launch"
// CHECK:         "call": "contract"
// CHECK-NOT:     "call": "launch"
// CHECK:         "call": "contract"
// CHECK:         "call": "launch"
// CHECK-NOT:     "call": "{{contract|launch}}"

#nkhw = affine_map<(n, k, h, w) -> (n, k, h, w)>
#k11 = affine_map<(n, k, h, w) -> (k, 0, 0)>

func.func @main(%a: tensor<2x3x11x12xf32>, %b: tensor<7x3x3x2xf32>, %c: tensor<2x7x9x11xf32>,
                %mean: tensor<7xf32>, %variance: tensor<7xf32>, %gamma: tensor<7xf32>, %beta: tensor<7xf32>,
                %d: tensor<7x7x1x1xf32>) -> tensor<2x7x9x11xf32> {
  %zero = arith.constant 0.0 : f32
  %epsilon = arith.constant 1.0e-05 : f32
  %e = tensor.empty() : tensor<2x7x9x11xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x7x9x11xf32>) -> tensor<2x7x9x11xf32>
  %m = tensor.expand_shape %mean [[0, 1, 2]] output_shape [7, 1, 1] : tensor<7xf32> into tensor<7x1x1xf32>
  %v = tensor.expand_shape %variance [[0, 1, 2]] output_shape [7, 1, 1] : tensor<7xf32> into tensor<7x1x1xf32>
  %g = tensor.expand_shape %gamma [[0, 1, 2]] output_shape [7, 1, 1] : tensor<7xf32> into tensor<7x1x1xf32>
  %t = tensor.expand_shape %beta [[0, 1, 2]] output_shape [7, 1, 1] : tensor<7xf32> into tensor<7x1x1xf32>
  %s0 = tensor.empty() : tensor<7x1x1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(k, h, w) -> (k, h, w)>, affine_map<(k, h, w) -> (k, h, w)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v : tensor<7x1x1xf32>) outs(%s0 : tensor<7x1x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.addf %x, %epsilon : f32
    %2 = math.rsqrt %1 : f32
    linalg.yield %2 : f32
  } -> tensor<7x1x1xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%a, %b : tensor<2x3x11x12xf32>, tensor<7x3x3x2xf32>) outs(%f : tensor<2x7x9x11xf32>) -> tensor<2x7x9x11xf32>
  %n = linalg.generic {indexing_maps = [#nkhw, #k11, #k11, #k11, #k11, #nkhw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %m, %s, %g, %t : tensor<2x7x9x11xf32>, tensor<7x1x1xf32>, tensor<7x1x1xf32>, tensor<7x1x1xf32>, tensor<7x1x1xf32>) outs(%e : tensor<2x7x9x11xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %r: f32, %u: f32, %o: f32):
    %1 = arith.subf %x, %p : f32
    %2 = arith.mulf %1, %q : f32
    %3 = arith.mulf %2, %r : f32
    %4 = arith.addf %3, %u : f32
    %5 = arith.cmpf ugt, %4, %zero : f32
    %6 = arith.select %5, %4, %zero : f32
    linalg.yield %6 : f32
  } -> tensor<2x7x9x11xf32>
  %h = linalg.conv_2d_nchw_fchw ins(%n, %d : tensor<2x7x9x11xf32>, tensor<7x7x1x1xf32>) outs(%f : tensor<2x7x9x11xf32>) -> tensor<2x7x9x11xf32>
  %i = linalg.generic {indexing_maps = [#nkhw, #k11, #nkhw, #nkhw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%h, %g, %c : tensor<2x7x9x11xf32>, tensor<7x1x1xf32>, tensor<2x7x9x11xf32>) outs(%e : tensor<2x7x9x11xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %o: f32):
    %1 = arith.mulf %x, %p : f32
    %2 = arith.addf %1, %q : f32
    linalg.yield %2 : f32
  } -> tensor<2x7x9x11xf32>
  return %i : tensor<2x7x9x11xf32>
}
