//===- tofu-run-bundle.cpp - Run a compiled program without LLVM ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/Bundle.h"
#include "Tofu/Runtime/CommandLine.h"
#include "Tofu/Runtime/LoadBackend.h"
#include "Tofu/Runtime/ProgramRun.h"

#include <dlfcn.h>
#include <unistd.h>

using namespace mlir::tofu;

static constexpr const char *kTool = "tofu-run-bundle";

namespace {

struct BundleOptions : RunnerOptions {
  std::optional<int64_t> devices;
  std::vector<std::string> libraries;
};

} // namespace

/// Reads the command line; ends the process for --help, and with an error where
/// it makes no sense.
static BundleOptions readCommandLine(int argc, char **argv) {
  BundleOptions options;
  CommandLine line(
      kTool, "Runs a program that tofu-run --emit=bundle has compiled.\n\n"
             "  tofu-run-bundle FOLDER --input=@x.npy --output=@y.npy\n\n"
             "Inputs, outputs and exit codes are those of tofu-run.\n");
  line.addPositional("folder", options.file, &options.listDevices);
  line.add("backend", "name",
           "what the devices are (default: what it was compiled for)",
           options.backend);
  line.add("devices", "k", "checks that the program is for k devices",
           options.devices);
  line.add("shared-libs", "files",
           "shared libraries with functions that the program calls",
           options.libraries, /*splits=*/true);
  line.add("input", "tensor", "argument of the function, in order",
           options.inputs);
  line.add("output", "@file", "where to write a result, in order",
           options.outputs);
  line.add("output-per-device", "write what each device has of it too",
           options.outputPerDevice);
  line.add("expected_output", "tensor", "what a result must be, in order",
           options.expected);
  line.add("rtol", "r", "tolerance, relative to what is expected",
           options.relativeTolerance);
  line.add("atol", "a", "absolute tolerance", options.absoluteTolerance);
  line.add("iters", "n", "timed runs (default: 1)", options.iterations);
  line.add("warmup", "n", "runs before those (default: 0)", options.warmup);
  line.add("timeout", "seconds",
           "how long a device waits for others (default: 300)",
           options.timeoutSeconds);
  line.add("json", "file", "write the report as JSON ('-': to standard output)",
           options.json);
  line.add("record", "file", "write what the devices did as JSON",
           options.record);
  line.add("quiet", "print only what is wrong", options.quiet);
  line.add("list-devices", "print what devices a backend has, and run nothing",
           options.listDevices);
  line.parse(argc, argv);
  return options;
}

/// Whether programs of that form run on the backend.
static bool runs(const TofuBackend &backend, TofuProgramForm form) {
  if (backend.form == form)
    return true;
  // The memory of the host's devices is that of the process.
  return form == TOFU_HOST_KERNELS && backend.form == TOFU_HOST_LOOPS;
}

static OrFailure<std::vector<void *>>
loadLibraries(const std::vector<std::string> &files) {
  std::vector<void *> libraries;
  for (const std::string &file : files) {
    // A bare name is one in this folder, and else one that the system knows.
    bool isHere = file.front() != '/' && !::access(file.c_str(), F_OK);
    std::string path = isHere ? "./" + file : file;
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return Failure{"--shared-libs: can't load " + file + ": " + ::dlerror()};
    libraries.push_back(library);
  }
  return libraries;
}

static ExitCode listBackend(const BundleOptions &options) {
  std::string name = options.backend.empty() ? "host" : options.backend;
  OrFailure<const TofuBackend *> backend =
      loadBackend(name, getLibraryFolder());
  if (!backend)
    return ProgramRun(kTool, options).fail(ExitCode::Usage, backend.reason());
  return listDevices(kTool, **backend);
}

static ExitCode runBundle(BundleOptions &options) {
  ProgramRun steps(kTool, options);
  auto usage = [&](const std::string &reason) {
    return steps.fail(ExitCode::Usage, reason);
  };
  if (std::string fault = options.findFault(); !fault.empty())
    return usage(fault);
  if (options.listDevices)
    return listBackend(options);
  std::string text;
  OrFailure<Manifest> manifest = readManifest(options.file, text);
  if (!manifest)
    return usage(manifest.reason());
  const Signature &program = manifest->program;
  if (options.devices && *options.devices != program.numDevices)
    return usage("program is for " + std::to_string(program.numDevices) +
                 " devices, --devices says " +
                 std::to_string(*options.devices));
  if (!supportsCpu(manifest->cpu))
    return usage("program needs a processor that is at least " + manifest->cpu);
  if (options.backend.empty())
    options.backend = manifest->backend;
  OrFailure<const TofuBackend *> backend =
      loadBackend(options.backend, getLibraryFolder());
  if (!backend)
    return usage(backend.reason());
  if (!runs(**backend, manifest->form))
    return usage("program was compiled for backend " + manifest->backend +
                 ", it doesn't run on " + options.backend);
  if (ExitCode code = steps.checkRecord(**backend); code != ExitCode::Good)
    return code;
  OrFailure<std::vector<void *>> libraries = loadLibraries(options.libraries);
  if (!libraries)
    return usage(libraries.reason());
  OrFailure<ProgramEntry> entry =
      loadProgram(options.file, text, **backend, *libraries);
  if (!entry)
    return usage(entry.reason());
  if (ExitCode code = steps.readTensors(program, /*makesInputs=*/false);
      code != ExitCode::Good)
    return code;
  if (ExitCode code = steps.execute(program, *entry, **backend);
      code != ExitCode::Good)
    return code;
  return steps.finish(program, /*printsResults=*/true, {});
}

int main(int argc, char **argv) {
  BundleOptions options = readCommandLine(argc, argv);
  return static_cast<int>(runBundle(options));
}
