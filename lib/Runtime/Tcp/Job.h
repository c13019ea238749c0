//===- Job.h - Processes that find each other by a port ---------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_TCP_JOB_H
#define TOFU_LIB_RUNTIME_TCP_JOB_H

#include "Environment.h"
#include "Processes.h"

#include <memory>

namespace mlir::tofu::tcp {

/// Meets the other processes: all of them connect to rank 0. The reason, the
/// same in all where they can be told, if not all come in time, or if they
/// aren't of one job. Processes wait for each other for as long later on.
std::string join(const Environment &environment, double timeoutSeconds,
                 std::shared_ptr<host::Processes> &processes);

} // namespace mlir::tofu::tcp

#endif // TOFU_LIB_RUNTIME_TCP_JOB_H
