#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs lit on test suites and closes with a line 'N passed, N failed'.

usage: run-tests.py --lit=LIT [lit options] SUITE...

The exit code is 0 only if something passed and nothing failed. Skipped tests
are listed with the feature that they lack.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def run_lit(lit, arguments):
    """Gives the results that lit writes, one dictionary per test."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [lit, "--succinct", "--no-progress-bar", "--verbose", "--allow-empty-runs", f"--output={report}"]
        code = subprocess.run(command + arguments, stdin=subprocess.DEVNULL).returncode
        if not os.path.exists(report):
            print(f"lit left no report (exit code {code})")
            return []
        with open(report) as file:
            return json.load(file)["tests"]


def print_skipped(tests):
    reasons = collections.defaultdict(list)
    for test in tests:
        lines = test["output"].strip().splitlines()
        reasons[lines[-1].strip() if lines else "no reason given"].append(test["name"])
    for reason, names in sorted(reasons.items()):
        print(f"skipped, {reason}: {len(names)}")
        for name in names:
            print(f"  {name}")


def main(arguments):
    lit = [a.split("=", 1)[1] for a in arguments if a.startswith("--lit=")]
    if len(lit) != 1:
        sys.exit(__doc__)
    tests = run_lit(lit[0], [a for a in arguments if not a.startswith("--lit=")])
    passed = [t for t in tests if t["code"] in PASSED]
    skipped = [t for t in tests if t["code"] in SKIPPED]
    failed = len(tests) - len(passed) - len(skipped)
    print_skipped(skipped)
    tail = f", {len(skipped)} skipped" if skipped else ""
    print(f"{len(passed)} passed, {failed} failed{tail}", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
