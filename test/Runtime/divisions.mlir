// A division by zero ends the run with an error that names the device and the place,
// not the process.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{run} = %python %S/Inputs/exit_code.py 3 tofu-run %s
// RUN: %{run} -e main --input="5xi32=6 7 8 9 10" --input="5xi32=1 2 3 0 5" 2>&1 | FileCheck %s -DDEVICE=0
// RUN: %{run} -e main --devices=4 --input="5xi32=6 7 8 9 10" --input="5xi32=1 2 3 0 5" 2>&1 | FileCheck %s -DDEVICE=2
// RUN: %{run} -e main --devices=4 --backend=gpu-on-host --input="5xi32=6 7 8 9 10" --input="5xi32=1 2 3 0 5" 2>&1 | FileCheck %s -DDEVICE=2
// RUN: %{run} -e main --devices=4 --check --input="5xi32=1 2 3 -2147483648 5" --input="5xi32=1 2 3 -1 5" 2>&1 | FileCheck %s -DDEVICE=2
// RUN: tofu-run %s -e main --devices=4 --check --input="5xi32=6 7 8 9 10" --input="5xi32=1 2 3 -1 5"
// RUN: tofu-run %s -e main --devices=4 --check --input="5xi32=-2147483648 7 8 -2147483647 10" --input="5xi32=1 2 3 -1 5"
// RUN: tofu-run %s -e main --devices=4 --backend=gpu-on-host --check --input="5xi32=6 7 8 9 10" --input="5xi32=1 2 3 -1 5"

// CHECK: tofu-run: error: device [[DEVICE]], {{.*}}divisions.mlir:[[#@LINE+2]]:8: integer division by zero, or of the least number by -1
func.func @main(%a: tensor<5xi32>, %b: tensor<5xi32>) -> (tensor<5xi32>, tensor<i32>) {
  %0 = arith.divsi %a, %b : tensor<5xi32>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %1 = linalg.reduce { arith.addi } ins(%0 : tensor<5xi32>) outs(%i : tensor<i32>) dimensions = [0]
  return %0, %1 : tensor<5xi32>, tensor<i32>
}

// Of two that are alike, the one that fails is named.
// RUN: %{run} -e twice --devices=2 --input="2xi64=6 7" --input="2xi64=1 2" --input="2xi64=1 0" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: device 1, {{.*}}divisions.mlir:[[#@LINE+3]]:8: integer division by zero{{$}}
func.func @twice(%a: tensor<2xi64>, %b: tensor<2xi64>, %c: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>) {
  %0 = arith.divui %a, %b : tensor<2xi64>
  %1 = arith.divui %a, %c : tensor<2xi64>
  return %0, %1 : tensor<2xi64>, tensor<2xi64>
}

// Numbers, outside of any loop.
// RUN: %{run} -e numbers --devices=2 --input=index=6 --input=index=0 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: tofu-run %s -e numbers --devices=2 --check --input=index=6 --input=index=4
// NUMBERS: device {{[01]}}, {{.*}}divisions.mlir:[[#@LINE+2]]:8: integer division by zero{{$}}
func.func @numbers(%a: index, %b: index) -> index {
  %0 = arith.remui %a, %b : index
  return %0 : index
}

// Also where processors don't fail by themselves; where the divisor is one number
// for all elements; where a body does other things as well.
// RUN: %{run} -e narrow --devices=2 --input="2xi8=5 -128" --input=i8=-1 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: %{run} -e narrow --devices=2 --input="2xi8=5 -128" --input=i8=0 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: tofu-run %s -e narrow --devices=2 --check --input="2xi8=5 -127" --input=i8=-1
// NARROW: device {{[01]}}, {{.*}}divisions.mlir:[[#@LINE+8]]:10: integer division by zero, or of the least number by -1
#map = affine_map<(d0) -> (d0)>
#number = affine_map<(d0) -> ()>
func.func @narrow(%a: tensor<2xi8>, %b: i8) -> tensor<2xi8> {
  %e = tensor.empty() : tensor<2xi8>
  %0 = linalg.generic {indexing_maps = [#map, #number, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<2xi8>, i8) outs(%e : tensor<2xi8>) {
  ^bb0(%x: i8, %y: i8, %z: i8):
    %1 = arith.floordivsi %x, %y : i8
    %2 = arith.addi %1, %x : i8
    linalg.yield %2 : i8
  } -> tensor<2xi8>
  return %0 : tensor<2xi8>
}

// The body of a named operation has the operation's place, also where it is fused
// with others.
// RUN: %{run} -e named --devices=2 --input="2xi32=5 6" --input="2xi32=5 0" 2>&1 | FileCheck %s --check-prefix=NAMED
// NAMED: device 1, {{.*}}divisions.mlir:[[#@LINE+3]]:8: integer division by zero{{$}}
func.func @named(%a: tensor<2xi32>, %b: tensor<2xi32>) -> tensor<2xi32> {
  %e = tensor.empty() : tensor<2xi32>
  %0 = linalg.div_unsigned ins(%a, %b : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
  %1 = linalg.add ins(%0, %a : tensor<2xi32>, tensor<2xi32>) outs(%e : tensor<2xi32>) -> tensor<2xi32>
  return %1 : tensor<2xi32>
}
