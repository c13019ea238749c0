// Assertions fail in cut programs as they do in the whole one: wherever they are, whether or not
// what stands around them is used, on elements and never on parts of sums. All devices end.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{f} = scalars
// DEFINE: %{good} =
// DEFINE: %{bad} =
// DEFINE: %{run} = tofu-run %s --quiet -e %{f}
// DEFINE: %{holds} = %{run} --devices=2 --check %{good} && %{run} --devices=3 --check %{good}
// DEFINE: %{fails1} = %python %S/Inputs/exit_code.py 3 %{run} %{bad} 2>&1 | FileCheck %s --check-prefix=%{f}
// DEFINE: %{fails2} = %python %S/Inputs/exit_code.py 3 %{run} --devices=2 %{bad} 2>&1 | FileCheck %s --check-prefix=%{f}
// DEFINE: %{fails3} = %python %S/Inputs/exit_code.py 3 %{run} --devices=3 --partition-options=partials=true %{bad} 2>&1 | FileCheck %s --check-prefix=%{f}
// DEFINE: %{gpu} = %{run} --backend=gpu-on-host --opt-level=0 --devices=2 --check %{good} && %python %S/Inputs/exit_code.py 3 %{run} --backend=gpu-on-host --opt-level=0 --devices=2 %{bad} 2>&1 | FileCheck %s --check-prefix=%{f}

// REDEFINE: %{good} = --input=i32=2 --input=7xf32=1
// REDEFINE: %{bad} = --input=i32=3 --input=7xf32=1
// RUN: %{holds} && %{fails1} && %{fails2} && %{fails3} && %{gpu}

// scalars: error: device {{[0-2]}}, {{.*}}assertions.mlir:[[#@LINE+4]]:3: n is too large
func.func @scalars(%n: i32, %x: tensor<7xf32>) -> tensor<7xf32> {
  %c3 = arith.constant 3 : i32
  %small = arith.cmpi slt, %n, %c3 : i32
  cf.assert %small, "n is too large"
  %0 = math.exp %x : tensor<7xf32>
  return %0 : tensor<7xf32>
}

// One element of a tensor that is cut.
// REDEFINE: %{f} = element
// REDEFINE: %{good} = --input="7xf32=1 2 3 4 5 6 7"
// REDEFINE: %{bad} = --input="7xf32=1 2 -3 4 5 6 7"
// RUN: %{holds} && %{fails1} && %{fails2} && %{fails3} && %{gpu}

// element: error: device {{[0-2]}}, {{.*}}assertions.mlir:[[#@LINE+6]]:3: x[2] is negative
func.func @element(%x: tensor<7xf32>) -> tensor<7xf32> {
  %c2 = arith.constant 2 : index
  %two = tensor.extract %x[%c2] : tensor<7xf32>
  %zero = arith.constant 0.0 : f32
  %good = arith.cmpf oge, %two, %zero : f32
  cf.assert %good, "x[2] is negative"
  %0 = math.exp %x : tensor<7xf32>
  return %0 : tensor<7xf32>
}

// REDEFINE: %{f} = loop
// REDEFINE: %{good} = --input=7xf32=1 --input=index=4
// REDEFINE: %{bad} = --input=7xf32=1 --input=index=3
// RUN: %{holds} && %{fails1} && %{fails2} && %{fails3} && %{gpu}

// loop: error: device {{[0-2]}}, {{.*}}assertions.mlir:[[#@LINE+7]]:5: too far around
func.func @loop(%x: tensor<7xf32>, %most: index) -> tensor<7xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %x) -> tensor<7xf32> {
    %good = arith.cmpi slt, %i, %most : index
    cf.assert %good, "too far around"
    %1 = math.tanh %y : tensor<7xf32>
    scf.yield %1 : tensor<7xf32>
  }
  return %0 : tensor<7xf32>
}

#id = affine_map<(i) -> (i)>
#first = affine_map<(i) -> (0)>

// The last element, of which only the first is used later on.
// REDEFINE: %{f} = unread
// REDEFINE: %{good} = --input="7xf32=1 2 3 4 5 6 7"
// REDEFINE: %{bad} = --input="7xf32=1 2 3 4 5 6 -7"
// RUN: %{holds} && %{fails1} && %{fails2} && %{fails3} && %{gpu}

// unread: error: device {{[0-2]}}, {{.*}}assertions.mlir:[[#@LINE+7]]:5: an element is negative
func.func @unread(%x: tensor<7xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<7xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%a: f32, %_: f32):
    %good = arith.cmpf oge, %a, %zero : f32
    cf.assert %good, "an element is negative"
    linalg.yield %a : f32
  } -> tensor<7xf32>
  %f = tensor.empty() : tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel"]} ins(%0 : tensor<7xf32>) outs(%f : tensor<3xf32>) {
  ^bb0(%a: f32, %_: f32):
    linalg.yield %a : f32
  } -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// An operation that is there for its assertion only.
// REDEFINE: %{f} = unused
// RUN: %{holds} && %{fails1} && %{fails2} && %{fails3} && %{gpu}

// unused: error: device {{[0-2]}}, {{.*}}assertions.mlir:[[#@LINE+6]]:5: an element is negative
func.func @unused(%x: tensor<7xf32>) -> tensor<7xf32> {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} ins(%x : tensor<7xf32>) {
  ^bb0(%a: f32):
    %good = arith.cmpf oge, %a, %zero : f32
    cf.assert %good, "an element is negative"
    linalg.yield
  }
  %0 = math.exp %x : tensor<7xf32>
  return %0 : tensor<7xf32>
}

// A sum of which no part is too large.
// REDEFINE: %{f} = sum
// REDEFINE: %{good} = --input=4x7xf32=1 --input=4xf32=8
// REDEFINE: %{bad} = --input=4x7xf32=1 --input=4xf32=6
// RUN: %{holds} && %{fails1} && %{fails2} && %{fails3} && %{gpu}
// RUN: %python %S/Inputs/exit_code.py 3 %{run} --devices=4 --partition-options="algorithm=any partials=true seed=1" %{bad} 2>&1 | FileCheck %s --check-prefix=%{f}
// RUN: %python %S/Inputs/exit_code.py 3 %{run} --devices=4 --partition-options="algorithm=any partials=true seed=2" %{bad} 2>&1 | FileCheck %s --check-prefix=%{f}

// sum: error: device {{[0-3]}}, {{.*}}assertions.mlir:[[#@LINE+8]]:5: the sum is too large
func.func @sum(%x: tensor<4x7xf32>, %most: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<4x7xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%0, %most : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %_: f32):
    %good = arith.cmpf olt, %a, %b : f32
    cf.assert %good, "the sum is too large"
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A sum so far.
// REDEFINE: %{f} = so_far
// REDEFINE: %{good} = --input=8xf32=1 --input=f32=9
// REDEFINE: %{bad} = --input=8xf32=1 --input=f32=7
// RUN: %{holds} && %{fails1} && %{fails2} && %{fails3} && %{gpu}

// so_far: error: device {{[0-2]}}, {{.*}}assertions.mlir:[[#@LINE+7]]:5: the sum is too large
func.func @so_far(%x: tensor<8xf32>, %most: f32) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    %good = arith.cmpf olt, %n, %most : f32
    cf.assert %good, "the sum is too large"
    linalg.yield %n : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// A product that a library computes, but for the assertion.
// REDEFINE: %{f} = product
// REDEFINE: %{good} = --input=16x16xf32=1 --input=16x16xf32=1
// REDEFINE: %{bad} = --input=16x16xf32=1 --input=16x16xf32=-1
// RUN: %{holds} && %{fails1} && %{fails2} && %{fails3} && %{gpu}

// product: error: device {{[0-2]}}, {{.*}}assertions.mlir:[[#@LINE+8]]:5: an element is negative
func.func @product(%x: tensor<16x16xf32>, %y: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zeros : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %good = arith.cmpf oge, %b, %zero : f32
    cf.assert %good, "an element is negative"
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// An element that is looked up, of a table that may be cut: no device takes zero for it.
// REDEFINE: %{f} = looked_up
// REDEFINE: %{good} = --input="6xf32=1 2 3 4 5 6" --input="5xi32=0 1 2 3 5"
// REDEFINE: %{bad} = --input="6xf32=1 2 3 4 -5 6" --input="5xi32=0 1 2 3 4"
// RUN: %{holds} && %{fails1} && %{fails2} && %{fails3} && %{gpu}
// RUN: %{run} --devices=4 --partition-options="algorithm=any partials=true seed=1" %{good} --check
// RUN: %{run} --devices=4 --partition-options="algorithm=any partials=true seed=2" %{good} --check

// looked_up: error: device {{[0-2]}}, {{.*}}assertions.mlir:[[#@LINE+9]]:5: an element is not positive
func.func @looked_up(%table: tensor<6xf32>, %indices: tensor<5xi32>) -> tensor<5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%indices : tensor<5xi32>) outs(%e : tensor<5xf32>) {
  ^bb0(%i: i32, %_: f32):
    %at = arith.index_cast %i : i32 to index
    %value = tensor.extract %table[%at] : tensor<6xf32>
    %good = arith.cmpf ogt, %value, %zero : f32
    cf.assert %good, "an element is not positive"
    linalg.yield %value : f32
  } -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
