# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os

import lit.formats
import lit.util

config.name = "Tofu"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Client"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tofu_binary_dir, "test")

tools = os.path.join(config.tofu_binary_dir, "bin")
libraries = os.path.join(config.tofu_binary_dir, "lib")
path = [tools, config.llvm_tools_dir, config.environment["PATH"]]
config.environment["PATH"] = os.pathsep.join(path)
# Attribute storage is poisoned by LLVM's allocator, which was built without ASan.
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0:detect_leaks=0:allocator_may_return_null=1"
config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"

config.substitutions.append(("%tofu_src", config.tofu_source_dir))
config.substitutions.append(("%tofu_build", config.tofu_binary_dir))
config.substitutions.append(("%tofu_tools", tools))
config.substitutions.append(("%tofu_libs", libraries))
config.substitutions.append(("%cxx", config.cxx))
config.substitutions.append(("%llvm_tools", config.llvm_tools_dir))
config.substitutions.append(("%mlir_dir", config.mlir_dir))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%utils", os.path.join(config.tofu_source_dir, "utils")))


def find_toolkit():
    """Gives the folder of the CUDA toolkit, with ptxas and libdevice; or None."""
    ptxas = lit.util.which("ptxas")
    folders = [os.environ.get(name) for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")]
    folders.append(ptxas and os.path.dirname(os.path.dirname(os.path.realpath(ptxas))))
    parts = ["bin/ptxas", "nvvm/libdevice/libdevice.10.bc"]
    for folder in filter(None, folders):
        if all(os.path.exists(os.path.join(folder, part)) for part in parts):
            return folder
    return None


toolkit = find_toolkit()
if toolkit:
    config.environment["CUDA_HOME"] = toolkit
    config.substitutions.append(("%ptxas", os.path.join(toolkit, "bin", "ptxas")))
    config.substitutions.append(("%cuda_home", toolkit))
cuobjdump = lit.util.which("cuobjdump", os.pathsep.join([os.path.join(toolkit or "", "bin"), os.environ["PATH"]]))
config.substitutions.append(("%cuobjdump", cuobjdump or "cuobjdump"))


def has_library(name):
    return os.path.exists(os.path.join(libraries, name))


# What a test may require, and whether it is here. A test whose feature is not
# here is counted as skipped; run-tests.py names the feature.
features = {
    "cuda-toolkit": has_library("libtofu_runtime_cuda.so"),
    "cuda-on-host": has_library("libtofu_runtime_cuda_on_host.so"),
    "cuda": has_library("libtofu_runtime_cuda.so") and os.path.exists("/dev/nvidia0"),
    "mpi": has_library("libtofu_runtime_mpi.so") and lit.util.which("mpirun"),
    "ptxas": toolkit,
    "cuobjdump": cuobjdump,
    "glpsol": lit.util.which("glpsol"),
    "clang-format": config.clang_format,
    "fuzzers": os.path.exists(os.path.join(tools, "fuzz-program")),
    "unsanitized": not config.sanitizer,
}
for feature, available in features.items():
    if available:
        config.available_features.add(feature)
if config.clang_format:
    config.substitutions.append(("%clang_format", config.clang_format))

# Whatever runs programs may run them on another backend:
# --param=backend=gpu-on-host; on mpi, each device is a process.
config.substitutions.append(("%on_mpi", f"{config.python} {os.path.join(config.test_source_root, 'on_mpi.py')}"))
# Processes that launchers without MPI start.
config.substitutions.append(("%on_env", f"{config.python} {os.path.join(config.test_source_root, 'on_env.py')}"))
backend = lit_config.params.get("backend")
if backend:
    run = "%on_mpi tofu-run" if backend == "mpi" else "tofu-run --backend=" + backend
    config.substitutions.insert(0, (r"(?<![-/\w])tofu-run(?![-\w])", run))
