//===- FakeProcesses.h - Threads that seem to be processes ------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_TEST_UNIT_CUDA_FAKEPROCESSES_H
#define TOFU_TEST_UNIT_CUDA_FAKEPROCESSES_H

#include <functional>

namespace mlir::tofu::test {

/// Calls `body` with each rank, on a thread of its own, whose worlds are those
/// of one process of a job.
void runProcesses(int count, const std::function<void(int)> &body);

} // namespace mlir::tofu::test

#endif // TOFU_TEST_UNIT_CUDA_FAKEPROCESSES_H
