// A product of complex matrices, from arguments and a constant; functions of
// complex numbers; a constant that is no splat.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check --partition-options="partials"
// RUN: tofu-run %s --devices=4 --check
// RUN: tofu-run %s --devices=5 --check

#line = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%a: tensor<2x37xcomplex<f64>>, %b: tensor<37x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>> {
  %zero = complex.constant [0.0, 0.0] : complex<f64>
  %e = tensor.empty() : tensor<2x3xcomplex<f64>>
  %c = linalg.fill ins(%zero : complex<f64>) outs(%e : tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
  %0 = linalg.matmul ins(%a, %b : tensor<2x37xcomplex<f64>>, tensor<37x3xcomplex<f64>>)
                     outs(%c : tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
  %k = arith.constant dense<[[(1.0, 0.5), (2.0, -1.0), (0.0, 3.0)], [(4.0, 0.0), (5.0, 1.0), (6.0, 6.0)]]> : tensor<2x3xcomplex<f64>>
  %1 = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel", "parallel"]}
      ins(%0, %k : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) outs(%e : tensor<2x3xcomplex<f64>>) {
    ^bb0(%x: complex<f64>, %y: complex<f64>, %o: complex<f64>):
      %conj = complex.conj %x : complex<f64>
      %d = complex.div %conj, %y : complex<f64>
      %t = complex.tanh %d : complex<f64>
      %abs = complex.abs %x : complex<f64>
      %z = complex.create %abs, %abs : complex<f64>
      %r = complex.sub %t, %z : complex<f64>
      linalg.yield %r : complex<f64>
  } -> tensor<2x3xcomplex<f64>>
  return %1 : tensor<2x3xcomplex<f64>>
}
