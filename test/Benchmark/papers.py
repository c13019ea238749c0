#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans the models of the Tofu paper and of its successors, and prints the papers' figures beside ours.

docs/Benchmarks.md explains each table. tofu-opt and tofu-models are found on PATH.
"""
import argparse
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

# The paper's sizes on 8 workers, the largest ones of the Alpa paper, and the example of the Unity paper.
PROGRAMS = {
    "wresnet-152-10": "--model=wresnet --layers=152 --width=10 --batch=8",
    "rnn-10-8k": "--model=rnn --layers=10 --hidden=8192 --steps=20 --batch=128",
    "rnn-4-8k": "--model=rnn --layers=4 --hidden=8192 --steps=20 --batch=512",
    "gpt-39b": "--model=gpt --layers=48 --hidden=8192 --heads=64 --seq=1024 --vocab=51200 --batch=1024",
    "moe-70b": "--model=moe --layers=32 --hidden=2048 --heads=16 --experts=64 --seq=1024 --vocab=32000 --batch=1024",
    "mlp": "--model=mlp --layers=2 --batch=64 --inputs=784 --hidden=512 --classes=10",
}
# What the Tofu paper's tables and figures are for.
PAPER_DEVICES = 8
# Table 1 of the Tofu paper, seconds.
PAPER_SECONDS = {"wresnet-152-10": 8.3, "rnn-10-8k": 66.6}
# Figure 10: percent of a batch's time that is communication.
PAPER_SHARES = {
    "rnn-4-8k": {"all-row-greedy": 24.5, "spartan": 21.1, "equal-chop": 13.8, "icml18": 13.2, "ours": 6.4},
    "wresnet-152-10": {"spartan": 33.8, "equal-chop": 35.2, "ours": 21.9},
}
# Seconds after which a search that would go on to the end gives its best plan.
BUDGET = " time-budget=30"
# These have no plan of their own to compare with.
NO_BASELINES = {"random", "any", "propagate"}
ELEMENT_BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "bf16": 2, "f16": 2, "i8": 1, "i1": 1}
GIB = 1 << 30


def tofu_plan(program, options):
    """Runs tofu-plan, with the plan's JSON as the result; raises the tool's first error."""
    command = ["tofu-opt", program, "--tofu-annotate", f"--tofu-plan={options} json=-", "-o", os.devnull]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(next((l for l in done.stderr.splitlines() if "error:" in l), "tofu-opt failed"))
    return json.loads(done.stdout)


def list_algorithms():
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        try:
            tofu_plan(file.name, "algorithm=?")
        except RuntimeError as error:
            names = re.search(r"one of (.*), not", str(error))
            return [name for name in names.group(1).split(", ") if name not in NO_BASELINES]
    raise SystemExit("tofu-opt does not say which algorithms there are")


def tell(what):
    """Progress: all of it takes long."""
    print(what, file=sys.stderr, flush=True)


class Program:
    def __init__(self, name, path):
        self.name, self.path = name, path
        with open(path) as file:
            self.signature = next(line for line in file if "func.func" in line).split(") -> ")[0]

    def plan(self, options, rounds=1):
        """The plan, and the medians of the seconds of the search and of the whole process."""
        search, process = [], []
        for _ in range(rounds):
            start = time.monotonic()
            plan = tofu_plan(self.path, options)
            process.append(time.monotonic() - start)
            search.append(plan["search_seconds"])
        return plan, statistics.median(search), statistics.median(process)

    def state_bytes(self, plan):
        """Of the arguments, on the device that has most: weights, momenta and the batch."""
        sizes = {axis["name"]: axis["size"] for axis in plan["mesh"]}
        types = re.findall(r"%arg\d+: (?:tensor<((?:\d+x)*)(\w+)>|\w+)", self.signature)
        total = 0
        for (shape, kind), layout in zip(types, plan["functions"][0]["arguments"]):
            if layout is None:
                continue
            elements = 1
            for size, axes in zip(shape.split("x"), split_axes(layout)):
                part = int(size)
                for axis in axes:
                    part = math.ceil(part / sizes[axis])
                elements *= part
            total += elements * ELEMENT_BYTES[kind]
        return total


def split_axes(attribute):
    """The axes of each dim of a printed layout or strategy."""
    dims = attribute[attribute.index("["):attribute.rindex("]")]
    return [re.findall(r"\w+", dim) for dim in re.findall(r"\{([^}]*)\}", dims)]


def round_gap(plan):
    """What the bound leaves open of the bytes; None where there is no bound."""
    return None if plan.get("gap") is None else round(plan["gap"], 5)


def write_json(tables, path):
    with open(path, "w") as file:
        json.dump(tables, file, indent=1)


def make_programs(options, folder):
    for name, arguments in PROGRAMS.items():
        if options.only and name not in options.only:
            continue
        path = os.path.join(folder, name + ".mlir")
        with open(path, "w") as file:
            subprocess.run(["tofu-models"] + arguments.split(), stdout=file, check=True)
        yield Program(name, path)
    for path in sorted(glob.glob(os.path.join(options.models or os.devnull, "**", "*_full.mlir"), recursive=True)):
        name = os.path.basename(path)[:-len(".mlir")]
        if not options.only or name in options.only:
            yield Program(name, path)


def measure_algorithms(program, devices, algorithms, rounds):
    """Our plan, and a row for it and for each other algorithm; the error where there is no plan."""
    tell(f"{program.name}, {devices} devices: ours")
    ours, search, process = program.plan(f"devices={devices}", rounds)

    def make_row(algorithm, **columns):
        return dict(program=program.name, devices=devices, algorithm=algorithm, **columns)

    def describe(plan, search, process):
        return make_row(plan["options"]["algorithm"], bytes=plan["total_bytes"],
                        over_ours=round(plan["total_bytes"] / max(ours["total_bytes"], 1), 3),
                        gap=round_gap(plan), search_seconds=round(search, 3),
                        process_seconds=round(process, 3), exact=plan["exact"],
                        state_gib_per_device=round(program.state_bytes(plan) / GIB, 3),
                        peak_gib_per_device=round(plan["peak_bytes_per_device"] / GIB, 3))

    rows = [describe(ours, search, process)]
    for algorithm in algorithms:
        if algorithm == ours["options"]["algorithm"]:
            continue
        tell(f"{program.name}, {devices} devices: {algorithm}")
        try:
            rows.append(describe(*program.plan(f"devices={devices} algorithm={algorithm}{BUDGET}", rounds)))
        except RuntimeError as error:
            rows.append(make_row(algorithm, error=str(error)))
    return ours, rows


# --- Theorem 1


def without_axes(plan, axes):
    """The plan on the mesh without these axes, as text; that of the steps before theirs."""
    rest = dict(plan, mesh=[axis for axis in plan["mesh"] if axis["name"] not in axes],
                devices=math.prod(axis["size"] for axis in plan["mesh"] if axis["name"] not in axes))
    text = json.dumps(rest)
    for axis in axes:
        text = re.sub(rf"(?<=\{{){axis}\b(?:, )?|, {axis}\b", "", text)
    return text


def measure_steps(program, devices, folder):
    """Bytes that each step of the recursive search adds, charged per use as in the paper."""
    tell(f"{program.name}, {devices} devices: steps")
    options = f"devices={devices} algorithm=recursive charge=per-use"
    plan = tofu_plan(program.path, options)
    axes = [axis["name"] for axis in plan["mesh"]]
    path = os.path.join(folder, "steps.json")
    totals = [0]
    for count in range(1, len(axes)):
        with open(path, "w") as file:
            file.write(without_axes(plan, axes[count:]))
        totals.append(tofu_plan(program.path, f"load={path} charge=per-use")["total_bytes"])
    totals.append(plan["total_bytes"])
    steps = [after - before for before, after in zip(totals, totals[1:])]
    grows = all(a <= b for a, b in zip(steps, steps[1:]))
    return dict(program=program.name, devices=devices, step_bytes=steps, theorem_1=grows)


# --- Figure 10


def communication_ratios(name, rows):
    """Communication over that of ours, in bytes; in the paper, in time, out of the shares of a batch's time."""
    shares = PAPER_SHARES[name]
    times = {algorithm: share / (100 - share) for algorithm, share in shares.items()}
    found = {row["algorithm"]: row for row in rows}
    return [dict(program=name, algorithm=algorithm, paper=round(seconds / times["ours"], 2),
                 bytes=found.get(algorithm, {}).get("over_ours")) for algorithm, seconds in times.items()
            if algorithm != "ours"]


# --- Figure 11


def read_blocks(plan):
    """Per block of a WResNet: what it fetches going forward, and how its convolutions are cut."""
    blocks = {}
    for op in plan["functions"][0]["operators"]:
        found = re.fullmatch(r'loc\("(group\d+)\.(block\d+)\.([\w.]+)"\)', op["location"])
        if not found or op["location"].endswith(('.backward")', '.update")')):
            continue
        group, block, layer = found.groups()
        entry = blocks.setdefault((group, block), dict(group=group, weights=0, activations=0, cuts={}))
        total, weights = sum(op["operand_bytes"]) + sum(op["result_bytes"]), 0
        if "conv" in op["operator"]:
            weights = op["operand_bytes"][1]
            entry["cuts"][layer] = [len(axes) for axes in split_axes(op["strategy"])]
        entry["weights"] += weights
        entry["activations"] += total - weights
    return list(blocks.values())


def describe_blocks(plan):
    """Bytes per group, and how the first block and most of the others are cut."""
    groups = {}
    for block in read_blocks(plan):
        groups.setdefault(block["group"], []).append(block)
    rows = []
    for group, blocks in groups.items():
        others = [json.dumps(block["cuts"]) for block in blocks[1:]]
        usual = statistics.mode(others)
        rows.append(dict(group=group, blocks=len(blocks), weight_bytes=sum(b["weights"] for b in blocks),
                         activation_bytes=sum(b["activations"] for b in blocks),
                         first=describe_cuts(blocks[0]["cuts"]), others=describe_cuts(json.loads(usual)),
                         cut_like_that=others.count(usual)))
    return rows


def describe_cuts(cuts):
    """Such as `n8 f2c4`: the first convolution's batch by 8, the second's output and input channels by 2 and 4."""
    return " ".join("".join(f"{dim}{2 ** count}" for dim, count in zip("nyxfijc", counts) if count)
                    for layer, counts in sorted(cuts.items()))


def measure(program, options, algorithms, folder, tables):
    for devices in options.devices:
        plan, rows = measure_algorithms(program, devices, algorithms, options.rounds)
        tables["plans"] += rows
        if devices != PAPER_DEVICES:
            continue
        rows[0]["paper_seconds"] = PAPER_SECONDS.get(program.name)
        if program.name in PAPER_SHARES:
            tables["figure_10"] += communication_ratios(program.name, rows)
        if program.name == "wresnet-152-10":
            tables["figure_11"] += describe_blocks(plan)
    tables["steps"].append(measure_steps(program, max(options.devices), folder))


# --- Printing


def print_table(title, rows):
    if not rows:
        return
    columns = list(dict.fromkeys(key for row in rows for key in row))
    texts = [[format_cell(row.get(column)) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *texts)]
    print(f"\n{title}\n")
    for line in [columns] + texts:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def format_cell(value):
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(format_cell, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    split = lambda text: text.split(",")
    parser.add_argument("--only", type=split, metavar="NAMES", help=f"of {', '.join(PROGRAMS)} and those of --models")
    parser.add_argument("--devices", type=lambda text: [int(k) for k in split(text)], default=[2, 4, 8], metavar="K,...",
                        help="numbers of devices (default: 2,4,8)")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="runs to take the median time of (default: 1)")
    parser.add_argument("--models", metavar="DIR", help="a folder whose *_full.mlir are planned as well")
    parser.add_argument("--json", metavar="FILE", help="write all tables as JSON, after each program")
    options = parser.parse_args()
    algorithms = list_algorithms()
    tables = {"plans": [], "steps": [], "figure_10": [], "figure_11": []}
    with tempfile.TemporaryDirectory() as folder:
        for program in make_programs(options, folder):
            try:
                measure(program, options, algorithms, folder, tables)
            except RuntimeError as error:
                tables["plans"].append(dict(program=program.name, error=str(error)))
            if options.json:
                write_json(tables, options.json)
    if not tables["plans"]:
        parser.error(f"no program is named {', '.join(options.only)}")
    print_table("Plans: bytes received by all devices, and times; the first row of each is ours", tables["plans"])
    print_table("Theorem 1: the bytes that each step of the recursive search adds do not fall", tables["steps"])
    print_table("Figure 10: communication over ours on 8 devices, the paper's in time, these in bytes",
                tables["figure_10"])
    print_table("Figure 11: what the convolutions of WResNet-152-10 fetch going forward, on 8 devices",
                tables["figure_11"])


if __name__ == "__main__":
    main()
