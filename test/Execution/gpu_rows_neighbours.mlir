// Kernels for a GPU whose threads have neighbours of a row, run on the host: rows
// that leave some threads less than others, of several types, beside rows in which
// neighbours are fewer or none, and what is written where it was read.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{f} = softmax
// DEFINE: %{in} =
// DEFINE: %{run} = tofu-run %s --quiet --opt-level=0 -e %{f} %{in} --check
// DEFINE: %{check} = %{run} --backend=gpu-on-host --devices=1 && %{run} --backend=gpu-on-host --devices=2 && \
// DEFINE:            %{run} --backend=recording --devices=3 && %{run} --backend=recording --devices=4

// RUN: %{check}
func.func @softmax(%a: tensor<13x1028xf32>, %b: tensor<7x1030xf32>, %c: tensor<5x130xf64>, %d: tensor<40x20xf32>)
    -> (tensor<13x1028xf32>, tensor<7x1030xf32>, tensor<5x130xf64>, tensor<40x20xf32>) {
  %ea = tensor.empty() : tensor<13x1028xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<13x1028xf32>) outs(%ea : tensor<13x1028xf32>) -> tensor<13x1028xf32>
  %eb = tensor.empty() : tensor<7x1030xf32>
  %1 = linalg.softmax dimension(1) ins(%b : tensor<7x1030xf32>) outs(%eb : tensor<7x1030xf32>) -> tensor<7x1030xf32>
  %ec = tensor.empty() : tensor<5x130xf64>
  %2 = linalg.softmax dimension(1) ins(%c : tensor<5x130xf64>) outs(%ec : tensor<5x130xf64>) -> tensor<5x130xf64>
  %ed = tensor.empty() : tensor<40x20xf32>
  %3 = linalg.softmax dimension(1) ins(%d : tensor<40x20xf32>) outs(%ed : tensor<40x20xf32>) -> tensor<40x20xf32>
  return %0, %1, %2, %3 : tensor<13x1028xf32>, tensor<7x1030xf32>, tensor<5x130xf64>, tensor<40x20xf32>
}

// Several dims of rows and several of elements, of which neighbours are along the
// last; the squares are written where the input was.
// REDEFINE: %{f} = normalization
// RUN: %{check}
func.func @normalization(%a: tensor<3x5x7x12xf32> {tf.aliasing_output = 1 : i32}, %scale: tensor<5x12xf32>)
    -> (tensor<3x7x5x12xf32>, tensor<3x5x7x12xf32>) {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<3x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<3x7xf32>) -> tensor<3x7xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%a : tensor<3x5x7x12xf32>) {
  ^bb0(%x: f32):
    %s = arith.mulf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<3x5x7x12xf32>
  %sum = linalg.reduce { arith.addf } ins(%squares : tensor<3x5x7x12xf32>) outs(%z : tensor<3x7xf32>) dimensions = [1, 3]
  %e = tensor.empty() : tensor<3x7x5x12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, k)>, affine_map<(i, j, k, l) -> (j, l)>,
                                        affine_map<(i, j, k, l) -> (i, k, j, l)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%squares, %sum, %scale : tensor<3x5x7x12xf32>, tensor<3x7xf32>, tensor<5x12xf32>) outs(%e : tensor<3x7x5x12xf32>) {
  ^bb0(%x: f32, %m: f32, %g: f32, %o: f32):
    %d = arith.divf %x, %m : f32
    %t = arith.mulf %d, %g : f32
    linalg.yield %t : f32
  } -> tensor<3x7x5x12xf32>
  return %0, %squares : tensor<3x7x5x12xf32>, tensor<3x5x7x12xf32>
}

// Rows of short floats, what they are divided by of long ones, and the place of each
// element in its row.
// REDEFINE: %{f} = mixed
// RUN: %{check}
func.func @mixed(%a: tensor<9x2064xbf16>) -> (tensor<9x2064xbf16>, tensor<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<9xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<9xf32>) -> tensor<9xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<9x2064xbf16>) outs(%z : tensor<9xf32>) {
  ^bb0(%x: bf16, %o: f32):
    %y = arith.extf %x : bf16 to f32
    %s = arith.mulf %y, %y : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  } -> tensor<9xf32>
  %e = tensor.empty() : tensor<9x2064xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %sum : tensor<9x2064xbf16>, tensor<9xf32>) outs(%e : tensor<9x2064xbf16>) {
  ^bb0(%x: bf16, %s: f32, %o: bf16):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i32
    %p = arith.sitofp %n : i32 to f32
    %y = arith.extf %x : bf16 to f32
    %d = arith.divf %y, %s : f32
    %q = arith.addf %d, %p : f32
    %t = arith.truncf %q : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<9x2064xbf16>
  return %0, %sum : tensor<9x2064xbf16>, tensor<9xf32>
}

// Two results of a row at once, of different types, shared by one warp and by several;
// columns, which neighbouring threads don't share.
// REDEFINE: %{f} = two
// REDEFINE: %{in} = --input=random:1:-50:50 --input=random:2:-50:50
// RUN: %{check}
// REDEFINE: %{in} =
func.func @two(%a: tensor<21x96xi32>, %b: tensor<6x999xi32>) -> (tensor<21x96xf32>, tensor<6x999xf32>, tensor<96xi32>) {
  %0 = call @divide_small(%a) : (tensor<21x96xi32>) -> tensor<21x96xf32>
  %1 = call @divide_large(%b) : (tensor<6x999xi32>) -> tensor<6x999xf32>
  %zero = arith.constant 0 : i32
  %r = tensor.empty() : tensor<96xi32>
  %z = linalg.fill ins(%zero : i32) outs(%r : tensor<96xi32>) -> tensor<96xi32>
  %2 = linalg.reduce { arith.addi } ins(%a : tensor<21x96xi32>) outs(%z : tensor<96xi32>) dimensions = [0]
  return %0, %1, %2 : tensor<21x96xf32>, tensor<6x999xf32>, tensor<96xi32>
}
func.func private @divide_small(%a: tensor<21x96xi32>) -> tensor<21x96xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 1 : i32
  %rf = tensor.empty() : tensor<21xf32>
  %ri = tensor.empty() : tensor<21xi32>
  %z = linalg.fill ins(%zero : f32) outs(%rf : tensor<21xf32>) -> tensor<21xf32>
  %l = linalg.fill ins(%least : i32) outs(%ri : tensor<21xi32>) -> tensor<21xi32>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<21x96xi32>) outs(%z, %l : tensor<21xf32>, tensor<21xi32>) {
  ^bb0(%x: i32, %sum: f32, %max: i32):
    %f = arith.sitofp %x : i32 to f32
    %t = arith.addf %sum, %f : f32
    %m = arith.maxsi %max, %x : i32
    linalg.yield %t, %m : f32, i32
  } -> (tensor<21xf32>, tensor<21xi32>)
  %e = tensor.empty() : tensor<21x96xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %s#0, %s#1 : tensor<21x96xi32>, tensor<21xf32>, tensor<21xi32>) outs(%e : tensor<21x96xf32>) {
  ^bb0(%x: i32, %sum: f32, %max: i32, %o: f32):
    %f = arith.sitofp %x : i32 to f32
    %m = arith.sitofp %max : i32 to f32
    %q = arith.divf %f, %m : f32
    %t = arith.addf %q, %sum : f32
    linalg.yield %t : f32
  } -> tensor<21x96xf32>
  return %0 : tensor<21x96xf32>
}
func.func private @divide_large(%a: tensor<6x999xi32>) -> tensor<6x999xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 1 : i32
  %rf = tensor.empty() : tensor<6xf32>
  %ri = tensor.empty() : tensor<6xi32>
  %z = linalg.fill ins(%zero : f32) outs(%rf : tensor<6xf32>) -> tensor<6xf32>
  %l = linalg.fill ins(%least : i32) outs(%ri : tensor<6xi32>) -> tensor<6xi32>
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<6x999xi32>) outs(%z, %l : tensor<6xf32>, tensor<6xi32>) {
  ^bb0(%x: i32, %sum: f32, %max: i32):
    %f = arith.sitofp %x : i32 to f32
    %t = arith.addf %sum, %f : f32
    %m = arith.maxsi %max, %x : i32
    linalg.yield %t, %m : f32, i32
  } -> (tensor<6xf32>, tensor<6xi32>)
  %e = tensor.empty() : tensor<6x999xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %s#0, %s#1 : tensor<6x999xi32>, tensor<6xf32>, tensor<6xi32>) outs(%e : tensor<6x999xf32>) {
  ^bb0(%x: i32, %sum: f32, %max: i32, %o: f32):
    %f = arith.sitofp %x : i32 to f32
    %m = arith.sitofp %max : i32 to f32
    %q = arith.divf %f, %m : f32
    %t = arith.addf %q, %sum : f32
    linalg.yield %t : f32
  } -> tensor<6x999xf32>
  return %0 : tensor<6x999xf32>
}

// Rows of slices, which begin at no multiple of an access, or at one.
// REDEFINE: %{f} = slices
// RUN: %{check}
func.func @slices(%a: tensor<11x260xf32>) -> (tensor<11x256xf32>, tensor<11x256xf32>, tensor<11x256xf32>) {
  %e = tensor.empty() : tensor<11x256xf32>
  %1 = tensor.extract_slice %a[0, 1] [11, 256] [1, 1] : tensor<11x260xf32> to tensor<11x256xf32>
  %s1 = linalg.softmax dimension(1) ins(%1 : tensor<11x256xf32>) outs(%e : tensor<11x256xf32>) -> tensor<11x256xf32>
  %2 = tensor.extract_slice %a[0, 2] [11, 256] [1, 1] : tensor<11x260xf32> to tensor<11x256xf32>
  %s2 = linalg.softmax dimension(1) ins(%2 : tensor<11x256xf32>) outs(%e : tensor<11x256xf32>) -> tensor<11x256xf32>
  %4 = tensor.extract_slice %a[0, 4] [11, 256] [1, 1] : tensor<11x260xf32> to tensor<11x256xf32>
  %s4 = linalg.softmax dimension(1) ins(%4 : tensor<11x256xf32>) outs(%e : tensor<11x256xf32>) -> tensor<11x256xf32>
  return %s1, %s2, %s4 : tensor<11x256xf32>, tensor<11x256xf32>, tensor<11x256xf32>
}
