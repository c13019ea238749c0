#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Assembles the kernels of programs and prints what each takes of a GPU.

usage: kernel-report.py [--tofu-opt=TOFU_OPT] [--ptxas=PTXAS] [--chips=sm_80,sm_90,sm_100] [--quiet] PROGRAM...

For each program and chip: the number of kernels, the most registers and bytes
of shared memory that one takes, and the number of kernels that spill registers.
--quiet leaves out the line of each kernel. The exit code is 1 if a program
can't be lowered, or a kernel can't be assembled or spills.
"""
import os
import re
import subprocess
import sys
import tempfile

IMAGE = re.compile(r'llvm\.mlir\.global internal constant @kernels_image\("((?:[^"\\]|\\.)*)"\)')
ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
KERNEL = re.compile(
    r"Compiling entry function '(?P<name>\S+)' for '\w+'\n.*?"
    r"(?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads\n"
    r".*?Used (?P<registers>\d+) registers(?P<rest>[^\n]*)", re.DOTALL)
SHARED = re.compile(r"(\d+) bytes smem")


def unescape(text):
    def byte(match):
        code = match.group(1)
        return bytes([int(code, 16)]) if len(code) == 2 else code

    return ESCAPE.sub(byte, text.encode())


def lower(tofu_opt, program, chip):
    """Gives the PTX of a program, or None; empty if it has no kernels."""
    done = subprocess.run([tofu_opt, program, f"--tofu-to-gpu=chip={chip}"], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return None
    image = IMAGE.search(done.stdout)
    return unescape(image.group(1)).rstrip(b"\0") if image else b""


def assemble(ptxas, ptx, chip):
    """Gives a dictionary for each kernel, or None."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "kernels.ptx")
        with open(source, "wb") as file:
            file.write(ptx)
        command = [ptxas, f"-arch={chip}", "-v", source, "-o", os.path.join(folder, "kernels.cubin")]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return None
    return [match.groupdict() for match in KERNEL.finditer(done.stderr)]


def report(program, chip, options):
    """Prints what the kernels take; true if all is well."""
    name = os.path.basename(program)
    ptx = lower(options["tofu-opt"], program, chip)
    if ptx is None:
        print(f"{name} {chip}: can't be lowered")
        return False
    kernels = assemble(options["ptxas"], ptx, chip) if ptx else []
    if kernels is None or len(kernels) != ptx.count(b".visible .entry"):
        print(f"{name} {chip}: can't be assembled")
        return False
    spills = 0
    most_registers, most_shared = 0, 0
    for kernel in kernels:
        registers = int(kernel["registers"])
        shared = int((SHARED.search(kernel["rest"]) or [0, 0])[1])
        spilled = int(kernel["stores"]) + int(kernel["loads"])
        spills += spilled > 0
        most_registers, most_shared = max(most_registers, registers), max(most_shared, shared)
        if "quiet" not in options:
            print(f"  {kernel['name']:16} {registers:4} registers {shared:6} bytes shared {spilled:6} bytes spilled")
    print(f"{name} {chip}: {len(kernels)} kernels, at most {most_registers} registers and {most_shared} bytes of "
          f"shared memory, {spills} with spills", flush=True)
    return spills == 0


def main(arguments):
    flags = dict((a[2:].split("=", 1) + [""])[:2] for a in arguments if a.startswith("--"))
    programs = [a for a in arguments if not a.startswith("--")]
    if not programs or not set(flags) <= {"tofu-opt", "ptxas", "chips", "quiet"}:
        sys.exit(__doc__)
    options = {"tofu-opt": "tofu-opt", "ptxas": "ptxas", "chips": "sm_80,sm_90,sm_100", **flags}
    good = [report(p, chip, options) for p in programs for chip in options["chips"].split(",")]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
