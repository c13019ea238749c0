// The CUDA backend, where there is no driver: one error, which says so.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// REQUIRES: cuda-toolkit
// Where there is a GPU nothing of this fails.
// UNSUPPORTED: cuda

// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %S/Inputs/matmul.mlir --devices=2 --backend=cuda --check 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run --list-devices --backend=cuda 2>&1 | FileCheck %s
// CHECK-NOT: {{.}}
// CHECK:     tofu-run: error: no GPU can be used: {{.+}}
// CHECK-NOT: {{.}}
