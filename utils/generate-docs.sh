#!/usr/bin/env bash
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the reference pages that TableGen makes of the dialect and the passes, and the table of
# operators that tofu-opt (on PATH, or in build/bin) makes of the examples in the tests.
#
# usage: generate-docs.sh FOLDER [MLIR_TBLGEN [MLIR_INCLUDE_FOLDER]]
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/.." && pwd)
out=${1:?usage: generate-docs.sh FOLDER [MLIR_TBLGEN [MLIR_INCLUDE_FOLDER]]}
tblgen=${2:-/usr/lib/llvm-22/bin/mlir-tblgen}
mlir_include=${3:-/usr/lib/llvm-22/include}

page() { # page NAME.md TD generator...
  local name=$1 td=$source_dir/include/Tofu/$2
  shift 2
  "$tblgen" "$td" "$@" -I "$source_dir/include" -I "$mlir_include" -o "$out/$name"
}

mkdir -p "$out"
page Operations.md Dialect/TofuOps.td -gen-op-doc -dialect=tofu
page BufferOperations.md Dialect/TofuBufferOps.td -gen-op-doc -dialect=tofu
page Attributes.md Dialect/TofuAttributes.td -gen-attrdef-doc -dialect=tofu
page Interfaces.md Dialect/TofuInterfaces.td -gen-op-interface-docs
page TransformsPasses.md Transforms/Passes.td -gen-pass-doc
page ConversionPasses.md Conversion/Passes.td -gen-pass-doc
PATH=$PATH:$source_dir/build/bin "$source_dir/utils/operators.py" table \
  "$source_dir"/test/Transforms/annotate-{named,convolutions,pooling,reductions,generic,region,tiling,structure,tensor}.mlir >"$out/Operators.md"
