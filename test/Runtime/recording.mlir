// Devices with streams: what they do is recorded, and must be the same on all.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Device 1 gathers in another order than device 0.
// RUN: split-file %s %t
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %t/swapped.mlir --backend=recording --input=4xf32=1 --input=4xf32=2 2>&1 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: error: device {{[01]}}, {{.*}}swapped.mlir:[[#]]:[[#]]: device {{[01]}} is at all_gather number 1 at {{.*}}swapped.mlir:[[#]]:[[#]], this one at all_gather number 1 at {{.*}}swapped.mlir:

// RUN: tofu-run %S/Inputs/matmul.mlir --devices=2 --backend=recording --check --quiet --record=%t/record.json
// RUN: %python -m json.tool %t/record.json %t/pretty.json
// RUN: FileCheck %s --check-prefix=RECORD < %t/record.json
// RECORD:      {"devices": [
// RECORD:      {"call": "record", "stream": "compute", "event": 0}
// RECORD-NEXT: {"call": "wait", "stream": "communication", "event": 0}
// RECORD-NEXT: {"call": "all_gather", "stream": "communication", "location": "{{.*}}matmul.mlir:{{.*}}", "bytes": [[#]]}
// RECORD-NEXT: {"call": "record", "stream": "communication", "event": 1}
// RECORD:      {"call": "wait", "stream": "compute", "event": 1}
// RECORD-NEXT: {"call": "contract", "stream": "compute", "location": "{{.*}}matmul.mlir:{{.*}}"}
// RECORD:      {"call": "synchronize"}],
// RECORD:      {"call": "synchronize"}]]}

// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %S/Inputs/matmul.mlir --check --record=%t/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: --record: backend host keeps no record

// What fails on a stream fails with its place, although it runs later.
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %S/failures.mlir --devices=4 --backend=recording --input="4xf32=1 2 3 4" --input="4xi32=3 2 1 7" 2>&1 | FileCheck %s --check-prefix=FAILURE
// FAILURE: error: device 3, {{.*}}failures.mlir:[[#]]:5: index out of range

//--- swapped.mlir
tofu.mesh @mesh[x = 2]
func.func @main(
    %a: tensor<2xf32> {tofu.global_type = tensor<4xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>},
    %b: tensor<2xf32> {tofu.global_type = tensor<4xf32>, tofu.layout = #tofu.layout<@mesh, [{x}]>})
    -> (tensor<4xf32> {tofu.global_type = tensor<4xf32>, tofu.layout = #tofu.layout<@mesh, [{}]>},
        tensor<4xf32> {tofu.global_type = tensor<4xf32>, tofu.layout = #tofu.layout<@mesh, [{}]>}) {
  %c0 = arith.constant 0 : index
  %device = tofu.device_id : index
  %first = arith.cmpi eq, %device, %c0 : index
  %r:2 = scf.if %first -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = tofu.all_gather %a from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [4] : tensor<2xf32> -> tensor<4xf32>
    %1 = tofu.all_gather %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [4] : tensor<2xf32> -> tensor<4xf32>
    scf.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  } else {
    %1 = tofu.all_gather %b from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [4] : tensor<2xf32> -> tensor<4xf32>
    %0 = tofu.all_gather %a from #tofu.layout<@mesh, [{x}]> to #tofu.layout<@mesh, [{}]> in [4] : tensor<2xf32> -> tensor<4xf32>
    scf.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
