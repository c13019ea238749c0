# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the CUDA backend, and checks and measures compiled programs, on GPUs.

  run-on-gpu.sh --prepare=FOLDER   makes a kit, where Tofu is built: this script, the runner, the backend,
                                   its tests, compiled programs, and what they must give, computed by the host
  FOLDER/run-on-gpu.sh             runs it, where the GPUs are, and prints JSON

Tests run on one GPU, on all of them, and on all of them as if they didn't reach each other's memory; each in a
process of its own.

The machine with the GPUs needs the driver, libcublasLt.so.13 and libnccl.so.2 (in LD_LIBRARY_PATH, or where
the system finds them; so is libcudnn.so.9, without which convolutions are slow), Python, a processor with AVX2, and a C and a C++ library
at least as new as those that Tofu was built with. Exit codes of a run: 0 all that could run did and is right, 1 something is
wrong, 2 usage, 3 nothing could run.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CHIPS = ("sm_80", "sm_90", "sm_100")
DEVICES = (1, 2, 4)

# Programs of test/Execution, or functions of them, whose numbers are compared:
# their inputs, which are random by seed where nothing is said, options of the
# run, and for how many devices they are, if not for all of DEVICES.
CHECKS = {
    "matmul_uneven_rows": {},
    "matmul_bf16": {},
    "convolution_halo": {},
    "dynamic_convolution": {"inputs": ["7x9x7x3xf32=random:1", "random:2"]},
    "reduce_max": {},
    "scalars_and_integers": {},
    "complex_matmul": {},
    "Inputs/mlp_train": {},
    "loops": {},
    "donated_argument": {},
    "globals": {"options": ["--iters=2", "--warmup=1"]},
    "dynamic_mixed_sizes": {"inputs": ["6x8xf32=random:1", "random:2", "6xf32=random:3"]},
    # Kernels: what matters is how they are made, not how much is cut.
    "gpu_elementwise": {"devices": (1, 4)},
    "gpu_neighbours": {"devices": (1, 4)},
    "gpu_reductions:rows": {"devices": (1, 4)},
    "gpu_reductions:columns": {"devices": (1, 4)},
    "gpu_long_reductions": {"devices": (1, 4)},
    "gpu_rows:softmax": {"devices": (1, 4)},
    "gpu_rows:normalization": {"devices": (1, 4)},
    "gpu_rows:entropy": {"devices": (1, 4)},
    "gpu_rows:dynamic": {"devices": (1, 4), "inputs": ["13x600xf32=random:1"]},
    "gpu_rows_neighbours:softmax": {"devices": (1, 4)},
    "gpu_rows_neighbours:mixed": {"devices": (1, 4)},
    "gpu_rows_neighbours:slices": {"devices": (1, 4)},
    "gpu_epilogues": {"devices": (1, 4), "inputs": ["random:1"] * 11},
    "gpu_convolution_epilogues": {"devices": (1, 4),
                                  "inputs": ["random:1"] * 5 + ["random:1:0:0.3"] * 3 + ["random:1"] * 2},
    "gpu_residuals": {"devices": (1, 4), "inputs": ["random:1"] * 4 + ["random:2:1:2"] + ["random:1"] * 3},
    "gpu_scaled_convolutions": {"devices": (1, 4),
                                "inputs": ["random:1"] * 4 + ["random:1:1:2"] + ["random:1"] * 3},
    "gpu_depthwise": {"devices": (1, 4), "inputs": ["random:1:0.5:1"] * 8},
}

# A program that must fail, in a kernel, for the inputs that are random where nothing is said.
ASSERTION = """
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1000xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<1000xf32>) outs(%empty : tensor<1000xf32>) {
  ^bb0(%element: f32, %unused: f32):
    %good = arith.cmpf oge, %element, %zero : f32
    cf.assert %good, "an element is negative"
    %root = math.sqrt %element : f32
    linalg.yield %root : f32
  } -> tensor<1000xf32>
  return %y : tensor<1000xf32>
}
"""

GEMM = """
func.func @main(%a: tensor<{n}x{n}xf32>, %b: tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{n}x{n}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  %product = linalg.matmul ins(%a, %b : tensor<{n}x{n}xf32>, tensor<{n}x{n}xf32>)
      outs(%init : tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  return %product : tensor<{n}x{n}xf32>
}}
"""

# The sizes are those that gpu-baselines has.
CONVOLUTION = """
func.func @main(%x: tensor<{n}x58x58x{c}xf32>, %w: tensor<3x3x{c}x{c}xf32>) -> tensor<{n}x56x56x{c}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{n}x56x56x{c}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{n}x56x56x{c}xf32>) -> tensor<{n}x56x56x{c}xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<{n}x58x58x{c}xf32>, tensor<3x3x{c}x{c}xf32>)
      outs(%init : tensor<{n}x56x56x{c}xf32>) -> tensor<{n}x56x56x{c}xf32>
  return %y : tensor<{n}x56x56x{c}xf32>
}}
"""

# Fused, it reads and writes each element once.
ELEMENTWISE = """
func.func @main(%x: tensor<{n}xf32>) -> tensor<{n}xf32> {{
  %out = tensor.empty() : tensor<{n}xf32>
  %0 = linalg.mul ins(%x, %x : tensor<{n}xf32>, tensor<{n}xf32>) outs(%out : tensor<{n}xf32>) -> tensor<{n}xf32>
  %1 = linalg.add ins(%0, %x : tensor<{n}xf32>, tensor<{n}xf32>) outs(%out : tensor<{n}xf32>) -> tensor<{n}xf32>
  %2 = linalg.mul ins(%1, %x : tensor<{n}xf32>, tensor<{n}xf32>) outs(%out : tensor<{n}xf32>) -> tensor<{n}xf32>
  %3 = linalg.sub ins(%2, %0 : tensor<{n}xf32>, tensor<{n}xf32>) outs(%out : tensor<{n}xf32>) -> tensor<{n}xf32>
  return %3 : tensor<{n}xf32>
}}
"""

ALL_REDUCE = """
tofu.mesh @mesh [x = {k}]
func.func @main(%x: tensor<{n}xf32> {{tofu.global_type = tensor<{n}xf32>, tofu.layout = #tofu.layout<@mesh, [{{}}]>}})
    -> (tensor<{n}xf32> {{tofu.global_type = tensor<{n}xf32>, tofu.layout = #tofu.layout<@mesh, [{{}}]>}}) {{
  %0 = tofu.all_reduce %x from #tofu.layout<@mesh, [{{}}], sum {{x}}> to #tofu.layout<@mesh, [{{}}]> in [{n}]
      : tensor<{n}xf32> -> tensor<{n}xf32>
  return %0 : tensor<{n}xf32>
}}
"""


# How long a test may take, in seconds.
TEST_TIMEOUT = 900


def fail(message):
    print("run-on-gpu.sh: error: " + message, file=sys.stderr)
    sys.exit(2)


# --- Preparing ---------------------------------------------------------------


def make_file_name(name):
    """Of a check."""
    return re.sub("[/:]", "-", name)


class Kit:
    """A kit in the making."""

    def __init__(self, options):
        self.options = options
        self.folder = os.path.abspath(options.prepare)
        self.build = os.path.abspath(options.build)
        self.chips = options.chips.split(",") if options.backend == "cuda" else ["host"]
        self.runs = []

    def run_tool(self, *arguments, code=0):
        """Runs tofu-run, which must end with that exit code, and gives its errors."""
        command = [os.path.join(self.build, "bin", "tofu-run"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != code:
            fail(f"{' '.join(command)}\n{done.stderr}")
        return done.stderr

    def copy(self):
        os.makedirs(self.folder, exist_ok=True)
        for name in ("bin", "lib", "bundles", "expected", "models", "programs"):
            shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)
            os.mkdir(os.path.join(self.folder, name))
        for file in ("run-on-gpu.sh", "run_on_gpu.py"):
            shutil.copy(os.path.join(HERE, file), self.folder)
        programs = (["tofu-run-bundle"] + ["gpu-baselines"] * (self.options.backend == "cuda")
                    + ["gpu-tests"] * has_tests(self.options.backend))
        for name in programs:
            found = [path for path in (os.path.join(self.build, folder, name)
                                       for folder in ("bin", "test/Benchmark", "test/Unit/Gpu"))
                     if os.path.exists(path)]
            if not found:
                fail(f"{name} isn't built")
            shutil.copy(found[0], os.path.join(self.folder, "bin"))
        backend = self.options.backend.replace("gpu-on-", "")
        library = os.path.join(self.build, "lib", f"libtofu_runtime_{backend}.so")
        if not os.path.exists(library):
            fail(f"there is no {library}")
        shutil.copy(library, os.path.join(self.folder, "lib"))
        self.copy_libraries(library, *glob.glob(self.folder + "/bin/*"))

    def copy_libraries(self, *binaries):
        """Takes along what a machine with CUDA may lack."""
        listing = subprocess.run(["ldd", *binaries], capture_output=True, text=True).stdout
        for path in re.findall(r"=> (/\S*/lib(?:dnnl|OpenCL|gomp|cudart|gtest)\.so\S*)", listing):
            shutil.copy(os.path.realpath(path), os.path.join(self.folder, "lib", os.path.basename(path)))

    def add_bundles(self, name, program, devices, what, compile_options=()):
        for chip in self.chips:
            bundle = os.path.join("bundles", f"{make_file_name(name)}-{devices}-{chip}")
            options = ["--chip=" + chip] if chip != "host" else []
            self.run_tool(program, *options, *compile_options, f"--devices={devices}",
                          "--backend=" + self.options.backend, "--emit=bundle", "-o", os.path.join(self.folder, bundle))
            self.runs.append(dict(what, name=name, devices=devices, chip=chip, bundle=bundle))

    def read_manifest(self):
        with open(os.path.join(self.folder, self.runs[-1]["bundle"], "manifest.json")) as file:
            return json.load(file)

    def add_check(self, name, check):
        file, _, function = name.partition(":")
        program = os.path.join(HERE, "Execution", file + ".mlir")
        function = ["--function=" + function] * bool(function)
        first = len(self.runs)
        for devices in check.get("devices", DEVICES):
            self.add_bundles(name, program, devices, {"kind": "check"}, function)
        manifest = self.read_manifest()
        count = sum("size_of" not in argument for argument in manifest["arguments"])
        options = check.get("options", [])
        options = options + ["--input=" + text for text in check.get("inputs", ["random:0"] * count)]
        expected = [f"expected/{make_file_name(name)}-{i}.npy" for i in range(len(manifest["results"]))]
        self.run_tool(program, *function, "--quiet", "--devices=1", *options,
                      *("--output=@" + os.path.join(self.folder, path) for path in expected))
        for run in self.runs[first:]:
            run.update(options=options, expected=expected)

    def add_model(self, program):
        """A program whose inputs and results come from elsewhere, in a folder beside it."""
        name = os.path.splitext(os.path.basename(program))[0]
        data = os.path.splitext(program)[0] + ".data"
        if not os.path.isdir(data):
            fail(f"there is no {data} with in_000.npy and out_000.npy, and so on")
        shutil.copytree(data, os.path.join(self.folder, "models", name))
        inputs, expected = (sorted(f"models/{name}/{os.path.basename(path)}" for path in glob.glob(f"{data}/{kind}_*.npy"))
                            for kind in ("in", "out"))
        for devices in DEVICES:
            self.add_bundles(name, program, devices, {
                "kind": "check", "options": ["--input=@" + path for path in inputs], "expected": expected})

    def write_program(self, name, text):
        program = os.path.join(self.folder, "programs", name + ".mlir")
        with open(program, "w") as file:
            file.write(text)
        return program

    def add_failure(self, name, text, options):
        program = self.write_program(name, text)
        error = self.run_tool(program, "--quiet", "--devices=1", *options, code=3)
        for devices in DEVICES:
            self.add_bundles(name, program, devices, {"kind": "failure", "options": options,
                                                      "expected_error": error.partition("device 0, ")[2].strip()})

    def add_benchmark(self, name, text, devices, inputs, size):
        program = self.write_program(f"{name}-{devices}", text)
        self.add_bundles(name, program, devices, {
            "kind": "benchmark", "size": size,
            "options": ["--warmup=5", "--iters=21"] + [f"--input=random:{i}" for i in range(inputs)]})

    def prepare(self):
        self.copy()
        for name, check in CHECKS.items():
            if not self.options.checks or name in self.options.checks.split(","):
                self.add_check(name, check)
        for program in filter(None, self.options.models.split(",")):
            self.add_model(program)
        self.add_failure("failed_assertion", ASSERTION, ["--input=random:0"])
        gemm, elements = self.options.gemm_size, self.options.elements
        images, channels = self.options.images, self.options.channels
        for devices in DEVICES:
            self.add_benchmark("gemm", GEMM.format(n=gemm), devices, 2, gemm)
            self.add_benchmark("convolution", CONVOLUTION.format(n=images, c=channels), devices, 2, [images, channels])
            self.add_benchmark("elementwise", ELEMENTWISE.format(n=elements), devices, 1, elements)
            if devices > 1:
                self.add_benchmark("all_reduce", ALL_REDUCE.format(n=elements, k=devices), devices, 1, elements)
        with open(os.path.join(self.folder, "kit.json"), "w") as file:
            json.dump({"backend": self.options.backend.replace("gpu-on-", ""), "gemm_size": gemm, "elements": elements,
                       "images": images, "channels": channels, "runs": self.runs}, file, indent=1)
        size = sum(os.path.getsize(path) for path in glob.glob(self.folder + "/**", recursive=True)
                   if os.path.isfile(path))
        print(f"{self.folder}: {len(self.runs)} bundles, {size / 2**20:.1f} MiB")


# --- Running -----------------------------------------------------------------


def make_environment(**variables):
    path = [os.path.join(HERE, "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
    return dict(os.environ, LD_LIBRARY_PATH=os.pathsep.join(filter(None, path)), **variables)


def run_program(name, *arguments, timeout=None, **variables):
    return subprocess.run([os.path.join(HERE, "bin", name), *arguments], capture_output=True, text=True, cwd=HERE,
                          env=make_environment(**variables), timeout=timeout)


def choose_chip(listing):
    """The best chip of the kit that all GPUs of the listing run."""
    have = [int(number) for number in re.findall(r"sm_(\d+)", listing)]
    fitting = [chip for chip in CHIPS if int(chip[3:]) <= min(have)]
    return fitting[-1] if fitting else None


def get_command(run, backend):
    command = [run["bundle"], "--backend=" + backend, f"--devices={run['devices']}", "--quiet", *run["options"]]
    if run["kind"] == "failure":
        return command
    if run["kind"] == "check":
        return command + ["--expected_output=@" + path for path in run["expected"]]
    return command + ["--json=-"]


# --- Tests -------------------------------------------------------------------


def has_tests(backend):
    """A library with GPUs, or one for tests whose GPUs are the host's."""
    return backend.startswith("cuda")


def get_test_groups():
    """How tests are run: what it is called, the GPUs that it takes, and variables."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0"
    return [("one GPU", 1, {"CUDA_VISIBLE_DEVICES": first, "TOFU_TEST_GPUS": "1"}),
            ("all GPUs", 2, {}),
            ("all GPUs, by messages", 2, {"TOFU_TEST_PEERS": "0"})]


def list_tests(backend):
    """The names of all tests, as GoogleTest's filters have them, and what is said if there are none."""
    done = run_program("gpu-tests", "--backend=" + backend, "--gtest_list_tests")
    suite, names = "", []
    for line in done.stdout.splitlines():
        text = line.partition("#")[0].rstrip()
        if text.startswith("  "):
            names.append(suite + text.strip())
        elif text.endswith("."):
            suite = text
    return names, f"{done.stderr.strip()}, exit code {done.returncode}"


def run_test(name, backend, variables):
    """"passed", "failed" or "skipped", and why."""
    try:
        done = run_program("gpu-tests", "--backend=" + backend, "--gtest_color=no", "--gtest_filter=" + name,
                           timeout=TEST_TIMEOUT, **variables)
    except subprocess.TimeoutExpired:
        return "failed", f"it has not come to an end after {TEST_TIMEOUT} s"
    begin = f"[ RUN      ] {name}\n"
    text = done.stdout.partition(begin)[2].partition("[  ")[0].strip()
    if done.returncode or begin not in done.stdout:
        return "failed", "\n".join(filter(None, [text, done.stderr.strip(), f"exit code {done.returncode}"]))
    if "[  SKIPPED ]" in done.stdout:
        return "skipped", text.splitlines()[-1]
    return "passed", ""


class Session:
    """One run of the kit, and its report."""

    def __init__(self, kit):
        self.kit = kit
        self.report = {"devices": [], "tests": [], "checks": [], "benchmarks": [], "not_run": []}
        self.gpus = 0
        self.baselines = {}

    def leave_out(self, what, why):
        self.report["not_run"].append({"what": what, "why": why})

    def find_devices(self):
        done = run_program("tofu-run-bundle", "--list-devices", "--backend=" + self.kit["backend"])
        if done.returncode:
            self.leave_out("everything", done.stderr.strip())
            return None
        self.report["devices"] = done.stdout.splitlines()
        self.gpus = done.stdout.count("GPU ")
        chip = choose_chip(done.stdout) if self.kit["backend"] == "cuda" else "host"
        if not chip:
            self.leave_out("everything", "the GPUs are older than " + CHIPS[0])
        return chip

    def find_baselines(self):
        if self.kit["backend"] != "cuda":
            return self.leave_out("what libraries take alone", "this kit is for the host")
        done = run_program("gpu-baselines", str(self.kit["gemm_size"]), str(4 * self.kit["elements"]),
                           str(self.kit["images"]), str(self.kit["channels"]))
        if done.returncode:
            return self.leave_out("what libraries take alone", done.stderr.strip())
        self.baselines = json.loads(done.stdout)
        self.report["baselines"] = self.baselines
        if "no_convolution" in self.baselines:
            self.leave_out("what cuDNN takes alone", self.baselines["no_convolution"])

    def test(self):
        names, error = list_tests(self.kit["backend"])
        if not names:
            self.report["tests"].append({"on": "no GPU", "passed": 0, "failed": 1, "skipped": 0, "skips": [],
                                         "failures": [{"name": "the list of tests", "error": error}]})
        for what, gpus, variables in get_test_groups():
            entry = {"on": what, "passed": 0, "failed": 0, "skipped": 0, "failures": [], "skips": []}
            self.report["tests"].append(entry)
            for name in names:
                result, why = "skipped", "there is one GPU"
                if self.gpus >= gpus:
                    result, why = run_test(name, self.kit["backend"], variables)
                entry[result] += 1
                if result == "failed":
                    entry["failures"].append({"name": name, "error": why})
                elif result == "skipped":
                    entry["skips"].append({"name": name, "why": why})

    def add_check(self, run, error):
        entry = {"name": run["name"], "devices": run["devices"], "result": "failed" if error else "passed"}
        if error:
            entry["error"] = error
        self.report["checks"].append(entry)

    def check(self, run):
        done = run_program("tofu-run-bundle", *get_command(run, self.kit["backend"]))
        self.add_check(run, done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else "")

    def check_failure(self, run):
        done = run_program("tofu-run-bundle", *get_command(run, self.kit["backend"]))
        is_good = done.returncode == 3 and run["expected_error"] in done.stderr
        self.add_check(run, "" if is_good else f"exit code {done.returncode}, not 3 with {run['expected_error']}: "
                                               f"{done.stderr.strip()}")

    def measure(self, run):
        what = f"{run['name']} on {run['devices']} devices"
        if run["name"] == "all_reduce" and self.kit["backend"] == "cuda" and self.gpus < run["devices"]:
            return self.leave_out(what, f"there are {self.gpus} GPUs")
        done = run_program("tofu-run-bundle", *get_command(run, self.kit["backend"]))
        entry = {"name": run["name"], "devices": run["devices"], "size": run["size"]}
        self.report["benchmarks"].append(entry)
        if done.returncode:
            entry["error"] = done.stderr.strip()
            return
        result = json.loads(done.stdout)
        seconds = max(device["seconds"]["median"] for device in result["per_device"])
        entry["median_seconds"] = seconds
        entry["peak_bytes_per_device"] = [device["peak_bytes"] for device in result["per_device"]]
        self.add_rates(run, entry, seconds)

    def add_rates(self, run, entry, seconds):
        def compare(baseline, parts):
            """`parts` devices with a GPU each share what the baseline does alone."""
            if baseline in self.baselines:
                entry["baseline_seconds"] = self.baselines[baseline]
                entry["speed_to_baseline"] = self.baselines[baseline] / seconds
                entry["ideal"] = min(parts, max(self.gpus, 1))

        if run["name"] == "gemm":
            entry["flops"] = 2 * run["size"] ** 3 / seconds
            compare("gemm_seconds", run["devices"])
        elif run["name"] == "convolution":
            images, channels = run["size"]
            entry["flops"] = 2 * images * (56 * 3 * channels) ** 2 / seconds
            compare("convolution_seconds", run["devices"])
        elif run["name"] == "elementwise":
            entry["bytes_per_second"] = 8 * run["size"] / seconds
            compare("copy_seconds", run["devices"])
        else:
            # As nccl-tests count.
            entry["algbw"] = 4 * run["size"] / seconds
            entry["busbw"] = entry["algbw"] * 2 * (run["devices"] - 1) / run["devices"]
            if self.gpus == run["devices"]:
                compare("all_reduce_seconds", 1)

    def run(self):
        chip = self.find_devices()
        if chip:
            if has_tests(self.kit["backend"]):
                self.test()
            self.find_baselines()
            runs = {"check": self.check, "failure": self.check_failure, "benchmark": self.measure}
            for run in self.kit["runs"]:
                if run["chip"] == chip:
                    runs[run["kind"]](run)
        print(json.dumps(self.report, indent=1))
        if not chip:
            return 3
        bad = [entry for entry in self.report["checks"] + self.report["benchmarks"] if "error" in entry]
        return 1 if bad or any(entry["failed"] for entry in self.report["tests"]) else 0


def dry_run(kit):
    if has_tests(kit["backend"]):
        for what, _, variables in get_test_groups():
            text = "".join(f" {name}={value}" for name, value in variables.items())
            print(f"tests on {what}:{text} gpu-tests --backend={kit['backend']}")
    for run in kit["runs"]:
        print(f"{run['kind']} {run['chip']}: tofu-run-bundle {' '.join(get_command(run, kit['backend']))}")
    done = run_program("tofu-run-bundle", "--list-devices", "--backend=" + kit["backend"])
    print((done.stdout or "can't run here: " + done.stderr).strip())


def main():
    parser = argparse.ArgumentParser(prog="run-on-gpu.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepare", metavar="FOLDER", help="make a kit there instead of running one")
    parser.add_argument("--dry-run", action="store_true", help="print what a kit would run")
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build"), help="build folder, to make a kit")
    parser.add_argument("--backend", default="cuda", help="another backend than cuda, to try a kit on the host")
    parser.add_argument("--chips", default=",".join(CHIPS), help="chips that the kit is for")
    parser.add_argument("--checks", default="", help="only these programs, to try a kit")
    parser.add_argument("--models", default="", help="further programs to check, MODEL.mlir,..., with their inputs "
                        "and results beside them: MODEL.data/in_000.npy, out_000.npy, and so on")
    parser.add_argument("--gemm-size", type=int, default=8192)
    parser.add_argument("--elements", type=int, default=2**28)
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--channels", type=int, default=256)
    options = parser.parse_args()
    if options.prepare:
        Kit(options).prepare()
        return 0
    path = os.path.join(HERE, "kit.json")
    if not os.path.exists(path):
        fail("there is no kit here; --prepare=FOLDER makes one")
    with open(path) as file:
        kit = json.load(file)
    if options.dry_run:
        return dry_run(kit) or 0
    return Session(kit).run()


sys.exit(main())
