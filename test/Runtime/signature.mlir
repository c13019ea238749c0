// What a partitioned program's signature must say.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/type.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/partial.mlir 2>&1 | FileCheck %s --check-prefix=PARTIAL
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/rank.mlir 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/two.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %t/shape.mlir --input=random:0 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: tofu-run %t/good.mlir --input="5xf32=1 2 3 4 5" | FileCheck %s --check-prefix=GOOD

//--- type.mlir
// TYPE: error: argument 0: tofu.global_type is no tensor type
tofu.mesh @mesh[x = 2]
func.func @main(%a: tensor<?xf32> {tofu.global_type = f32, tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  return
}

//--- partial.mlir
// PARTIAL: error: argument 0: tofu.layout: a partial result can't cross a function's boundary
tofu.mesh @mesh[x = 2]
func.func @main(%a: tensor<5xf32> {tofu.global_type = tensor<5xf32>, tofu.layout = #tofu.layout<@mesh, [{}], sum {x}>}) {
  return
}

//--- rank.mlir
// RANK: error: {{.*}}layout has 2 dims, tensor has 1
tofu.mesh @mesh[x = 2]
func.func @main(%a: tensor<?xf32> {tofu.global_type = tensor<5xf32>, tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}) {
  return
}

//--- two.mlir
// TWO: error: {{.*}}program has more than one mesh
tofu.mesh @mesh[x = 2]
tofu.mesh @other[x = 2]
func.func @main() {
  return
}

//--- shape.mlir
// SHAPE: error: result 0: device 0 has [5], its layout says [3]
tofu.mesh @mesh[x = 2]
func.func @main(%a: tensor<5xf32> {tofu.global_type = tensor<5xf32>, tofu.layout = #tofu.layout<@mesh, [{}]>})
    -> (tensor<5xf32> {tofu.global_type = tensor<5xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  return %a : tensor<5xf32>
}

//--- good.mlir
// GOOD: result 0: 5xf32=1 2 3 4 5
tofu.mesh @mesh[x = 2]
func.func @main(%a: tensor<?xf32> {tofu.global_type = tensor<5xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>})
    -> (tensor<?xf32> {tofu.global_type = tensor<?xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  return %a : tensor<?xf32>
}
