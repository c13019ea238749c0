# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the bytes of tofu-plan with those that glpsol finds.

usage: compare-ilp.py TOFU_OPT PREFIX PROGRAM... -- OPTIONS...
"""

import json
import re
import subprocess
import sys

tofu_opt, prefix, *rest = sys.argv[1:]
split = rest.index("--")
for program in rest[:split]:
    for options in rest[split + 1 :]:
        plan, ilp = prefix + ".json", prefix + ".lp"
        pass_options = f"{options} algorithm=exact json={plan} dump-ilp={ilp}"
        subprocess.run(
            [tofu_opt, program, "-tofu-annotate", f"-tofu-plan={pass_options}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with open(plan) as file:
            planned = json.load(file)["total_bytes"]
        solution = prefix + ".sol"
        subprocess.run(
            ["glpsol", "--lp", ilp, "-o", solution],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with open(solution) as file:
            text = file.read()
        assert "INTEGER OPTIMAL" in text, text[:400]
        found = float(re.search(r"Objective:\s+bytes = (\S+)", text).group(1))
        if round(found) != planned:
            sys.exit(f"{program}, {options}: planned {planned}, glpsol {found}")
        print(f"{program}, {options}: {planned} bytes")
