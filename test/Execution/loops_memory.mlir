// Loops free what an iteration leaves behind: however often they go around, they
// need the same memory. Buffers change places, are handed on twice, come from
// outside, and from branches and loops within.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{k} = 1
// DEFINE: %{f} = simple
// DEFINE: %{run} = tofu-run %s -e %{f} --devices=%{k} --input=6x5xf32=random:1 --input=6x5xf32=random:2
// DEFINE: %{peak} = grep -h peak_bytes
// DEFINE: %{same} = %{run} --input=index=10 --json=%t.10 && %{run} --input=index=100 --json=%t.100 && %{peak} %t.10 > %t.peak.10 && %{peak} %t.100 > %t.peak.100 && diff %t.peak.10 %t.peak.100
// DEFINE: %{check} = %{run} --check --quiet --input=index=1 && %{run} --check --quiet --input=index=7
// DEFINE: %{all} = %{same} && %{check}

// REDEFINE: %{f} = simple
// REDEFINE: %{k} = 2
// RUN: %{all}
// REDEFINE: %{f} = rotate
// REDEFINE: %{k} = 1
// RUN: %{all}
// REDEFINE: %{k} = 3
// RUN: %{all}
// REDEFINE: %{f} = branch
// REDEFINE: %{k} = 2
// RUN: %{all}
// REDEFINE: %{k} = 4
// RUN: %{all}
// REDEFINE: %{f} = nest
// REDEFINE: %{k} = 1
// RUN: %{all}
// REDEFINE: %{k} = 3
// RUN: %{all}
// REDEFINE: %{f} = while
// REDEFINE: %{k} = 1
// RUN: %{all}
// REDEFINE: %{k} = 2
// RUN: %{all}
// REDEFINE: %{f} = unknown
// REDEFINE: %{k} = 1
// RUN: %{all}
// REDEFINE: %{k} = 3
// RUN: %{all}

// What the loops compute from ones and twos.
// DEFINE: %{ones} = --devices=2 --input=6x5xf32=1 --input=6x5xf32=2 --input=index=5
// 1, then x + 2 five times.
// RUN: tofu-run %s -e simple %{ones} | FileCheck %s --check-prefix=SIMPLE
// SIMPLE: result 0: 6x5xf32=[11 11 11 11 11]
// (a, b, c, d) becomes (a + b, a, a + b, d), from (1, 2, 3, 2): the numbers of
// Fibonacci. The last one is the argument.
// RUN: tofu-run %s -e rotate %{ones} | FileCheck %s --check-prefix=ROTATE
// ROTATE: result 0: 6x5xf32=[18 18 18 18 18]
// ROTATE: result 1: 6x5xf32=[11 11 11 11 11]
// ROTATE: result 2: 6x5xf32=[18 18 18 18 18]
// ROTATE: result 3: 6x5xf32=[2 2 2 2 2]
// RUN: tofu-run %s -e rotate --devices=1 --input=6x5xf32=1 --input=6x5xf32=2 --input=index=0 | FileCheck %s --check-prefix=NOTHING
// NOTHING: result 0: 6x5xf32=[1 1 1 1 1]
// NOTHING: result 1: 6x5xf32=[2 2 2 2 2]
// NOTHING: result 2: 6x5xf32=[3 3 3 3 3]
// NOTHING: result 3: 6x5xf32=[2 2 2 2 2]
// i = 0, 2, 4 add 2 to a; i = 1, 3 leave it; b is the a before.
// RUN: tofu-run %s -e branch %{ones} | FileCheck %s --check-prefix=BRANCH
// BRANCH: result 0: 6x5xf32=[7 7 7 7 7]
// BRANCH: result 1: 6x5xf32=[5 5 5 5 5]
// BRANCH: result 2: 6x5xf32=[2 2 2 2 2]
// Around i, a becomes a + 2 i.
// RUN: tofu-run %s -e nest %{ones} | FileCheck %s --check-prefix=NEST
// NEST: result 0: 6x5xf32=[21 21 21 21 21]
// 1 and two times five; what came before.
// RUN: tofu-run %s -e while %{ones} | FileCheck %s --check-prefix=WHILE
// WHILE: result 0: 6x5xf32=[11 11 11 11 11]
// WHILE: result 1: 6x5xf32=[9 9 9 9 9]

func.func @simple(%x: tensor<6x5xf32>, %y: tensor<6x5xf32>, %n: index) -> tensor<6x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<6x5xf32> {
    %next = arith.addf %a, %y : tensor<6x5xf32>
    scf.yield %next : tensor<6x5xf32>
  }
  return %r : tensor<6x5xf32>
}

func.func @rotate(%x: tensor<6x5xf32>, %y: tensor<6x5xf32>, %n: index) -> (tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %three = arith.constant dense<3.0> : tensor<6x5xf32>
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %three, %d = %three)
      -> (tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) {
    %next = arith.addf %a, %b : tensor<6x5xf32>
    scf.yield %next, %a, %next, %y : tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
  }
  // The carried values again, beside what they were.
  %t = arith.constant 2 : index
  %m = arith.minui %n, %t : index
  %s:4 = scf.for %i = %c0 to %m step %c1 iter_args(%a = %r#0, %b = %r#1, %c = %r#2, %d = %y)
      -> (tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) {
    scf.yield %b, %a, %c, %d : tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
  }
  return %s#0, %s#1, %s#2, %s#3 : tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
}

func.func @branch(%x: tensor<6x5xf32>, %y: tensor<6x5xf32>, %n: index) -> (tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %c = %y)
      -> (tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) {
    %rest = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %rest, %c0 : index
    %p:2 = scf.if %even -> (tensor<6x5xf32>, tensor<6x5xf32>) {
      %next = arith.addf %a, %y : tensor<6x5xf32>
      scf.yield %next, %y : tensor<6x5xf32>, tensor<6x5xf32>
    } else {
      scf.yield %a, %c : tensor<6x5xf32>, tensor<6x5xf32>
    }
    scf.yield %p#0, %a, %p#1 : tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
}

func.func @nest(%x: tensor<6x5xf32>, %y: tensor<6x5xf32>, %n: index) -> tensor<6x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<6x5xf32> {
    %few = arith.remui %i, %c6 : index
    %inner:2 = scf.for %j = %c0 to %few step %c1 iter_args(%b = %a, %c = %x) -> (tensor<6x5xf32>, tensor<6x5xf32>) {
      %next = arith.addf %b, %y : tensor<6x5xf32>
      scf.yield %next, %b : tensor<6x5xf32>, tensor<6x5xf32>
    }
    %sum = arith.addf %inner#0, %inner#1 : tensor<6x5xf32>
    %less = arith.subf %sum, %inner#1 : tensor<6x5xf32>
    scf.yield %less : tensor<6x5xf32>
  }
  return %r : tensor<6x5xf32>
}

func.func @while(%x: tensor<6x5xf32>, %y: tensor<6x5xf32>, %n: index) -> (tensor<6x5xf32>, tensor<6x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.while (%i = %c0, %a = %x, %b = %y) : (index, tensor<6x5xf32>, tensor<6x5xf32>) -> (index, tensor<6x5xf32>, tensor<6x5xf32>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %a, %b : index, tensor<6x5xf32>, tensor<6x5xf32>
  } do {
  ^bb0(%i: index, %a: tensor<6x5xf32>, %b: tensor<6x5xf32>):
    %next = arith.addf %a, %y : tensor<6x5xf32>
    %after = arith.addi %i, %c1 : index
    scf.yield %after, %next, %a : index, tensor<6x5xf32>, tensor<6x5xf32>
  }
  return %r#1, %r#2 : tensor<6x5xf32>, tensor<6x5xf32>
}

// Sizes that only the input tells.
func.func @unknown(%x: tensor<?x5xf32>, %y: tensor<?x5xf32>, %n: index) -> (tensor<?x5xf32>, tensor<?x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<?x5xf32>, tensor<?x5xf32>) {
    %next = arith.addf %a, %b : tensor<?x5xf32>
    %small = math.tanh %next : tensor<?x5xf32>
    scf.yield %small, %a : tensor<?x5xf32>, tensor<?x5xf32>
  }
  return %r#0, %r#1 : tensor<?x5xf32>, tensor<?x5xf32>
}
