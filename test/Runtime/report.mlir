// The report as text and as JSON.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: tofu-run %S/Inputs/matmul.mlir --devices=2 --mesh=x=2 --iters=3 --warmup=1 --check --json=%t.json | FileCheck %s
// RUN: %python -c "import json, sys; print(json.dumps(json.load(open(sys.argv[1])), sort_keys=True))" %t.json | FileCheck %s --check-prefix=JSON
// RUN: tofu-run %S/Inputs/matmul.mlir --check --quiet --json=- | FileCheck %s --check-prefix=STDOUT

// CHECK:      @main on 2 host devices, 3 iterations
// CHECK-NEXT: device min avg max p99 compute collectives received peak memory
// CHECK-NEXT: 0 {{.*}}s {{.*}}B
// CHECK-NEXT: 1 {{.*}}s {{.*}}B
// CHECK:      received by all devices: {{[0-9]+}} bytes

// JSON-DAG: "backend": "host"
// JSON-DAG: "devices": 2
// JSON-DAG: "function": "main"
// JSON-DAG: "iterations": 3
// JSON-DAG: "warmup": 1
// JSON-DAG: "comparisons": [{"different": 0, "elements": 35, "largest_difference": {{[^,]*}}, "result": 0, "rounding_error": 0{{(\.0)?}}, "with": "unpartitioned run"}]
// JSON-DAG: "per_device": [{"collective_seconds"
// JSON-DAG: "received_bytes": {{[0-9]+}}
// JSON-DAG: "received_bytes_per_kind": {

// STDOUT-NOT: @main
// STDOUT: "backend": "host"
