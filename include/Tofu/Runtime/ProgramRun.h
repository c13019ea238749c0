//===- ProgramRun.h - A run, from inputs to report --------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What tofu-run and tofu-run-bundle share.
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_PROGRAMRUN_H
#define TOFU_RUNTIME_PROGRAMRUN_H

#include "Tofu/Runtime/Report.h"

namespace mlir::tofu {

/// Options of all runners.
struct RunnerOptions {
  std::string file; ///< what runs, for reports
  std::string backend;

  std::vector<std::string> inputs, outputs, expected;
  bool outputPerDevice = false;
  std::optional<double> relativeTolerance, absoluteTolerance;

  int64_t iterations = 1, warmup = 0;
  double timeoutSeconds = 300;
  std::optional<int64_t> gpus; ///< that devices are spread over, if not all
  std::string json, record;
  bool quiet = false, verbose = false;
  bool listDevices = false; ///< instead of running

  /// What is wrong with the values, or nothing.
  std::string findFault() const;
};

/// Where backends are: beside the folder of this process's program.
std::string getLibraryFolder();

/// Prints what the backend's devices can be made of.
ExitCode listDevices(const std::string &tool, const TofuBackend &backend);

/// The steps of a run. Each prints what is wrong and says how the runner is to
/// end.
class ProgramRun {
public:
  /// The options must stay.
  ProgramRun(std::string tool, const RunnerOptions &options)
      : tool(std::move(tool)), options(options) {}

  ExitCode checkRecord(const TofuBackend &backend) const;

  /// Reads inputs, random ones if there are none and it `makesInputs`, and what
  /// is expected.
  ExitCode readTensors(const Signature &program, bool makesInputs);

  ExitCode execute(const Signature &program, ProgramEntry entry,
                   const TofuBackend &backend);

  /// Compares a result; prints how it differs. `exact` is what an expected
  /// result that was rounded would be without, or null: then a difference that
  /// rounding explains is none, which is printed.
  bool compareResult(unsigned i, const HostTensor &expected,
                     const std::string &with,
                     const HostTensor *exact = nullptr);

  /// Whether a result is not what is expected, but may be by rounding: floats
  /// that no tolerance was given for.
  bool mayBeRounded(unsigned i, const HostTensor &expected) const;

  /// Compares with what is expected, writes outputs and reports, all of it
  /// whatever the comparison says. Results are printed if nothing else is done
  /// with them. Nothing is done where another process has the results.
  ExitCode finish(const Signature &program, bool printsResults,
                  std::vector<Preparation> preparations);

  const std::vector<HostTensor> &getInputs() const { return inputs; }
  const Execution &getExecution() const { return execution; }

  ExitCode fail(ExitCode code, const std::string &message) const;

private:
  ExitCode checkNumbers(const Signature &program, bool makesInputs) const;
  ExitCode readInputs(const Signature &program);
  ExitCode readExpected(const Signature &program);
  void noteRounding(unsigned i, const std::string &with, double difference,
                    double error) const;
  ExitCode compareWithExpected();
  ExitCode writeOutputs() const;
  ExitCode writeRecord() const;
  ExitCode report(const Signature &program, bool printsResults,
                  std::vector<Preparation> preparations) const;
  Tolerance getTolerance(TofuElementType type) const;

  std::string tool;
  const RunnerOptions &options;
  std::vector<HostTensor> inputs, expected;
  Execution execution;
  std::vector<ComparisonReport> comparisons;
};

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_PROGRAMRUN_H
