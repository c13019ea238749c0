//===- Report.h - Where time and bytes went ---------------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_RUN_REPORT_H
#define TOFU_RUN_REPORT_H

#include "Runner.h"

#include "llvm/Support/JSON.h"

namespace mlir::tofu {

/// Bytes received in collectives per iteration, summed over devices.
int64_t getReceivedBytes(const RunReport &report, int64_t iterations);

/// Prints, per device, time per iteration and what of it went to contractions
/// and collectives, bytes received and peak memory; then each kind of
/// collective with its bandwidth, as nccl-tests count it.
void printReport(llvm::raw_ostream &os, const RunReport &report,
                 int64_t iterations);

llvm::json::Object toJson(const RunReport &report, int64_t iterations);

} // namespace mlir::tofu

#endif // TOFU_RUN_REPORT_H
