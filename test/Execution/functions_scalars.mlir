// Functions outside of the program get scalars of all kinds as C has them, signed.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{run} = tofu-run %s --shared-libs=%tofu_libs/libtofu_test_functions.so --quiet --check
// DEFINE: %{large} = --input=5xi64=1 --input=i1=1 --input=i8=-100 --input=i16=-30000 --input=i32=-2000000000 --input=i64=9000000000 --input=f32=1000 --input=f64=100000000000 --expected-output=5xi64=213999941836
// DEFINE: %{small} = --input=5xi64=1 --input=i1=0 --input=i8=127 --input=i16=-1 --input=i32=-1 --input=i64=-1 --input=f32=-1 --input=f64=-1 --expected-output=5xi64=140
// RUN: %{run} --devices=1 %{large}
// RUN: %{run} --devices=2 %{large}
// RUN: %{run} --devices=3 %{large}
// RUN: %{run} --devices=1 %{small}
// RUN: %{run} --devices=5 %{small}
// RUN: %{run} --devices=3 %{small} --opt-level=0

func.func private @scalars(tensor<5xi64>, i1, i8, i16, i32, i64, index, f32, f64) -> tensor<5xi64> attributes {
  tofu.semantics = #tofu.semantics<[i = 5], (x[i]) -> (out[i])>
}
func.func @main(%x: tensor<5xi64>, %a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: f32, %g: f64) -> tensor<5xi64> {
  %index = arith.constant 17 : index
  %0 = call @scalars(%x, %a, %b, %c, %d, %e, %index, %f, %g)
      : (tensor<5xi64>, i1, i8, i16, i32, i64, index, f32, f64) -> tensor<5xi64>
  return %0 : tensor<5xi64>
}
