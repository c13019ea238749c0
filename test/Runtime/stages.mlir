// A program is taken at the stage that it has reached.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: rm -rf %t && mkdir %t
// RUN: tofu-run %S/Inputs/matmul.mlir --input=random:1 --input=random:2 --output=@%t/y.npy --quiet
// RUN: tofu-opt %S/Inputs/matmul.mlir --tofu-annotate -o %t/annotated.mlir
// RUN: tofu-opt %S/Inputs/matmul.mlir --tofu-annotate --tofu-plan=devices=4 -o %t/planned.mlir
// RUN: tofu-opt %S/Inputs/matmul.mlir --tofu-partition=devices=3 -o %t/partitioned.mlir
// RUN: tofu-run %t/annotated.mlir --devices=2 --input=random:1 --input=random:2 --expected_output=@%t/y.npy | FileCheck %s --check-prefix=ANNOTATED
// RUN: tofu-run %t/planned.mlir --input=random:1 --input=random:2 --expected_output=@%t/y.npy | FileCheck %s --check-prefix=PLANNED
// RUN: tofu-run %t/partitioned.mlir --input=random:1 --input=random:2 --expected_output=@%t/y.npy | FileCheck %s --check-prefix=PARTITIONED

// ANNOTATED: @main on 2 host devices
// PLANNED: @main on 4 host devices
// PARTITIONED: @main on 3 host devices

// A plan is checked against the program as it was before; one that has been
// carried out can't be.
// RUN: tofu-run %t/planned.mlir --check
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/partitioned.mlir --check 2>&1 | FileCheck %s --check-prefix=CHECKED
// CHECKED: error: --check needs the program as it was before partitioning

// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/planned.mlir --devices=8 --input=random:1 --input=random:2 2>&1 | FileCheck %s --check-prefix=DEVICES
// DEVICES: error: program is for 4 devices, --devices says 8
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/planned.mlir --mesh=x=4 --input=random:1 --input=random:2 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: error: --mesh: the program is planned already

// Plans as files.
// RUN: tofu-opt %S/Inputs/matmul.mlir --tofu-annotate --tofu-plan='devices=3 json=%t/plan.json' -o %t/ignored.mlir
// RUN: tofu-run %S/Inputs/matmul.mlir --devices=3 --plan=%t/plan.json --check
// RUN: tofu-run %S/Inputs/matmul.mlir --mesh=x=2,y=2 --print-plan --check 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: linalg.matmul
// PLAN: @main on 4 host devices
