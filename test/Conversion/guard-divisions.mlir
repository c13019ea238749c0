// RUN: tofu-opt %s --tofu-guard-divisions | FileCheck %s
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME:    %[[A:.*]]: i32, %[[B:.*]]: i32)
func.func @unsigned(%a: i32, %b: i32) -> i32 {
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[GOOD:.*]] = arith.cmpi ne, %[[B]], %[[ZERO]] : i32
  // CHECK-NEXT: cf.assert %[[GOOD]], "integer division by zero"
  // CHECK-NEXT: arith.divui %[[A]], %[[B]] : i32
  %0 = arith.divui %a, %b : i32
  return %0 : i32
}

// CHECK-LABEL: func.func @signed(
// CHECK-SAME:    %[[A:.*]]: i8, %[[B:.*]]: i8)
func.func @signed(%a: i8, %b: i8) -> i8 {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i8
  // CHECK-DAG: %[[NOT_ZERO:.*]] = arith.cmpi ne, %[[B]], %[[ZERO]] : i8
  // CHECK-DAG: %[[LEAST:.*]] = arith.constant -128 : i8
  // CHECK-DAG: %[[IS_LEAST:.*]] = arith.cmpi eq, %[[A]], %[[LEAST]] : i8
  // CHECK-DAG: %[[MINUS:.*]] = arith.constant -1 : i8
  // CHECK-DAG: %[[IS_MINUS:.*]] = arith.cmpi eq, %[[B]], %[[MINUS]] : i8
  // CHECK:     %[[OVERFLOWS:.*]] = arith.andi %[[IS_LEAST]], %[[IS_MINUS]] : i1
  // CHECK:     %[[FITS:.*]] = arith.xori %[[OVERFLOWS]], %{{.*}} : i1
  // CHECK:     %[[GOOD:.*]] = arith.andi %[[NOT_ZERO]], %[[FITS]] : i1
  // CHECK:     cf.assert %[[GOOD]], "integer division by zero, or of the least number by -1"
  // CHECK-NEXT: arith.remsi %[[A]], %[[B]] : i8
  %0 = arith.remsi %a, %b : i8
  return %0 : i8
}

// CHECK-LABEL: func.func @all_kinds(
// CHECK-COUNT-7: cf.assert
// CHECK-NOT: cf.assert
func.func @all_kinds(%a: index, %b: index) -> (index, index, index, index, index, index, index) {
  %0 = arith.divsi %a, %b : index
  %1 = arith.divui %a, %b : index
  %2 = arith.remsi %a, %b : index
  %3 = arith.remui %a, %b : index
  %4 = arith.floordivsi %a, %b : index
  %5 = arith.ceildivsi %a, %b : index
  %6 = arith.ceildivui %a, %b : index
  return %0, %1, %2, %3, %4, %5, %6 : index, index, index, index, index, index, index
}

// Constants that are good divisors, and floats, need nothing.
// CHECK-LABEL: func.func @safe(
// CHECK-NOT: cf.assert
// CHECK-LABEL: func.func @unsafe(
// CHECK: cf.assert
// CHECK-NEXT: arith.divsi
func.func @safe(%a: i32, %f: f32, %g: f32) -> (i32, i32, f32) {
  %c8 = arith.constant 8 : i32
  %all = arith.constant -1 : i32
  %0 = arith.divsi %a, %c8 : i32
  %1 = arith.divui %a, %all : i32
  %2 = arith.divf %f, %g : f32
  return %0, %1, %2 : i32, i32, f32
}

func.func @unsafe(%a: i32) -> i32 {
  %minus = arith.constant -1 : i32
  %0 = arith.divsi %a, %minus : i32
  return %0 : i32
}
