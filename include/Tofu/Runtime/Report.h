//===- Report.h - What a run took and where ---------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUNTIME_REPORT_H
#define TOFU_RUNTIME_REPORT_H

#include "Tofu/Runtime/Execution.h"

namespace mlir::tofu {

/// What took time before the run, in seconds.
struct Preparation {
  const char *name; ///< "partition_seconds"
  double seconds;
};

/// How one result compares with what was expected of it.
struct ComparisonReport {
  unsigned result = 0;
  std::string with; ///< "expected output" or "unpartitioned run"
  Difference difference;
  int64_t numElements = 0;
  double roundingError = 0; ///< of the other one, where that had to be known
};

/// Everything that is reported of a run.
struct RunReport {
  std::string file, backend;
  int64_t iterations = 1, warmup = 0;
  const Signature &program;
  const Execution &execution;
  std::vector<Preparation> preparations;
  std::vector<ComparisonReport> comparisons;
};

/// Time per device, bytes per kind of collective, the collectives that took
/// longest, peak memory: a table for people.
std::string toTable(const RunReport &report);

/// The same and more as JSON: times in seconds, sizes in bytes, both per
/// iteration where they add up.
std::string toJson(const RunReport &report);

} // namespace mlir::tofu

#endif // TOFU_RUNTIME_REPORT_H
