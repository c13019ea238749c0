// Sums with what else there is, behind convolutions and products, as programs for a
// GPU have them: within the calls, which write where the addend is. A block of a
// residual network, one that adds another convolution, a sum with an argument, and a
// product.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{in} = --input=random:1
// DEFINE: %{run} = tofu-run %s --quiet --opt-level=0 --check %{in} %{in} %{in} %{in} --input=random:2:1:2 %{in} %{in} %{in}
// RUN: %{run} --backend=gpu-on-host --devices=1 && %{run} --backend=gpu-on-host --devices=2
// RUN: %{run} --backend=gpu-on-host --devices=3 && %{run} --backend=gpu-on-host --devices=4
// RUN: %{run} --backend=recording --devices=1 && %{run} --backend=recording --devices=2
// RUN: %{run} --backend=recording --devices=3 && %{run} --backend=recording --devices=4
// RUN: %if cuda-on-host %{ %{run} --backend=cuda_on_host --devices=1 --iters=3 && %{run} --backend=cuda_on_host --devices=2 %}
// RUN: %if cuda-on-host %{ %{run} --backend=cuda_on_host --devices=3 && %{run} --backend=cuda_on_host --devices=4 %}

// Launches compute what is added, or scales and a filter, but for the fifth call:
// what is added to an argument is a kernel after it, beside the last image.
// RUN: %{run} --backend=recording --record=%t.json && FileCheck %s < %t.json
// CHECK-NOT:     "call": "contract"
// CHECK:         "call": "launch"
// CHECK-NOT:     "call": "launch"
// CHECK:         "call": "contract"
// CHECK-COUNT-2: "call": "launch"
// CHECK-NOT:     "call": "launch"
// CHECK:         "call": "contract"
// CHECK-COUNT-2: "call": "launch"
// CHECK-NOT:     "call": "launch"
// CHECK:         "call": "contract"
// CHECK-COUNT-2: "call": "launch"
// CHECK-NOT:     "call": "launch"
// CHECK-COUNT-2: "call": "contract"
// CHECK-COUNT-2: "call": "launch"
// CHECK-NOT:     "call": "launch"
// CHECK-COUNT-2: "call": "contract"
// CHECK-NOT:     "call": "{{contract|launch}}"

#nkhw = affine_map<(n, k, h, w) -> (n, k, h, w)>
#k = affine_map<(n, k, h, w) -> (k)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

func.func @main(%a: tensor<3x5x9x11xf32>, %b: tensor<5x5x1x1xf32>, %c: tensor<7x5x2x3xf32>, %d: tensor<7x5x2x3xf32>, %s: tensor<7xf32>,
                %t: tensor<5xf32>, %m: tensor<37x34xf32>, %v: tensor<34x34xf32>)
    -> (tensor<3x7x8x9xf32>, tensor<3x5x9x11xf32>, tensor<37x34xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5x9x11xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5x9x11xf32>) -> tensor<3x5x9x11xf32>
  %g = tensor.empty() : tensor<3x7x8x9xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<3x7x8x9xf32>) -> tensor<3x7x8x9xf32>
  %u = tensor.extract_slice %s[0] [5] [1] : tensor<7xf32> to tensor<5xf32>

  %0 = linalg.generic {indexing_maps = [#nkhw, #nkhw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a : tensor<3x5x9x11xf32>) outs(%e : tensor<3x5x9x11xf32>) {
  ^bb0(%x: f32, %o: f32):
    %20 = math.absf %x : f32
    linalg.yield %20 : f32
  } -> tensor<3x5x9x11xf32>
  %inner = linalg.conv_2d_nchw_fchw ins(%0, %b : tensor<3x5x9x11xf32>, tensor<5x5x1x1xf32>) outs(%f : tensor<3x5x9x11xf32>) -> tensor<3x5x9x11xf32>
  %inner_relu = linalg.generic {indexing_maps = [#nkhw, #k, #nkhw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%inner, %t : tensor<3x5x9x11xf32>, tensor<5xf32>) outs(%e : tensor<3x5x9x11xf32>) {
  ^bb0(%x: f32, %p: f32, %o: f32):
    %20 = arith.addf %x, %p : f32
    %21 = arith.maximumf %20, %zero : f32
    linalg.yield %21 : f32
  } -> tensor<3x5x9x11xf32>
  %1 = linalg.conv_2d_nchw_fchw ins(%inner_relu, %b : tensor<3x5x9x11xf32>, tensor<5x5x1x1xf32>) outs(%f : tensor<3x5x9x11xf32>) -> tensor<3x5x9x11xf32>
  %2 = linalg.generic {indexing_maps = [#nkhw, #k, #k, #nkhw, #nkhw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%1, %u, %t, %0 : tensor<3x5x9x11xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3x5x9x11xf32>) outs(%e : tensor<3x5x9x11xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32, %r: f32, %o: f32):
    %20 = arith.subf %x, %q : f32
    %21 = arith.mulf %20, %p : f32
    %22 = arith.addf %21, %r : f32
    %23 = arith.cmpf ugt, %22, %zero : f32
    %24 = arith.select %23, %22, %zero : f32
    linalg.yield %24 : f32
  } -> tensor<3x5x9x11xf32>

  %3 = linalg.conv_2d_nchw_fchw ins(%2, %c : tensor<3x5x9x11xf32>, tensor<7x5x2x3xf32>) outs(%h : tensor<3x7x8x9xf32>) -> tensor<3x7x8x9xf32>
  %4 = linalg.conv_2d_nchw_fchw ins(%2, %d : tensor<3x5x9x11xf32>, tensor<7x5x2x3xf32>) outs(%h : tensor<3x7x8x9xf32>) -> tensor<3x7x8x9xf32>
  %5 = linalg.generic {indexing_maps = [#nkhw, #nkhw, #k, #nkhw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%3, %4, %s : tensor<3x7x8x9xf32>, tensor<3x7x8x9xf32>, tensor<7xf32>) outs(%g : tensor<3x7x8x9xf32>) {
  ^bb0(%x: f32, %y: f32, %p: f32, %o: f32):
    %20 = arith.divf %x, %p : f32
    %21 = arith.mulf %y, %p : f32
    %22 = arith.subf %21, %p : f32
    %23 = arith.addf %20, %22 : f32
    %24 = arith.maximumf %23, %zero : f32
    linalg.yield %24 : f32
  } -> tensor<3x7x8x9xf32>

  %6 = linalg.conv_2d_nchw_fchw ins(%2, %b : tensor<3x5x9x11xf32>, tensor<5x5x1x1xf32>) outs(%f : tensor<3x5x9x11xf32>) -> tensor<3x5x9x11xf32>
  %7 = linalg.generic {indexing_maps = [#nkhw, #k, #nkhw, #nkhw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%6, %t, %a : tensor<3x5x9x11xf32>, tensor<5xf32>, tensor<3x5x9x11xf32>) outs(%e : tensor<3x5x9x11xf32>) {
  ^bb0(%x: f32, %p: f32, %r: f32, %o: f32):
    %20 = arith.addf %x, %p : f32
    %21 = arith.addf %20, %r : f32
    linalg.yield %21 : f32
  } -> tensor<3x5x9x11xf32>

  %i = tensor.empty() : tensor<37x34xf32>
  %j = linalg.fill ins(%zero : f32) outs(%i : tensor<37x34xf32>) -> tensor<37x34xf32>
  %8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<37x34xf32>) outs(%i : tensor<37x34xf32>) {
  ^bb0(%x: f32, %o: f32):
    %20 = math.absf %x : f32
    linalg.yield %20 : f32
  } -> tensor<37x34xf32>
  %hidden = linalg.matmul ins(%8, %v : tensor<37x34xf32>, tensor<34x34xf32>) outs(%j : tensor<37x34xf32>) -> tensor<37x34xf32>
  %9 = linalg.matmul ins(%hidden, %v : tensor<37x34xf32>, tensor<34x34xf32>) outs(%j : tensor<37x34xf32>) -> tensor<37x34xf32>
  %w = tensor.extract_slice %v[0, 0] [1, 34] [1, 1] : tensor<34x34xf32> to tensor<34xf32>
  %10 = linalg.generic {indexing_maps = [#id, #row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%9, %w, %8 : tensor<37x34xf32>, tensor<34xf32>, tensor<37x34xf32>) outs(%i : tensor<37x34xf32>) {
  ^bb0(%x: f32, %p: f32, %r: f32, %o: f32):
    %20 = arith.addf %x, %p : f32
    %21 = arith.addf %20, %r : f32
    linalg.yield %21 : f32
  } -> tensor<37x34xf32>
  return %5, %7, %10 : tensor<3x7x8x9xf32>, tensor<3x5x9x11xf32>, tensor<37x34xf32>
}
