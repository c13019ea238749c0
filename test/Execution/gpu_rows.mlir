// Kernels for a GPU that go through rows, run on the host: softmax along the last
// dim and along another one, a layer normalization, the logarithm of a sum of
// exponentials that is kept for later, rows of booleans, long and short rows and
// rows of sizes that only the inputs tell, among them none.
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
func.func @softmax(%a: tensor<13x1031xf32>, %b: tensor<5x67x3xf32>, %c: tensor<301x2xf64>)
    -> (tensor<13x1031xf32>, tensor<5x67x3xf32>, tensor<301x2xf64>) {
  %ea = tensor.empty() : tensor<13x1031xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<13x1031xf32>) outs(%ea : tensor<13x1031xf32>) -> tensor<13x1031xf32>
  %eb = tensor.empty() : tensor<5x67x3xf32>
  %1 = linalg.softmax dimension(1) ins(%b : tensor<5x67x3xf32>) outs(%eb : tensor<5x67x3xf32>) -> tensor<5x67x3xf32>
  %ec = tensor.empty() : tensor<301x2xf64>
  %2 = linalg.softmax dimension(1) ins(%c : tensor<301x2xf64>) outs(%ec : tensor<301x2xf64>) -> tensor<301x2xf64>
  return %0, %1, %2 : tensor<13x1031xf32>, tensor<5x67x3xf32>, tensor<301x2xf64>
}

// Several dims of rows and several of elements; the squares are given back too,
// written where the input was; one value per row is written where another was.
// REDEFINE: %{f} = normalization
// RUN: %{check}
func.func @normalization(%a: tensor<3x5x7x11xf32> {tf.aliasing_output = 1 : i32}, %v: tensor<3x7xf32> {tf.aliasing_output = 2 : i32},
                         %scale: tensor<5x11xf32>) -> (tensor<3x7x5x11xf32>, tensor<3x5x7x11xf32>, tensor<3x7xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 55.0 : f32
  %r = tensor.empty() : tensor<3x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<3x7xf32>) -> tensor<3x7xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%a : tensor<3x5x7x11xf32>) {
  ^bb0(%x: f32):
    %s = arith.mulf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<3x5x7x11xf32>
  %sum = linalg.reduce { arith.addf } ins(%squares : tensor<3x5x7x11xf32>) outs(%z : tensor<3x7xf32>) dimensions = [1, 3]
  %w = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<3x7xf32>) outs(%v : tensor<3x7xf32>) {
  ^bb0(%s: f32, %o: f32):
    %m = arith.divf %s, %n : f32
    %p = arith.addf %m, %o : f32
    linalg.yield %p : f32
  } -> tensor<3x7xf32>
  %e = tensor.empty() : tensor<3x7x5x11xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, k)>, affine_map<(i, j, k, l) -> (j, l)>,
                                        affine_map<(i, j, k, l) -> (i, k, j, l)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%squares, %w, %scale : tensor<3x5x7x11xf32>, tensor<3x7xf32>, tensor<5x11xf32>) outs(%e : tensor<3x7x5x11xf32>) {
  ^bb0(%x: f32, %m: f32, %g: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    %t = arith.mulf %d, %g : f32
    linalg.yield %t : f32
  } -> tensor<3x7x5x11xf32>
  return %0, %squares, %w : tensor<3x7x5x11xf32>, tensor<3x5x7x11xf32>, tensor<3x7xf32>
}

// REDEFINE: %{f} = entropy
// RUN: %{check}
func.func @entropy(%a: tensor<37x130xf32>, %labels: tensor<37x130xf32>, %init: tensor<37xf32>)
    -> (tensor<37xf32>, tensor<37xf32>, tensor<37x130xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %r = tensor.empty() : tensor<37xf32>
  %e = tensor.empty() : tensor<37x130xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<37xf32>) -> tensor<37xf32>
  %l = linalg.fill ins(%least : f32) outs(%r : tensor<37xf32>) -> tensor<37xf32>
  %max = linalg.reduce { arith.maximumf } ins(%a : tensor<37x130xf32>) outs(%l : tensor<37xf32>) dimensions = [1]
  %exp = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%a, %max : tensor<37x130xf32>, tensor<37xf32>) outs(%e : tensor<37x130xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<37x130xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<37x130xf32>) outs(%z : tensor<37xf32>) dimensions = [1]
  %log = linalg.log ins(%sum : tensor<37xf32>) outs(%r : tensor<37xf32>) -> tensor<37xf32>
  %loss = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                           affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %labels, %max, %log : tensor<37x130xf32>, tensor<37x130xf32>, tensor<37xf32>, tensor<37xf32>) outs(%init : tensor<37xf32>) {
  ^bb0(%x: f32, %y: f32, %m: f32, %s: f32, %o: f32):
    %p = arith.subf %x, %m : f32
    %q = arith.subf %p, %s : f32
    %t = arith.mulf %q, %y : f32
    %u = arith.addf %o, %t : f32
    linalg.yield %u : f32
  } -> tensor<37xf32>
  %gradient = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                              iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum, %labels : tensor<37x130xf32>, tensor<37xf32>, tensor<37x130xf32>) outs(%e : tensor<37x130xf32>) {
  ^bb0(%x: f32, %s: f32, %y: f32, %o: f32):
    %p = arith.divf %x, %s : f32
    %q = arith.subf %p, %y : f32
    linalg.yield %q : f32
  } -> tensor<37x130xf32>
  return %loss, %log, %gradient : tensor<37xf32>, tensor<37xf32>, tensor<37x130xf32>
}

// Whether any element of a row is positive, and the elements of rows with one.
// REDEFINE: %{f} = booleans
// RUN: %{check}
func.func @booleans(%a: tensor<90x33xf32>) -> tensor<90x33xf32> {
  %zero = arith.constant 0.0 : f32
  %false = arith.constant false
  %r = tensor.empty() : tensor<90xi1>
  %z = linalg.fill ins(%false : i1) outs(%r : tensor<90xi1>) -> tensor<90xi1>
  %any = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<90x33xf32>) outs(%z : tensor<90xi1>) {
  ^bb0(%x: f32, %o: i1):
    %c = arith.cmpf ogt, %x, %zero : f32
    %d = arith.ori %o, %c : i1
    linalg.yield %d : i1
  } -> tensor<90xi1>
  %e = tensor.empty() : tensor<90x33xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %any : tensor<90x33xf32>, tensor<90xi1>) outs(%e : tensor<90x33xf32>) {
  ^bb0(%x: f32, %c: i1, %o: f32):
    %y = arith.select %c, %x, %zero : f32
    linalg.yield %y : f32
  } -> tensor<90x33xf32>
  return %0 : tensor<90x33xf32>
}

// REDEFINE: %{f} = dynamic
// REDEFINE: %{in} = --input=13x600xf32=random:1
// RUN: %{check}
// REDEFINE: %{in} = --input=300x1xf32=random:1
// RUN: %{check}
// REDEFINE: %{in} = --input=0x7xf32=random:1
// RUN: %{check}
// REDEFINE: %{in} = --input=5x0xf32=random:1
// RUN: %{check}
func.func @dynamic(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
