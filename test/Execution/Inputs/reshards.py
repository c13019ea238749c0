#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings a tensor of integers from every layout to every other one, and back.

usage: reshards.py FOLDER MESH SHAPE, as in reshards.py /tmp/r 2x3 5x4

Each axis cuts a dim, leaves partial sums, or does nothing. One program per
layout to start from, written to FOLDER and run with tofu-run: every result must
be the input again.
"""

import itertools
import os
import subprocess
import sys


def bracketed(items):
    return "[" + ", ".join(items) + "]"


def layouts(axes, rank):
    for choices in itertools.product(range(rank + 2), repeat=len(axes)):

        def named(choice):
            return "{" + ", ".join(a for a, c in zip(axes, choices) if c == choice) + "}"

        partial = ", sum " + named(rank) if rank in choices else ""
        yield f"#tofu.layout<@mesh, {bracketed(map(named, range(rank)))}{partial}>"


def program(axes, mesh, shape, start):
    tensor = f"tensor<{'x'.join(map(str, shape))}xi32>"
    whole = f"#tofu.layout<@mesh, {bracketed(['{}'] * len(shape))}>"
    boundary = f"{tensor} {{tofu.layout = {whole}}}"

    def reshard(result, value, held, wanted):
        return f"  %{result} = tofu.reshard %{value} from {held} to {wanted} in {shape} : {tensor} -> {tensor}"

    wanted = list(layouts(axes, len(shape)))
    sizes = bracketed(f"{a} = {n}" for a, n in zip(axes, mesh))
    lines = [f"tofu.mesh @mesh {sizes}"]
    lines.append(f"func.func @main(%a: {boundary}) -> ({', '.join([boundary] * len(wanted))}) {{")
    lines.append(reshard("s", "a", whole, start))
    for i, layout in enumerate(wanted):
        lines.append(reshard(f"t{i}", "s", start, layout))
        lines.append(reshard(f"r{i}", f"t{i}", layout, whole))
    results = ", ".join(f"%r{i}" for i in range(len(wanted)))
    lines.append(f"  return {results} : {', '.join([tensor] * len(wanted))}")
    return "\n".join(lines + ["}", ""]), len(wanted)


def main(folder, mesh, shape):
    mesh, shape = ([int(size) for size in text.split("x")] for text in (mesh, shape))
    axes = "xyz"[: len(mesh)]
    count = 1
    for size in shape:
        count *= size
    values = " ".join(str(7 * i - 20) for i in range(count))
    text = f"{'x'.join(map(str, shape))}xi32={values}"
    os.makedirs(folder, exist_ok=True)
    for number, start in enumerate(layouts(axes, len(shape))):
        path = os.path.join(folder, f"from{number}.mlir")
        source, results = program(axes, mesh, shape, start)
        with open(path, "w") as file:
            file.write(source)
        command = ["tofu-run", path, "--quiet", f"--input={text}"]
        if subprocess.call(command + [f"--expected_output={text}"] * results):
            sys.exit(f"from {start}: {' '.join(command)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
