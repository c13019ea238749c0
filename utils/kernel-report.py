#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Assembles the kernels of programs and prints what each takes of a GPU, and what the programs call.

usage: kernel-report.py [--tofu-opt=TOFU_OPT] [--ptxas=PTXAS] [--chips=sm_80,sm_90,sm_100] [--quiet] PROGRAM...

For each program and chip: the number of kernels, the most registers and bytes
of shared memory that one takes, and the number of kernels that spill registers.
Before them, for each program: how often a run of its function launches kernels,
and calls a library for contractions and collectives, where loops count once.
--quiet leaves out the line of each kernel. The exit code is 1 if a program
can't be lowered, or a kernel can't be assembled or spills.
"""
import collections
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
FUNCTION_OR_CALL = re.compile(r"llvm\.func (?:\w+ )*@(?P<function>\w+)\(|llvm\.call @(?P<callee>\w+)\(")
ENTRY = "_mlir_ciface_"
# What is counted: functions of the runtime.
LAUNCHES = ["tofuLaunch"]
EPILOGUES = ["tofuContractWithEpilogue"]
CONTRACTIONS = ["tofuContract", *EPILOGUES]
COLLECTIVES = ["tofuEvenCollective", "tofuCollective", "tofuCollectiveOfSizes"]


def unescape(text):
    def byte(match):
        code = match.group(1)
        return bytes([int(code, 16)]) if len(code) == 2 else code

    return ESCAPE.sub(byte, text.encode())


def lower(tofu_opt, program, chip):
    """Gives a program in the LLVM dialect, or None."""
    done = subprocess.run([tofu_opt, program, f"--tofu-to-gpu=chip={chip}"], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return None
    return done.stdout


def get_ptx(lowered):
    """Empty if there are no kernels."""
    image = IMAGE.search(lowered)
    return unescape(image.group(1)).rstrip(b"\0") if image else b""


def count_calls(lowered):
    """How often the entry points call each function, by way of others too, with loops counted once."""
    callees, function = {}, None
    for match in FUNCTION_OR_CALL.finditer(lowered):
        if match["function"]:
            function = match["function"]
        else:
            callees.setdefault(function, collections.Counter())[match["callee"]] += 1
    totals = {}

    def total(function):
        if function not in totals:
            calls = totals[function] = collections.Counter()
            for callee, count in callees.get(function, {}).items():
                calls[callee] += count
                for inner, times in total(callee).items():
                    calls[inner] += count * times
        return totals[function]

    inner = {callee for calls in callees.values() for callee in calls}
    entries = [function for function in callees if function.startswith(ENTRY) and function not in inner]
    return sum((total(function) for function in entries), collections.Counter())


def report_calls(name, lowered):
    calls = count_calls(lowered)

    def count(functions):
        return sum(calls[function] for function in functions)

    print(f"{name}: {count(LAUNCHES)} launches, {count(CONTRACTIONS)} contractions, {count(EPILOGUES)} of them with an "
          f"epilogue, {count(COLLECTIVES)} collectives")


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


def report(program, chip, is_first, options):
    """Prints what the kernels take; true if all is well."""
    name = os.path.basename(program)
    lowered = lower(options["tofu-opt"], program, chip)
    if lowered is None:
        print(f"{name} {chip}: can't be lowered")
        return False
    if is_first:
        report_calls(name, lowered)
    ptx = get_ptx(lowered)
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
    chips = options["chips"].split(",")
    good = [report(program, chip, chip == chips[0], options) for program in programs for chip in chips]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
