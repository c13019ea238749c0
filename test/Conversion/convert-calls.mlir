// Functions outside of the program are called by MLIR's C interface.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -tofu-convert-calls -verify-diagnostics | FileCheck %s

func.func private @outside(memref<8xf32>, i1, i8, i16, i32, i64, index, f32, f64) -> memref<?xf32>

// CHECK: llvm.func @_mlir_ciface_outside(!llvm.ptr, i32, i32, i32, i32, i64, i64, f32, f64, !llvm.ptr)
// CHECK-NOT: func.func private @outside

// CHECK-LABEL: func.func @call
// CHECK-DAG: %[[A:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
// CHECK-DAG: %[[B:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
// CHECK: %[[BYTE:.*]] = arith.extui %{{.*}} : i1 to i32
// CHECK: %[[SMALL:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK: %[[SHORT:.*]] = arith.extsi %{{.*}} : i16 to i32
// CHECK: llvm.call @_mlir_ciface_outside(%{{.*}}, %[[BYTE]], %[[SMALL]], %[[SHORT]], %{{.*}}) : (!llvm.ptr, i32, i32, i32, i32, i64, i64, f32, f64, !llvm.ptr) -> ()
func.func @call(%a: memref<8xf32>, %0: i1, %1: i8, %2: i16, %3: i32, %4: i64, %5: index, %6: f32, %7: f64, %b: memref<?xf32>) {
  tofu.call @outside(%a, %0, %1, %2, %3, %4, %5, %6, %7 : memref<8xf32>, i1, i8, i16, i32, i64, index, f32, f64) into(%b : memref<?xf32>)
  return
}

// -----

func.func private @outside() -> memref<?xf32>
// CHECK-LABEL: func.func @condition
// CHECK-SAME: %[[C:[a-z0-9]+]]: i1
// CHECK: scf.if %[[C]] {
// CHECK:   llvm.call @_mlir_ciface_outside
// CHECK: }
func.func @condition(%b: memref<?xf32>, %c: i1) {
  tofu.call @outside() into(%b : memref<?xf32>) if %c
  return
}

// -----

func.func private @outside(bf16)
func.func @scalar(%a: bf16) {
  // expected-error@below {{'tofu.call' op input 0 can't be passed: 'bf16'; a tensor of rank 0 may hold it}}
  tofu.call @outside(%a : bf16) into()
  return
}

// -----

func.func private @outside(memref<4xcomplex<f16>>)
func.func @elements(%a: memref<4xcomplex<f16>>) {
  // expected-error@below {{'tofu.call' op operand 0 can't be passed: 'memref<4xcomplex<f16>>'}}
  tofu.call @outside(%a : memref<4xcomplex<f16>>) into()
  return
}

// -----

func.func private @outside(memref<4xf32>)
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  // expected-error@below {{'tofu.call' op operand 0 can't be passed: 'memref<4xf32, strided<[2]>>'}}
  tofu.call @outside(%a : memref<4xf32, strided<[2]>>) into()
  return
}

// -----

// expected-error@below {{'func.func' op needs the name of another symbol: _mlir_ciface_outside}}
func.func private @outside()
func.func @_mlir_ciface_outside() {
  return
}
func.func @name_taken() {
  tofu.call @outside() into()
  return
}
