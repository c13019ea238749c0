// Kernels for a GPU, run on the host: reductions that the threads of a block share, of rows, columns,
// both and none, of awkward lengths, with initial values; and ones that a thread computes alone.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{f} = rows
// DEFINE: %{in} =
// DEFINE: %{run} = tofu-run %s --backend=gpu-on-host --quiet --opt-level=0 -e %{f} %{in}
// DEFINE: %{check} = %{run} --check --devices=1 && %{run} --check --devices=2 && %{run} --check --devices=3 && %{run} --check --devices=4

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>
#line = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

// Numbers by hand: 1 + ... + 1000, the largest, and the product of ones with one 3 and one 5.
// REDEFINE: %{f} = known
// RUN: %{run} --input=2xi32=10 --expected_output="2xi32=500510 501510" --expected_output="2xi32=1000 1001" --expected_output="2xi32=15"
func.func @known(%start: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %e = tensor.empty() : tensor<2x1000xi32>
  %numbers = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x1000xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c1 = arith.constant 1 : index
    %t0 = arith.addi %i, %j : index
    %t1 = arith.addi %t0, %c1 : index
    %t2 = arith.index_cast %t1 : index to i32
    linalg.yield %t2 : i32
  } -> tensor<2x1000xi32>
  %sum = linalg.reduce ins(%numbers : tensor<2x1000xi32>) outs(%start : tensor<2xi32>) dimensions = [1]
    (%x: i32, %acc: i32) {
      %t0 = arith.addi %x, %acc : i32
      linalg.yield %t0 : i32
    }
  %max = linalg.reduce ins(%numbers : tensor<2x1000xi32>) outs(%start : tensor<2xi32>) dimensions = [1]
    (%x: i32, %acc: i32) {
      %t0 = arith.maxsi %x, %acc : i32
      linalg.yield %t0 : i32
    }
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %five = arith.constant 5 : i32
  %e1 = tensor.empty() : tensor<2xi32>
  %ones = linalg.fill ins(%one : i32) outs(%e1 : tensor<2xi32>) -> tensor<2xi32>
  %prod = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%numbers : tensor<2x1000xi32>) outs(%ones : tensor<2xi32>) {
  ^bb0(%x: i32, %acc: i32):
    %is3 = arith.cmpi eq, %x, %three : i32
    %is5 = arith.cmpi eq, %x, %five : i32
    %a = arith.select %is3, %three, %one : i32
    %b = arith.select %is5, %five, %a : i32
    %t0 = arith.muli %acc, %b : i32
    linalg.yield %t0 : i32
  } -> tensor<2xi32>
  return %sum, %max, %prod : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}

// REDEFINE: %{f} = rows
// RUN: %{check}
func.func @rows(%a: tensor<5x1023xf32>, %init: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  // Two results at once.
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<5x1023xf32>) outs(%init, %init : tensor<5xf32>, tensor<5xf32>) {
  ^bb0(%x: f32, %s: f32, %m: f32):
    %t0 = arith.addf %s, %x : f32
    %t1 = arith.maximumf %m, %x : f32
    linalg.yield %t0, %t1 : f32, f32
  } -> (tensor<5xf32>, tensor<5xf32>)
  // No operation that combines in any order.
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<5x1023xf32>) outs(%init : tensor<5xf32>) {
  ^bb0(%x: f32, %s: f32):
    %half = arith.constant 0.5 : f32
    %t0 = arith.mulf %s, %half : f32
    %t1 = arith.addf %t0, %x : f32
    linalg.yield %t1 : f32
  } -> tensor<5xf32>
  return %0#0, %0#1, %1 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// REDEFINE: %{f} = columns
// RUN: %{check}
func.func @columns(%a: tensor<67x70xf32>, %b: tensor<67x70xi1>) -> (tensor<70xf32>, tensor<70xi1>, tensor<f32>, tensor<70xf64>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<70xf32>) -> tensor<70xf32>
  %0 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<67x70xf32>) outs(%f : tensor<70xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t0 = arith.mulf %x, %x : f32
    %t1 = arith.addf %s, %t0 : f32
    linalg.yield %t1 : f32
  } -> tensor<70xf32>
  %no = arith.constant false
  %e1 = tensor.empty() : tensor<70xi1>
  %f1 = linalg.fill ins(%no : i1) outs(%e1 : tensor<70xi1>) -> tensor<70xi1>
  %1 = linalg.reduce ins(%b : tensor<67x70xi1>) outs(%f1 : tensor<70xi1>) dimensions = [0]
    (%x: i1, %acc: i1) {
      %t0 = arith.xori %x, %acc : i1
      linalg.yield %t0 : i1
    }
  %e2 = tensor.empty() : tensor<f32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<f32>) -> tensor<f32>
  %2 = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<67x70xf32>) outs(%f2 : tensor<f32>) {
  ^bb0(%x: f32, %s: f32):
    %i = linalg.index 0 : index
    %i64 = arith.index_cast %i : index to i64
    %w = arith.sitofp %i64 : i64 to f32
    %t0 = arith.mulf %x, %w : f32
    %t1 = arith.addf %s, %t0 : f32
    linalg.yield %t1 : f32
  } -> tensor<f32>
  %zd = arith.constant 1.0 : f64
  %e3 = tensor.empty() : tensor<70xf64>
  %f3 = linalg.fill ins(%zd : f64) outs(%e3 : tensor<70xf64>) -> tensor<70xf64>
  %3 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<67x70xf32>) outs(%f3 : tensor<70xf64>) {
  ^bb0(%x: f32, %s: f64):
    %t0 = arith.extf %x : f32 to f64
    %t1 = arith.minnumf %t0, %s : f64
    linalg.yield %t1 : f64
  } -> tensor<70xf64>
  return %0, %1, %2, %3 : tensor<70xf32>, tensor<70xi1>, tensor<f32>, tensor<70xf64>
}

// NaN, infinities and zeros of either sign come through as in program order.
// REDEFINE: %{f} = special
// RUN: %{run} --input="1x8xf32=nan" --input=1xf32=nan --expected_output=1xf32=nan --expected_output=1xf32=nan
// RUN: %{run} --input="1x8xf32=nan nan 1 nan nan nan nan nan" --input=1xf32=nan --expected_output=1xf32=nan --expected_output=1xf32=1
// RUN: %{run} --input="1x8xf32=-inf" --input=1xf32=-inf --expected_output=1xf32=-inf --expected_output=1xf32=-inf
func.func @special(%a: tensor<1x8xf32>, %init: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %0 = linalg.reduce ins(%a : tensor<1x8xf32>) outs(%init : tensor<1xf32>) dimensions = [1]
    (%x: f32, %acc: f32) {
      %t0 = arith.maximumf %x, %acc : f32
      linalg.yield %t0 : f32
    }
  %1 = linalg.reduce ins(%a : tensor<1x8xf32>) outs(%init : tensor<1xf32>) dimensions = [1]
    (%x: f32, %acc: f32) {
      %t0 = arith.maxnumf %x, %acc : f32
      linalg.yield %t0 : f32
    }
  return %0, %1 : tensor<1xf32>, tensor<1xf32>
}

// Sizes that only the inputs tell, none among them.
// REDEFINE: %{f} = sizes
// REDEFINE: %{in} = --input=13x600xf32=random:1 --input=13xf32=random:2
// RUN: %{check}
// REDEFINE: %{in} = --input=0x600xf32=random:1 --input=0xf32=random:2
// RUN: %{check}
// REDEFINE: %{in} = --input=3x0xf32=random:1 --input=3xf32=random:2
// RUN: %{check}
// REDEFINE: %{in} = --input=300x1xf32=random:1 --input=300xf32=random:2
// RUN: %{check}
func.func @sizes(%a: tensor<?x?xf32>, %init: tensor<?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %0 = linalg.reduce ins(%a : tensor<?x?xf32>) outs(%init : tensor<?xf32>) dimensions = [1]
    (%x: f32, %acc: f32) {
      %t0 = arith.addf %x, %acc : f32
      linalg.yield %t0 : f32
    }
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %0 : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %t2 = arith.subf %x, %s : f32
    linalg.yield %t2 : f32
  } -> tensor<?x?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?x?xf32>
}
