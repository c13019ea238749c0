//===- Environment.h - What launchers say of a job --------------*- C++ -*-===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOFU_LIB_RUNTIME_TCP_ENVIRONMENT_H
#define TOFU_LIB_RUNTIME_TCP_ENVIRONMENT_H

#include <functional>
#include <optional>
#include <string>

namespace mlir::tofu::tcp {

/// A process's place in a job.
struct Environment {
  int rank = 0;
  int size = 1;
  /// The same among the processes of the machine, where the launcher says it.
  std::optional<int> localRank, localSize;
  /// Where rank 0 listens. It listens on all addresses if there is no host.
  std::string host;
  int port = 0;
};

/// Reads a variable; null if there is none.
using GetVariable = std::function<const char *(const char *name)>;

/// What the variables of PyTorch's env:// say, or else those of a step of Slurm
/// beside MASTER_PORT; nothing if there is one process. The reason if that
/// makes no sense.
std::string readEnvironment(const GetVariable &get,
                            std::optional<Environment> &environment);

} // namespace mlir::tofu::tcp

#endif // TOFU_LIB_RUNTIME_TCP_ENVIRONMENT_H
