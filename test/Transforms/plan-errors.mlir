// Options, meshes and plans that tofu-plan refuses.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t

// RUN: not tofu-opt %t/plain.mlir -tofu-plan 2>&1 | FileCheck %s --check-prefix=NO-DEVICES
// NO-DEVICES: plain.mlir:{{.*}}: error: tofu-plan: say devices= or mesh=, or give the program a tofu.mesh

// RUN: not tofu-opt %t/plain.mlir -tofu-plan=devices=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: tofu-plan: devices must be between 1 and 4096, not -1

// RUN: not tofu-opt %t/plain.mlir -tofu-plan=devices=4097 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: tofu-plan: devices must be between 1 and 4096, not 4097

// RUN: not tofu-opt %t/plain.mlir -tofu-plan="devices=2 charge=twice" 2>&1 | FileCheck %s --check-prefix=CHARGE
// CHARGE: error: tofu-plan: charge must be once or per-use, not twice

// RUN: not tofu-opt %t/plain.mlir -tofu-plan="devices=2 algorithm=best" 2>&1 | FileCheck %s --check-prefix=ALGORITHM
// ALGORITHM: error: tofu-plan: algorithm must be one of kbest, exact, recursive, propagate, data-parallel, megatron, icml18, equal-chop, all-row-greedy, spartan, random, any, not best

// RUN: not tofu-opt %t/plain.mlir -tofu-plan=mesh=x 2>&1 | FileCheck %s --check-prefix=MESH -DMESH=x
// RUN: not tofu-opt %t/plain.mlir -tofu-plan=mesh=x=2,=3 2>&1 | FileCheck %s --check-prefix=MESH -DMESH=x=2,=3
// RUN: not tofu-opt %t/plain.mlir -tofu-plan=mesh=x=0 2>&1 | FileCheck %s --check-prefix=MESH -DMESH=x=0
// RUN: not tofu-opt %t/plain.mlir -tofu-plan=mesh=x=2,y=two 2>&1 | FileCheck %s --check-prefix=MESH -DMESH=x=2,y=two
// RUN: not tofu-opt %t/plain.mlir -tofu-plan=mesh=x=99999999999999999999 2>&1 | FileCheck %s --check-prefix=MESH -DMESH=x=99999999999999999999
// MESH: error: tofu-plan: mesh must be like x=2,y=4, not [[MESH]]

// RUN: not tofu-opt %t/plain.mlir -tofu-plan=mesh=x=2,x=2 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'tofu.mesh' op two axes are called x

// RUN: not tofu-opt %t/plain.mlir -tofu-plan=mesh=x=9223372036854775807,y=2 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// OVERFLOW: error: 'tofu.mesh' op more than 4096 devices

// RUN: not tofu-opt %t/plain.mlir -tofu-plan="mesh=x=2,y=3 devices=5" 2>&1 | FileCheck %s --check-prefix=MISMATCH
// MISMATCH: error: tofu-plan: devices is 5, the mesh has 6

// RUN: not tofu-opt %t/plain.mlir -tofu-plan="devices=2 json=%t/no/such/folder.json" 2>&1 | FileCheck %s --check-prefix=JSON
// JSON: error: tofu-plan: {{.*}}No such file or directory

// Sizes whose bytes no word can count.
// RUN: not tofu-opt %t/huge.mlir -tofu-annotate -tofu-plan=devices=2 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: huge.mlir:1:1: error: tensors are too large for the bytes of a plan to be counted

// A mesh with the plan's axes is used whatever it is called.
// RUN: tofu-opt %t/other.mlir -tofu-annotate -tofu-plan | FileCheck %s --check-prefix=OWN
// RUN: tofu-opt %t/other.mlir -tofu-annotate -tofu-plan=mesh=x=2 | FileCheck %s --check-prefix=OWN
// OWN-NOT: tofu.mesh @mesh
// OWN: tofu.mesh @devices [x = 2]
// OWN-NOT: tofu.mesh
// OWN: func.func @f(%{{.*}}: tensor<8xf32> {tofu.layout = #tofu.layout<@devices, [{x}]>})
// RUN: tofu-opt %t/other.mlir -tofu-annotate -tofu-plan=devices=2 | FileCheck %s --check-prefix=OWN
// RUN: tofu-opt %t/other.mlir -tofu-annotate -tofu-plan=devices=4 | FileCheck %s --check-prefix=ADDED
// ADDED: tofu.mesh @mesh [a0 = 2, a1 = 2]
// ADDED: tofu.mesh @devices [x = 2]
// ADDED: func.func @f(%{{.*}}: tensor<8xf32> {tofu.layout = #tofu.layout<@mesh, [{a0, a1}]>})

// RUN: not tofu-opt %t/taken.mlir -tofu-plan=devices=4 2>&1 | FileCheck %s --check-prefix=TAKEN
// TAKEN: taken.mlir:1:1: error: the plan is on another mesh, which would be called @mesh too

// What a file says that the search would not: its mesh must be the plan's, and
// results must lie as their values do.
// RUN: tofu-opt %t/two.mlir -tofu-annotate -tofu-plan=json=%t/two.json -o /dev/null
// RUN: sed 's/@mesh/@other/g' %t/two.json > %t/other.json
// RUN: not tofu-opt %t/two.mlir -tofu-annotate -tofu-plan=load=%t/other.json 2>&1 | FileCheck %s --check-prefix=OTHER-MESH
// OTHER-MESH: two.mlir:3:1: error: {{.*}}other.json: the plan is on @other, its mesh is called @mesh
// RUN: sed '/strategy/s/@mesh/@other/' %t/two.json > %t/mixed.json
// RUN: not tofu-opt %t/two.mlir -tofu-annotate -tofu-plan=load=%t/mixed.json 2>&1 | FileCheck %s --check-prefix=MIXED
// MIXED: two.mlir:4:8: error: the plan is on @mesh and on @other
// RUN: sed '/results/,$s/{x}/{}/' %t/two.json > %t/result.json
// RUN: not tofu-opt %t/two.mlir -tofu-annotate -tofu-plan=load=%t/result.json 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: two.mlir:3:1: error: {{.*}}result.json: results 0 lies otherwise than the value that it is
// RUN: sed '/arguments/,/carried/s/{x}/{}/' %t/two.json > %t/tied.json
// RUN: sed 's/%a: tensor<8xf32>/%a: tensor<8xf32> {tofu.carried_to = 0}/' %t/two.mlir > %t/carried.mlir
// RUN: not tofu-opt %t/carried.mlir -tofu-annotate -tofu-plan=load=%t/tied.json 2>&1 | FileCheck %s --check-prefix=TIED
// TIED: carried.mlir:3:1: error: {{.*}}tied.json: results 0 lies otherwise than the value that it is

// And a partial value must come from a sum.
// RUN: sed 's/#tofu.layout<@mesh, \[{x}\]>/#tofu.layout<@mesh, [{}], sum {x}>/' %t/two.json > %t/partial.json
// RUN: not tofu-opt %t/two.mlir -tofu-annotate -tofu-plan=load=%t/partial.json 2>&1 | FileCheck %s --check-prefix=PARTIAL
// PARTIAL: two.mlir:3:1: error: 'func.func' op argument 0 is partial; a function takes and gives whole values
// RUN: sed '/"layouts"/,/location/s/#tofu.layout<@mesh, \[{x}\]>/#tofu.layout<@mesh, [{}], sum {x}>/' %t/two.json > %t/inner.json
// RUN: not tofu-opt %t/two.mlir -tofu-annotate -tofu-plan=load=%t/inner.json 2>&1 | FileCheck %s --check-prefix=INNER
// INNER: two.mlir:3:1: error: {{.*}}inner.json: results 0 lies otherwise than the value that it is

//--- plain.mlir
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- other.mlir
tofu.mesh @devices [x = 2]
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- taken.mlir
tofu.mesh @mesh [x = 2]

//--- two.mlir
tofu.mesh @mesh [x = 2]
tofu.mesh @other [x = 2]
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- huge.mlir
func.func @huge(%a: tensor<9223372036854775807x4xf32>) -> tensor<9223372036854775807x4xf32> {
  %0 = math.exp %a : tensor<9223372036854775807x4xf32>
  return %0 : tensor<9223372036854775807x4xf32>
}
