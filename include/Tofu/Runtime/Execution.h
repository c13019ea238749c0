//===- Execution.h - Running a program on all devices -----------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_EXECUTION_H
#define TOFU_RUNTIME_EXECUTION_H

#include "Tofu/Runtime/DeviceCall.h"

namespace mlir::tofu {

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

/// Where the devices are in several processes, that of device 0 has all of
/// this, and the others only know that they aren't it.
struct Execution {
  bool isHere = true;
  std::vector<GatheredResult> results;
  std::string record; ///< JSON; empty if the backend keeps none
  std::string notice; ///< why runs could not be repeated in a shorter way
  std::vector<DeviceReport> devices;
  /// Locations of the collectives, which outlive the world.
  std::vector<std::unique_ptr<std::string>> locations;
};

/// How runners end.
enum class ExitCode { Good = 0, Mismatch = 1, Usage = 2, Runtime = 3 };

struct ExecutionOptions {
  int64_t iterations = 1, warmup = 0;
  double timeoutSeconds = 300;
  int64_t gpus = 0; ///< that devices are spread over; 0: all
  std::string tool; ///< who prints the error of a device that is stuck
};

/// Cuts the inputs, which are whole, runs the program on a world of its own,
/// and gathers the results of the last iteration. The inputs are not changed.
/// A failure without a reason is one that another process reports.
/// If a device's program never comes back, prints the error and ends the
/// process, as its thread can't be stopped.
OrFailure<Execution> execute(const Signature &program, ProgramEntry entry,
                             const TofuBackend &backend,
                             const std::vector<HostTensor> &inputs,
                             const ExecutionOptions &options);

/// Whether all devices that have the same box of a result have the same bits of
/// it. The failure names the result and two devices.
MaybeFailure checkReplicas(const Signature &program,
                           const Execution &execution);

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_EXECUTION_H
