// Each operation that is left is named.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-verify-lowered -split-input-file -verify-diagnostics

llvm.func @lowered() {
  llvm.return
}

// -----

// expected-error@+1 {{'func.func' op cannot be lowered for the host}}
func.func @left(%a: i32) -> i32 {
  // expected-error@+1 {{'arith.addi' op cannot be lowered for the host}}
  %0 = arith.addi %a, %a : i32
  // expected-error@+1 {{'func.return' op cannot be lowered for the host}}
  return %0 : i32
}

// -----

// expected-error@+1 {{types remain that have no form on the host}}
module {
  llvm.func @cast(%a: i64) -> i64 {
    %0 = builtin.unrealized_conversion_cast %a : i64 to index
    %1 = builtin.unrealized_conversion_cast %0 : index to i64
    llvm.return %1 : i64
  }
}
