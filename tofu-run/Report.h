//===- Report.h - What a run took and where ---------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_REPORT_H
#define TOFU_RUN_REPORT_H

#include "Execution.h"

#include "llvm/Support/JSON.h"

namespace mlir::tofu {

struct CompileTimes {
  double partitionSeconds = 0, compileSeconds = 0;
};

/// How one result compares with what was expected of it.
struct ComparisonReport {
  unsigned result = 0;
  std::string with; ///< "expected output" or "unpartitioned run"
  Difference difference;
  int64_t numElements = 0;
};

/// Everything that is reported of a run.
struct RunReport {
  const RunOptions &options;
  const Program &program;
  const Execution &execution;
  CompileTimes times;
  std::vector<ComparisonReport> comparisons;
};

/// Time per device, bytes per kind of collective, the collectives that took
/// longest, peak memory: a table for people.
void printReport(raw_ostream &os, const RunReport &report);

/// The same and more as JSON: times in seconds, sizes in bytes, both per
/// iteration where they add up.
llvm::json::Object toJson(const RunReport &report);

} // namespace mlir::tofu

#endif // TOFU_RUN_REPORT_H
