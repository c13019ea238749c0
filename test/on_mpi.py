# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program on the MPI backend, or in processes on another one that --backend= names.

usage: on_mpi.py TOFU_RUN ARGUMENTS...

Starts as many processes of tofu-run, or tofu-run-bundle, as there are devices: what --devices=
says, or else what the error of a single process does. The exit code is that of the processes.
"""

import re
import subprocess
import sys


def run(count, command):
    """The exit code, and what was printed to standard error but for what mpirun says."""
    # Debian's Open MPI: as root, on fewer cores, in containers without ptrace.
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--quiet", "--mca", "btl_vader_single_copy_mechanism",
              "none", "-n", str(count)]
    done = subprocess.run(mpirun + command, stderr=subprocess.PIPE, text=True)
    return done.returncode, re.sub(r"(?s)^-{70,}\n.*?^-{70,}\n", "", done.stderr, flags=re.MULTILINE)


def main():
    backend = [] if any(argument.startswith("--backend=") for argument in sys.argv) else ["--backend=mpi"]
    command = [sys.argv[1], *backend, *sys.argv[2:]]
    devices = re.search(r" --?devices[= ](\d+)", " ".join(command))
    code, errors = run(int(devices[1]) if devices else 1, command)
    needed = re.search(r"start it with mpirun -n (\d+)", errors)
    if needed and not devices:
        code, errors = run(int(needed[1]), command)
    sys.stderr.write(errors)
    sys.exit(code)


main()
