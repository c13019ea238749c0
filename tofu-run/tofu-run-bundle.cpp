//===- tofu-run-bundle.cpp - Run a compiled program without LLVM ----------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BundleOptions.h"

#include "Tofu/Runtime/Bundle.h"
#include "Tofu/Runtime/LoadBackend.h"

#include <dlfcn.h>
#include <unistd.h>

using namespace mlir::tofu;

static constexpr const char *kTool = "tofu-run-bundle";

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
  BundleOptions options = parseBundleOptions(kTool, argc, argv);
  return static_cast<int>(runBundle(options));
}
