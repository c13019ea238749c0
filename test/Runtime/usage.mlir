// What makes no sense on the command line: exit code 2 and what to do.
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: split-file %s %t
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run 2>&1 | FileCheck %s --check-prefix=NO-FILE
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --no-such-option 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/none.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir 2>&1 | FileCheck %s --check-prefix=NO-INPUT
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --input=f32=1 2>&1 | FileCheck %s --check-prefix=ONE-INPUT
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --check --input=f32=1 2>&1 | FileCheck %s --check-prefix=ONE-INPUT
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --input=f32=1 --input=f32=1 --expected_output=f32=1 --expected_output=f32=1 2>&1 | FileCheck %s --check-prefix=EXPECTED
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --input=f32=1 --input=f32=1 --output=@a.npy --output=@b.npy 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --input=f32=1 --input=f64=1 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --input=f32=1 --input=f32=1 --expected_output=1 2>&1 | FileCheck %s --check-prefix=EXPECTED-TEXT
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --devices=0 2>&1 | FileCheck %s --check-prefix=DEVICES
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --iters=0 2>&1 | FileCheck %s --check-prefix=ITERS
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --warmup=-1 2>&1 | FileCheck %s --check-prefix=WARMUP
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --rtol=-1 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --opt-level=4 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --timeout=0 2>&1 | FileCheck %s --check-prefix=TIMEOUT
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --gpus=0 2>&1 | FileCheck %s --check-prefix=GPUS
// RUN: %python %S/Inputs/exit_code.py 3 %tofu_tools/tofu-run %t/main.mlir --check --gpus=1 2>&1 | FileCheck %s --check-prefix=NO-GPUS
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --output=y.npy 2>&1 | FileCheck %s --check-prefix=AT
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --output-per-device 2>&1 | FileCheck %s --check-prefix=PER-DEVICE
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --devices=2 --partition-options=nonsense=1 --check 2>&1 | FileCheck %s --check-prefix=PARTITION
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/main.mlir --backend=tpu 2>&1 | FileCheck %s --check-prefix=BACKEND
// RUN: %python %S/Inputs/exit_code.py 3 tofu-run %t/main.mlir --devices=2000 --check 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/two.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/two.mlir -e none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/old.mlir 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: %python %S/Inputs/exit_code.py 2 tofu-run %t/type.mlir 2>&1 | FileCheck %s --check-prefix=NO-TYPE
// RUN: tofu-run --help | FileCheck %s --check-prefix=HELP

// NO-FILE: error: no program; see --help
// UNKNOWN: Unknown command line argument '--no-such-option'
// MISSING: error: cannot open input file '{{.*}}none.mlir': No such file or directory
// NO-INPUT: error: @main has 2 arguments, 0 --inputs given; say --input= once for each, in order, such as --input=random:0
// ONE-INPUT: error: @main has 2 arguments, 1 --input given; say --input= once for each, in order
// EXPECTED: error: @main has 1 result, 2 --expected_outputs given
// OUTPUT: error: @main has 1 result, 2 --outputs given
// TYPE: error: input 1: 'f64=1' has type f64, expected f32
// EXPECTED-TEXT: error: expected output 0: '1' is no tensor: say @FILE.npy, random:SEED, or a type with elements such as 2x2xf32=1 2 3 4
// DEVICES: error: --devices must be at least 1
// ITERS: error: --iters must be at least 1
// WARMUP: error: --warmup must not be negative
// TOLERANCE: error: --rtol and --atol must not be negative
// LEVEL: error: --opt-level must be 0, 1, 2 or 3
// TIMEOUT: error: --timeout must be positive
// GPUS: error: --gpus must be at least 1
// NO-GPUS: error: the devices of this backend are no GPUs
// AT: error: --output=y.npy: write @FILE.npy
// PER-DEVICE: error: --output-per-device needs --output
// PARTITION: error: --partition-options: not understood: nonsense=1
// BACKEND: error: backend tpu: not in this build, there is no {{.*}}lib/libtofu_runtime_tpu.so
// MANY: error: the host backend has 1 to 1024 devices, not 2000
// TWO: error: 2 public functions with a body, expected one; choose with --function=
// TWO: two.mlir:1:1: note: candidate @a
// TWO: two.mlir:4:1: note: candidate @b
// NONE: error: no public function @none with a body
// EMPTY: error: 0 public functions with a body, expected one
// OLD: old.mlir:2:{{.*}}: error:
// OLD: note: the input must be MLIR 22
// NO-TYPE: type.mlir:1:1: error: argument 0: tofu-run has no values of type 'tensor<2xcomplex<f16>>'
// HELP: USAGE: tofu-run [options] <program.mlir>

//--- main.mlir
func.func @main(%a: f32, %b: f32) -> f32 {
  %sum = arith.addf %a, %b : f32
  return %sum : f32
}

//--- two.mlir
func.func @a() {
  return
}
func.func @b() {
  return
}
func.func private @c() {
  return
}

//--- empty.mlir
func.func private @c(f32)

//--- old.mlir
func.func @main(%a: f32) -> f32 {
  %0 = arith.maxf %a, %a : f32
  return %0 : f32
}

//--- type.mlir
func.func @main(%a: tensor<2xcomplex<f16>>) {
  return
}
