#!/usr/bin/env bash
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Names the C++ files that clang-format would change; with --fix, changes them.
#
# usage: check-format.sh [CLANG_FORMAT] [--fix]
set -euo pipefail

cd "$(dirname "$0")/.."
clang_format=clang-format-22
mode=(--dry-run -Werror)
for argument in "$@"; do
  case $argument in
    --fix) mode=(-i) ;;
    *) clang_format=$argument ;;
  esac
done
find cmake include lib tofu-opt tofu-run test \( -name '*.cpp' -o -name '*.h' \) -print0 |
  xargs -0 "$clang_format" "${mode[@]}"
