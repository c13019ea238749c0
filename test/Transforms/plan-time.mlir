// Plans that take the least time, machines, and the order of the mesh's axes.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t

// q and r, both of p, are needed whole. Work that is not replicated makes their
// halves on the two devices, and 4 elements of each are received by each: 64
// bytes, and 2 x (1000 + 16) ns; 2 x 4 ns for q and r, 128 ns for 8 x 8 points
// of two operations.
// RUN: tofu-opt %t/twice.mlir -tofu-annotate -tofu-plan="devices=2 print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: :9 linalg.generic x2 8 [a0] [a0]
// BYTES: total: 64 bytes{{$}}

// All of q and r on each device needs only p: 1016 ns, then 2 x 8 + 128 ns.
// RUN: tofu-opt %t/twice.mlir -tofu-annotate -tofu-plan="devices=2 objective=time print json=%t/time.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: plan of @twice on 2 devices (a0 = 2); bytes are received, summed over devices, times in microseconds, of the work and of what is received
// TIME-NEXT: operand bytes result bytes time runner-up costs runner-up
// TIME-NEXT: :9 linalg.generic x2 8 [-] [-] 32 0 1.032000
// TIME-NEXT: :15 linalg.generic 16x8 [a0 -] [a0 -] 0 0 0.128000
// TIME-NEXT: total: 32 bytes, 1.160000 us, 0.144000 of it work
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t/time.json
// JSON-DAG: "objective": "time"
// JSON-DAG: "machine": "dlti.target_system_spec"
// JSON-DAG: "total_bytes": 32
// JSON-DAG: "total_seconds": 1.1{{60*|59999.*}}e-06
// JSON-DAG: "compute_seconds": 1.4{{40*|3999.*}}e-07
// JSON-DAG: "lower_bound_seconds": 1.1{{60*|59999.*}}e-06
// JSON-DAG: "gap": 0,
// JSON-DAG: "seconds": 1.28{{.*}}e-07
// JSON-NOT: lower_bound_bytes

// What another strategy would cost is in time: where q is cut, its halves are
// there after 4 ns, and gathered; r needs p as before.
// RUN: tofu-opt %t/twice.mlir -tofu-annotate -tofu-plan="devices=2 objective=time explain=:9" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: what the plan would cost with each strategy
// EXPLAIN-NEXT: * 1.160000 us +0.000000 [-]
// EXPLAIN-NEXT: 2.172000 us +1.012000 [a0]

// Steps charge every use, so that p comes twice: they rather move x, 32 elements
// of 16 x 4, in 1128 ns, and cut q and r, 2 x 4 + 128 ns.
// RUN: tofu-opt %t/twice.mlir -tofu-annotate -tofu-plan="devices=2 objective=time algorithm=recursive print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: total: 256 bytes, 1.264000 us, 0.136000 of it work

// Any plan's time can be counted on a known machine, and stays the same when it
// is loaded.
// RUN: tofu-opt %t/twice.mlir -tofu-annotate -tofu-plan="devices=2 machine=dgx-h100 json=%t/bytes.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=COUNTED --input-file=%t/bytes.json
// COUNTED-DAG: "machine": "dgx-h100"
// COUNTED-DAG: "lower_bound_bytes": 64
// COUNTED-DAG: "total_seconds": 6.0
// RUN: tofu-opt %t/twice.mlir -tofu-annotate -tofu-plan="load=%t/time.json objective=time print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOADED
// LOADED: total: 32 bytes, 1.160000 us, 0.144000 of it work

// 64 x 4 times 4 x 16. Rows alone move the fewest bytes: each of four devices
// gets three quarters of w, 48 elements; but 32 of them over the slow links.
// RUN: tofu-opt %t/product.mlir -tofu-annotate -tofu-plan="devices=4 print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: linalg.matmul 64x16x4 [a0.a1 - -]
// ROWS: total: 768 bytes
// Cut both ways, 16 elements of w come in 64 ns over the slow links and 64 of x in
// 25.6 ns over the fast ones, with 1 ns of latency each. Of the other arrangement
// they would take 256 and 6.4 ns. The work is 32 x 8 x 4 x 2 operations.
// RUN: tofu-opt %t/product.mlir -tofu-annotate -tofu-plan="devices=4 objective=time print" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LINKS
// LINKS: linalg.matmul 64x16x4 [a0 a1 -]
// LINKS: total: 1280 bytes, 0.093648 us, 0.002048 of it work

// The levels say in which order axes must be: 2 nodes of 3.
// RUN: tofu-opt %t/levels.mlir -tofu-annotate -tofu-plan="devices=6 objective=time" | FileCheck %s --check-prefix=LEVELS
// LEVELS: tofu.mesh @mesh [a0 = 2, a1 = 3]

// Without a machine, the order that moves less: element 3 i + j of 6 lies where
// it is as i, j only if the axis of 2 comes first.
// RUN: tofu-opt %t/rows.mlir -tofu-annotate -tofu-plan="devices=6 print" 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: plan of @rows on 6 devices (a0 = 2, a1 = 3)
// ORDER: total: 0 bytes
// RUN: tofu-opt %t/rows.mlir -tofu-annotate -tofu-plan="mesh=a0=3,a1=2 print" 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: plan of @rows on 6 devices (a0 = 3, a1 = 2)
// GIVEN: total: 16 bytes
// Plans to compare with are all on one mesh.
// RUN: tofu-opt %t/rows.mlir -tofu-annotate -tofu-plan="devices=6 algorithm=all-row-greedy" | FileCheck %s --check-prefix=FIRST
// FIRST: tofu.mesh @mesh [a0 = 3, a1 = 2]

// A device has 64 bytes: of the plans that fit, the fastest.
// RUN: tofu-opt %t/levels.mlir -tofu-annotate -tofu-plan="devices=2 objective=time memory-per-device=1KiB" -o /dev/null
// RUN: not tofu-opt %t/levels.mlir -tofu-annotate -tofu-plan="devices=2 objective=time" 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: error: @levels needs at least {{[0-9]+}} bytes per device with the plans that were found, the machine's devices have 64

// RUN: not tofu-opt %t/rows.mlir -tofu-plan="devices=2 objective=energy" 2>&1 | FileCheck %s --check-prefix=OBJECTIVE
// OBJECTIVE: error: tofu-plan: objective must be bytes or time, not energy
// RUN: not tofu-opt %t/rows.mlir -tofu-plan="devices=2 objective=time" 2>&1 | FileCheck %s --check-prefix=NEEDS
// NEEDS: error: tofu-plan: objective=time needs a machine: say machine= with one of p2.8xlarge, dgx-h100, h100x8x16, host, or give the module a dlti.target_system_spec
// RUN: not tofu-opt %t/rows.mlir -tofu-plan="devices=2 machine=h100" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: tofu-plan: machine must be one of p2.8xlarge, dgx-h100, h100x8x16, host, not h100
// RUN: not tofu-opt %t/rows.mlir -tofu-plan="devices=9 machine=dgx-h100" 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: tofu-plan: the mesh has 9 devices, the machine 8
// RUN: not tofu-opt %t/rows.mlir -tofu-plan="devices=12 machine=h100x8x16" 2>&1 | FileCheck %s --check-prefix=EVENLY
// RUN: not tofu-opt %t/rows.mlir -tofu-plan="mesh=a0=3,a1=2,a2=2 machine=h100x8x16" 2>&1 | FileCheck %s --check-prefix=EVENLY
// EVENLY: error: tofu-plan: axis a0 of the mesh doesn't divide the levels of the machine evenly: its devices are 4 apart, and span 12
// RUN: not tofu-opt %t/long.mlir -tofu-annotate -tofu-plan="devices=2 objective=time" 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: long.mlir:4:1: error: takes too long on this machine for the time of a plan to be counted

//--- twice.mlir
#spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<
  "flops_f32" = 1.0e9, "memory_bandwidth" = 1.0e12, "link_latency" = 1.0e-6, "link_bandwidth" = 1000000000>>
#id = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
module attributes {dlti.target_system_spec = #spec} {
func.func @twice(%p: tensor<8xf32>, %x: tensor<16x8xf32> {tofu.forbid = [1]}) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32): %1 = arith.mulf %a, %a : f32 linalg.yield %1 : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32): %1 = math.exp %a : f32 linalg.yield %1 : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %q, %r : tensor<16x8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%x : tensor<16x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %c : f32
    linalg.yield %2 : f32
  } -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
}

//--- product.mlir
#spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<
  "flops_f32" = 1.0e12, "memory_bandwidth" = 1.0e12, "link_devices" = [2, 2],
  "link_latency" = [1.0e-9, 1.0e-9], "link_bandwidth" = [1.0e9, 1.0e10]>>
module attributes {dlti.target_system_spec = #spec} {
func.func @product(%x: tensor<64x4xf32>, %w: tensor<4x16xf32>) -> tensor<64x16xf32> {
  %zeros = arith.constant dense<0.0> : tensor<64x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x4xf32>, tensor<4x16xf32>) outs(%zeros : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}
}

//--- levels.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<
  "flops_f32" = 1.0e12, "memory_bandwidth" = 1.0e12, "memory_bytes" = 64 : i64, "link_devices" = [2, 3],
  "link_latency" = [1.0e-6, 1.0e-6], "link_bandwidth" = [1.0e9, 1.0e10]>>} {
func.func @levels(%x: tensor<36xf32>) -> tensor<36xf32> {
  %y = math.exp %x : tensor<36xf32>
  return %y : tensor<36xf32>
}
}

//--- rows.mlir
func.func @rows(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  %z = math.exp %y : tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}

//--- long.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<
  "flops_f32" = 1.0, "memory_bandwidth" = 1.0,
  "link_latency" = 1.0, "link_bandwidth" = 1.0>>} {
func.func @long(%x: tensor<3600xf32>) -> tensor<3600xf32> {
  %y = math.exp %x : tensor<3600xf32>
  return %y : tensor<3600xf32>
}
}
