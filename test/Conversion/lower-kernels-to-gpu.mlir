// Loop nests as kernels on grids of threads.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-lower-kernels-to-gpu --canonicalize -split-input-file -verify-diagnostics | FileCheck %s
// RUN: tofu-opt %s --tofu-lower-kernels-to-gpu=reassociate=false -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=ORDERED

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// 1000 elements take 4 blocks. Contiguous memory is one loop, so nothing is
// divided.
// CHECK:       gpu.module @kernels
// CHECK:         gpu.func @collapsed(%[[A:.*]]: memref<10x100xf32>, %[[B:.*]]: memref<10x100xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
// CHECK-DAG:       %[[SIZE:.*]] = arith.constant 1000 : index
// CHECK-DAG:       %[[THREADS:.*]] = arith.constant 256 : index
// CHECK-DAG:       %[[BLOCK:.*]] = gpu.block_id x
// CHECK-DAG:       %[[THREAD:.*]] = gpu.thread_id x
// CHECK:           %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[THREADS]]
// CHECK:           %[[I:.*]] = arith.addi %[[FIRST]], %[[THREAD]]
// CHECK-NEXT:      %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %[[SIZE]]
// CHECK-NEXT:      scf.if %[[INSIDE]] {
// CHECK-NEXT:        %[[X:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK-NEXT:        %[[Y:.*]] = arith.negf %[[X]]
// CHECK-NEXT:        memref.store %[[Y]], %{{.*}}[%[[I]]]
// CHECK-NEXT:      }
// CHECK-NEXT:      gpu.return
// CHECK-LABEL: func.func @collapsed
// CHECK-SAME:    %[[A:.*]]: memref<10x100xf32>, %[[B:.*]]: memref<10x100xf32>
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[T:.*]] = arith.constant 256 : index
// CHECK:         gpu.launch_func @kernels::@collapsed blocks in (%[[BLOCKS]], %[[ONE]], %[[ONE]]) threads in (%[[T]], %[[ONE]], %[[ONE]]) args(%[[A]] : memref<10x100xf32>, %[[B]] : memref<10x100xf32>)
func.func @collapsed(%a: memref<10x100xf32>, %b: memref<10x100xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<10x100xf32>) outs(%b : memref<10x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>

// The host computes the number of blocks; sizes are arguments. Neighbouring
// threads have neighbouring elements where most accesses are.
// CHECK:         gpu.func @sizes(%{{.*}}: memref<?x?xf32>, %{{.*}}: memref<?x?xf32>, %{{.*}}: memref<?x?xf32> {llvm.noalias}, %[[M:.*]]: index, %[[N:.*]]: index)
// CHECK:           %[[SIZE:.*]] = arith.muli %[[N]], %[[M]]
// CHECK:           arith.cmpi ult, %[[I:.*]], %[[SIZE]]
// CHECK-DAG:       %[[FAST:.*]] = arith.remui %[[I]], %[[M]]
// CHECK-DAG:       %[[SLOW:.*]] = arith.divui %[[I]], %[[M]]
// CHECK:           memref.load %{{.*}}[%[[SLOW]], %[[FAST]]]
// CHECK:           memref.load %{{.*}}[%[[SLOW]], %[[FAST]]]
// CHECK:           memref.store %{{.*}}[%[[FAST]], %[[SLOW]]]
// CHECK-LABEL: func.func @sizes
// CHECK-DAG:     %[[M:.*]] = memref.dim %{{.*}}, %c1
// CHECK-DAG:     %[[N:.*]] = memref.dim %{{.*}}, %c0
// CHECK:         %[[ELEMENTS:.*]] = arith.muli %[[N]], %[[M]]
// CHECK:         %[[MORE:.*]] = arith.addi %[[ELEMENTS]], %c255
// CHECK:         %[[BLOCKS:.*]] = arith.divui %[[MORE]], %c256
// CHECK:         gpu.launch_func {{.*}} blocks in (%[[BLOCKS]], %c1, %c1)
func.func @sizes(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32> {llvm.noalias}) {
  linalg.generic {indexing_maps = [#transposed, #transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A block for each row, which starts from what the fill wrote. Infinity does
// not matter to a maximum of numbers, but NaN gives way to it.
// CHECK:         gpu.func @rows({{.*}}) workgroup(%[[MEMORY:.*]] : memref<256xf32, #gpu.address_space<workgroup>>) kernel
// CHECK-DAG:       %[[NEUTRAL:.*]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG:       %[[START:.*]] = arith.constant -1.000000e+00 : f32
// CHECK-DAG:       %[[BLOCK:.*]] = gpu.block_id x
// CHECK-DAG:       %[[THREAD:.*]] = gpu.thread_id x
// CHECK:           %[[LENGTH:.*]] = arith.select %{{.*}}, %c4096, %c0
// CHECK:           %[[SHARE:.*]] = scf.for %{{.*}} to %[[LENGTH]] step %c256 iter_args(%{{.*}} = %[[NEUTRAL]]) -> (f32)
// CHECK:           memref.store %[[SHARE]], %[[MEMORY]][%[[THREAD]]]
// CHECK-COUNT-8:   gpu.barrier
// CHECK-NOT:       gpu.barrier
// CHECK:           %[[STORES:.*]] = arith.andi
// CHECK-NEXT:      scf.if %[[STORES]]
// CHECK-NEXT:        %[[WHOLE:.*]] = memref.load %[[MEMORY]][%[[THREAD]]]
// CHECK-NEXT:        %[[MAX:.*]] = arith.maxnumf %[[WHOLE]], %[[START]]
// CHECK-NEXT:        memref.store %[[MAX]]
// CHECK-LABEL: func.func @rows
// CHECK:         gpu.launch_func {{.*}} blocks in (%c10, %c1, %c1)
// ORDERED:       gpu.func @rows
// ORDERED:         gpu.barrier
func.func @rows(%a: memref<10x4096xf32>, %b: memref<10xf32>) {
  %z = arith.constant -1.0 : f32
  linalg.fill ins(%z : f32) outs(%b : memref<10xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<10x4096xf32>) outs(%b : memref<10xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maxnumf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// 8 threads share a column, 32 neighbouring ones have different columns. In
// order, each thread sums a column alone.
// CHECK:         gpu.func @columns({{.*}}) workgroup
// CHECK:           %[[THREAD:.*]] = gpu.thread_id x
// CHECK-DAG:       arith.divui %[[THREAD]], %c32
// CHECK-DAG:       arith.remui %[[THREAD]], %c32
// CHECK:           scf.for {{.*}} step %c8 iter_args
// CHECK-COUNT-3:   gpu.barrier
// CHECK-NOT:       gpu.barrier
// CHECK-LABEL: func.func @columns
// CHECK:         gpu.launch_func {{.*}} blocks in (%c4, %c1, %c1)
// ORDERED:       gpu.func @columns
// ORDERED-NOT:     gpu.barrier
// ORDERED:         scf.for
// ORDERED-LABEL: func.func @columns
func.func @columns(%a: memref<500x100xf32>, %b: memref<100xf32>) {
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%a : memref<500x100xf32>) outs(%b : memref<100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What no combiner describes is a loop of a thread, and comes to a lone element
// for each thread.
// CHECK:         gpu.func @last({{.*}}) kernel
// CHECK-NOT:       gpu.barrier
// CHECK:           scf.if
// CHECK:             scf.for {{.*}} to %c4096 step %c1 iter_args
func.func @last(%a: memref<10x4096xf32>, %b: memref<10xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<10x4096xf32>) outs(%b : memref<10xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.subf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>
#all = affine_map<(i) -> ()>
#folded = affine_map<(i) -> (i floordiv 2)>

// Iterations that write the same element are in one thread.
// CHECK:         gpu.func @collide
// CHECK:           scf.if
// CHECK-NEXT:        scf.for {{.*}} to %c16 step %c1
func.func @collide(%a: memref<16xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [#id, #folded], iterator_types = ["parallel"]} ins(%a : memref<16xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// A thread leaves the number of an assertion that fails, and does nothing that
// depends on it; the host asserts that there is none.
// CHECK:         gpu.func @asserts(%{{.*}}: memref<16xindex>, %{{.*}}: memref<16xf32>, %[[TABLE:.*]]: memref<?xf32>, %[[FLAG:.*]]: memref<i32>)
// CHECK-DAG:       %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG:       %[[TWO:.*]] = arith.constant 2 : i32
// CHECK:           %[[R:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK:             scf.if %{{.*}} -> (f32) {
// CHECK-NEXT:          %[[X:.*]] = memref.load %[[TABLE]]
// CHECK-NEXT:          scf.yield %[[X]]
// CHECK-NEXT:        } else {
// CHECK-NEXT:          memref.store %[[TWO]], %[[FLAG]][]
// CHECK:             }
// CHECK:           } else {
// CHECK-NEXT:        memref.store %[[ONE]], %[[FLAG]][]
// CHECK:           memref.store %[[R]]
// CHECK-LABEL: func.func @asserts
// CHECK:         %[[FLAG:.*]] = memref.alloc() : memref<i32>
// CHECK:         memref.store %c0_i32, %[[FLAG]][]
// CHECK:         gpu.launch_func
// CHECK:         %[[N:.*]] = memref.load %[[FLAG]][]
// CHECK:         memref.dealloc %[[FLAG]]
// CHECK:         %[[GOOD:.*]] = arith.cmpi ne, %[[N]], %c1_i32
// CHECK:         cf.assert %[[GOOD]], "too small"
// CHECK:         %[[GOOD:.*]] = arith.cmpi ne, %[[N]], %c2_i32
// CHECK:         cf.assert %[[GOOD]], "too large"
func.func @asserts(%a: memref<16xindex>, %t: memref<?xf32>, %b: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<16xindex>) outs(%b : memref<16xf32>) {
  ^bb0(%x: index, %o: f32):
    %s = arith.cmpi sge, %x, %c0 : index
    cf.assert %s, "too small"
    %n = memref.dim %t, %c0 : memref<?xf32>
    %l = arith.cmpi slt, %x, %n : index
    cf.assert %l, "too large"
    %y = memref.load %t[%x] : memref<?xf32>
    linalg.yield %y : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What an assertion guards is not shared: it may not be there.
// CHECK:         gpu.func @guarded({{.*}}) kernel
// CHECK-NOT:       gpu.barrier
// CHECK:           scf.for {{.*}} to %c4096 step %c1 iter_args
func.func @guarded(%a: memref<10x4096xf32>, %b: memref<10xf32>) {
  %z = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<10x4096xf32>) outs(%b : memref<10xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.cmpf oge, %x, %z : f32
    cf.assert %p, "negative"
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Of many elements, a thread has as many neighbours as 16 bytes hold: first it
// loads, then it stores. 2097152 elements take 2048 blocks.
// CHECK:         gpu.func @neighbours({{.*}}) kernel
// CHECK-DAG:       memref.assume_alignment %{{.*}}, 16 : memref<2048x1024xf32>
// CHECK-DAG:       memref.assume_alignment %{{.*}}, 8 : memref<2048x1024xf16>
// CHECK-NOT:       memref.assume_alignment
// CHECK:           scf.if
// CHECK-COUNT-4:   math.fma
// CHECK-NOT:       math.fma
// CHECK-COUNT-4:   memref.store
// CHECK-NOT:       memref.store
// CHECK:           gpu.return
// CHECK-LABEL: func.func @neighbours
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 2048 : index
// CHECK:         gpu.launch_func @kernels::@neighbours blocks in (%[[BLOCKS]],
func.func @neighbours(%a: memref<2048x1024xf32>, %b: memref<2048xf32>, %c: memref<2048x1024xf16>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<2048x1024xf32>, memref<2048xf32>) outs(%c : memref<2048x1024xf16>) {
  ^bb0(%x: f32, %y: f32, %o: f16):
    %r = math.fma %x, %y, %x : f32
    %s = arith.truncf %r : f32 to f16
    linalg.yield %s : f16
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>

// One each where they are fewer, where one operand has them apart, where rows
// don't begin at such a multiple, or where their size is no power of two.
// CHECK-NOT: memref.assume_alignment
func.func @alone(%i: memref<2048x1024xi24>, %a: memref<511x1024xf32>, %b: memref<2048x1024xf32>, %c: memref<2048x1022xf32, strided<[1023, 1], offset: 4>>,
                 %d: memref<2048x1024xf32, strided<[1024, 1], offset: 1>>, %t: memref<1024x2048xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%a : memref<511x1024xf32>) {
  ^bb0(%o: f32):
    %r = arith.negf %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%t : memref<1024x2048xf32>) outs(%b : memref<2048x1024xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%c : memref<2048x1022xf32, strided<[1023, 1], offset: 4>>) {
  ^bb0(%o: f32):
    %r = arith.negf %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%d : memref<2048x1024xf32, strided<[1024, 1], offset: 1>>) {
  ^bb0(%o: f32):
    %r = arith.negf %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%i : memref<2048x1024xi24>) {
  ^bb0(%o: i24):
    %r = arith.addi %o, %o : i24
    linalg.yield %r : i24
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// Any number of rows whose length is a known multiple: there is nothing to check.
// CHECK:         gpu.func @rows_unknown(
// CHECK:           memref.assume_alignment %{{.*}}, 16 : memref<?x1024xf32>
// CHECK-COUNT-4:   arith.negf
// CHECK-NOT:       arith.negf
// CHECK-LABEL: func.func @rows_unknown
// CHECK-NOT:     scf.if
// CHECK:         gpu.launch_func
// CHECK-NOT:     gpu.launch_func
// CHECK:         return
func.func @rows_unknown(%a: memref<?x1024xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%a : memref<?x1024xf32>) {
  ^bb0(%o: f32):
    %r = arith.negf %o : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// Unknown lengths, strides and offsets are looked at by the host, in one go: no
// low bit may be set in any. In the kernel these bits are 0. The other kernel is
// for one element each.
// CHECK:         gpu.func @unknown(%{{.*}}: memref<?xf32>, %[[A:[a-z0-9]+]]: memref<?x?xf32, strided<[?, 1], offset: ?>>, %{{.*}}: index, %[[N:[a-z0-9]+]]: index)
// CHECK-DAG:       %[[MASK:.*]] = arith.constant -4 : index
// CHECK:           %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[A]]
// CHECK:           %[[STRIDE:.*]] = arith.andi %[[STRIDES]]#0, %[[MASK]]
// CHECK:           %[[WHOLE:.*]] = memref.reinterpret_cast %[[A]] to offset: [0]
// CHECK:           %[[ALIGNED:.*]] = memref.assume_alignment %[[WHOLE]], 16
// CHECK:           %[[BEGIN:.*]] = arith.andi %[[OFFSET]], %[[MASK]]
// CHECK:           %[[PART:.*]] = memref.reinterpret_cast %[[ALIGNED]] to offset: [%[[BEGIN]]], {{.*}} strides: [%[[STRIDE]], 1]
// CHECK:           %[[MEMORY:.*]] = memref.assume_alignment %[[PART]], 16
// CHECK:           %[[LENGTH:.*]] = arith.andi %[[N]], %[[MASK]]
// CHECK:           %[[J:.*]] = arith.remui %{{.*}}, %[[LENGTH]]
// CHECK-COUNT-4:   arith.addf
// CHECK-NOT:       arith.addf
// CHECK:           memref.store %{{.*}}, %[[MEMORY]][%{{.*}}, %[[J]]]
// CHECK:         gpu.func @unknown_0(
// CHECK:           arith.addf
// CHECK-NOT:       arith.addf
// CHECK-LABEL: func.func @unknown(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32, strided<[?, 1], offset: ?>>, %[[B:[a-z0-9]+]]: memref<?xf32>
// CHECK-DAG:     %[[M:.*]] = memref.dim %[[A]], %c0
// CHECK-DAG:     %[[N:.*]] = memref.dim %[[B]], %c0
// CHECK:         %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[A]]
// CHECK:         %[[TWO:.*]] = arith.ori %[[N]], %[[OFFSET]]
// CHECK:         %[[BITS:.*]] = arith.ori %[[TWO]], %[[STRIDES]]#0
// CHECK:         %[[LOW:.*]] = arith.andi %[[BITS]], %c3
// CHECK:         %[[FIT:.*]] = arith.cmpi eq, %[[LOW]], %c0
// CHECK:         %[[ALL:.*]] = arith.muli %[[M]], %[[N]]
// CHECK:         %[[MANY:.*]] = arith.cmpi uge, %[[ALL]], %c524288
// CHECK:         %[[BOTH:.*]] = arith.andi %[[FIT]], %[[MANY]]
// CHECK:         scf.if %[[BOTH]] {
// CHECK:           arith.divui %{{.*}}, %c1024
// CHECK:           gpu.launch_func @kernels::@unknown blocks
// CHECK:         } else {
// CHECK:           arith.divui %{{.*}}, %c256
// CHECK:           gpu.launch_func @kernels::@unknown_0 blocks
func.func @unknown(%a: memref<?x?xf32, strided<[?, 1], offset: ?>>, %b: memref<?xf32>) {
  linalg.generic {indexing_maps = [#column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : memref<?xf32>) outs(%a : memref<?x?xf32, strided<[?, 1], offset: ?>>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Memory without gaps is one loop of any length, whose elements' number is what
// must be a multiple.
// CHECK:         gpu.func @one_loop({{.*}}, %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK:           %[[ALL:.*]] = arith.muli %[[M]], %[[N]]
// CHECK-NOT:       arith.remui
// CHECK:           %[[END:.*]] = arith.andi %[[ALL]], %c-4
// CHECK:           arith.cmpi ult, %[[I:.*]], %[[END]]
// CHECK:           memref.load %{{.*}}[%c0, %[[I]]]
// CHECK-LABEL: func.func @one_loop
// CHECK:         %[[ALL:.*]] = arith.muli
// CHECK-NOT:     memref.extract_strided_metadata
// CHECK:         arith.andi %[[ALL]], %c3
func.func @one_loop(%a: memref<?x?xf32>, %b: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<?x?xf32>) outs(%b : memref<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.negf %x : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#diagonal = affine_map<(i, j) -> (i + j, j)>

// Nothing is checked that can't hold: of few elements, with gaps that are no
// multiple, or where the innermost stride isn't known. Rows with gaps between them,
// or read otherwise by another operand, aren't one loop.
// CHECK-NOT: memref.assume_alignment
// CHECK:     arith.remui
// CHECK-NOT: memref.assume_alignment
func.func @never(%a: memref<511x1024xf32, strided<[1024, 1], offset: ?>>, %b: memref<?x?xf32, strided<[1023, 1]>>, %c: memref<?x?xf32, strided<[?, ?]>>,
                 %d: memref<?x?xi24>, %e: memref<?x?xi24>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%a : memref<511x1024xf32, strided<[1024, 1], offset: ?>>) {
  ^bb0(%o: f32):
    %r = arith.negf %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%b : memref<?x?xf32, strided<[1023, 1]>>) {
  ^bb0(%o: f32):
    %r = arith.negf %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%c : memref<?x?xf32, strided<[?, ?]>>) {
  ^bb0(%o: f32):
    %r = arith.negf %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#diagonal, #id], iterator_types = ["parallel", "parallel"]} ins(%d : memref<?x?xi24>) outs(%e : memref<?x?xi24>) {
  ^bb0(%x: i24, %o: i24):
    linalg.yield %x : i24
  }
  return
}

// -----

func.func @tensors(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  // expected-error@+1 {{is not on buffers}}
  %1 = linalg.copy ins(%a : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
