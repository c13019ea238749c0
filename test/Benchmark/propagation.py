#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the time to search and partition with that of upstream's sharding-propagation and shard-partition.

The program is one that both take, products with an element-wise operation after each, the batch cut for upstream by a
shard.shard. Times are those of all passes but parser and printer, by -mlir-timing. tofu-opt and mlir-opt are found on
PATH.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile

# From the cut batch on; what can't be reached so isn't partitioned, and crashes shard-partition.
UPSTREAM = "sharding-propagation{traversal=forward-backward},shard-partition"
LAYER = """
    %e{i} = tensor.empty() : tensor<{batch}x{width}xf32>
    %z{i} = linalg.fill ins(%zero : f32) outs(%e{i} : tensor<{batch}x{width}xf32>) -> tensor<{batch}x{width}xf32>
    %p{i} = linalg.matmul ins(%x{i}, %w{i} : tensor<{batch}x{width}xf32>, tensor<{width}x{width}xf32>) outs(%z{i} : tensor<{batch}x{width}xf32>) -> tensor<{batch}x{width}xf32>
    %f{i} = tensor.empty() : tensor<{batch}x{width}xf32>
    %x{next} = linalg.abs ins(%p{i} : tensor<{batch}x{width}xf32>) outs(%f{i} : tensor<{batch}x{width}xf32>) -> tensor<{batch}x{width}xf32>"""


def program(layers, batch, width, devices, tool):
    """The same products for all; who only propagates is told how the batch is cut."""
    batch_type = f"tensor<{batch}x{width}xf32>"
    pin = " {tofu.layout = #tofu.layout<@mesh, [{x}, {}]>}" if tool == "propagate" else ""
    arguments = ", ".join([f"%x: {batch_type}{pin}"] + [f"%w{i}: tensor<{width}x{width}xf32>" for i in range(layers)])
    lines = [f"func.func @f({arguments}) -> {batch_type} {{", "    %zero = arith.constant 0.0 : f32"]
    if tool == "propagate":
        lines.insert(0, f"tofu.mesh @mesh [x = {devices}]")
    if tool == "upstream":
        lines.insert(0, f"shard.grid @grid(shape = {devices})")
        lines.append("    %cut = shard.sharding @grid split_axes = [[0], []] : !shard.sharding")
        lines.append(f"    %x0 = shard.shard %x to %cut annotate_for_users : {batch_type}")
    body = "".join(LAYER.format(i=i, next=i + 1, batch=batch, width=width) for i in range(layers))
    if tool != "upstream":
        body = body.replace("%x0,", "%x,")
    return "\n".join(lines) + body + f"\n    return %x{layers} : {batch_type}\n}}\n"


def seconds_of_passes(command, text):
    """Wall seconds of all passes together, in one run."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(command + [file.name, "-mlir-timing", "-mlir-timing-display=list", "-o", os.devnull],
                              capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stderr.splitlines()[0]}")
    times = dict((name, float(time)) for time, name in re.findall(r"^ +([0-9.]+) \( *[0-9.]+%\)  (.+)$", done.stderr, re.M))
    return times["Total"] - times["Parser"] - times["Output"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, nargs="+", default=[4, 16, 64], help="sizes of the program")
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5, help="the median of so many times")
    options = parser.parse_args()
    tools = {
        "upstream": ["mlir-opt", f"--pass-pipeline=builtin.module(func.func({UPSTREAM}))"],
        "kbest": ["tofu-opt", f"--tofu-partition=devices={options.devices}"],
        "propagate": ["tofu-opt", "--tofu-partition=algorithm=propagate"],
    }
    rows = []
    for layers in options.layers:
        times = {name: [] for name in tools}
        for _ in range(options.rounds):
            for name, command in tools.items():
                text = program(layers, 512, 1024, options.devices, name)
                times[name].append(seconds_of_passes(command, text))
        row = {"layers": layers, "devices": options.devices}
        row.update({f"{name}_seconds": statistics.median(mine) for name, mine in times.items()})
        for name in ("kbest", "propagate"):
            row[f"{name}_over_upstream"] = round(row[f"{name}_seconds"] / row["upstream_seconds"], 2)
        rows.append(row)
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
