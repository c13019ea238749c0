// Programs in which nothing can be cut have a plan, on few devices and on many.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-annotate --tofu-plan="devices=2 print" 2>&1 | FileCheck %s
// RUN: tofu-opt %s --tofu-annotate --tofu-plan="devices=64 print" 2>&1 | FileCheck %s
// RUN: tofu-opt %s --tofu-annotate --tofu-plan="devices=64 algorithm=exact print" 2>&1 | FileCheck %s
// RUN: tofu-opt %s --tofu-annotate --tofu-plan="devices=64 algorithm=recursive print" 2>&1 | FileCheck %s

// CHECK-COUNT-2: total: 0 bytes

func.func @scalar(%i: index) -> index {
  return %i : index
}

func.func @empty() {
  return
}
