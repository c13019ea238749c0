// Functions outside of the program that are not there, and ones that can't be called.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --check --shared-libs=%t/none.so 2>&1 | FileCheck %s --check-prefix=LIBRARY
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --check --shared-libs=%tofu_libs/libtofu_test_functions.so,%t/main.mlir 2>&1 | FileCheck %s --check-prefix=NO-LIBRARY
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %t/main.mlir --devices=2 --check 2>&1 | FileCheck %s --check-prefix=SYMBOL
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %t/two.mlir --check --shared-libs=%tofu_libs/libtofu_test_functions.so 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %t/scalar.mlir --check --shared-libs=%tofu_libs/libtofu_test_functions.so 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %t/size.mlir --input=4xf32=1 --shared-libs=%tofu_libs/libtofu_test_functions.so 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: tofu-run %t/main.mlir --check --devices=2 --shared-libs=%tofu_libs/libtofu_test_functions.so

// LIBRARY: error: --shared-libs: can't load {{.*}}none.so: {{.*}}none.so: cannot open shared object file: No such file or directory
// NO-LIBRARY: error: --shared-libs: can't load {{.*}}main.mlir: {{.*}}main.mlir: {{.*}}
// SYMBOL: main.mlir:1:1: error: function @count is nowhere: no library of --shared-libs defines _mlir_ciface_count
// SYMBOL-NEXT: func.func private @count
// SYMBOL-NEXT: ^
// SYMBOL-NEXT: error: the program calls functions that are not there
// SYMBOL-NOT: {{.}}
// TWO: two.mlir:1:1: error: function @first is nowhere: no library of --shared-libs defines _mlir_ciface_first
// TWO: two.mlir:3:1: error: function @third is nowhere: no library of --shared-libs defines third
// SCALAR: scalar.mlir:3:8: error: 'func.call' op result 0 is 'f32'; a function outside of the program that takes or gives tensors gives ranked tensors only
// SIZE: size.mlir:3:8: error: 'func.call' op result 0: the size of dim 0 is not known before the call

//--- main.mlir
func.func private @count() -> tensor<5xi32> attributes {tofu.semantics = #tofu.semantics<[i = 5], () -> (out[i])>}
func.func @main() -> tensor<5xi32> {
  %0 = call @count() : () -> tensor<5xi32>
  return %0 : tensor<5xi32>
}

//--- two.mlir
func.func private @first() -> tensor<5xi32>
func.func private @count() -> tensor<5xi32>
func.func private @third(i32) -> i32
func.func @main(%i: i32) -> (tensor<5xi32>, tensor<5xi32>, i32) {
  %0 = call @first() : () -> tensor<5xi32>
  %1 = call @count() : () -> tensor<5xi32>
  %2 = call @third(%i) : (i32) -> i32
  return %0, %1, %2 : tensor<5xi32>, tensor<5xi32>, i32
}

//--- scalar.mlir
func.func private @sum(tensor<4xf32>) -> f32
func.func @main(%a: tensor<4xf32>) -> f32 {
  %0 = call @sum(%a) : (tensor<4xf32>) -> f32
  return %0 : f32
}

//--- size.mlir
func.func private @count(tensor<4xf32>) -> tensor<?xf32>
func.func @main(%a: tensor<4xf32>) -> tensor<?xf32> {
  %0 = call @count(%a) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
