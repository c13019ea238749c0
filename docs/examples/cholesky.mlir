// A batch of Cholesky factorizations by a function that is outside of the program, see cholesky.cpp.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func private @cholesky(tensor<5x8x8xf32>) -> tensor<5x8x8xf32> attributes {
  tofu.semantics = #tofu.semantics<[b = 5], (mat[b, :, :]) -> (out[b, :, :])>
}

func.func @main(%x: tensor<5x8x16xf32>) -> tensor<5x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x8x8xf32>) -> tensor<5x8x8xf32>
  %a = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>,
                                            affine_map<(b, i, j, k) -> (b, j, k)>,
                                            affine_map<(b, i, j, k) -> (b, i, j)>]
                           ins(%x, %x : tensor<5x8x16xf32>, tensor<5x8x16xf32>)
                           outs(%init : tensor<5x8x8xf32>) -> tensor<5x8x8xf32>
  %l = call @cholesky(%a) : (tensor<5x8x8xf32>) -> tensor<5x8x8xf32>
  return %l : tensor<5x8x8xf32>
}
