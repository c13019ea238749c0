#!/usr/bin/env bash
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: ./build.sh              build everything into build/
       ./build.sh demo         build, then run a training step on 4 devices of this machine
       ./build.sh test [...]   build, then run all tests; further arguments go to lit
       ./build.sh --help

On Debian and Ubuntu, packages that are missing are installed first with apt-get (as root or
through sudo). TOFU_BUILD_DIR names another build folder, TOFU_NO_INSTALL=1 forbids installing.
USAGE
}

cd "$(dirname "$0")"
source_dir=$PWD
build_dir=${TOFU_BUILD_DIR:-$source_dir/build}
packages=(cmake ninja-build ccache python3 libc6-dev libdnnl-dev ocl-icd-opencl-dev libgtest-dev nlohmann-json3-dev
          libcli11-dev libasio-dev libmimalloc-dev libopenmpi-dev openmpi-bin llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
          clang-22 clang-format-22 lld-22 libclang-rt-22-dev)

say() { printf '== %s\n' "$*"; }
fail() { printf 'build.sh: error: %s\n' "$*" >&2; exit 1; }

missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
  for package in "${packages[@]}"; do
    grep -qx "$package installed" <<<"$installed" || echo "$package"
  done
}

install_packages() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || {
    say "no apt-get here: taking what is needed to be installed (${packages[*]})"
    return
  }
  local missing as_root=()
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  [[ -z ${TOFU_NO_INSTALL:-} ]] || fail "missing packages: ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "missing packages, and neither root nor sudo: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  if [[ -z $(apt-cache search --names-only '^libmlir-22-dev$') ]]; then
    fail "no LLVM 22 in the apt sources; add those of https://apt.llvm.org and try again"
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}"
}

build() { # build [targets...]
  install_packages
  if [[ ! -f $build_dir/build.ninja ]]; then
    say "configuring $build_dir"
    cmake -G Ninja -S "$source_dir" -B "$build_dir"
  fi
  say "building"
  ninja -C "$build_dir" "$@"
}

demo() {
  trap 'code=$?; ((code == 0)) || echo "demo: FAILED, exit code $code"' EXIT
  build
  local program=test/Execution/Inputs/mlp_train.mlir
  local options=(--devices=4 --check --print-plan --warmup=1 --iters=10)
  say "a training step of a multi-layer perceptron, partitioned over 4 devices of this machine:"
  say "tofu-run $program ${options[*]}"
  "$build_dir/bin/tofu-run" "$program" "${options[@]}"
  echo "demo: ok, 4 devices computed what one computes"
}

run_tests() {
  # Whoever reads the last line gets one, also of a build that failed.
  trap 'code=$?; ((code == 0)) || echo "0 passed, 1 failed"' EXIT
  build all tofu-test-depends
  trap - EXIT
  say "testing"
  "$source_dir/utils/run-tests.py" --lit=/usr/lib/llvm-22/bin/lit "$@" "$build_dir/test"
}

case ${1:-build} in
  build) build ;;
  demo) demo ;;
  test) shift; run_tests "$@" ;;
  -h | --help | help) usage ;;
  *) usage >&2; exit 2 ;;
esac
