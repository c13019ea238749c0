// What a partitioned program's signature must say.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/two.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %t/shape.mlir --input=random:0 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %t/local.mlir --input=random:0 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: tofu-run %t/good.mlir --input="5xf32=1 2 3 4 5" | FileCheck %s --check-prefix=GOOD

//--- two.mlir
// TWO: error: {{.*}}program has more than one mesh
tofu.mesh @mesh[x = 2]
tofu.mesh @other[x = 2]
func.func @main() {
  return
}

//--- shape.mlir
// SHAPE: error: result 0: device 1 has [5], its layout says [2]
tofu.mesh @mesh[x = 2]
func.func @main(%a: tensor<5xf32> {tofu.global_type = tensor<5xf32>, tofu.layout = #tofu.layout<@mesh, [{}]>})
    -> (tensor<5xf32> {tofu.global_type = tensor<5xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  return %a : tensor<5xf32>
}

//--- local.mlir
// LOCAL: error: argument 0: device 0 has [3] by its layout, the program takes 4xf32
tofu.mesh @mesh[x = 2]
func.func @main(%a: tensor<4xf32> {tofu.global_type = tensor<5xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  return
}

//--- good.mlir
// GOOD: result 0: 5xf32=1 2 3 4 5
tofu.mesh @mesh[x = 2]
func.func @main(%a: tensor<?xf32> {tofu.global_type = tensor<5xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>})
    -> (tensor<?xf32> {tofu.global_type = tensor<5xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>}) {
  return %a : tensor<?xf32>
}
