//===- Runner.h - A program on the devices of a backend ---------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_RUNNER_H
#define TOFU_RUN_RUNNER_H

#include "Program.h"

namespace mlir::tofu {

/// Loads libtofu_runtime_NAME.so from where the tools' libraries are.
llvm::Expected<const TofuBackend *> loadBackend(llvm::StringRef name,
                                                const char *toolPath);

/// What one device did, over all timed iterations.
struct DeviceReport {
  std::vector<double> seconds; ///< per iteration
  TofuMemoryStats memory = {};
  TofuContractStats contractions = {};
  std::vector<TofuCollectiveStats> collectives;
};

struct RunReport {
  std::vector<DeviceReport> devices;
  std::vector<Array> results; ///< gathered
  /// Per device and result what that device has; only if asked for.
  std::vector<std::vector<Array>> parts;
};

struct RunOptions {
  int64_t devices = 1;
  int64_t iterations = 1, warmup = 0;
  double timeoutSeconds = 300;
  bool keepParts = false;
};

/// Runs `program` on whole inputs, cut as its arguments lie. Replicas of a
/// result must agree bit for bit.
llvm::Expected<RunReport> runProgram(const Program &program,
                                     const TofuBackend &backend,
                                     const std::vector<Array> &inputs,
                                     const RunOptions &options);

} // namespace mlir::tofu

#endif // TOFU_RUN_RUNNER_H
