//===- Processes.cpp - Whether this process is one of several -------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Job.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;

/// Launchers of MPI say how many processes there are: Open MPI's, and those of
/// MPICH and its kin.
static bool isOneOfMpi() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char *size = std::getenv(name))
      return std::atoi(size) > 1;
  return false;
}

/// Beside the library that this is part of.
static std::string getMpiLibrary() {
  Dl_info info;
  std::string self;
  if (dladdr(reinterpret_cast<void *>(&isOneOfMpi), &info))
    self = info.dli_fname;
  return self.substr(0, self.rfind('/') + 1) + "libtofu_runtime_mpi.so";
}

static std::string startMpi(std::shared_ptr<host::Processes> &processes) {
  // Stays, as MPI does until the process ends.
  std::string path = getMpiLibrary();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    return std::string("devices in several processes need the MPI backend: ") +
           dlerror();
  auto *getBackend = reinterpret_cast<decltype(tofuGetBackend) *>(
      dlsym(library, "tofuGetBackend"));
  auto *start = reinterpret_cast<decltype(tofuStartProcesses) *>(
      dlsym(library, "tofuStartProcesses"));
  if (!getBackend || getBackend()->version != TOFU_BACKEND_VERSION || !start)
    return path + " is of another version of Tofu";
  char error[256] = "";
  processes.reset(start(error, sizeof(error)));
  return error;
}

std::string cuda::findProcesses(double timeoutSeconds,
                                std::shared_ptr<host::Processes> &processes) {
  if (isOneOfMpi())
    return startMpi(processes);
  std::optional<tcp::Environment> environment;
  std::string reason = tcp::readEnvironment(std::getenv, environment);
  if (!environment)
    return reason;
  return tcp::join(*environment, timeoutSeconds, processes);
}
