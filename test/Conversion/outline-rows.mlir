// Operations over the same rows as one function.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --tofu-outline-kernels=rows=true | FileCheck %s

#id = affine_map<(i) -> (i)>

// Another operation that uses other memory may be between. What is freed is freed
// after the group.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<8x9xf32>, %[[B:[a-z0-9]+]]: memref<8x9xf32>, %[[C:[a-z0-9]+]]: memref<5xf32>)
// CHECK-NEXT:    %[[T:.*]] = memref.alloc() : memref<8x9xf32>
// CHECK:         call @{{.*}}(%[[C]])
// CHECK-NEXT:    call @{{.*}}(%[[A]], %[[T]], %[[B]])
// CHECK-NEXT:    memref.dealloc %[[T]]
// CHECK-NEXT:    return
func.func @rows(%a: memref<8x9xf32>, %b: memref<8x9xf32>, %c: memref<5xf32>) {
  %t = memref.alloc() : memref<8x9xf32>
  %s = memref.alloc() : memref<8xf32>
  %z = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<8x9xf32>) outs(%t : memref<8x9xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%c : memref<5xf32>) {
  ^bb0(%o: f32):
    %y = arith.negf %o : f32
    linalg.yield %y : f32
  }
  linalg.fill ins(%z : f32) outs(%s : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%t : memref<8x9xf32>) outs(%s : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  memref.dealloc %t : memref<8x9xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<8xf32>) outs(%b : memref<8x9xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  memref.dealloc %s : memref<8xf32>
  return
}

// So is what a body loads from.
// CHECK-LABEL: func.func @gathered(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<8x9xf32>, %[[B:[a-z0-9]+]]: memref<8xf32>)
// CHECK:         %[[G:.*]] = memref.alloc() : memref<8xf32>
// CHECK:         call @{{.*}}(%[[G]])
// CHECK-NOT:     memref.dealloc %[[G]]
// CHECK:         call @{{.*}}%[[G]]
// CHECK-NEXT:    memref.dealloc %[[G]]
func.func @gathered(%a: memref<8x9xf32>, %b: memref<8xf32>) {
  %z = arith.constant 0.0 : f32
  %g = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%g : memref<8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%a : memref<8x9xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %y = memref.load %g[%i] : memref<8xf32>
    linalg.yield %y : f32
  }
  memref.dealloc %g : memref<8xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x9xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}

// Other parts of the same memory may be other rows: two functions.
// CHECK-LABEL: func.func @shifted(
// CHECK:         call
// CHECK:         call
// CHECK:         return
func.func @shifted(%a: memref<9x9xf32>, %s: memref<8xf32>) {
  %first = memref.subview %a[0, 0] [8, 9] [1, 1] : memref<9x9xf32> to memref<8x9xf32, strided<[9, 1]>>
  %last = memref.subview %a[1, 0] [8, 9] [1, 1] : memref<9x9xf32> to memref<8x9xf32, strided<[9, 1], offset: 9>>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%first : memref<8x9xf32, strided<[9, 1]>>) outs(%s : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<8xf32>) outs(%last : memref<8x9xf32, strided<[9, 1], offset: 9>>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// What is read between, by something else, is there already.
// CHECK-LABEL: func.func @read_between(
// CHECK:         call
// CHECK-NEXT:    memref.load
// CHECK-NEXT:    call
// CHECK:         return
func.func @read_between(%a: memref<8x9xf32>, %s: memref<8xf32>, %b: memref<8x9xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x9xf32>) outs(%s : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  %0 = memref.load %s[%c0] : memref<8xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<8xf32>) outs(%b : memref<8x9xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return %0 : f32
}
