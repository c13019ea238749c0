# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts processes that find each other by the variables of PyTorch's env://, as launchers without MPI do.

Ends with the largest exit code, once all have ended by themselves; with 99 if they don't.
"""

import argparse
import os
import socket
import subprocess
import sys
import time

HANG_SECONDS = 300


def find_free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, required=True, help="how many processes the job has")
    parser.add_argument("--ranks", help="which of them are started, as in 0,2; by default all")
    parser.add_argument("--set", action="append", default=[], metavar="RANK:NAME=VALUE",
                        help="another value of a variable in that process")
    parser.add_argument("--slurm", action="store_true", help="with the variables of a step of Slurm")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    ranks = [int(rank) for rank in options.ranks.split(",")] if options.ranks else range(options.n)
    names = ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"] if options.slurm else ["RANK", "WORLD_SIZE", "LOCAL_RANK"]
    port = find_free_port()
    processes = []
    for rank in ranks:
        variables = dict(zip(names, (rank, options.n, rank)), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        for change in options.set:
            number, assignment = change.split(":", 1)
            if int(number) == rank:
                name, value = assignment.split("=", 1)
                variables[name] = value
        environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
        processes.append(subprocess.Popen(options.command, env=environment))
    deadline = time.monotonic() + HANG_SECONDS
    codes = []
    for process in processes:
        try:
            codes.append(process.wait(timeout=max(0, deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            process.kill()
            codes.append(99)
    # Signals are negative.
    sys.exit(max(abs(code) for code in codes))


main()
