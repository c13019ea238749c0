// Which collectives have NCCL's form, and which streams wait for what.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-opt %s --convert-tofu-to-nccl -split-input-file -verify-diagnostics | FileCheck %s

// Version, kind, combiner, type, elements of a part, root, devices; the group of
// each device and its rank in the group.
// CHECK-DAG: constant @[[$GATHER:[a-z_0-9]+]](dense<[5, 1, 0, 0, 4, 0, 2, 0, 0, 0, 1]>
// CHECK-DAG: constant @[[$COLUMNS:[a-z_0-9]+]](dense<[5, 1, 0, 6, 2, 0, 2, 0, 0, 0, 1]>
// Parts in memory go by y first: ranks of (x, y) are 2 * y + x.
// CHECK-DAG: constant @[[$NESTED:[a-z_0-9]+]](dense<[5, 1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 2, 1, 3]>
// CHECK-DAG: constant @[[$REPLICAS:[a-z_0-9]+]](dense<[5, 1, 0, 0, 4, 0, 4, 0, 1, 0, 1, 0, 0, 1, 1]>
// CHECK-DAG: constant @[[$SCATTER:[a-z_0-9]+]](dense<[5, 2, 1, 0, 4, 0, 4, 0, 1, 0, 1, 0, 0, 1, 1]>
// CHECK-DAG: constant @[[$REDUCE:[a-z_0-9]+]](dense<[5, 0, 1, 0, 8, 0, 3, 0, 0, 0, 0, 1, 2]>
// CHECK-DAG: constant @[[$REDUCE_CUT:[a-z_0-9]+]](dense<[5, 0, 1, 0, 2, 0, 4, 0, 1, 0, 1, 0, 0, 1, 1]>
// CHECK-DAG: constant @[[$REDUCE_I32:[a-z_0-9]+]](dense<[5, 0, 11, 7, 8, 0, 6, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 2, 2]>
// CHECK-DAG: constant @[[$BROADCAST:[a-z_0-9]+]](dense<[5, 5, 0, 0, 6, 0, 2, 0, 0, 0, 1]>
// CHECK-DAG: constant @[[$BROADCASTS:[a-z_0-9]+]](dense<[5, 5, 0, 0, 1, 0, 6, 0, 1, 0, 0, 1, 1, 0, 0, 1, 2, 1, 2]>
tofu.mesh @line[x = 2]
tofu.mesh @three[x = 3]
tofu.mesh @square[x = 2, y = 2]
tofu.mesh @tall[x = 3, y = 2]

// CHECK-LABEL: func.func @gather
// CHECK-SAME:    %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr
// CHECK:         %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK:         %[[STREAM:.*]] = llvm.call @tofuStream(%[[CONTEXT]], %[[ONE]])
// CHECK:         %[[TABLE:.*]] = llvm.mlir.addressof @[[$GATHER]]
// CHECK:         %[[TEXT:.*]] = llvm.mlir.addressof
// CHECK:         %[[A:.*]] = llvm.getelementptr
// CHECK:         %[[B:.*]] = llvm.getelementptr
// CHECK:         llvm.call @tofuEvenCollective(%[[CONTEXT]], %[[STREAM]], %[[TABLE]], %[[TEXT]], %[[A]], %[[B]])
func.func @gather(%context: !llvm.ptr, %a: memref<4xf32>, %b: memref<8xf32>) {
  tofu.collective all_gather %a, %b from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  return
}

// Parts of 3 and 2 rows.
// CHECK-LABEL: func.func @gather_uneven
// CHECK-NOT:     tofuEven
// CHECK:         llvm.call @tofuCollective(
func.func @gather_uneven(%context: !llvm.ptr, %a: memref<?xf32>, %b: memref<5xf32>) {
  tofu.collective all_gather %a, %b from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [5]
      : memref<?xf32>, memref<5xf32>
  return
}

// The columns of a device have gaps between them, unless there is one row.
// CHECK-LABEL: func.func @gather_columns
// CHECK:         llvm.call @tofuCollective(
// CHECK:         llvm.mlir.addressof @[[$COLUMNS]]
// CHECK:         llvm.call @tofuEvenCollective(
func.func @gather_columns(%context: !llvm.ptr, %a: memref<3x2xi16>, %b: memref<3x4xi16>, %c: memref<1x2xi16>, %d: memref<1x4xi16>) {
  tofu.collective all_gather %a, %b from #tofu.layout<@line, [{}, {x}]> to #tofu.layout<@line, [{}, {}]> in [3, 4]
      : memref<3x2xi16>, memref<3x4xi16>
  tofu.collective fetch %c, %d from #tofu.layout<@line, [{}, {x}]> to #tofu.layout<@line, [{}, {}]> in [1, 4]
      : memref<1x2xi16>, memref<1x4xi16>
  return
}

// CHECK-LABEL: func.func @gather_nested
// CHECK:         llvm.mlir.addressof @[[$NESTED]]
// CHECK:         llvm.mlir.addressof @[[$REPLICAS]]
func.func @gather_nested(%context: !llvm.ptr, %a: memref<2xf32>, %b: memref<8xf32>, %c: memref<4xf32>, %d: memref<8xf32>) {
  tofu.collective all_gather %a, %b from #tofu.layout<@square, [{y, x}]> to #tofu.layout<@square, [{}]> in [8]
      : memref<2xf32>, memref<8xf32>
  tofu.collective all_gather %c, %d from #tofu.layout<@square, [{x}]> to #tofu.layout<@square, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  return
}

// Two sums have one order, so replicas in several groups are the same.
// CHECK-LABEL: func.func @scatter
// CHECK:         llvm.mlir.addressof @[[$SCATTER]]
// CHECK:         llvm.call @tofuCollective(
func.func @scatter(%context: !llvm.ptr, %a: memref<8xf32>, %b: memref<4xf32>, %c: memref<5xf32>, %d: memref<?xf32>) {
  tofu.collective reduce_scatter %a, %b from #tofu.layout<@square, [{}], sum {x}> to #tofu.layout<@square, [{x}]> in [8]
      : memref<8xf32>, memref<4xf32>
  tofu.collective reduce_scatter %c, %d from #tofu.layout<@square, [{}], sum {x}> to #tofu.layout<@square, [{x}]> in [5]
      : memref<5xf32>, memref<?xf32>
  return
}

// CHECK-LABEL: func.func @reduce
// CHECK:         llvm.mlir.addressof @[[$REDUCE]]
// CHECK:         llvm.mlir.addressof @[[$REDUCE_CUT]]
func.func @reduce(%context: !llvm.ptr, %a: memref<8xf32>, %b: memref<8xf32>, %c: memref<2xf32>, %d: memref<2xf32>) {
  tofu.collective all_reduce %a, %b from #tofu.layout<@three, [{}], sum {x}> to #tofu.layout<@three, [{}]> in [8]
      : memref<8xf32>, memref<8xf32>
  tofu.collective all_reduce %c, %d from #tofu.layout<@square, [{y}], sum {x}> to #tofu.layout<@square, [{y}]> in [4]
      : memref<2xf32>, memref<2xf32>
  return
}

// Two groups of three may add floats in different orders, and end with different
// bits; for integers the order doesn't matter.
// CHECK-LABEL: func.func @reduce_replicas
// CHECK:         llvm.call @tofuCollective(
// CHECK:         llvm.mlir.addressof @[[$REDUCE_I32]]
// CHECK:         llvm.call @tofuEvenCollective(
func.func @reduce_replicas(%context: !llvm.ptr, %a: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xi32>, %d: memref<8xi32>) {
  tofu.collective all_reduce %a, %b from #tofu.layout<@tall, [{}], sum {x}> to #tofu.layout<@tall, [{}]> in [8]
      : memref<8xf32>, memref<8xf32>
  tofu.collective all_reduce %c, %d from #tofu.layout<@tall, [{}], maxui {x}> to #tofu.layout<@tall, [{}]> in [8]
      : memref<8xi32>, memref<8xi32>
  return
}

// NCCL has no such combiner, no such type, or no word on NaN.
// CHECK-LABEL: func.func @combiners
// CHECK-NOT:     tofuEven
// CHECK-COUNT-6: llvm.call @tofuCollective(
func.func @combiners(%context: !llvm.ptr, %i: memref<8xi32>, %j: memref<8xi32>, %f: memref<8xf32>, %g: memref<8xf32>,
                     %s: memref<8xi16>, %t: memref<8xi16>, %b: memref<8xi1>, %c: memref<8xi1>,
                     %u: memref<8xcomplex<f32>>, %v: memref<8xcomplex<f32>>) {
  tofu.collective all_reduce %i, %j from #tofu.layout<@line, [{}], xor {x}> to #tofu.layout<@line, [{}]> in [8]
      : memref<8xi32>, memref<8xi32>
  tofu.collective all_reduce %f, %g from #tofu.layout<@line, [{}], max {x}> to #tofu.layout<@line, [{}]> in [8]
      : memref<8xf32>, memref<8xf32>
  tofu.collective all_reduce %f, %g from #tofu.layout<@line, [{}], minnum {x}> to #tofu.layout<@line, [{}]> in [8]
      : memref<8xf32>, memref<8xf32>
  tofu.collective all_reduce %s, %t from #tofu.layout<@line, [{}], sum {x}> to #tofu.layout<@line, [{}]> in [8]
      : memref<8xi16>, memref<8xi16>
  tofu.collective all_reduce %b, %c from #tofu.layout<@line, [{}], or {x}> to #tofu.layout<@line, [{}]> in [8]
      : memref<8xi1>, memref<8xi1>
  tofu.collective all_reduce %u, %v from #tofu.layout<@line, [{}], sum {x}> to #tofu.layout<@line, [{}]> in [8]
      : memref<8xcomplex<f32>>, memref<8xcomplex<f32>>
  return
}

// One device has all that the others need. With three it has the one row, too, and
// there are two such.
// CHECK-LABEL: func.func @broadcast
// CHECK:         llvm.mlir.addressof @[[$BROADCAST]]
// CHECK:         llvm.mlir.addressof @[[$BROADCASTS]]
func.func @broadcast(%context: !llvm.ptr, %a: memref<?x6xf32>, %b: memref<1x6xf32>, %c: memref<?xf32>, %d: memref<1xf32>) {
  tofu.collective fetch %a, %b from #tofu.layout<@line, [{x}, {}]> to #tofu.layout<@line, [{}, {}]> in [1, 6]
      : memref<?x6xf32>, memref<1x6xf32>
  tofu.collective fetch %c, %d from #tofu.layout<@tall, [{x}]> to #tofu.layout<@tall, [{}]> in [1]
      : memref<?xf32>, memref<1xf32>
  return
}

// Each device sends something else to each other one, a halo is more than a part,
// sizes are unknown, or memory has gaps.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     tofuEven
// CHECK-COUNT-2: llvm.call @tofuCollective(
// CHECK:         llvm.call @tofuCollectiveOfSizes(
// CHECK:         llvm.call @tofuCollective(
func.func @others(%context: !llvm.ptr, %n: index, %a: memref<2x4xf32>, %b: memref<4x2xf32>, %c: memref<4xf32>, %d: memref<6xf32>,
                  %e: memref<?xf32>, %f: memref<?xf32>, %g: memref<4xf32, strided<[2]>>, %h: memref<8xf32>) {
  tofu.collective all_to_all %a, %b from #tofu.layout<@line, [{x}, {}]> to #tofu.layout<@line, [{}, {x}]> in [4, 4]
      : memref<2x4xf32>, memref<4x2xf32>
  tofu.collective fetch %c, %d from #tofu.layout<@line, [{x}]> to #tofu.boxes<@line, [i = 2 {x}, j = 6], [2 * i + j]> in [8]
      : memref<4xf32>, memref<6xf32>
  tofu.collective all_gather %e, %f from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [%n]
      : memref<?xf32>, memref<?xf32>
  tofu.collective all_gather %g, %h from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32, strided<[2]>>, memref<8xf32>
  return
}

// -----

tofu.mesh @line[x = 2]

// The collective waits for what wrote its source, not for what came after, and
// the compute stream for the collective where it is read.
// CHECK-LABEL: func.func @overlap
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr, %[[A:[a-z0-9]+]]: memref<4xf32>, %[[B:[a-z0-9]+]]: memref<8xf32>, %[[C:[a-z0-9]+]]: memref<f32>
// CHECK:         %[[COMM:.*]] = llvm.call @tofuStream
// CHECK:         %[[COMPUTE:.*]] = llvm.call @tofuStream
// CHECK:         memref.store %{{.*}}, %[[A]]
// CHECK-NEXT:    %[[E0:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-NEXT:    llvm.call @tofuRecord(%{{.*}}, %[[COMPUTE]], %[[E0]])
// CHECK-NEXT:    memref.store %{{.*}}, %[[C]]
// CHECK-NEXT:    %[[E0:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-NEXT:    llvm.call @tofuWait(%{{.*}}, %[[COMM]], %[[E0]])
// CHECK:         llvm.call @tofuEvenCollective
// CHECK-NEXT:    %[[E1:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-NEXT:    llvm.call @tofuRecord(%{{.*}}, %[[COMM]], %[[E1]])
// CHECK-NEXT:    memref.store %{{.*}}, %[[C]]
// CHECK-NEXT:    memref.load %[[A]]
// CHECK-NEXT:    %[[E1:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-NEXT:    llvm.call @tofuWait(%{{.*}}, %[[COMPUTE]], %[[E1]])
// CHECK-NEXT:    memref.load %[[B]]
// CHECK-NOT:     tofuWait
// CHECK:         return
func.func @overlap(%context: !llvm.ptr, %a: memref<4xf32>, %b: memref<8xf32>, %c: memref<f32>, %f: f32, %i: index) -> (f32, f32) {
  memref.store %f, %a[%i] : memref<4xf32>
  memref.store %f, %c[] : memref<f32>
  tofu.collective all_gather %a, %b from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  memref.store %f, %c[] : memref<f32>
  %0 = memref.load %a[%i] : memref<4xf32>
  %1 = memref.load %b[%i] : memref<8xf32>
  return %0, %1 : f32, f32
}

// What the collective reads is written again, through a view; what it writes was
// read before.
// CHECK-LABEL: func.func @reused
// CHECK:         memref.load
// CHECK:         llvm.call @tofuRecord
// CHECK:         llvm.call @tofuWait
// CHECK:         llvm.call @tofuEvenCollective
// CHECK:         llvm.call @tofuWait
// CHECK-NEXT:    memref.store
func.func @reused(%context: !llvm.ptr, %a: memref<4xf32>, %b: memref<8xf32>, %f: f32, %i: index) -> f32 {
  %0 = memref.load %b[%i] : memref<8xf32>
  %view = memref.subview %a[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  tofu.collective all_gather %a, %b from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  memref.store %f, %view[%i] : memref<2xf32, strided<[1], offset: 1>>
  return %0 : f32
}

// Independent neighbours are a group. Memory for results is there by the time that
// the group waits for, and what is freed is freed after the next wait.
// CHECK-LABEL: func.func @groups
// CHECK:         memref.store
// CHECK-NEXT:    %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    %[[B:.*]] = memref.alloc() : memref<8xf32>
// CHECK:         llvm.call @tofuRecord
// CHECK-NEXT:    memref.load
// CHECK:         llvm.call @tofuWait
// CHECK-NEXT:    llvm.call @tofuGroupBegin
// CHECK:         llvm.call @tofuEvenCollective
// CHECK:         llvm.call @tofuEvenCollective
// CHECK:         llvm.call @tofuGroupEnd
// CHECK:         llvm.call @tofuEvenCollective
// CHECK-NOT:     tofuGroup
// CHECK:         llvm.call @tofuRecord
// CHECK-NOT:     memref.dealloc
// CHECK:         memref.load
// CHECK-NEXT:    llvm.mlir.constant
// CHECK-NEXT:    llvm.call @tofuWait
// CHECK-NEXT:    memref.dealloc %[[S:.*]] : memref<4xf32>
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    memref.load
func.func @groups(%context: !llvm.ptr, %c: memref<f32>, %d: memref<8xf32>, %e: memref<16xf32>, %f: f32, %i: index) -> (f32, f32, memref<8xf32>) {
  %s = memref.alloc() : memref<4xf32>
  memref.store %f, %s[%i] : memref<4xf32>
  %0 = memref.load %c[] : memref<f32>
  %a = memref.alloc() : memref<8xf32>
  tofu.collective all_gather %s, %a from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  tofu.collective all_gather %s, %b from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  memref.dealloc %s : memref<4xf32>
  tofu.collective all_gather %b, %e from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [16]
      : memref<8xf32>, memref<16xf32>
  memref.dealloc %b : memref<8xf32>
  %1 = memref.load %c[] : memref<f32>
  %2 = memref.load %e[%i] : memref<16xf32>
  return %1, %2, %a : f32, f32, memref<8xf32>
}

// Whatever is freed between the first and the last of them.
// CHECK-LABEL: func.func @group_of_three
// CHECK:         llvm.call @tofuGroupBegin
// CHECK-NOT:     memref.dealloc
// CHECK-COUNT-3: llvm.call @tofuEvenCollective
// CHECK:         llvm.call @tofuGroupEnd
// CHECK-NOT:     memref.dealloc
// CHECK:         llvm.call @tofuWait
// CHECK-COUNT-2: memref.dealloc
// CHECK-NEXT:    return
func.func @group_of_three(%context: !llvm.ptr, %a: memref<4xf32>, %b: memref<8xf32>, %c: memref<8xf32>, %d: memref<8xf32>) {
  %s = memref.alloc() : memref<4xf32>
  %t = memref.alloc() : memref<4xf32>
  tofu.collective all_gather %s, %b from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  memref.dealloc %s : memref<4xf32>
  tofu.collective all_gather %t, %c from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  memref.dealloc %t : memref<4xf32>
  tofu.collective all_gather %a, %d from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  return
}

// Where a block ends, nothing is on its way. In a loop the first collective waits
// for what the stream has done before.
// CHECK-LABEL: func.func @loop
// CHECK:         llvm.call @tofuEvenCollective
// CHECK:         llvm.call @tofuRecord
// CHECK:         llvm.call @tofuWait
// CHECK:         scf.for
// CHECK-NEXT:      llvm.mlir.constant
// CHECK-NEXT:      llvm.call @tofuRecord
// CHECK:           llvm.call @tofuWait
// CHECK:           llvm.call @tofuEvenCollective
// CHECK:           llvm.call @tofuRecord
// CHECK:           llvm.call @tofuWait
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @loop(%context: !llvm.ptr, %a: memref<4xf32>, %b: memref<8xf32>, %c: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tofu.collective all_gather %a, %c from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    tofu.collective all_gather %a, %b from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
        : memref<4xf32>, memref<8xf32>
  }
  return
}

// A kernel that reads the source needs no wait, one that writes it does; the same
// in functions of the program. A function of the user's waits for all by itself.
// CHECK-LABEL: func.func @calls
// CHECK:         llvm.call @tofuEvenCollective
// CHECK-NEXT:    llvm.mlir.constant
// CHECK-NEXT:    llvm.call @tofuRecord
// CHECK-NEXT:    call @reader
// CHECK-NEXT:    llvm.mlir.constant
// CHECK-NEXT:    llvm.call @tofuWait
// CHECK-NEXT:    call @writer
// CHECK:         llvm.call @tofuEvenCollective
// CHECK-NEXT:    tofu.call
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    return
func.func @calls(%context: !llvm.ptr, %b: memref<8xf32>, %f: f32) {
  %a = memref.alloc() : memref<4xf32>
  tofu.collective all_gather %a, %b from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  call @reader(%context, %a, %f) : (!llvm.ptr, memref<4xf32>, f32) -> ()
  call @writer(%context, %a, %f) : (!llvm.ptr, memref<4xf32>, f32) -> ()
  tofu.collective all_gather %a, %b from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  memref.dealloc %a : memref<4xf32>
  tofu.call @outside(%f : f32) into(%b : memref<8xf32>)
  return
}
func.func private @outside(f32) -> tensor<8xf32>
func.func private @reader(%context: !llvm.ptr, %a: memref<4xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %a[%c0] : memref<4xf32>
  return
}
func.func private @writer(%context: !llvm.ptr, %a: memref<4xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  memref.store %f, %a[%c0] : memref<4xf32>
  return
}

// -----

tofu.mesh @line[x = 2]

// expected-error@+1 {{has collectives, but no device context}}
func.func @no_context(%a: memref<4xf32>, %b: memref<8xf32>) {
  tofu.collective all_gather %a, %b from #tofu.layout<@line, [{x}]> to #tofu.layout<@line, [{}]> in [8]
      : memref<4xf32>, memref<8xf32>
  return
}
