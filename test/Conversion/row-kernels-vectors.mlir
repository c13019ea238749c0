// What a thread has of a row is loaded and stored at once: as much as 16 bytes hold
// where all rows begin at a multiple of that and all threads have some, else less.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{size} = 1024
// DEFINE: %{type} = f32
// DEFINE: %{width} = .v4.b32
// DEFINE: %{accesses} = sed 's/SIZE/%{size}/g; s/TYPE/%{type}/g' %s | tofu-opt --tofu-to-gpu | \
// DEFINE:   grep -oE '(ld|st).global[a-z0-9.]*' | sort | FileCheck %s -DWIDTH=%{width}

// RUN: %{accesses}
// REDEFINE: %{size} = 1030
// REDEFINE: %{width} = .v2.b32
// RUN: %{accesses}
// REDEFINE: %{size} = 1031
// REDEFINE: %{width} = .b32
// RUN: %{accesses}

// What comes between branches.
// REDEFINE: %{type} = f64
// REDEFINE: %{size} = 1024
// REDEFINE: %{width} = .v2.b64
// RUN: %{accesses}

// Eight bf16 are 16 bytes; 256 threads have rows of 1024.
// REDEFINE: %{type} = bf16
// REDEFINE: %{size} = 2048
// REDEFINE: %{width} = .v4.b32
// RUN: %{accesses}
// REDEFINE: %{size} = 1024
// REDEFINE: %{width} = .v4.b16
// RUN: %{accesses}

// Rows of a line of the cache, which few threads have.
// REDEFINE: %{type} = f32
// REDEFINE: %{size} = 28
// REDEFINE: %{width} = .b32
// RUN: %{accesses}

// CHECK:      {{^}}ld.global.nc[[WIDTH]]{{$}}
// CHECK-NEXT: {{^}}ld.global.nc[[WIDTH]]{{$}}
// CHECK-NEXT: {{^}}ld.global.nc[[WIDTH]]{{$}}
// CHECK-NEXT: {{^}}st.global[[WIDTH]]{{$}}
// CHECK-NOT:  {{.}}
func.func @main(%a: tensor<512xSIZExTYPE>) -> tensor<512xSIZExTYPE> {
  %e = tensor.empty() : tensor<512xSIZExTYPE>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<512xSIZExTYPE>) outs(%e : tensor<512xSIZExTYPE>) -> tensor<512xSIZExTYPE>
  return %0 : tensor<512xSIZExTYPE>
}
