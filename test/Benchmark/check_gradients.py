#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the gradients of a training step with differences of its loss.

usage: check_gradients.py --model=NAME [--SIZE=N...]

The options are those of tofu-models, which is found on PATH, as is tofu-run. The program is made in f64, with random
weights w and momenta of zero, so that the new momenta are the gradients g. For a random direction d of all weights,
(loss(w + e d) - loss(w - e d)) / 2e must be the sum of g d. Labels are below 5.
"""
import array
import math
import os
import random
import re
import subprocess
import sys
import tempfile

STEP = 1e-5
TOLERANCE = 1e-6
LABELS = 5
ARGUMENT = re.compile(r"%arg\d+: tensor<((?:\d+x)*)(f64|i32)>( \{tf\.aliasing_output)?")


def write(path, shape, values):
    """An .npy file of f64 or, if the values are ints, i32."""
    code, kind = ("i", "<i4") if isinstance(values[0], int) else ("d", "<f8")
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({''.join(f'{n},' for n in shape)}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        array.array(code, values).tofile(file)


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return array.array("d", data[10 + int.from_bytes(data[8:10], "little"):])


class Step:
    """A training step that can be run."""

    def __init__(self, program, folder):
        with open(program) as file:
            signature = next(line for line in file if "func.func" in line).split(") -> ")[0]
        self.program, self.folder = program, folder
        self.arguments = [([int(n) for n in sizes.split("x")[:-1]], kind, bool(carried))
                          for sizes, kind, carried in ARGUMENT.findall(signature)]
        self.num_carried = sum(carried for _, _, carried in self.arguments)

    def path(self, name, number):
        return os.path.join(self.folder, f"{name}{number}.npy")

    def run(self, values):
        """The loss and the new momenta."""
        command = ["tofu-run", self.program, "--devices=1", "--opt-level=0", "--quiet"]
        for i, ((shape, _, _), value) in enumerate(zip(self.arguments, values)):
            write(self.path("in", i), shape, value)
            command.append("--input=@" + self.path("in", i))
        command += ["--output=@" + self.path("out", i) for i in range(self.num_carried + 1)]
        subprocess.run(command, check=True)
        results = [read(self.path("out", i)) for i in range(self.num_carried + 1)]
        return results[-1][0], results[1:-1:2]


def draw(draws, shape, kind):
    count = math.prod(shape)
    if kind == "i32":
        return [draws.randrange(LABELS) for _ in range(count)]
    scale = math.prod(shape[:-1]) ** -0.5
    return [draws.gauss(0, scale) for _ in range(count)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.mlir")
        with open(program, "w") as file:
            subprocess.run(["tofu-models", "--dtype=f64"] + sys.argv[1:], stdout=file, check=True)
        step, draws = Step(program, folder), random.Random(0)
        values = [draw(draws, shape, kind) for shape, kind, _ in step.arguments]
        weights = range(0, step.num_carried, 2)
        for i in weights:
            values[i + 1] = [0.0] * len(values[i])
        direction = {i: draw(draws, *step.arguments[i][:2]) for i in weights}
        _, gradients = step.run(values)
        slope = sum(g * d for i, gradient in zip(weights, gradients) for g, d in zip(gradient, direction[i]))

        def loss(distance):
            moved = list(values)
            for i in weights:
                moved[i] = [v + distance * d for v, d in zip(values[i], direction[i])]
            return step.run(moved)[0]

        difference = (loss(STEP) - loss(-STEP)) / (2 * STEP)
    error = abs(slope - difference) / abs(difference)
    print(f"by gradients {slope:.9e}, by differences {difference:.9e}, error {error:.1e}")
    if not error < TOLERANCE:
        raise SystemExit("the gradients are wrong")


if __name__ == "__main__":
    main()
