//===- Execution.h - Running a program on all devices -----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_EXECUTION_H
#define TOFU_RUN_EXECUTION_H

#include "Compiler.h"
#include "Program.h"

namespace mlir::tofu {

/// Where backends are: beside the folder of this program, which `argv0` names.
std::string getLibraryFolder(const char *argv0);

/// A result on all devices.
struct GatheredResult {
  HostTensor whole;
  std::vector<HostTensor> shards; ///< one per device
};

/// What one device did, over all timed iterations.
struct DeviceReport {
  std::vector<double> seconds; ///< of each iteration
  TofuMemoryStats memory{};
  TofuContractStats contractions{};
  std::vector<TofuCollectiveStats> collectives;
};

struct Execution {
  std::vector<GatheredResult> results;
  std::string record; ///< JSON; empty if the backend keeps none
  std::vector<DeviceReport> devices;
  /// Locations of the collectives, which outlive the world.
  std::vector<std::unique_ptr<std::string>> locations;
};

struct ExecutionOptions {
  int64_t iterations = 1, warmup = 0;
  double timeoutSeconds = 300;
};

/// Cuts the inputs, which are whole, runs the program on a world of its own,
/// and gathers the results of the last iteration. The inputs are not changed.
/// If a device's program never comes back, prints the error and ends the
/// process, as its thread can't be stopped.
llvm::Expected<Execution> execute(const Program &program,
                                  const Compiled &compiled,
                                  const TofuBackend &backend,
                                  ArrayRef<HostTensor> inputs,
                                  const ExecutionOptions &options);

/// Whether all devices that have the same box of a result have the same bits of
/// it. The error names the result and two devices.
llvm::Error checkReplicas(const Program &program, const Execution &execution);

} // namespace mlir::tofu

#endif // TOFU_RUN_EXECUTION_H
