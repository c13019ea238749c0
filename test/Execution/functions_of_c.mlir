// Functions that neither the processor nor the compiler has are those of the C library, also in
// bundles. By hand: erf(0) = 0, erf(0.5) = 0.5204998778130465.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{values} = --input="5xf64=0 0.5 -0.5 0.5 0" --expected_output="5xf64=0 0.5204998778130465 -0.5204998778130465 0.5204998778130465 0" --rtol=1e-15 --atol=0
// RUN: tofu-run %s --devices=1 --quiet %{values}
// RUN: tofu-run %s --devices=3 --quiet --check %{values}
// RUN: tofu-run %s --devices=3 --quiet --opt-level=0 %{values}
// RUN: tofu-run %s --devices=3 --emit=bundle -o %t
// RUN: tofu-run-bundle %t --quiet %{values}

func.func @main(%x: tensor<5xf64>) -> tensor<5xf64> {
  %0 = math.erf %x : tensor<5xf64>
  return %0 : tensor<5xf64>
}
