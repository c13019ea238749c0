#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which dims of which operators can be cut, and how, from examples of every operator.

usage: operators.py table FILE...   writes the table in Markdown to standard output
       operators.py check FILE...   runs every cell of it: a program with one copy of the example per
                                    dim, each copy cut along its dim, on 2 and on 3 devices, against
                                    the serial run; closes with a line 'N cells, N runs, N failed'

A FILE has functions of one block, each an example of the operations in it. tofu-opt and tofu-run are
found on PATH; they get what is given as --load-dialect-plugin=LIBRARY before the files.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

SEMANTICS = re.compile(r"tofu\.semantics = (#tofu\.semantics<.*?\)(?:, linear \[.*?\])?>)(?=[},])")
DIM = re.compile(r"(\w+) = (\d+)(?: : (\w+|\([\w, ]+\)))?(?: after (\w+))?")

PLUGINS = [a for a in sys.argv if a.startswith("--load-dialect-plugin=")]

HEADER = """# Operators

Which dims of the iteration space of an operation can be cut, and how: parts of the results are put
together (`concat`) or combined (`sum`, `max`, ...); with `halo`, the parts read windows that overlap;
`whole` dims are never cut, and a dim `within` another one where that is cut into single indices. One row per form that the examples have. The tests run every cell on two
and on three devices.
"""


class Operator:
    """One operation of an example: its name and what its semantics say of each dim."""

    def __init__(self, name, semantics):
        self.name = name
        dims, accesses = re.match(r"#tofu\.semantics<\[(.*?)\], (.*)>$", semantics).groups()
        operands = accesses.split("->")[0]
        self.kinds = []
        for dim, _, kind, outer in DIM.findall(dims):
            window = re.search(r"[\[ ,][^,\[\]]*\b%s\b[^,\[\]]*\+|\+[^,\[\]]*\b%s\b" % (dim, dim), operands)
            kind = {"": "concat", "unsplittable": "whole"}.get(kind, kind)
            if outer:
                kind += ", within " + outer.replace("d", "dim ")
            self.kinds.append(kind + (", halo" if window and kind != "whole" and not outer else ""))

    def cuttable(self):
        """Dims that one axis can cut. Those within others have tests of their own."""
        return [i for i, kind in enumerate(self.kinds) if kind != "whole" and "within" not in kind]


def run(command):
    return subprocess.run(command[:1] + PLUGINS + command[1:], capture_output=True, text=True, errors="replace")


def examples(path):
    """The functions of a file, without comments, with the aliases above them: (name, text)."""
    lines = [l for l in open(path) if not l.lstrip().startswith("//")]
    aliases = "".join(l for l in lines if re.match(r"#\w+ = ", l))
    text = "".join(l for l in lines if not re.match(r"#\w+ = ", l))
    for match in re.finditer(r"^func\.func @(\w+)\(.*?^}\n", text, re.S | re.M):
        yield match.group(1), aliases, match.group(0)


def describe(aliases, text):
    done = run_on(aliases + text, ["tofu-opt", "--tofu-annotate", "--mlir-print-op-generic"])
    if done.returncode:
        raise SystemExit(f"tofu-opt failed:\n{text}\n{done.stderr}")
    operators, open_names = [], []
    for line in done.stdout.splitlines():
        # The attributes of an operation with regions stand behind them.
        name = re.match(r"\s*(?:%[^=]* = )?\"([\w.]+)\"", line)
        name = name.group(1) if name else open_names.pop() if line.lstrip().startswith("})") else None
        semantics = SEMANTICS.search(line)
        if semantics:
            operators.append(Operator(name, semantics.group(1)))
        if line.endswith("({"):
            open_names.append(name)
    return operators


def run_on(text, command):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir", delete=False) as file:
        file.write(text)
    try:
        return run(command[:1] + [file.name] + command[1:])
    finally:
        os.unlink(file.name)


def split_types(text):
    """The types in 'a, b, c', of which some have commas in brackets."""
    types, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "<([{"
        depth -= c in "])}" or (c == ">" and text[i - 1] != "-")
        if c == "," and depth == 0:
            types.append(text[start:i].strip())
            start = i + 1
    return types + ([text[start:].strip()] if text[start:].strip() else [])


def copies(text, number):
    """A function @main that does what the example does several times; and its argument types."""
    header = re.match(r"func\.func @\w+\((.*?)\)\s*->\s*(\(.*?\)|[^{]*?)\s*{\n", text, re.S)
    arguments = re.findall(r"%\w+", header.group(1))
    types = [a.split(":", 1)[1].strip() for a in split_types(header.group(1))]
    results = header.group(2).strip().removeprefix("(").removesuffix(")")
    body, last = re.match(r"(.*)^  return ([^:]*):.*$", text[header.end():], re.S | re.M).groups()
    bodies, values = "", []
    for copy in range(number):
        rename = lambda match: match.group(0) if match.group(0) in arguments else f"%c{copy}_{match.group(0)[1:]}"
        bodies += re.sub(r"%\w+", rename, body)
        values.append(re.sub(r"%\w+", rename, last).strip())
    all_results = ", ".join([results] * number)
    return (f"func.func @main({header.group(1)}) -> ({all_results}) {{\n{bodies}"
            f"  return {', '.join(values)} : {all_results}\n}}\n"), types


def input_of(i, argument):
    """Integers are at least 1, so that they divide, and small, so that they index."""
    return f"--input=random:{i}" + (":1:4" if re.search(r"(?:^|x|<)(i8|i16|i32|i64|index)\b", argument) else "")


def cut_plan(plan, operators, number):
    """Has copy i of every operator cut along its i-th dim that can be cut."""
    planned = plan["functions"][0]["operators"]
    described = [op for op in planned if op.get("strategy")]
    if len(described) != number * len(operators):
        raise SystemExit(f"the plan has {len(described)} operators, expected {number} times {len(operators)}")
    for i, op in enumerate(described):
        like, copy = operators[i % len(operators)], i // len(operators)
        dims = ["{}"] * len(like.kinds)
        if copy < len(like.cuttable()):
            dims[like.cuttable()[copy]] = "{a0}"
        op["strategy"] = f"#tofu.strategy<@mesh, [{', '.join(dims)}]>"


def check(path, name, aliases, text, operators):
    """Runs all cells of an example; what went wrong, a line each."""
    number = max(len(op.cuttable()) for op in operators)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        program, plan_file = os.path.join(folder, "main.mlir"), os.path.join(folder, "plan.json")
        module, types = copies(text, number)
        with open(program, "w") as file:
            file.write(aliases + module)
        for devices in (2, 3):
            done = run(["tofu-opt", program, "--tofu-annotate",
                        f"--tofu-plan=devices={devices} json={plan_file}", "-o", os.devnull])
            if done.returncode == 0:
                with open(plan_file) as file:
                    plan = json.load(file)
                cut_plan(plan, operators, number)
                with open(plan_file, "w") as file:
                    json.dump(plan, file)
                done = run(["tofu-run", program, f"--plan={plan_file}", "--check"] +
                           [input_of(i, argument) for i, argument in enumerate(types)])
            if done.returncode:
                failed.append(f"{path}: @{name} on {devices} devices: {done.stderr.strip()[:600]}")
    return failed


def main():
    paths = [a for a in sys.argv[2:] if a not in PLUGINS]
    if not paths or sys.argv[1] not in ("table", "check"):
        raise SystemExit(__doc__)
    rows, cells, runs, failed = {}, 0, 0, []
    for path in paths:
        for name, aliases, text in examples(path):
            operators = describe(aliases, text)
            for op in operators:
                row = rows.setdefault(op.name, [])
                if op.kinds not in row:
                    row.append(op.kinds)
            cells += sum(len(op.cuttable()) for op in operators)
            if sys.argv[1] == "check" and any(op.cuttable() for op in operators):
                runs += 2
                failed += check(path, name, aliases, text, operators)
    if sys.argv[1] == "check":
        print("\n".join(failed + [f"{cells} cells, {runs} runs, {len(failed)} failed"]))
        return 1 if failed else 0
    print(HEADER)
    most = max(len(kinds) for row in rows.values() for kinds in row)
    print("| operator | " + " | ".join(f"dim {i}" for i in range(most)) + " |")
    print("|" + " --- |" * (most + 1))
    for name in sorted(rows):
        for kinds in rows[name]:
            print(f"| {name} | " + " | ".join(kinds + [""] * (most - len(kinds))) + " |")
    dims = sum(len(kinds) for row in rows.values() for kinds in row)
    print(f"\n{len(rows)} operations, {dims} dims; {cells} dims of all examples can be cut.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
