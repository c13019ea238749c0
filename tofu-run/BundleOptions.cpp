//===- BundleOptions.cpp - Command line of tofu-run-bundle ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one file that is compiled with exceptions, by which CLI11 says what is
// wrong.
//
//===----------------------------------------------------------------------===//

#include "BundleOptions.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

using namespace mlir::tofu;

static constexpr const char *kOverview =
    "Runs a program that tofu-run --emit=bundle has compiled.\n\n"
    "  tofu-run-bundle FOLDER --input=@x.npy --output=@y.npy\n\n"
    "Inputs, outputs and exit codes are those of tofu-run.\n";

/// An option that is given once for each value.
static CLI::Option *addList(CLI::App &app, const char *name,
                            std::vector<std::string> &values, const char *type,
                            const char *help) {
  return app.add_option(name, values, help)
      ->type_name(type)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

static void addTensors(CLI::App &app, BundleOptions &options) {
  addList(app, "--input", options.inputs, "tensor",
          "argument of the function, in order");
  addList(app, "--output", options.outputs, "@file",
          "where to write a result, in order");
  app.add_flag("--output-per-device", options.outputPerDevice,
               "write what each device has of it too");
  addList(app, "--expected_output,--expected-output", options.expected,
          "tensor", "what a result must be, in order");
  app.add_option("--rtol", options.relativeTolerance,
                 "tolerance, relative to what is expected")
      ->type_name("r");
  app.add_option("--atol", options.absoluteTolerance, "absolute tolerance")
      ->type_name("a");
}

static void addRun(CLI::App &app, BundleOptions &options) {
  app.add_option("--backend", options.backend,
                 "what the devices are (default: what it was compiled for)")
      ->type_name("name");
  app.add_option("--devices", options.devices,
                 "checks that the program is for k devices")
      ->type_name("k");
  app.add_option("--gpus", options.gpus,
                 "spread the devices over so many GPUs (default: all)")
      ->type_name("n");
  addList(app, "--shared-libs", options.libraries, "files",
          "shared libraries with functions that the program calls")
      ->delimiter(',');
  app.add_option("--iters", options.iterations, "timed runs (default: 1)")
      ->type_name("n");
  app.add_option("--warmup", options.warmup, "runs before those (default: 0)")
      ->type_name("n");
  app.add_option("--timeout", options.timeoutSeconds,
                 "how long a device waits for others (default: 300)")
      ->type_name("seconds");
}

static void addReports(CLI::App &app, BundleOptions &options) {
  app.add_option("--json", options.json,
                 "write the report as JSON ('-': to standard output)")
      ->type_name("file");
  app.add_option("--record", options.record,
                 "write what the devices did as JSON")
      ->type_name("file");
  app.add_flag("--quiet", options.quiet, "print only what is wrong");
  app.add_flag("--verbose", options.verbose,
               "print why runs of --iters could not be replayed as a graph of "
               "CUDA");
  app.add_flag("--list-devices", options.listDevices,
               "print what devices a backend has, and run nothing");
}

/// Options may have one dash, as those of tofu-run; the library takes that for
/// options of one letter.
static std::vector<std::string> getArguments(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::string &text : arguments)
    if (text.size() > 2 && text[0] == '-' && std::isalpha(text[1]))
      text.insert(0, "-");
  // As the library takes them.
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

BundleOptions mlir::tofu::parseBundleOptions(const char *tool, int argc,
                                             char **argv) {
  BundleOptions options;
  CLI::App app(kOverview, tool);
  app.set_help_flag("-h,--help", "print this");
  app.set_version_flag("--version", std::string(tool) + " " + TOFU_VERSION,
                       "print the version");
  app.option_defaults()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->disable_flag_override();
  CLI::Option *folder = app.add_option("folder", options.file, "the bundle");
  addRun(app, options);
  addTensors(app, options);
  addReports(app, options);
  try {
    app.parse(getArguments(argc, argv));
    if (!*folder && !options.listDevices)
      throw CLI::RequiredError("folder");
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      std::exit(app.exit(error));
    std::fprintf(stderr, "%s: error: %s; try --help\n", tool, error.what());
    std::exit(static_cast<int>(ExitCode::Usage));
  }
  return options;
}
