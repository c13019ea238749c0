// Unoptimized code rounds to bf16 by a function where the processor can't.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=3 --check --opt-level=0

func.func @main(%init: tensor<3xbf16>, %a: tensor<12x7x3x2xbf16>) -> tensor<3xbf16> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2)>],
      iterator_types = ["reduction", "reduction", "parallel", "reduction"]} ins(%a : tensor<12x7x3x2xbf16>) outs(%init : tensor<3xbf16>) {
  ^bb0(%x: bf16, %least: bf16):
    %1 = arith.minnumf %least, %x : bf16
    linalg.yield %1 : bf16
  } -> tensor<3xbf16>
  return %0 : tensor<3xbf16>
}
