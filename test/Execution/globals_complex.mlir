// A complex state without an initial value begins with zeros; a constant of the
// file's resources.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s --devices=1 --check --iters=3
// RUN: tofu-run %s --devices=2 --check --iters=3
// RUN: tofu-run %s --devices=3 --check --iters=3
// RUN: tofu-run %s --devices=4 --check --iters=3
// RUN: tofu-run %s --devices=5 --check --iters=3

ml_program.global private mutable @state : tensor<5xcomplex<f32>>
ml_program.global private @weight(dense_resource<weight> : tensor<5xf32>) : tensor<5xf32>

#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<5xcomplex<f32>>) -> tensor<5xcomplex<f32>> {
  %old = ml_program.global_load @state : tensor<5xcomplex<f32>>
  %weight = ml_program.global_load_const @weight : tensor<5xf32>
  %new = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %weight : tensor<5xcomplex<f32>>, tensor<5xf32>) outs(%old : tensor<5xcomplex<f32>>) {
    ^bb0(%x: complex<f32>, %w: f32, %o: complex<f32>):
      %c = complex.create %w, %w : complex<f32>
      %m = complex.mul %x, %c : complex<f32>
      %s = complex.add %m, %o : complex<f32>
      linalg.yield %s : complex<f32>
  } -> tensor<5xcomplex<f32>>
  ml_program.global_store @state = %new : tensor<5xcomplex<f32>>
  return %new : tensor<5xcomplex<f32>>
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F0000004000004040000080400000A040"
    }
  }
#-}
