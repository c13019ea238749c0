//===- Options.h - Command line of tofu-run ---------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_OPTIONS_H
#define TOFU_RUN_OPTIONS_H

#include "Tofu/Runtime/ProgramRun.h"

namespace mlir::tofu {

struct RunOptions : RunnerOptions {
  std::string function; ///< empty: the only public one
  std::vector<std::string> dialectPlugins;
  std::vector<std::string> libraries;

  std::optional<int64_t> devices; ///< nothing: as the program's mesh says
  std::string mesh, plan, partitionOptions;
  bool printPlan = false;

  std::vector<std::string> chips;
  bool check = false;
  unsigned optimizationLevel = 3;
  std::string bundle; ///< where to write one instead of running
};

/// Reads the command line; prints what is wrong with it and returns nothing if
/// it makes no sense. Ends the process for --help and --version.
std::optional<RunOptions> parseCommandLine(int argc, char **argv);

} // namespace mlir::tofu

#endif // TOFU_RUN_OPTIONS_H
