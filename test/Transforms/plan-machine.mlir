// The time of work, on one device, and descriptions of machines.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: tofu-opt %t/work.mlir -tofu-annotate -tofu-plan="devices=1 objective=time print" -o /dev/null 2>&1 | FileCheck %t/work.mlir
// RUN: tofu-opt %t/integers.mlir -tofu-annotate -tofu-plan="devices=1 objective=time print" -o /dev/null 2>&1 | FileCheck %t/integers.mlir

// RUN: not tofu-opt %t/errors.mlir -split-input-file -tofu-plan="devices=2 objective=time" 2>&1 | FileCheck %t/errors.mlir
// What is not asked for may be anything.
// RUN: tofu-opt %t/errors.mlir -split-input-file -tofu-plan="devices=2" -o /dev/null
// RUN: tofu-opt %t/errors.mlir -split-input-file -tofu-plan="devices=2 objective=time machine=dgx-h100" -o /dev/null

//--- work.mlir
// In a nanosecond: 0.5 operations of f64, 1 of f32, 4 of f16 and bf16.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<
  "flops_f32" = 1.0e9 : f32, "flops_f64" = 5.0e8, "flops_f16" = 4000000000 : ui64, "memory_bandwidth" = 1.0e18,
  "link_latency" = 1.0e-6, "link_bandwidth" = 1.0e9>>} {
// 4 x 6 x 8 multiply-adds of bf16, which are extended first.
// CHECK-LABEL: plan of @matmul
// CHECK: linalg.matmul 4x6x8 [- - -] [- -] 0 0 0.096000
// CHECK: total: 0 bytes, 0.096000 us, 0.096000 of it work
func.func @matmul(%a: tensor<4x8xbf16>, %b: tensor<8x6xbf16>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// CHECK-LABEL: plan of @elementwise
// CHECK: math.exp 8 [-] [-] 0 0 0.016000
// CHECK: linalg.generic 8 [-] [-] 0 0 0.032000
// CHECK: arith.extf 8 [-] [-] 0 0 0.008000
func.func @elementwise(%a: tensor<8xf64>, %b: tensor<8xcomplex<f32>>, %c: tensor<8xf32>) -> (tensor<8xf64>, tensor<8xcomplex<f32>>, tensor<8xf64>) {
  %0 = math.exp %a : tensor<8xf64>
  %e = tensor.empty() : tensor<8xcomplex<f32>>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%b : tensor<8xcomplex<f32>>) outs(%e : tensor<8xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %o: complex<f32>):
    %m = complex.mul %x, %x : complex<f32>
    linalg.yield %m : complex<f32>
  } -> tensor<8xcomplex<f32>>
  %2 = arith.extf %c : tensor<8xf32> to tensor<8xf64>
  return %0, %1, %2 : tensor<8xf64>, tensor<8xcomplex<f32>>, tensor<8xf64>
}
// Indices, constants and casts are no arithmetic: one addition per point.
// CHECK-LABEL: plan of @body
// CHECK: linalg.generic 8 [-] [-] 0 0 0.008000
func.func @body(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : tensor<8xf32>) {
  ^bb0(%o: f32):
    %c1 = arith.constant 1 : index
    %i = linalg.index 0 : index
    %j = arith.addi %i, %c1 : index
    %k = arith.index_cast %j : index to i32
    %f = arith.sitofp %k : i32 to f32
    %s = arith.addf %o, %f : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// Five times around.
// CHECK-LABEL: plan of @loop
// CHECK: math.exp 8 [-] [-] 0 0 0.040000
func.func @loop(%a: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0 = scf.for %i = %c0 to %c5 step %c1 iter_args(%x = %a) -> tensor<8xf32> {
    %1 = math.exp %x : tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
}

//--- integers.mlir
// Integers are as fast as f32; without its own, f64 is too. A byte of memory in
// a nanosecond: 8 x 4 bytes are read and written.
// CHECK-LABEL: plan of @integers
// CHECK: arith.muli 8 [-] [-] 0 0 0.064000
// CHECK: math.sin 8 [-] [-] 0 0 0.128000
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<
  "flops_f32" = 1.0e9, "memory_bandwidth" = 1.0e9, "link_latency" = 1.0e-6, "link_bandwidth" = 1.0e9>>} {
func.func @integers(%a: tensor<8xi32>, %b: tensor<8xf64>) -> (tensor<8xi32>, tensor<8xf64>) {
  %0 = arith.muli %a, %a : tensor<8xi32>
  %1 = math.sin %b : tensor<8xf64>
  return %0, %1 : tensor<8xi32>, tensor<8xf64>
}
}

//--- errors.mlir
// CHECK: error: dlti.target_system_spec: the device has no "flops_f32"
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L1_cache_size_in_bytes" = 4096 : ui32>>} {}
// -----
// CHECK: error: dlti.target_system_spec: "memory_bandwidth" must be a positive number, not "fast"
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<"flops_f32" = 1.0e9, "memory_bandwidth" = "fast">>} {}
// -----
// CHECK: error: dlti.target_system_spec: "flops_f64" must be a positive number, not 0 : i64
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<"flops_f32" = 1.0e9, "memory_bandwidth" = 1.0e9, "flops_f64" = 0>>} {}
// -----
// CHECK: error: dlti.target_system_spec: the device has no "link_latency"
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<"flops_f32" = 1.0e9, "memory_bandwidth" = 1.0e9>>} {}
// -----
// CHECK: error: dlti.target_system_spec: "link_latency" must be a positive number, or one for each level, not [1.000000e+00, -1.000000e+00]
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<"flops_f32" = 1.0e9, "memory_bandwidth" = 1.0e9, "link_latency" = [1.0, -1.0]>>} {}
// -----
// CHECK: error: dlti.target_system_spec: the device has no "link_devices"
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<"flops_f32" = 1.0e9, "memory_bandwidth" = 1.0e9, "link_latency" = [1.0, 1.0], "link_bandwidth" = [1.0, 1.0]>>} {}
// -----
// CHECK: error: dlti.target_system_spec: "link_devices", "link_latency" and "link_bandwidth" are of 2, 1 and 2 levels
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<"flops_f32" = 1.0e9, "memory_bandwidth" = 1.0e9, "link_devices" = [2, 2], "link_latency" = 1.0, "link_bandwidth" = [1.0, 1.0]>>} {}
// -----
// CHECK: error: dlti.target_system_spec: "link_devices" must be whole numbers of at most 4096
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<"flops_f32" = 1.0e9, "memory_bandwidth" = 1.0e9, "link_devices" = 2.5, "link_latency" = 1.0, "link_bandwidth" = 1.0>>} {}
// -----
// CHECK: error: dlti.target_system_spec: "link_devices" make more than 4096 devices
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"D" = #dlti.target_device_spec<"flops_f32" = 1.0e9, "memory_bandwidth" = 1.0e9, "link_devices" = [4096, 2], "link_latency" = [1.0, 1.0], "link_bandwidth" = [1.0, 1.0]>>} {}
// -----
// CHECK: error: dlti.target_system_spec: the devices of a plan are equal, and there are 2
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"A" = #dlti.target_device_spec<"flops_f32" = 1.0e9>, "B" = #dlti.target_device_spec<"flops_f32" = 1.0e9>>} {}
