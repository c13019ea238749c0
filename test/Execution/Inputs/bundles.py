# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: bundles.py FOLDER PROGRAM [OPTION...]

Compiles the program to bundles for 1 to 4 devices and all backends of the host, runs them, and fails
unless each gives what tofu-run gives on one device. Options are of tofu-run; those that say what
runs go to tofu-run-bundle as well. Inputs that aren't given are random."""
import json
import os
import subprocess
import sys

FOR_BOTH = ("--input", "--iters", "--warmup", "--shared-libs")
BACKENDS = ("host", "gpu-on-host", "recording")


def run(*command):
    if subprocess.run(command).returncode:
        sys.exit("failed: " + " ".join(command))


def main(folder, program, options):
    for_both = [option for option in options if option.startswith(FOR_BOTH)]
    compiling = [option for option in options if option not in for_both]
    expected = None
    for backend in BACKENDS:
        for devices in (1, 2, 3, 4):
            bundle = os.path.join(folder, f"{backend}-{devices}")
            run("tofu-run", program, *compiling, f"--devices={devices}", "--backend=" + backend, "--opt-level=1",
                "--emit=bundle", "-o", bundle)
            with open(os.path.join(bundle, "manifest.json")) as file:
                manifest = json.load(file)
            if manifest["devices"] != devices:
                sys.exit(f"{bundle} is for {manifest['devices']} devices")
            if expected is None:
                inputs = sum("size_of" not in argument for argument in manifest["arguments"])
                if not any(option.startswith("--input") for option in for_both):
                    for_both += ["--input=random:0"] * inputs
                expected = [os.path.join(folder, f"{i}.npy") for i in range(len(manifest["results"]))]
                run("tofu-run", program, *compiling, *for_both, "--devices=1", "--quiet",
                    *("--output=@" + path for path in expected))
            run("tofu-run-bundle", bundle, *for_both, "--backend=" + backend.replace("gpu-on-", ""), "--quiet",
                *("--expected_output=@" + path for path in expected))


main(sys.argv[1], sys.argv[2], sys.argv[3:])
