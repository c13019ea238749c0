// Programs that tofu-lower-reshards refuses.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s -split-input-file -verify-diagnostics -tofu-lower-reshards

tofu.mesh @mesh [x = 2]
func.func @global_types(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'tofu.reshard' op is on global types; run tofu-localize}}
  %0 = tofu.reshard %a from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [8] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
