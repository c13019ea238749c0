//===- Options.h - Command line of tofu-run ---------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_OPTIONS_H
#define TOFU_RUN_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tofu {

/// How tofu-run ends.
enum class ExitCode { Good = 0, Mismatch = 1, Usage = 2, Runtime = 3 };

struct RunOptions {
  std::string file;
  std::string function; ///< empty: the only public one
  std::string backend;
  std::vector<std::string> dialectPlugins;
  std::vector<std::string> libraries;

  std::optional<int64_t> devices; ///< nothing: as the program's mesh says
  std::string mesh, plan, partitionOptions;
  bool printPlan = false;

  std::vector<std::string> inputs, outputs, expected;
  bool outputPerDevice = false;
  std::optional<double> relativeTolerance, absoluteTolerance;
  bool check = false;

  int64_t iterations = 1, warmup = 0;
  unsigned optimizationLevel = 3;
  double timeoutSeconds = 300;
  std::string json, record;
  bool quiet = false;
};

/// Reads the command line; prints what is wrong with it and returns nothing if
/// it makes no sense. Ends the process for --help and --version.
std::optional<RunOptions> parseCommandLine(int argc, char **argv);

} // namespace mlir::tofu

#endif // TOFU_RUN_OPTIONS_H
