// Loop nests that LLVM vectorizes.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-lower-kernels -split-input-file -verify-diagnostics | FileCheck %s
// RUN: tofu-opt %s --tofu-lower-kernels=reassociate=false -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=ORDERED

// ORDERED-NOT: fastmath

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// Contiguous memory is one loop.
// CHECK-LABEL: func.func @collapsed
// CHECK-DAG:     %[[SIZE:.*]] = arith.constant 32 : index
// CHECK:         scf.for %{{.*}} to %[[SIZE]]
// CHECK-NOT:     scf.for
func.func @collapsed(%a: memref<4x8xf32>, %b: memref<4x8xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%b : memref<4x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  }
  return
}

// So it is of unknown sizes; what has gaps, is read
// in another order, or in a window, is walked through by two loops.
// CHECK-LABEL: func.func @unknown_sizes
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xf32>
// CHECK:         %[[SIZE:.*]] = arith.muli
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[SIZE]]
// CHECK:           memref.load %[[A]][%{{.*}}, %[[I]]]
// CHECK-NOT:     scf.for
// CHECK:           math.absf
// CHECK-COUNT-2: scf.for
// CHECK:           arith.negf
// CHECK-COUNT-2: scf.for
// CHECK:           math.exp
// CHECK-COUNT-2: scf.for
// CHECK:           math.sqrt
func.func @unknown_sizes(%a: memref<?x?xf32>, %c: memref<?x?xf32, strided<[?, 1]>>, %t: memref<?x?xf32>, %w: memref<?xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<?x?xf32>) outs(%t : memref<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.absf %x : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%c : memref<?x?xf32, strided<[?, 1]>>) outs(%t : memref<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<?x?xf32>) outs(%t : memref<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, #id], iterator_types = ["parallel", "parallel"]} ins(%w : memref<?xf32>) outs(%t : memref<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.sqrt %x : f32
    linalg.yield %y : f32
  }
  return
}

// A row is summed in a register, which starts from what the fill wrote.
// CHECK-LABEL: func.func @row_sums
// CHECK:         %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         scf.for
// CHECK-NEXT:      %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[Z]]) -> (f32)
// CHECK:             arith.addf {{.*}} fastmath<reassoc,contract>
// CHECK:           memref.store %[[SUM]]
func.func @row_sums(%a: memref<4x80xf32>, %b: memref<4xf32>) {
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%b : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<4x80xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// Columns are summed row by row: the fill comes first.
// CHECK-LABEL: func.func @column_sums
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 4 : index
// CHECK:         scf.for
// CHECK:         memref.store
// CHECK:         scf.for %{{.*}} to %[[ROWS]]
// CHECK-NEXT:      scf.for
// CHECK-NOT:       fastmath
// CHECK:           memref.store
func.func @column_sums(%a: memref<4x80xf32>, %b: memref<80xf32>) {
  %z = arith.constant 0.0 : f32
  linalg.fill ins(%z : f32) outs(%b : memref<80xf32>)
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%a : memref<4x80xf32>) outs(%b : memref<80xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// Booleans are bytes in memory.
// CHECK-LABEL: func.func @booleans
// CHECK:         builtin.unrealized_conversion_cast %{{.*}} : memref<4xi1> to memref<4xi8>
// CHECK:         %[[BIT:.*]] = arith.cmpf
// CHECK:         %[[BYTE:.*]] = arith.extui %[[BIT]] : i1 to i8
// CHECK:         memref.store %[[BYTE]]
func.func @booleans(%a: memref<4xf32>, %b: memref<4xi1>) {
  %z = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%b : memref<4xi1>) {
  ^bb0(%x: f32, %o: i1):
    %y = arith.cmpf ogt, %x, %z : f32
    linalg.yield %y : i1
  }
  return
}

// A kept dim of size 1, with sizes that are not known.
// CHECK-LABEL: func.func @kept_dim
// CHECK:         %[[SUM:.*]] = scf.for
// CHECK:         memref.store %[[SUM]]
func.func @kept_dim(%a: memref<?x?x8xf32>, %b: memref<?x?x1xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, 0)>],
                  iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : memref<?x?x8xf32>) outs(%b : memref<?x?x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// Nothing is written.
// CHECK-LABEL: func.func @only_asserts
// CHECK:         scf.for
// CHECK:           memref.load
// CHECK:           cf.assert
// CHECK-NOT:       scf.yield
func.func @only_asserts(%a: memref<8xi1>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : memref<8xi1>) {
  ^bb0(%x: i1):
    cf.assert %x, "false"
    linalg.yield
  }
  return
}

// -----

func.func @on_tensors(%e: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{'linalg.fill' op is not on buffers}}
  %0 = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
