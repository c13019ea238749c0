// Two-byte floats that no processor instruction is assumed for.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check
// RUN: tofu-run %s --devices=2 --check
// RUN: tofu-run %s --devices=3 --check
// RUN: tofu-run %s --devices=4 --check

func.func @main(%a: tensor<67x5xbf16>, %b: tensor<5x9xbf16>) -> tensor<67x9xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<67x9xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<67x9xbf16>) -> tensor<67x9xbf16>
  %0 = linalg.matmul ins(%a, %b : tensor<67x5xbf16>, tensor<5x9xbf16>) outs(%c : tensor<67x9xbf16>) -> tensor<67x9xbf16>
  return %0 : tensor<67x9xbf16>
}
