// What the host can't access on a device.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-convert-to-runtime=device-memory -split-input-file -verify-diagnostics

func.func @read(%context: !llvm.ptr, %a: memref<4xvector<2xf32>>, %i: index) -> vector<2xf32> {
  // expected-error@+1 {{can't read from a device: 'memref<4xvector<2xf32>>'}}
  %0 = memref.load %a[%i] : memref<4xvector<2xf32>>
  return %0 : vector<2xf32>
}

// -----

func.func @write(%context: !llvm.ptr, %a: memref<4xf32, affine_map<(i) -> (i floordiv 2)>>, %i: index, %x: f32) {
  // expected-error@+1 {{can't write to a device: 'memref<4xf32, affine_map<(d0) -> (d0 floordiv 2)>>'}}
  memref.store %x, %a[%i] : memref<4xf32, affine_map<(i) -> (i floordiv 2)>>
  return
}

// -----

memref.global "private" constant @numbers : memref<4xvector<2xf32>>

func.func @constant(%context: !llvm.ptr) -> memref<4xvector<2xf32>> {
  // expected-error@+1 {{cannot be allocated by the runtime: 'memref<4xvector<2xf32>>'}}
  %0 = memref.get_global @numbers : memref<4xvector<2xf32>>
  return %0 : memref<4xvector<2xf32>>
}

// -----

func.func @context(%a: memref<f32>) -> f32 {
  // expected-error@+1 {{is in a function without a device context}}
  %0 = memref.load %a[] : memref<f32>
  return %0 : f32
}
