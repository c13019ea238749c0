// What goes in and comes out as text: tensors of all kinds, scalars, 0-d
// tensors, unknown sizes.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %s -e scalars --input=f32=1.5 --input=f32=2.5 --input=i32=-7 --input=index=9 | FileCheck %s --check-prefix=SCALARS
// RUN: tofu-run %s -e scalars --devices=3 --input=f32=1.5 --input=f32=2.5 --input=i32=-7 --input=index=9 | FileCheck %s --check-prefix=SCALARS
// RUN: tofu-run %s --function=one --input=i64=41 | FileCheck %s --check-prefix=ONE
// RUN: tofu-run %s --function=nothing | FileCheck %s --check-prefix=NOTHING
// RUN: tofu-run %s --function=types --input=2x2xbf16=[[1,2],[3,4]] --input="3xi1=true false 1" --input="2xi8=255 -128" --input=2xf16=0.1 --input=f64=0.1 | FileCheck %s --check-prefix=TYPES
// RUN: tofu-run %s --function=dynamic --devices=2 --input="3x2xf32=1 2 3 4 5 6" | FileCheck %s --check-prefix=DYNAMIC
// RUN: tofu-run %s --function=dynamic --input=4x2xf32=random:1:5:5.5 | FileCheck %s --check-prefix=RANDOM

// SCALARS:      result 0: f32=4
// SCALARS-NEXT: result 1: f32=4
// SCALARS-NEXT: result 2: i32=-7
// SCALARS-NEXT: result 3: index=9
func.func @scalars(%a: f32, %t: tensor<f32>, %i: i32, %n: index) -> (f32, tensor<f32>, i32, index) {
  %v = tensor.extract %t[] : tensor<f32>
  %sum = arith.addf %a, %v : f32
  %r = tensor.from_elements %sum : tensor<f32>
  return %sum, %r, %i, %n : f32, tensor<f32>, i32, index
}

// ONE: result 0: i64=42
func.func @one(%a: i64) -> i64 {
  %one = arith.constant 1 : i64
  %sum = arith.addi %a, %one : i64
  return %sum : i64
}

// NOTHING-NOT: result
// NOTHING:     @nothing on 1 host device, 1 iteration
func.func @nothing() {
  return
}

// TYPES:      result 0: 2x2xbf16=[1 2][3 4]
// TYPES-NEXT: result 1: 3xi1=1 0 1
// TYPES-NEXT: result 2: 2xi8=-1 -128
// TYPES-NEXT: result 3: 2xf16=0.099976 0.099976
// TYPES-NEXT: result 4: f64=0.10000000000000001
func.func @types(%a: tensor<2x2xbf16>, %b: tensor<3xi1>, %c: tensor<2xi8>, %d: tensor<2xf16>, %e: f64)
    -> (tensor<2x2xbf16>, tensor<3xi1>, tensor<2xi8>, tensor<2xf16>, f64) {
  return %a, %b, %c, %d, %e : tensor<2x2xbf16>, tensor<3xi1>, tensor<2xi8>, tensor<2xf16>, f64
}

// DYNAMIC: result 0: 3x2xf32=[2 4][6 8][10 12]
// RANDOM:  result 0: 4x2xf32={{\[10(\.[0-9]+)? 10(\.[0-9]+)?\]}}
func.func @dynamic(%a: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %sum = arith.addf %a, %a : tensor<?x2xf32>
  return %sum : tensor<?x2xf32>
}
