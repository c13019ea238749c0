// Reductions and element-wise operations over the same rows are one kernel.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-to-gpu=kernels=host --mlir-print-ir-after=tofu-outline-kernels -o /dev/null 2>&1 | FileCheck %s
// RUN: tofu-opt %s --tofu-to-gpu=kernels=host --mlir-print-ir-after=tofu-lower-kernels-to-gpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: tofu-opt %s --tofu-to-gpu='kernels=host reassociate=false' --mlir-print-ir-after=tofu-outline-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDERED
// RUN: tofu-opt %s --tofu-to-host --mlir-print-ir-after=tofu-outline-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefix=HOST

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// Of a softmax only what it reads and gives is in memory. Its maxima may be
// computed in any order, the sums only if they may be reassociated.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    %[[A:.*]]: memref<64x100xf32>)
// CHECK:         %[[OUT:.*]] = memref.alloc() {{.*}} : memref<64x100xf32>
// CHECK-NEXT:    call @[[$SOFTMAX:[a-z_0-9]+]](%[[A]], %[[OUT]])
// CHECK-NEXT:    return %[[OUT]]
// ORDERED-LABEL: func.func @softmax(
// ORDERED:         call
// ORDERED:         call
// ORDERED:         call
// HOST-LABEL: func.func @softmax(
// HOST:         call
// HOST:         call
// HOST:         call
// HOST:         call
// HOST:         return
func.func @softmax(%a: tensor<64x100xf32>) -> tensor<64x100xf32> {
  %e = tensor.empty() : tensor<64x100xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<64x100xf32>) outs(%e : tensor<64x100xf32>) -> tensor<64x100xf32>
  return %0 : tensor<64x100xf32>
}

// A layer normalization: mean, variance of what is a dim of size 1 longer, and
// the result; the input is a sum that nothing else reads.
// CHECK-LABEL: func.func @normalization(
// CHECK-SAME:    %[[A:.*]]: memref<6x10x64xf32>, %[[B:.*]]: memref<6x10x64xf32>, %[[SCALE:.*]]: memref<64xf32>, %[[SHIFT:.*]]: memref<64xf32>)
// CHECK:         %[[OUT:.*]] = memref.alloc() {{.*}} : memref<6x10x64xf32>
// CHECK-NEXT:    call @[[$NORM:[a-z_0-9]+]](
// CHECK-NEXT:    return %[[OUT]]
func.func @normalization(%a: tensor<6x10x64xf32>, %b: tensor<6x10x64xf32>, %scale: tensor<64xf32>, %shift: tensor<64xf32>) -> tensor<6x10x64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<6x10x64xf32>
  %x = linalg.add ins(%a, %b : tensor<6x10x64xf32>, tensor<6x10x64xf32>) outs(%e : tensor<6x10x64xf32>) -> tensor<6x10x64xf32>
  %r = tensor.empty() : tensor<6x10xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<6x10xf32>) -> tensor<6x10xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<6x10x64xf32>) outs(%z : tensor<6x10xf32>) dimensions = [2]
  %mean = linalg.map ins(%sum : tensor<6x10xf32>) outs(%r : tensor<6x10xf32>) (%in: f32, %out: f32) {
    %y = arith.divf %in, %n : f32
    linalg.yield %y : f32
  }
  %mean1 = tensor.expand_shape %mean [[0], [1, 2]] output_shape [6, 10, 1] : tensor<6x10xf32> into tensor<6x10x1xf32>
  %variance = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, 0)>, affine_map<(i, j, k) -> (i, j)>],
                              iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %mean1 : tensor<6x10x64xf32>, tensor<6x10x1xf32>) outs(%z : tensor<6x10xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    %s = arith.mulf %d, %d : f32
    %t = arith.addf %out, %s : f32
    linalg.yield %t : f32
  } -> tensor<6x10xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, 0)>, affine_map<(i, j, k) -> (i, j)>,
                                        affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %mean1, %variance, %scale, %shift : tensor<6x10x64xf32>, tensor<6x10x1xf32>, tensor<6x10xf32>, tensor<64xf32>, tensor<64xf32>)
      outs(%e : tensor<6x10x64xf32>) {
  ^bb0(%in: f32, %m: f32, %v: f32, %g: f32, %s: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    %w = arith.divf %v, %n : f32
    %p = arith.addf %w, %epsilon : f32
    %q = math.rsqrt %p : f32
    %y = arith.mulf %d, %q : f32
    %t = arith.mulf %y, %g : f32
    %u = arith.addf %t, %s : f32
    linalg.yield %u : f32
  } -> tensor<6x10x64xf32>
  return %0 : tensor<6x10x64xf32>
}

// What a row has a value of at another place than its own is no row of it: the
// sum of row j in column j.
// CHECK-LABEL: func.func @crossed(
// CHECK:         call
// CHECK:         call
func.func @crossed(%a: tensor<40x40xf32>, %init: tensor<40xf32>, %e: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %sum = linalg.reduce { arith.addf } ins(%a : tensor<40x40xf32>) outs(%init : tensor<40xf32>) dimensions = [1]
  %0 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %sum : tensor<40x40xf32>, tensor<40xf32>) outs(%e : tensor<40x40xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %d = arith.subf %in, %s : f32
    linalg.yield %d : f32
  } -> tensor<40x40xf32>
  return %0 : tensor<40x40xf32>
}

// A result that is also given back is written, and not computed again.
// CHECK-LABEL: func.func @kept(
// CHECK:         call @[[$KEPT:[a-z_0-9]+]](%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) :
// CHECK-NEXT:    return
func.func @kept(%a: tensor<64x100xf32>, %init: tensor<64xf32>) -> (tensor<64x100xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64x100xf32>
  %0 = linalg.exp ins(%a : tensor<64x100xf32>) outs(%e : tensor<64x100xf32>) -> tensor<64x100xf32>
  %sum = linalg.reduce { arith.addf } ins(%0 : tensor<64x100xf32>) outs(%init : tensor<64xf32>) dimensions = [1]
  return %0, %sum : tensor<64x100xf32>, tensor<64xf32>
}

// Two that don't depend on each other, in turns.
// CHECK-LABEL: func.func @interleaved(
// CHECK:         call @[[$KEPT_TOO:[a-z_0-9]+]](%arg0,
// CHECK:         call @[[$KEPT_TOO]](%arg1,
// CHECK-NOT:     call
// CHECK:         return
func.func @interleaved(%a: tensor<64x100xf32>, %b: tensor<64x100xf32>) -> (tensor<64x100xf32>, tensor<64x100xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x100xf32>
  %r = tensor.empty() : tensor<64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<64x100xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %1 = linalg.reduce { arith.addf } ins(%b : tensor<64x100xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %0 : tensor<64x100xf32>, tensor<64xf32>) outs(%e : tensor<64x100xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %d = arith.divf %in, %s : f32
    linalg.yield %d : f32
  } -> tensor<64x100xf32>
  %3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b, %1 : tensor<64x100xf32>, tensor<64xf32>) outs(%e : tensor<64x100xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %d = arith.divf %in, %s : f32
    linalg.yield %d : f32
  } -> tensor<64x100xf32>
  return %2, %3 : tensor<64x100xf32>, tensor<64x100xf32>
}

// So few rows are so long that blocks share each of them.
// CHECK-LABEL: func.func @few(
// CHECK:         call
// CHECK:         call
// CHECK:         call
func.func @few(%a: tensor<4x300000xf32>) -> tensor<4x300000xf32> {
  %e = tensor.empty() : tensor<4x300000xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<4x300000xf32>) outs(%e : tensor<4x300000xf32>) -> tensor<4x300000xf32>
  return %0 : tensor<4x300000xf32>
}

// The functions of the kernels.
// CHECK:      func.func private @[[$SOFTMAX]](%[[A:.*]]: memref<64x100xf32> {llvm.noalias}, %[[OUT:.*]]: memref<64x100xf32> {llvm.noalias})
// CHECK-SAME:   tofu.row_loops = array<i64: 0>
// CHECK-DAG:    %[[MAX:.*]] = memref.alloc() {{.*}} : memref<64xf32>
// CHECK-DAG:    %[[SUM:.*]] = memref.alloc() {{.*}} : memref<64xf32>
// CHECK:        linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[MAX]] :
// CHECK:          arith.maxnumf
// CHECK:        linalg.generic {{.*}} ins(%[[A]], %[[MAX]] : {{.*}}) outs(%[[SUM]] :
// CHECK:          math.exp
// CHECK-NEXT:     arith.addf
// CHECK:        linalg.generic {{.*}} ins(%[[A]], %[[MAX]], %[[SUM]] : {{.*}}) outs(%[[OUT]] :
// CHECK:          math.exp
// CHECK-NEXT:     arith.divf
// CHECK:      func.func private @[[$NORM]](
// CHECK-SAME:   tofu.row_loops = array<i64: 0, 1>
// CHECK:      func.func private @[[$KEPT]](
// CHECK-SAME:   tofu.row_loops = array<i64: 0>
// CHECK:          math.exp
// CHECK-NOT:      math.exp
// CHECK:          arith.addf

// Rows of 100 elements are shared by 16 threads, of which a block has 16 rows.
// These exchange what they have, and all take what the first one has. Of a row's
// elements each has four neighbours at a time.
// GPU-LABEL: gpu.func @kernel(
// GPU-SAME:    %[[A:.*]]: memref<64x100xf32> {llvm.noalias}, %[[OUT:.*]]: memref<64x100xf32> {llvm.noalias})
// GPU-NOT:     workgroup
// GPU-NOT:     memref.alloc
// GPU:         %[[THREAD:.*]] = gpu.thread_id x
// GPU:         %[[SHARER:.*]] = arith.remui %[[THREAD]], %c16{{.*}}
// GPU:         memref.assume_alignment %[[A]], 16
// GPU:         %[[LENGTH:.*]] = arith.select %{{.*}}, %c100
// GPU:         %[[FIRST:.*]] = arith.muli %[[SHARER]], %c4
// GPU:         %[[OWN:.*]] = scf.for %{{.*}} = %[[FIRST]] to %[[LENGTH]] step %c64
// GPU-COUNT-4:   memref.load
// GPU-COUNT-4:   arith.maxnumf
// GPU-NOT:       arith.maxnumf
// GPU:         %[[OF8:.*]], %{{.*}} = gpu.shuffle down %[[OWN]], %c8_i32{{[_0-9]*}}, %c32_i32
// GPU-NEXT:    %[[MAX8:.*]] = arith.maxnumf %[[OF8]], %[[OWN]]
// GPU:         %[[OF4:.*]], %{{.*}} = gpu.shuffle down %[[MAX8]], %c4_i32{{[_0-9]*}}, %c32_i32
// GPU-NEXT:    %[[MAX4:.*]] = arith.maxnumf %[[OF4]], %[[MAX8]]
// GPU:         %[[OF2:.*]], %{{.*}} = gpu.shuffle down %[[MAX4]], %c2_i32{{[_0-9]*}}, %c32_i32
// GPU-NEXT:    %[[MAX2:.*]] = arith.maxnumf %[[OF2]], %[[MAX4]]
// GPU:         %[[OF1:.*]], %{{.*}} = gpu.shuffle down %[[MAX2]], %c1_i32{{[_0-9]*}}, %c32_i32
// GPU-NEXT:    %[[MAX1:.*]] = arith.maxnumf %[[OF1]], %[[MAX2]]
// GPU:         %[[BEGIN:.*]] = arith.subi %[[THREAD]], %[[SHARER]]
// GPU:         %[[LANE:.*]] = arith.remui %[[BEGIN]], %c32
// GPU-NEXT:    %[[FROM:.*]] = arith.index_cast %[[LANE]] : index to i32
// GPU:         %[[SHARED_MAX:.*]], %{{.*}} = gpu.shuffle idx %[[MAX1]], %[[FROM]], %c32_i32
// GPU-NEXT:    %[[MAX:.*]] = arith.maxnumf %[[SHARED_MAX]], %cst
// GPU:         scf.for
// GPU:           arith.subf %{{.*}}, %[[MAX]]
// GPU-NEXT:      math.exp
// GPU:         gpu.shuffle idx
// GPU:         scf.for
// GPU-COUNT-4:   arith.divf
// GPU-COUNT-4:   memref.store
// GPU-NOT:       memref.store
// GPU-NOT:     gpu.barrier
// GPU:         gpu.return
// GPU-LABEL: func.func private @kernel(
// GPU-NOT:     tofu.row_loops
// GPU:         gpu.launch_func @kernels::@kernel blocks in (%c4{{[,_]}}
