// Products and differences of complex numbers are cut; what has no combiner, as
// the choice of the larger real part, stays whole.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check
// RUN: tofu-run %s --devices=5 --check

func.func @main(%x: tensor<31xcomplex<f32>>, %product: tensor<complex<f32>>, %start: tensor<complex<f32>>) -> (tensor<complex<f32>>, tensor<complex<f32>>, tensor<complex<f32>>) {
  %0 = linalg.reduce ins(%x : tensor<31xcomplex<f32>>) outs(%product : tensor<complex<f32>>) dimensions = [0]
    (%in: complex<f32>, %acc: complex<f32>) {
      %r = complex.mul %acc, %in : complex<f32>
      linalg.yield %r : complex<f32>
    }
  %1 = linalg.reduce ins(%x : tensor<31xcomplex<f32>>) outs(%start : tensor<complex<f32>>) dimensions = [0]
    (%in: complex<f32>, %acc: complex<f32>) {
      %r = complex.sub %acc, %in : complex<f32>
      linalg.yield %r : complex<f32>
    }
  %2 = linalg.reduce ins(%x : tensor<31xcomplex<f32>>) outs(%start : tensor<complex<f32>>) dimensions = [0]
    (%in: complex<f32>, %acc: complex<f32>) {
      %a = complex.re %in : complex<f32>
      %b = complex.re %acc : complex<f32>
      %larger = arith.cmpf ogt, %a, %b : f32
      %r = arith.select %larger, %in, %acc : complex<f32>
      linalg.yield %r : complex<f32>
    }
  return %0, %1, %2 : tensor<complex<f32>>, tensor<complex<f32>>, tensor<complex<f32>>
}
