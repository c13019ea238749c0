// Kernels for a GPU, run on the host: one thread for each element, with broadcast, permuted and
// strided accesses, several results, indices, booleans, small floats, gathers, and constants.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{run} = tofu-run %s --backend=gpu-on-host --quiet --opt-level=0
// DEFINE: %{check} = %{run} --check --devices=1 && %{run} --check --devices=2 && %{run} --check --devices=3 && %{run} --check --devices=4

// RUN: %{check}

#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i, j) -> (0, j)>
#line = affine_map<(i) -> (i)>

func.func @main(%a: tensor<37x41xf32>, %b: tensor<41x37xf32>, %c: tensor<37xbf16>, %d: tensor<1x41xf16>, %n: tensor<300xi32>)
    -> (tensor<37x41xf32>, tensor<37x41xi1>, tensor<41x37xbf16>, tensor<300xf32>, tensor<300xindex>) {
  %e0 = tensor.empty() : tensor<37x41xf32>
  %e1 = tensor.empty() : tensor<37x41xi1>
  %zero = arith.constant 0.0 : f32
  %0:2 = linalg.generic {indexing_maps = [#id, #transposed, #row, #one, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c, %d : tensor<37x41xf32>, tensor<41x37xf32>, tensor<37xbf16>, tensor<1x41xf16>) outs(%e0, %e1 : tensor<37x41xf32>, tensor<37x41xi1>) {
  ^bb0(%x: f32, %y: f32, %z: bf16, %w: f16, %o: f32, %p: i1):
    %z32 = arith.extf %z : bf16 to f32
    %w32 = arith.extf %w : f16 to f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %i, %j : index
    %k64 = arith.index_cast %k : index to i64
    %f = arith.sitofp %k64 : i64 to f32
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %0, %z32 : f32
    %2 = arith.addf %1, %w32 : f32
    %3 = math.exp %2 : f32
    %4 = arith.addf %3, %f : f32
    %5 = arith.cmpf olt, %4, %zero : f32
    linalg.yield %4, %5 : f32, i1
  } -> (tensor<37x41xf32>, tensor<37x41xi1>)

  // Reads what is transposed, and selects by booleans in memory.
  %e2 = tensor.empty() : tensor<41x37xbf16>
  %1 = linalg.generic {indexing_maps = [#transposed, #transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0#0, %0#1 : tensor<37x41xf32>, tensor<37x41xi1>) outs(%e2 : tensor<41x37xbf16>) {
  ^bb0(%x: f32, %c0: i1, %o: bf16):
    %t = arith.truncf %x : f32 to bf16
    %u = arith.negf %t : bf16
    %v = arith.select %c0, %t, %u : bf16
    linalg.yield %v : bf16
  } -> tensor<41x37xbf16>

  // Gathers from a constant.
  %table = arith.constant dense<[0.5, -1.5, 2.5, 3.5]> : tensor<4xf32>
  %e3 = tensor.empty() : tensor<300xf32>
  %e4 = tensor.empty() : tensor<300xindex>
  %2:2 = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]}
      ins(%n : tensor<300xi32>) outs(%e3, %e4 : tensor<300xf32>, tensor<300xindex>) {
  ^bb0(%x: i32, %o: f32, %p: index):
    %c2 = arith.constant 2 : index
    %at = arith.index_cast %x : i32 to index
    %i = linalg.index 0 : index
    %odd = arith.remui %i, %c2 : index
    %both = arith.muli %odd, %c2 : index
    %where = arith.addi %at, %both : index
    %v = tensor.extract %table[%where] : tensor<4xf32>
    linalg.yield %v, %where : f32, index
  } -> (tensor<300xf32>, tensor<300xindex>)
  return %0#0, %0#1, %1, %2#0, %2#1 : tensor<37x41xf32>, tensor<37x41xi1>, tensor<41x37xbf16>, tensor<300xf32>, tensor<300xindex>
}
