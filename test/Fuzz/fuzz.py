#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs random programs by random plans, and makes failing ones small.

  fuzz.py --tools=build/bin --cases=500 --jobs=2
  fuzz.py --tools=build/bin --reduce=fail-17.mlir > small.mlir

A case is a number: it says the program, the devices and the options of the
plan; the same number is the same case on every machine. A failing case is
written to --save as fail-N.mlir, whose first line has the options of tofu-run.
The last line printed is a count; the exit code is 0 only if none failed.
"""
import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

# A process runs so many cases: a crash loses one, and memory is given back.
BATCH = 40
TIMEOUT = 120

TENSOR = r"tensor<(?:[^<>]|<[^>]*>)*>"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, help="folder of tofu-fuzz and tofu-run")
    parser.add_argument("--first", type=int, default=0, help="first case")
    parser.add_argument("--cases", type=int, default=500, help="number of cases")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--plans", type=int, default=4, help="plans per program")
    parser.add_argument("--opt-level", type=int, default=0, help="of generated code, 0 to 3")
    parser.add_argument("--bytes", action="store_true", help="moving more bytes than planned is a failure")
    parser.add_argument("--backend", default="host", help="what cut programs run on")
    parser.add_argument("--save", default=".", help="folder for failing cases")
    parser.add_argument("--reduce", help="make this failing case small")
    return parser.parse_args()


# ---------------------------------------------------------------------------
# Cases
# ---------------------------------------------------------------------------


def fuzz_command(options, *more):
    tool = os.path.join(options.tools, "tofu-fuzz")
    more += ("--bytes",) if options.bytes else ()
    return [tool, f"--backend={options.backend}", f"--plans={options.plans}", f"--opt-level={options.opt_level}", *more]


def run_process(options, first, count):
    """Gives (case, outcome, message) for the cases that it came to."""
    command = fuzz_command(options, f"--first={first}", f"--count={count}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT + 10 * count)
        output, end = done.stdout, f"exit code {done.returncode}: {done.stderr.strip()[:300]}"
    except subprocess.TimeoutExpired as expired:
        output, end = (expired.stdout or b"").decode(errors="replace"), "did not end"
    results = []
    for line in output.splitlines():
        word, _, rest = line.partition(" ")
        if word == "case":
            results.append([int(rest), "crashed", end])
        elif word in ("good", "skipped", "failed") and results:
            results[-1][1:] = [word, rest]
    return results or [[first, "crashed", end]]


def run_batch(options, first, count):
    results = []
    while count > 0:
        some = run_process(options, first, count)
        results += some
        count -= some[-1][0] + 1 - first
        first = some[-1][0] + 1
    return results


def save(options, case):
    path = os.path.join(options.save, f"fail-{case}.mlir")
    os.makedirs(options.save, exist_ok=True)
    with open(path, "w") as file:
        subprocess.run(fuzz_command(options, f"--describe={case}"), stdout=file, check=False)
    return path


def fuzz(options):
    counts = {"good": 0, "skipped": 0, "failed": 0, "crashed": 0}
    starts = range(options.first, options.first + options.cases, BATCH)
    end = options.first + options.cases
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(lambda s: run_batch(options, s, min(BATCH, end - s)), starts):
            for case, outcome, message in results:
                counts[outcome] += 1
                if outcome == "good":
                    continue
                where = save(options, case) if outcome != "skipped" else "serial run"
                print(f"case {case} {outcome} ({where}): {message}", flush=True)
    print(f"{sum(counts.values())} cases: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if counts["failed"] or counts["crashed"] or not counts["good"] else 0


# ---------------------------------------------------------------------------
# Reduction
# ---------------------------------------------------------------------------


class Case:
    """A program as the generator prints it, and how it is cut."""

    def __init__(self, text):
        lines = text.splitlines()
        self.cut = shlex.split(lines[0].lstrip("/ "))
        inputs = [option for option in self.cut if option.startswith("--input=")]
        self.cut = [option for option in self.cut if option not in inputs]
        begin = next(i for i, line in enumerate(lines) if "@main" in line)
        self.functions = "\n".join(line for line in lines[1:begin] if not line.startswith("//"))
        head = re.search(r"@main\((.*?)\) -> ", lines[begin])
        self.arguments = re.findall(rf"(%\w+): ({TENSOR}|[^,]*)", head.group(1))
        self.inputs = dict(zip((name for name, _ in self.arguments), inputs))
        self.statements = []
        for line in lines[begin + 1 :]:
            if line.startswith("    return"):
                break
            if re.match(r"    %\w+(:\d+)? = ", line):
                self.statements.append(line)
            else:
                self.statements[-1] += "\n" + line
        returned, types = line.strip()[len("return ") :].split(" : ")
        self.results = list(zip(returned.split(", "), re.findall(TENSOR, types)))

    def copy(self):
        other = object.__new__(Case)
        other.cut, other.functions = list(self.cut), self.functions
        other.arguments, other.results = list(self.arguments), list(self.results)
        other.inputs = self.inputs
        other.statements = list(self.statements)
        return other

    def __str__(self):
        arguments = ", ".join(f"{name}: {type}" for name, type in self.arguments)
        names = ", ".join(name for name, _ in self.results)
        types = ", ".join(type for _, type in self.results)
        head = f"func.func @main({arguments}) -> ({types}) {{"
        parts = ["// " + shlex.join(self.options()), self.functions, head, *self.statements]
        parts += [f"    return {names} : {types}", "}"]
        return "\n".join(part for part in parts if part) + "\n"

    def options(self):
        return self.cut + [self.inputs[name] for name, _ in self.arguments if self.inputs]

    def drop_unused(self):
        """Drops statements, arguments and functions that nothing refers to."""
        for i in reversed(range(len(self.statements))):
            name = defined(self.statements[i])
            rest = "\n".join(self.statements[i + 1 :]) + " " + " ".join(name for name, _ in self.results)
            if not refers(rest, name):
                del self.statements[i]
        body = "\n".join(self.statements) + " " + " ".join(name for name, _ in self.results)
        self.arguments = [a for a in self.arguments if refers(body, a[0])]
        if "@" not in body:
            self.functions = ""


def defined(statement):
    return re.match(r"    (%\w+)", statement).group(1)


def refers(text, name):
    return re.search(re.escape(name) + r"(?!\w)", text) is not None


def result_types(statement):
    # A store may stand behind it.
    return re.findall(TENSOR, statement.rsplit("//", 1)[1].split("\n")[0])


def without_statement(case, index):
    """The case with the results of a statement as arguments instead."""
    other = case.copy()
    statement = other.statements.pop(index)
    types = result_types(statement)
    # Nothing tells the sizes of an argument that wasn't there before.
    if not types or case.inputs:
        return None
    name = defined(statement)
    many = re.match(r"    %\w+:\d+", statement)

    def rename(text):
        if many:
            text = re.sub(re.escape(name) + r"#(\d+)", lambda m: f"{name}_{m.group(1)}", text)
        return text

    other.statements = [rename(s) for s in other.statements]
    other.results = [(rename(n), t) for n, t in other.results]
    names = [f"{name}_{i}" for i in range(len(types))] if many else [name]
    other.arguments += list(zip(names, types))
    return other


def candidates(case):
    for i in range(len(case.results)):
        if len(case.results) > 1:
            other = case.copy()
            del other.results[i]
            yield other
    for i in reversed(range(len(case.statements))):
        if other := without_statement(case, i):
            yield other
    for i, option in enumerate(case.cut):
        if option.startswith("--devices="):
            for devices in range(2, int(option.split("=")[1])):
                other = case.copy()
                other.cut[i] = f"--devices={devices}"
                yield other
        if option.startswith("--partition-options="):
            for word in (" replication=true", " partials=true", r" objective=time size-hint=16 machine=[\w.-]+"):
                if match := re.search(word, option):
                    other = case.copy()
                    other.cut[i] = option.replace(match.group(0), "")
                    yield other
            if seed := re.search(r"seed=(\d+)", option):
                for number in range(min(int(seed.group(1)), 12)):
                    other = case.copy()
                    other.cut[i] = option.replace(seed.group(0), f"seed={number}")
                    yield other


def find_fault(options, case):
    """What goes wrong, as far as it stays the same while the case shrinks."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(str(case))
        file.flush()
        tool = os.path.join(options.tools, "tofu-run")
        command = [tool, file.name, "--check", f"--opt-level={options.opt_level}", *case.options()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return "did not end"
    if done.returncode == 0:
        # tofu-fuzz compares by tolerances alone.
        return "rounding" if "rounding explains" in done.stderr else None
    error = re.search(r"error: (.*)", done.stderr)
    text = error.group(1) if error else ""
    return f"{done.returncode} " + re.sub(r"[\d.]+|'[^']*'", "N", text)[:25]


def reduce(options):
    with open(options.reduce) as file:
        case = Case(file.read())
    fault = find_fault(options, case)
    if fault is None:
        sys.exit(f"{options.reduce} does not fail in tofu-run")
    print(f"fault: {fault}", file=sys.stderr)
    shrunk = True
    while shrunk:
        shrunk = False
        for other in candidates(case):
            other.drop_unused()
            if find_fault(options, other) == fault:
                case, shrunk = other, True
                break
    print(case, end="")
    return 0


def main():
    options = parse_arguments()
    sys.exit(reduce(options) if options.reduce else fuzz(options))


if __name__ == "__main__":
    main()
