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
fix=
for argument in "$@"; do
  case $argument in
    --fix) fix=1 ;;
    *) clang_format=$argument ;;
  esac
done

files=()
while IFS= read -r -d '' file; do
  files+=("$file")
done < <(find cmake include lib tofu-opt tofu-run test \( -name '*.cpp' -o -name '*.h' \) -print0)

if [[ -n $fix ]]; then
  exec "$clang_format" -i "${files[@]}"
fi
if ! findings=$("$clang_format" --dry-run -Werror "${files[@]}" 2>&1); then
  grep -oE '^[^ :]+:[0-9]+' <<<"$findings" | cut -d: -f1 | sort -u
  echo "not formatted; utils/check-format.sh --fix formats them"
  exit 1
fi
