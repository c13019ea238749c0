#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long it takes to describe what every operation reads and writes.

usage: analysis.py [--rounds N] PROGRAM.mlir...

Prints JSON: per program the operations described, the median seconds of tofu-annotate (which inlines calls
and rewrites some operations first), microseconds per operation, and the ratio to parsing the program.
tofu-opt is found on PATH.
"""
import argparse
import json
import re
import statistics
import subprocess

TIME = re.compile(r"^\s*([\d.]+) \([^)]*\)\s+(\S.*)$", re.M)


def run(program):
    """Seconds by pass, and the number of operations with semantics."""
    done = subprocess.run(["tofu-opt", program, "--tofu-annotate", "--mlir-timing", "--mlir-timing-display=list"],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return {name.strip(): float(seconds) for seconds, name in TIME.findall(done.stderr)}, \
        done.stdout.count("tofu.semantics = ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    results = []
    for program in options.programs:
        annotate, parse = [], []
        for _ in range(options.rounds):
            times, operations = run(program)
            annotate.append(times["AnnotatePass"])
            parse.append(times["Parser"])
        seconds = statistics.median(annotate)
        results.append({"program": program, "operations": operations, "annotate_seconds": round(seconds, 4),
                        "microseconds_per_operation": round(1e6 * seconds / max(operations, 1), 1),
                        "ratio_to_parsing": round(seconds / statistics.median(parse), 2)})
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
