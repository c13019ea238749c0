// Long blocks in parts that share a frame.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-split-functions=max-ops=2 | FileCheck %s
// RUN: tofu-opt %s --tofu-split-functions=max-ops=10 | FileCheck %s --check-prefix=SHORT

llvm.func @use(!llvm.ptr, i64) -> i64

// SHORT-LABEL: llvm.func @long
// SHORT-COUNT-4: llvm.call @use
// SHORT-NOT:   @long_part

// CHECK-LABEL: llvm.func @long
// CHECK-SAME:    %[[P:[a-z0-9]+]]: !llvm.ptr
// CHECK:         %[[FRAME:.*]] = llvm.alloca
// CHECK:         llvm.store %[[P]]
// CHECK:         llvm.call @[[$FIRST:[a-z_0-9]+]](%[[FRAME]])
// CHECK-NEXT:    llvm.call @[[$SECOND:[a-z_0-9]+]](%[[FRAME]])
// CHECK:         %[[RESULT:.*]] = llvm.load
// CHECK:         llvm.return %[[RESULT]]
llvm.func @long(%p: !llvm.ptr) -> i64 {
  %c = llvm.mlir.constant(1 : i64) : i64
  %0 = llvm.call @use(%p, %c) : (!llvm.ptr, i64) -> i64
  %1 = llvm.call @use(%p, %0) : (!llvm.ptr, i64) -> i64
  %2 = llvm.call @use(%p, %1) : (!llvm.ptr, i64) -> i64
  %3 = llvm.call @use(%p, %2) : (!llvm.ptr, i64) -> i64
  llvm.return %3 : i64
}

// CHECK:       llvm.func internal @[[$FIRST]](%[[F:[a-z0-9]+]]: !llvm.ptr)
// CHECK:         %[[C:.*]] = llvm.mlir.constant(1 : i64)
// CHECK:         llvm.call @use(%{{.*}}, %[[C]])
// CHECK:         llvm.call @use
// CHECK:         llvm.store
// CHECK:       llvm.func internal @[[$SECOND]]
// CHECK:         llvm.load
