#!/usr/bin/env bash
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Names the executables and shared libraries in the given folders that define
# MLIRContext themselves instead of taking it from libMLIR.so. Exit code 0 if
# there is one.
#
# usage: has-static-mlir.sh NM FOLDER...
set -euo pipefail

nm=$1
shift
found=1
while IFS= read -r -d '' file; do
  symbols=$("$nm" -C "$file" 2>/dev/null || true)
  if grep -q ' T mlir::MLIRContext::' <<<"$symbols"; then
    echo "$file has MLIR inside"
    found=0
  fi
done < <(find "$@" -maxdepth 1 -type f \( -perm -u+x -o -name '*.so' \) -print0)
exit $found
