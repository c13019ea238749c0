// Complex numbers: made of their parts, squared and summed, taken apart.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check --partition-options="partials"
// RUN: tofu-run %s --devices=5 --check

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#line = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<3x29xf32>, %b: tensor<3x29xf32>) -> (tensor<3x29xcomplex<f32>>, tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3x29xcomplex<f32>>
  %c = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<3x29xf32>, tensor<3x29xf32>) outs(%e : tensor<3x29xcomplex<f32>>) {
    ^bb0(%x: f32, %y: f32, %o: complex<f32>):
      %z = complex.create %x, %y : complex<f32>
      linalg.yield %z : complex<f32>
  } -> tensor<3x29xcomplex<f32>>
  %start = arith.constant dense<(1.0, 2.0)> : tensor<3xcomplex<f32>>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<3x29xcomplex<f32>>) outs(%start : tensor<3xcomplex<f32>>) {
    ^bb0(%x: complex<f32>, %o: complex<f32>):
      %z = complex.mul %x, %x : complex<f32>
      %w = complex.add %z, %o : complex<f32>
      linalg.yield %w : complex<f32>
  } -> tensor<3xcomplex<f32>>
  %e2 = tensor.empty() : tensor<3xf32>
  %e3 = tensor.empty() : tensor<3xf32>
  %r:2 = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]}
      ins(%s : tensor<3xcomplex<f32>>) outs(%e2, %e3 : tensor<3xf32>, tensor<3xf32>) {
    ^bb0(%x: complex<f32>, %o: f32, %p: f32):
      %re = complex.re %x : complex<f32>
      %im = complex.im %x : complex<f32>
      linalg.yield %re, %im : f32, f32
  } -> (tensor<3xf32>, tensor<3xf32>)
  return %c, %r#0, %r#1 : tensor<3x29xcomplex<f32>>, tensor<3xf32>, tensor<3xf32>
}
