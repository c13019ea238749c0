#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the snippets of Markdown pages.

usage: check-snippets.py [--build=FOLDER] [--print] FILE.md...

What is checked of a fenced block:

  ```mlir    parses and verifies in tofu-opt. A block of attributes alone
             ("#tofu...", separated by line breaks before a "#") is parsed as
             attributes of a function.
  ```shell   every "$ command" exits with 0 and prints the lines below it. White space
             and the numbers of times and rates may differ, "..." stands for any text.
             A command with no lines below it may print anything.
  others     nothing.

A comment on the line before a block says more:

  <!-- contents of: FILE -->    the block is that file, but for the file's comments
  <!-- output of: COMMAND -->   the block is what the command prints
  <!-- not run: REASON -->      the block isn't checked; printed

Commands run in the root of the source tree with the tools of the build on PATH; a
"build/" in them is the build folder. With --print, commands whose output differs
print it in full.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEASURED = re.compile(r"\d[\d.]* ?(?:[num]?s|%|GFLOP/s|[KMG]?i?B/s)(?![\w-])")
BLOCK = re.compile(r"(?:^<!-- (?P<directive>[^\n]*?) -->\n)?^```(?P<tag>\w+)\n(?P<body>.*?)^```$", re.M | re.S)


class Runner:
    def __init__(self, build, verbose):
        self.build, self.verbose = os.path.abspath(build), verbose
        path = os.path.join(self.build, "bin") + os.pathsep + os.environ["PATH"]
        self.environment = dict(os.environ, PATH=path, TOFU_BUILD_DIR=self.build)

    def run(self, command):
        here = re.sub(r"(?<![\w./-])build/", self.build + "/", command)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", here], cwd=ROOT, env=self.environment, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


def normal_form(text):
    """The text without MLIR's comment lines, measured quantities and white space."""
    lines = (line for line in text.splitlines() if not line.strip().startswith("//"))
    return "".join(MEASURED.sub("#", "\n".join(lines)).split())


def matches(expected, actual):
    """True if the texts are the same, with "..." in the expected one as wildcard."""
    pieces = (re.escape(normal_form(piece)) for piece in expected.split("..."))
    return re.fullmatch(".*".join(pieces), normal_form(actual)) is not None


def check_command(runner, command, expected):
    code, output = runner.run(command)
    if code:
        return f"'{command}' gave exit code {code}:\n{output}"
    if expected.strip() and not matches(expected, output):
        shown = output if runner.verbose else "\n".join(output.splitlines()[:40])
        return f"'{command}' printed something else:\n{shown}"
    return None


def check_shell(runner, body):
    errors = []
    for step in re.split(r"^\$ ", body, flags=re.M)[1:]:
        command, _, expected = step.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more.strip()
        errors.append(check_command(runner, command, expected))
    return "\n".join(e for e in errors if e) or (None if errors else "no '$ command' in the block")


def check_mlir(runner, body):
    text = body
    if all(line.startswith(("#", " ", "//")) for line in body.splitlines() if line):
        code = "\n".join(line for line in body.splitlines() if not line.startswith("//"))
        attributes = re.split(r"^(?=#)", code, flags=re.M)[1:]
        named = ", ".join(f"doc{i} = {a}" for i, a in enumerate(attributes))
        text = "func.func private @documented() attributes {" + named + "}"
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        code, output = runner.run(f"tofu-opt {file.name} -o /dev/null")
    return output if code else None


def check_contents(body, path):
    with open(os.path.join(ROOT, path)) as file:
        return None if matches(body, file.read()) else f"the block differs from {path}"


def check_block(runner, directive, tag, body):
    """Gives what is wrong with a block, or None."""
    kind, _, value = directive.partition(": ")
    if kind == "output of":
        return check_command(runner, value, body)
    if kind == "contents of":
        return check_contents(body, value)
    if tag == "shell":
        return check_shell(runner, body)
    if tag == "mlir":
        return check_mlir(runner, body)
    return None


def check_page(runner, page):
    """Prints what is wrong; gives how many blocks were checked and how many are wrong."""
    with open(page) as file:
        text = file.read()
    checked = wrong = 0
    for block in BLOCK.finditer(text):
        place = f"{page}:{text.count(chr(10), 0, block.start('body'))}"
        directive = block["directive"] or ""
        if directive.startswith("not run: "):
            print(f"{place}: {directive}")
            continue
        error = check_block(runner, directive, block["tag"], block["body"])
        checked += 1
        wrong += error is not None
        if error:
            print(f"{place}: error: {error}")
    return checked, wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--print", action="store_true")
    parser.add_argument("pages", nargs="+")
    options = parser.parse_args()
    runner = Runner(options.build, options.print)
    counts = [check_page(runner, page) for page in options.pages]
    checked, wrong = (sum(column) for column in zip(*counts))
    print(f"{checked} snippets, {wrong} wrong")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
