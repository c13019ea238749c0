#!/usr/bin/env bash
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs compiled programs on a machine with GPUs that has CUDA, NCCL and Python but neither LLVM nor the
# sources. run_on_gpu.py beside this says what it takes.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v python3 >/dev/null || {
  echo "run-on-gpu.sh: error: there is no python3" >&2
  exit 2
}
exec python3 "$here/run_on_gpu.py" "$@"
