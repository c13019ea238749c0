//===- BundleOptions.h - Command line of tofu-run-bundle --------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_BUNDLEOPTIONS_H
#define TOFU_RUN_BUNDLEOPTIONS_H

#include "Tofu/Runtime/ProgramRun.h"

namespace mlir::tofu {

struct BundleOptions : RunnerOptions {
  std::optional<int64_t> devices;
  std::vector<std::string> libraries;
};

/// Reads the command line of `tool`. Ends the process for --help and --version,
/// and with exit code 2 where it makes no sense.
BundleOptions parseBundleOptions(const char *tool, int argc, char **argv);

} // namespace mlir::tofu

#endif // TOFU_RUN_BUNDLEOPTIONS_H
