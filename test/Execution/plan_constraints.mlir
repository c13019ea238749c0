// Pinned, forbidden and tied: the serial results, evenly and unevenly cut.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{sizes} =
// DEFINE: %{plan} =
// DEFINE: %{run} = sed 's/#SIZES/%{sizes}/' %s | tofu-opt -tofu-annotate -tofu-plan=%{plan} | tofu-run - --quiet --check

// REDEFINE: %{sizes} = x = 2, y = 2
// REDEFINE: %{plan} = algorithm=recursive
// RUN: %{run}
// REDEFINE: %{plan} = algorithm=propagate
// RUN: %{run}
// REDEFINE: %{plan} = algorithm=megatron
// RUN: %{run}
// REDEFINE: %{plan} = algorithm=icml18
// RUN: %{run}
// REDEFINE: %{sizes} = x = 3, y = 1
// REDEFINE: %{plan} = algorithm=recursive
// RUN: %{run}
// REDEFINE: %{plan} = algorithm=propagate
// RUN: %{run}
// REDEFINE: %{plan} = algorithm=data-parallel
// RUN: %{run}
// REDEFINE: %{sizes} = x = 2, y = 3
// REDEFINE: %{plan} = algorithm=kbest
// RUN: %{run}
// REDEFINE: %{plan} = algorithm=propagate
// RUN: %{run}
// REDEFINE: %{plan} = algorithm=spartan
// RUN: %{run}
// REDEFINE: %{plan} = algorithm=any
// RUN: %{run}
// REDEFINE: %{sizes} = x = 7, y = 1
// REDEFINE: %{plan} = algorithm=recursive
// RUN: %{run}
// REDEFINE: %{plan} = algorithm=equal-chop
// RUN: %{run}
// REDEFINE: %{plan} = algorithm=all-row-greedy
// RUN: %{run}

tofu.mesh @mesh [#SIZES]
func.func @main(%a: tensor<8x5xf32> {tofu.layout = #tofu.layout<@mesh, [{y, x}, {}]>},
                %w: tensor<5x9xf32> {tofu.forbid = [0], tofu.tie = "weights"},
                %v: tensor<5x9xf32> {tofu.tie = "weights"})
    -> (tensor<8x9xf32> {tofu.layout = #tofu.layout<@mesh, [{}, {x}]>}, tensor<5x9xf32>) {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x9xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<8x9xf32>) -> tensor<8x9xf32>
  %0 = linalg.matmul {tofu.forbid = [0]} ins(%a, %w : tensor<8x5xf32>, tensor<5x9xf32>) outs(%z : tensor<8x9xf32>) -> tensor<8x9xf32>
  %1 = math.tanh %0 {tofu.layouts = [#tofu.layout<@mesh, [{}, {}]>]} : tensor<8x9xf32>
  %2 = arith.addf %1, %0 : tensor<8x9xf32>
  %3 = arith.mulf %w, %v {tofu.tie = "weights"} : tensor<5x9xf32>
  return %2, %3 : tensor<8x9xf32>, tensor<5x9xf32>
}
