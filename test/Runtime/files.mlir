// Results go to .npy files, gathered and per device, and come back as inputs.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: rm -rf %t && mkdir %t
// RUN: tofu-run %S/Inputs/matmul.mlir --devices=3 --input=random:1 --input=random:2 --output=@%t/y.npy --output-per-device --quiet | count 0
// RUN: tofu-run %S/Inputs/matmul.mlir --input=random:1 --input=random:2 --expected_output=@%t/y.npy | FileCheck %s
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// RUN: tofu-run %s --devices=2 --input=5x3xbf16=random:1 --output=@%t/b.npy
// RUN: tofu-run %s --input=@%t/b.npy --expected-output=@%t/b.npy --rtol=0 --atol=0
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %s --input=@%t/y.npy 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %s --input=@%t/none.npy 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %s --input=@%s 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %s --input=@%t/b.npy --output=@%t/none/b.npy 2>&1 | FileCheck %s --check-prefix=FOLDER

// CHECK: @main on 1 host device

// FILES:      y.0.npy
// FILES-NEXT: y.1.npy
// FILES-NEXT: y.2.npy
// FILES-NEXT: y.npy

// TYPE:   error: input 0: {{.*}}y.npy: has elements of type '<f4', expected bf16
// NONE:   error: input 0: {{.*}}none.npy: No such file or directory
// TEXT:   error: input 0: {{.*}}files.mlir: not an .npy file, or cut off
// FOLDER: error: {{.*}}none/b.npy: No such file or directory
func.func @main(%a: tensor<?x3xbf16>) -> tensor<?x3xbf16> {
  return %a : tensor<?x3xbf16>
}
