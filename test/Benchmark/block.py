#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a transformer block on 1 and 2 devices, and its contractions on oneDNN alone; prints JSON.

usage: block.py [--build build] [--rounds 7] [--batch 8] [--sequence 256] [--width 1024] [--heads 16]

Rounds of the three alternate, since machines are noisy; figures are medians in milliseconds. `speedup` is the time
on one device over that on two; `overhead` the time on one device over that of the contractions alone on one thread.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import transformer_block

HERE = os.path.dirname(os.path.abspath(__file__))


def time_devices(tool, program, devices, folder):
    """Mean time of an iteration, that of the slowest device, in ms."""
    report = os.path.join(folder, "report.json")
    with open(program) as file:
        arguments = file.read().split(") ->")[0].count("tensor<")
    subprocess.run([tool, program, f"--devices={devices}", "--iters=3", "--warmup=1", f"--json={report}"] +
                   ["--input=random:0"] * arguments, check=True, stdout=subprocess.DEVNULL)
    with open(report) as file:
        return 1e3 * max(d["seconds"]["avg"] for d in json.load(file)["per_device"])


def time_contractions(tool, shapes):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    done = subprocess.run([tool, "3"] + [",".join(map(str, s)) for s in shapes], env=environment, check=True,
                          capture_output=True, text=True)
    return 1e3 * statistics.median(json.loads(done.stdout)["seconds"])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    sizes = dict(batch=8, sequence=256, width=1024, heads=16)
    for name, value in dict(rounds=7, **sizes).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    sizes = {name: getattr(options, name) for name in sizes}
    run, library = (os.path.join(options.build, "bin", t) for t in ("tofu-run", "onednn-contractions"))
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "block.mlir")
        with open(program, "w") as file:
            subprocess.run([sys.executable, os.path.join(HERE, "transformer_block.py")] +
                           [f"--{n}={v}" for n, v in sizes.items()], stdout=file, check=True)
        one, two, alone = [], [], []
        for _ in range(options.rounds):
            one.append(time_devices(run, program, 1, folder))
            two.append(time_devices(run, program, 2, folder))
            alone.append(time_contractions(library, transformer_block.contractions(**sizes)))
    one, two, alone = map(statistics.median, (one, two, alone))
    print(json.dumps(dict(sizes, rounds=options.rounds, one_device_ms=one, two_devices_ms=two, contractions_ms=alone,
                          ratio=two / one, speedup=one / two, overhead=one / alone), indent=1))


if __name__ == "__main__":
    main()
