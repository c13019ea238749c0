#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the snippets of Markdown pages.

usage: check-snippets.py [--print] FILE.md...

What is checked of a fenced block:

  ```mlir    parses and verifies in tofu-opt. A block of attributes alone
             ("#tofu...", separated by line breaks before a "#") is parsed as
             attributes of a module.
  ```shell   every "$ command" exits with 0 and prints the lines below it. A line
             "..." stands for any number of lines, "..." in a line for any text.
             A command with no lines below it may print anything.
  others     nothing.

A comment on the line before a block says more:

  <!-- contents of: FILE -->    the block is that file, but for the file's comments
  <!-- output of: COMMAND -->   the block is what the command prints
  <!-- not run: REASON -->      the block isn't checked; printed

Commands run in the root of the source tree, with the tools of the build on PATH.
With --print, commands whose output differs print it in full.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = re.compile(r"(?:^<!-- (?P<directive>[^\n]*?) -->\n)?^```(?P<tag>\w+)\n(?P<body>.*?)^```$", re.M | re.S)


def run(command):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=ROOT, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def significant(text):
    """Lines with their spaces made single; empty lines and MLIR comments dropped."""
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("//")]


def matches(expected, actual):
    """True if the expected lines, with "..." as wildcard, are the actual ones."""
    parts = []
    for line in significant(expected):
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(piece) for piece in line.split("...")) + r"\n")
    return re.fullmatch("".join(parts), "".join(line + "\n" for line in significant(actual))) is not None


def check_command(command, expected, verbose):
    code, output = run(command)
    if code:
        return f"'{command}' gave exit code {code}:\n{output}"
    if expected.strip() and not matches(expected, output):
        shown = output if verbose else "\n".join(output.splitlines()[:40])
        return f"'{command}' printed something else:\n{shown}"
    return None


def check_shell(body, verbose):
    errors = []
    for step in re.split(r"^\$ ", body, flags=re.M)[1:]:
        command, _, expected = step.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more.strip()
        errors.append(check_command(command, expected, verbose))
    return "\n".join(e for e in errors if e) or (None if errors else "no '$ command' in the block")


def check_mlir(body):
    text = body
    if all(line.startswith(("#", " ", "//")) for line in body.splitlines() if line):
        code = "\n".join(line for line in body.splitlines() if not line.startswith("//"))
        attributes = re.split(r"^(?=#)", code, flags=re.M)[1:]
        text = "module attributes {" + ", ".join(f"doc{i} = {a}" for i, a in enumerate(attributes)) + "} {}"
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        code, output = run(f"tofu-opt {file.name} -o /dev/null")
    return output if code else None


def check_contents(body, path):
    with open(os.path.join(ROOT, path)) as file:
        return None if matches(body, file.read()) else f"the block differs from {path}"


def check_block(directive, tag, body, verbose):
    kind, _, value = (directive or "").partition(": ")
    if kind == "output of":
        return check_command(value, body, verbose)
    if kind == "contents of":
        return check_contents(body, value)
    if tag == "shell":
        return check_shell(body, verbose)
    if tag == "mlir":
        return check_mlir(body)
    return None


def main(arguments):
    verbose = "--print" in arguments
    pages = [a for a in arguments if a != "--print"]
    if not pages:
        sys.exit(__doc__)
    failed = checked = 0
    for page in pages:
        with open(page) as file:
            text = file.read()
        for block in BLOCK.finditer(text):
            place = f"{page}:{text.count(chr(10), 0, block.start('body'))}"
            directive = block["directive"] or ""
            if directive.startswith("not run: "):
                print(f"{place}: {directive}")
                continue
            error = check_block(directive, block["tag"], block["body"], verbose)
            checked += 1
            if error:
                failed += 1
                print(f"{place}: error: {error}")
    print(f"{checked} snippets, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
